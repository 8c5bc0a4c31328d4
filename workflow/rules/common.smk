# Used by all other files of this folder: the project, its items, and the flag for the report.

import sys
from pathlib import Path

sys.path.insert(0, str(Path(workflow.basedir) / "workflow" / "scripts"))

from clusterlens.errors import UserError
from clusterlens.items import PAPERS
from clusterlens.models.variants import LEARNED, VARIANTS
from clusterlens.project import NOTHING, Project, growing

try:
    project = Project(config)
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
