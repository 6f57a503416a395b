"""Formulas as MathML, written while the pages are built: browsers draw it by themselves, without
a script and without a network.
"""

import html

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

__all__ = ["mathml", "setup"]


def mathml(latex, display="inline"):
    r"""A formula as an element of HTML; a command that the converter does not know is left in it
    with its backslash.
    """
    return convert(latex.replace(r"\arg", r"\operatorname{arg}"), display=display)


def _add(translator, node, display):
    made = mathml(node.astext(), display)
    if "\\" in html.unescape(made):
        logging.getLogger(__name__).warning(
            "a formula has a command that latex2mathml does not know: %s", made, location=node
        )
    translator.body.append(made if display == "inline" else f'<div class="formula">{made}</div>')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer; ``html_math_renderer = "mathml"`` chooses it."""
    inline, block = (
        lambda translator, node, d=display: _add(translator, node, d)
        for display in ("inline", "block")
    )
    app.add_html_math_renderer(
        "mathml", inline_renderers=(inline, None), block_renderers=(block, None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
