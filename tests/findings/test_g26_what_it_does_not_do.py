"""G26: the documentation answers a search for what calibrant does not do."""

import re
from pathlib import Path

import pytest

from calibrant import testing

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


def test_each_task_of_its_table_names_a_reason_and_a_tool():
    page = (DOCS / "guide" / "limits.rst").read_text(encoding="utf-8")
    rows = page.partition(".. list-table::")[2].partition("\nThe sections")[0].split("   * - ")[2:]
    assert len(rows) >= 10
    for row in rows:
        task, reason, tool = row.split("\n     - ")
        assert task
        assert reason.strip().endswith(".")
        assert "<https://" in tool


def test_the_page_does_not_deny_what_exists():
    page = (DOCS / "guide" / "limits.rst").read_text(encoding="utf-8")
    methods = [*testing.all_calibrators(), *testing.all_regression_calibrators()]
    updating = {type(one).__name__ for one in methods if hasattr(one, "partial_fit")}
    assert updating == {name for name in updating if f".{name}`" in page}
    assert "GaussianProcessCalibration" in updating
