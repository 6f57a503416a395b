"""G26: the documentation answers a search for what calibrant does not do."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
HEADING = re.compile(r"^(\S.*)\n([=\-~^\"])\2{3,}$", re.MULTILINE)


@pytest.mark.parametrize("word", ["censoring", "ordinal", "language model", "detection", "online"])
def test_a_search_finds_a_heading(word):
    pages = [file.read_text(encoding="utf-8") for file in sorted(DOCS.rglob("*.rst"))]
    headings = [title.lower() for page in pages for title, _ in HEADING.findall(page)]
    assert [title for title in headings if word in title]


def test_the_page_is_in_the_guide():
    index = (DOCS / "guide" / "index.rst").read_text(encoding="utf-8")
    named = [DOCS / "guide" / f"{name.strip()}.rst" for name in index.splitlines()]
    pages = [page.read_text(encoding="utf-8") for page in named if page.exists()]
    assert [page for page in pages if page.startswith("What it does not do")]
