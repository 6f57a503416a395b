"""The documentation needs no network: nothing on a page is fetched from another host, and
formulas are written into it.
"""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
#: What a browser fetches by itself, as against a link that a reader may follow.
FETCHED = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "iframe": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
}
FETCHED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "preconnect", "manifest"}
PAGE = r"""
Formulas
========

Inline :math:`\hat q = \arg\max_k P_k`, and by itself:

.. math:: \frac{1}{n} \sum_i \left( y_i - p_i \right)^2
"""


class Requests(HTMLParser):
    """The addresses that a page asks for while it loads."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def handle_starttag(self, tag, attrs):
        said = dict(attrs)
        names = FETCHED.get(tag, ())
        if tag == "link" and set((said.get("rel") or "").split()) & {
            "stylesheet",
            "icon",
            "preload",
            "preconnect",
            "manifest",
            "modulepreload",
        }:
            names = ("href",)
        self.asked += [said[name] for name in names if said.get(name)]
        self.asked += addresses_of_styles(said.get("style") or "")


def addresses_of_styles(text):
    """What a style sheet fetches."""
    return re.findall(r"""(?:url\(\s*|@import\s+)["']?([^"')\s]+)""", text)


def elsewhere(page):
    """The addresses on another host that a page asks for."""
    found = Requests()
    found.feed(page)
    asked = found.asked + [
        address
        for style in re.findall(r"<style.*?</style>", page, flags=re.DOTALL)
        for address in addresses_of_styles(style)
    ]
    return [address for address in asked if re.match(r"(https?:)?//", address)]


def test_a_request_is_told_from_a_link():
    page = (
        '<a href="https://a.org">read</a><link rel="canonical" href="https://b.org"><script'
        ' src="//c.org/x.js"></script><style>@import "https://d.org/y.css"; p { background:'
        ' url(https://e.org/z.png) }</style><img src="data:image/png;base64,AA">'
    )
    assert elsewhere(page) == ["//c.org/x.js", "https://d.org/y.css", "https://e.org/z.png"]


def build(source, built):
    """Build pages with the settings, the theme and the formulas of the documentation, without
    its pages that take minutes.
    """
    for name in ("sphinx", "pydata_sphinx_theme", "latex2mathml", "sphinx_copybutton"):
        pytest.importorskip(name, reason="builds a page of the documentation")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "-q",
        "-c",
        str(DOCS),
        "-D",
        "extensions=mathml,sphinx_copybutton",
        str(source),
        str(built),
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A small site of one page and the theme's own."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    (source / "index.rst").write_text(PAGE, encoding="utf-8")
    made = build(source, built)
    assert made.returncode == 0, made.stderr
    return built


def test_no_page_asks_for_anything_from_another_host(site):
    pages = sorted(site.rglob("*.html"))
    assert {"index.html", "search.html"} <= {page.name for page in pages}
    assert {
        page.name: found for page in pages if (found := elsewhere(page.read_text(encoding="utf-8")))
    } == {}
    sheets = {
        sheet.name: addresses_of_styles(sheet.read_text(encoding="utf-8"))
        for sheet in site.rglob("*.css")
    }
    assert [
        address
        for found in sheets.values()
        for address in found
        if re.match(r"(https?:)?//", address)
    ] == []


def test_formulas_are_written_into_the_page(site):
    page = (site / "index.html").read_text(encoding="utf-8")
    assert page.count("<math") == 2
    assert "<mfrac>" in page
    assert "\\" not in "".join(re.findall(r"<math.*?</math>", page, flags=re.DOTALL))


def test_a_command_that_the_converter_does_not_know_is_a_warning(tmp_path):
    (tmp_path / "index.rst").write_text(
        "Title\n=====\n\n:math:`\\nosuchcommand x`\n", encoding="utf-8"
    )
    made = build(tmp_path, tmp_path / "built")
    assert made.returncode != 0
    assert "nosuchcommand" in made.stderr
