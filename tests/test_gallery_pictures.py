"""Pictures of the gallery of reports: each exists, is shown, describes itself, and is small."""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
MOST = 60_000


def test_every_picture_is_shown_once_and_small():
    page = (DOCS / "reports.rst").read_text(encoding="utf-8")
    shown = re.findall(r"image:: (_static/pages/\S+)\n +:alt: (.+)", page)
    files = sorted((DOCS / "_static" / "pages").iterdir())
    assert sorted(name for name, _ in shown) == [f"_static/pages/{file.name}" for file in files]
    assert len({words for _, words in shown}) == len(files)
    assert [file.name for file in files if file.stat().st_size > MOST] == []


def test_no_page_tells_the_history_of_its_design():
    stems = {file.stem for file in (DOCS / "_static" / "pages").iterdir()}
    assert not [stem for stem in stems if stem.endswith("_before")]
    assert "first design" not in (DOCS / "reports.rst").read_text(encoding="utf-8")
