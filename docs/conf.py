"""Sphinx: how the pages that `python -m catalog` writes become the site (make docs)."""

import tomllib
from pathlib import Path

import latex2mathml.converter
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

HERE = Path(__file__).parent

project = "despur"
author = copyright = "the despur maintainers"
version = release = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]["version"]

extensions = ["myst_nb", "sphinx_copybutton"]
nb_execution_mode = "off"  # notebooks keep their outputs (make tutorial)
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
nitpicky = True
pygments_style = "default"

html_theme = "pydata_sphinx_theme"
html_title = "despur"
html_static_path = [str(HERE / "_static")]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "despur"},
    "show_prev_next": True,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
copybutton_exclude = ".linenos, .gp, .go"


def write_math(translator: HTML5Translator, node: nodes.math) -> None:
    """A formula as MathML, which browsers typeset without further files."""
    display = "block" if isinstance(node, nodes.math_block) else "inline"
    translator.body.append(latex2mathml.converter.convert(node.astext(), display=display))
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer("mathml", inline_renderers=(write_math, None), block_renderers=(write_math, None))


html_math_renderer = "mathml"
