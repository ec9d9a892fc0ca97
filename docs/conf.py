"""The documentation as a site: `scripts/docs` builds it from the pages in this folder."""

from pygments.lexers.data import JsonLexer
from sphinx.application import Sphinx

from trio_debugmcp import __version__

project = "trio_debugmcp"
author = "The trio_debugmcp authors"
copyright = author  # noqa: A001
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["screenshots"]
myst_heading_anchors = 3  # as GitHub makes them, so that a link works in both places
html_theme = "furo"
html_title = "trio_debugmcp"

autodoc_default_options = {"members": True, "no-value": True}
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
napoleon_custom_sections = [("Attributes", "params_style")]  # of structs, which take them as parameters
default_role = "py:obj"  # docstrings have names and code between single backticks
add_module_names = False
maximum_signature_line_length = 100


def setup(app: Sphinx) -> None:
    """Name a lexer for files of JSON lines."""
    app.add_lexer("jsonl", JsonLexer)
