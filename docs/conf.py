"""Sphinx: Markdown pages and the reference from docstrings."""

import deadheat

project = "deadheat"
author = "The deadheat developers"
version = release = deadheat.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "deadheat"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
suppress_warnings = ["myst.xref_missing"]  # links to files of the repository outside docs/
