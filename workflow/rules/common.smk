# Used by all other files of this folder: the project, its items, and the flag for the report.

import os
import sys
from pathlib import Path

HERE = Path(workflow.current_basedir.get_path_or_uri(secret_free=True))  # the main workflow may be another
sys.path.insert(0, str(HERE.parent / "scripts"))

from clusterlens.errors import UserError
from clusterlens.items import PAPERS
from clusterlens.models.variants import LEARNED, VARIANTS
from clusterlens.project import NOTHING, Project, growing
from clusterlens.progress import of_run
from clusterlens.provenance import in_tree
from clusterlens.screen import Screen, describe, planned

# In a report, a caption that has not been written yet is left out; docutils looks for this in the working folder only.
os.environ.setdefault("DOCUTILSCONFIG", in_tree("docutils.conf"))

try:
    around = None if workflow.modifier.is_main_snakefile() else workflow.modifier
    project = Project(config, cores=workflow.resource_settings.cores or 1, module=around)
except UserError as error:
    sys.exit(f"clusterlens: {error}")


def shown(path):
    """Mark an item's file for the report. In `<results>/<paper>/<item>.<ext>` paper and item may be names or wildcards.

    The caption is composed when the claims are judged, by write_captions.
    """
    _, paper, name = path.split("/")
    item, extension = name.split(".", 1)

    def labels(wildcards):
        known = dict(wildcards.items())
        found = project.items[paper.format(**known), item.format(**known)]
        return {"item": found.name, "shows": found.title, "file": extension}

    def category(wildcards):
        return PAPERS[paper.format(**dict(wildcards.items()))]

    return report(path, caption="../report/item.rst", category=category, labels=labels)
