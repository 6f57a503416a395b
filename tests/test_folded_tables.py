"""Long tables of the pages on evidence are folded, and those of other pages are not."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXTENSIONS = ROOT / "docs" / "_ext"


def page(rows):
    lines = [f"Page of {rows}", "=" * 12, "", ".. list-table::", "   :header-rows: 1"]
    lines += ["   :class: arena", ""]
    for row in (["method", "runs", "win rate", "worse", "fit"], *[list("abcde")] * rows):
        lines += [f"   {' ' if k else '*'} - {cell}" for k, cell in enumerate(row)]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """{page: its HTML} of a small site with a table of 12 and one of 13 rows, on two pages each."""
    pytest.importorskip("sphinx", reason="tables are folded while the pages are built")
    from sphinx.application import Sphinx

    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("out")
    setting = "folded_tables_pages = ['short', 'long']"
    (source / "conf.py").write_text(f"extensions = ['folded']\n{setting}\n", encoding="utf-8")
    (source / "index.rst").write_text(
        "Site\n====\n\n.. toctree::\n\n   short\n   long\n   other\n", encoding="utf-8"
    )
    for name, rows in (("short", 12), ("long", 13), ("other", 13)):
        (source / f"{name}.rst").write_text(page(rows), encoding="utf-8")
    sys.path.insert(0, str(EXTENSIONS))
    try:
        app = Sphinx(source, source, out, out / "trees", "html", warningiserror=True, status=None)
        app.build()
    finally:
        sys.path.remove(str(EXTENSIONS))
    return {
        name: (out / f"{name}.html").read_text(encoding="utf-8")
        for name in ("short", "long", "other")
    }


def test_a_long_table_is_folded_and_keeps_its_class_and_rows(built):
    _, _, folded = built["long"].partition('<details class="folded"><summary><span>')
    inside, closed, _ = folded.partition("</details>")
    assert closed
    assert "div" not in inside.partition("</summary>")[0]
    assert "Table of 13 rows: method, runs, win rate, worse and 1 more</span></summary>" in inside
    assert inside.count("<tr") == 14
    assert "arena" in inside[inside.index("<table") :].split(">")[0]


@pytest.mark.parametrize("name", ["short", "other"])
def test_short_tables_and_other_pages_stay_open(built, name):
    assert "<details" not in built[name]
    assert built[name].count("<tr") == (13 if name == "short" else 14)


def test_every_page_of_the_setting_is_one_of_the_evidence():
    conf = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    listed = conf.partition("folded_tables_pages = [")[2].partition("]")[0].split('"')[1::2]
    menu = (ROOT / "docs" / "evidence.rst").read_text(encoding="utf-8").partition(":hidden:")[2]
    assert len(listed) > 5
    assert set(listed) <= set(menu.split())
    assert all((ROOT / "docs" / f"{name}.rst").is_file() for name in menu.split())
