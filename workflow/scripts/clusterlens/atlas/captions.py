"""Captions and other reStructuredText as HTML."""

from docutils.core import publish_parts
from markupsafe import Markup

# No file is read and no raw HTML passed on, whatever a caption holds.
SETTINGS = {"file_insertion_enabled": False, "raw_enabled": False, "report_level": 5, "halt_level": 5}
SETTINGS |= {"_disable_config": True, "initial_header_level": 3}


def as_html(text: str) -> Markup:
    parts = publish_parts(text, writer="html5", settings_overrides=SETTINGS)
    return Markup(parts["body"])  # docutils escapes the text
