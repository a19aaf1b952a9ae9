"""Sphinx: how the pages that `python -m catalog` writes become the site (make docs)."""

import html
import json
import tomllib
from pathlib import Path
from typing import Any

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


# Sphinx's search fetches a page to show where words stand in it; browsers let nothing fetch what lies in files.
TEXTS = """const TEXTS = %s;
if (location.protocol === "file:") {
  const name = (address) => address.slice(document.documentElement.dataset.content_root.length).replace(/.html$/, "");
  window.fetch = async (address) => new Response(`<div role="main">${TEXTS[name(address)] ?? ""}</div>`);
}
"""


def add_texts(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """The page of the search reads the texts of all pages."""
    if name == "search":
        app.add_js_file("texts.js")


def write_texts(app: Sphinx, error: Exception | None) -> None:
    """The texts of all pages as a script."""
    if error is None:
        texts = {name: html.escape(app.env.get_doctree(name).astext()) for name in app.env.found_docs}
        (Path(app.outdir) / "_static/texts.js").write_text(TEXTS % json.dumps(texts))


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", add_texts)
    app.connect("build-finished", write_texts)
    app.add_html_math_renderer("mathml", inline_renderers=(write_math, None), block_renderers=(write_math, None))


html_math_renderer = "mathml"
