"""Pages that speak of a picture have one, each display is in the gallery, and the words that people
search for lead to a page.
"""

import ast
import json
import re
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import calibrant as cb

DOCS = Path(__file__).resolve().parent.parent / "docs"
GUIDE = {path.stem: path.read_text(encoding="utf-8") for path in (DOCS / "guide").glob("*.rst")}
#: Pages of the guide without a picture, and why.
WITHOUT = {
    "index": "a list of pages",
    "where": "tables of names",
    "vocabulary": "a table of words",
    "command_line": "what commands print",
    "extending": "code to copy",
    "saving": "files",
    "scale": "engines, times and memory",
    "ten_billion": "tables of costs",
    "export": "formats and code",
    "predictions": "rules of how input is read",
    "stability": "rules of versions",
    "limits": "tasks of other libraries",
    "cards": "a table of all methods",
    "which_method": "tables of the arena, whose page has their charts",
    "metric_coverage": "tables of simulations",
}
PICTURE = re.compile(r"^ *\.\. calibrant-(?:picture|report|displays)::", flags=re.MULTILINE)
#: What people search for -> the page that a search leads to first.
SEARCHED = {
    "LLM": "tutorials/question_log",
    "prediction interval": "guide/regression",
    "XGBoost": "tutorials/tabular",
    "install": "install",
    "threshold": "guide/thresholds",
    "drift": "guide/monitoring",
}


def test_each_page_of_the_guide_has_a_picture_or_a_reason_why_not():
    pictured = {name for name, page in GUIDE.items() if PICTURE.search(page)}
    assert pictured | WITHOUT.keys() == GUIDE.keys()
    assert pictured & WITHOUT.keys() == set()


@pytest.mark.parametrize("name", sorted(GUIDE))
def test_pictures_of_the_guide_exist_and_say_what_they_show(name):
    page = GUIDE[name]
    for script in re.findall(r"calibrant-picture:: (\S+)", page):
        assert (DOCS / "guide" / script).resolve().exists()
    assert page.count(".. calibrant-picture::") == len(re.findall(r"^   :alt: .{20}", page, re.M))


def test_each_script_of_a_picture_is_shown():
    pages = [path.read_text(encoding="utf-8") for path in DOCS.rglob("*.rst")]
    shown = {Path(name).name for page in pages for name in re.findall(r"pictures/\w+\.py", page)}
    assert shown == {path.name for path in (DOCS / "pictures").glob("*.py")}


@pytest.fixture
def gallery(monkeypatch):
    """The extension that draws the gallery."""
    pytest.importorskip("sphinx", reason="the gallery is drawn while the pages are built")
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    yield pytest.importorskip("display_gallery")
    for name in ("display_gallery", "calibrant_docs", "pictures"):
        sys.modules.pop(name, None)


def test_the_gallery_has_each_display_once_and_draws_it(gallery):
    headings = gallery.gallery_data()["CALLS"]
    calls = [row for some in headings.values() for row in some.items()]
    assert sorted(name for name, _ in calls) == sorted(cb.displays.__all__)
    assert all(f".. calibrant-displays:: {heading}\n" in GUIDE["looking"] for heading in headings)
    for name, call in calls:
        assert call.startswith(f"{name}.from_")
        words = gallery.picture_words(gallery.drawn(call))
        assert re.fullmatch(r"\w.{2,} by \w.{2,}", words)


def test_a_call_of_the_gallery_is_copied_as_it_is(gallery):
    shown = gallery.code('ReliabilityDisplay.from_predictions(y, p, name="a<b")')
    assert "from_predictions(<wbr>y, p, name=&quot;a&lt;b&quot;)" in shown


@pytest.mark.parametrize("word", SEARCHED)
def test_a_word_that_people_search_for_is_in_a_title_and_a_main_entry(word):
    page = (DOCS / f"{SEARCHED[word]}.rst").read_text(encoding="utf-8")
    assert re.search(rf"^   ! {word}$", page, flags=re.MULTILINE)
    titles = re.findall(r"^(.+)\n[=-]{5,}$", page, flags=re.MULTILINE)
    assert any(word.lower() in title.lower() for title in titles)
    entries = [
        path.relative_to(DOCS).with_suffix("").as_posix()
        for path in DOCS.rglob("*.rst")
        if re.search(rf"^   ! {word}$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    ]
    assert entries == [SEARCHED[word]]


def test_the_first_page_has_six_cards_five_questions_and_the_numbers_of_the_readme():
    page = (DOCS / "index.rst").read_text(encoding="utf-8")
    parts = re.split(r"^(.+)\n-{5,}$", page, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    cards, questions, evidence = (
        re.findall(r"rubric:: (.+)", sections[heading])
        for heading in ("What do you have?", "What do you need to know?", "Why believe it?")
    )
    assert len(cards) == 6
    assert len(questions) == 5
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert [number.removeprefix("< ") in readme for number in evidence] == [True] * 3
    drawn = re.findall(r":draw: (\w+)", sections["What do you have?"])
    tree = ast.parse((DOCS / "pictures" / "landing_cards.py").read_text(encoding="utf-8"))
    functions = {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}
    assert len(drawn) == 6
    assert functions - {"blank", "write"} == set(drawn)


def test_the_code_of_the_first_page_runs(tmp_path, monkeypatch):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pytest.importorskip("matplotlib")
    from sklearn.linear_model import LogisticRegression

    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X, L, mean = rng.normal(size=(600, 2)), 2 * rng.normal(size=(600, 3)), rng.normal(size=600)
    p = 1 / (1 + np.exp(-3 * X[:, 0]))
    y = (rng.random(600) < p).astype(int)
    rows = [
        {"question": "q", "confidence": a, "correct": bool(b)} for a, b in zip(p, y, strict=True)
    ]
    Path("log.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    Path("logs").mkdir()
    times = pd.date_range("2026-01-01", periods=600, freq="h")
    pd.DataFrame({"p": p, "label": y, "time": times}).to_parquet("logs/a.parquet")
    events = {"X": X, "X_new": X, "p": p, "y": y, "model": LogisticRegression()}
    events |= {"p_new": p[::-1], "y_new": y[::-1]}
    numbers = {"mean": mean, "std": np.ones(600), "y": mean + 2 * rng.normal(size=600)}
    classes = {"L": L, "L_new": L, "y": L.argmax(axis=1)}
    page = (DOCS / "index.rst").read_text(encoding="utf-8")
    blocks = re.findall(r"code-block:: python\n\n((?: {9}.*\n)+)", page)
    assert len(blocks) == 6
    for block, data in zip(blocks, (events, events, classes, {}, numbers, {}), strict=True):
        exec(compile(textwrap.dedent(block), "index.rst", "exec"), {"cb": cb, **data})
