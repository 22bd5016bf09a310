"""How Sphinx makes the site of the documentation: `make docs`, into build/docs."""

from __future__ import annotations

from pathlib import Path

project = "roastcoffea"
author = "the authors of roastcoffea"
release = (Path(__file__).parents[1] / "VERSION").read_text().strip()
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
autodoc_preserve_defaults = True  # as they are written
root_doc = "index"
myst_heading_anchors = 4  # links such as format.md#views
highlight_language = "none"  # blocks name their language

html_theme = "furo"
html_title = f"roastcoffea {release}"
html_copy_source = False
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
