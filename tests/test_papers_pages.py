"""The pages on the five papers say what the runs stored."""

import re
import runpy
import sys
from pathlib import Path

import pytest
from benchmarks.papers.exploratory import claims
from benchmarks.papers.hoki import others, published
from benchmarks.papers.stored import (
    BLOCK,
    HERE,
    PAPERS,
    README,
    ROLE,
    cell,
    first_page,
    read,
    restored,
    rows_of_index,
)

PAGES = Path(__file__).parent.parent / "docs" / "papers"
NUMBER = re.compile(r"(?<![\w.])\d*\.\d+")
#: Places in a paper: their numbers are no results.
SECTIONS = re.compile(r"\bsections?\s+[A-Z]?[\d.]*\d(?:(?:,|\s+and|\s+to)\s+[A-Z]?[\d.]*\d)*")


def prose(text):
    """A page without its examples, formulas, directives, code and numbers of sections."""
    text = SECTIONS.sub("", text)
    text = re.sub(r"^>>>.*(?:\n.+)*", "", text, flags=re.MULTILINE)
    text = re.sub(
        r"^\.\. (?:math|calibrant-stored|code).*\n(?:(?: .*)?\n)*", "", text, flags=re.MULTILINE
    )
    return re.sub(r":[\w-]+:`[^`]*`|``[^`]*``", "", text)


def numbers(text):
    """The decimal numbers in a text."""
    return {float(found) for found in NUMBER.findall(text)}


@pytest.mark.parametrize("paper", PAPERS)
def test_the_readme_shows_the_stored_tables(paper):
    text = (HERE / paper / "README.md").read_text(encoding="utf-8")
    assert text == restored(paper)
    stored = {file.stem for file in (HERE / paper / "stored").glob("*.csv")}
    shown = {name for _, name in BLOCK.findall(text)}
    assert shown <= stored
    assert {name for name in stored - shown if not name.startswith("figure")} <= {"published"}


@pytest.mark.parametrize("paper", PAPERS)
def test_no_readme_has_a_table_of_its_own(paper):
    text = (HERE / paper / "README.md").read_text(encoding="utf-8")
    assert "\n|" not in BLOCK.sub("", text)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_number_of_a_page_is_stored(paper):
    """Numbers in the text are in the stored tables, or in the README that reports the runs."""
    page = (PAGES / f"{paper}.rst").read_text(encoding="utf-8")
    known = numbers((HERE / paper / "README.md").read_text(encoding="utf-8"))
    for file in (HERE / paper / "stored").glob("*.csv"):
        # The points of figures are so many that any number would be among them.
        if not file.stem.startswith("figure"):
            known |= numbers(file.read_text(encoding="utf-8"))
    found = numbers(prose(page))
    assert len(found) + page.count(":calibrant-cell:") >= 5
    assert found <= known, found - known


@pytest.mark.parametrize("paper", PAPERS)
def test_a_page_shows_tables_that_are_stored(paper):
    page = (PAGES / f"{paper}.rst").read_text(encoding="utf-8")
    tables = re.findall(r"calibrant-stored:: (\w+)/(\w+)((?:\n   :.*)*)", page)
    assert tables
    for name, table, options in tables:
        heading, *body = read(name, table)
        columns = re.search(r":columns: (.*)", options)
        for column in columns[1].split(";") if columns else heading:
            assert column.strip() in heading
        rows = re.search(r":rows: (.*)", options)
        assert sum(bool(re.search(rows[1] if rows else "", row[0])) for row in body) >= 3


@pytest.mark.parametrize("paper", PAPERS)
def test_a_page_quotes_its_headline_numbers_from_the_stored_tables(paper):
    page = (PAGES / f"{paper}.rst").read_text(encoding="utf-8")
    places = re.findall(r":calibrant-cell:`(.*?)`", page.replace("\n", " "))
    assert len(places) >= 2
    for place in places:
        assert place.startswith(f"{paper}/")
        assert NUMBER.search(cell(place)) or cell(place).replace(",", "").isdecimal(), place


def test_the_first_readme_quotes_numbers_as_they_are_stored():
    text = README.read_text(encoding="utf-8")
    assert text == first_page(text)
    assert first_page(text.replace("0.0436", "0.0777")) == text
    assert "0.0436" in text


def test_numbers_called_published_on_the_first_pages_are_printed_in_the_paper():
    """The paper on Gaussian processes prints ECE and accuracy; its log losses are only among the
    results beside the authors' code.
    """
    places = ROLE.findall(rows_of_index()["gp"][-1])
    assert places
    assert {place.split(";")[0] for place in places} <= {
        f"gp/{data}_{measure}" for data in ("kitti", "mnist") for measure in ("ece", "accuracy")
    }


def test_the_role_shows_a_cell_in_the_text(chosen, tmp_path):
    build = pytest.importorskip("sphinx.application").Sphinx
    (tmp_path / "index.rst").write_text(
        "A\n=\n\nECE :calibrant-cell:`hoki/published; LeNet-5, CIFAR-10; Hoki, published`.\n",
        encoding="utf-8",
    )
    options = {"confoverrides": {"extensions": ["stored_tables"]}, "status": None}
    folders = (tmp_path, None, tmp_path / "out", tmp_path / "trees", "text")
    build(*folders, **options).build()
    assert "ECE 0.0110." in (tmp_path / "out" / "index.txt").read_text(encoding="utf-8")


def test_claims_and_summaries_follow_from_the_other_tables():
    assert read("exploratory", "claims") == [claims.HEADING, *claims.rows()]
    assert read("hoki", "summary") == others.summary()


@pytest.mark.parametrize("paper", PAPERS)
def test_a_page_redraws_a_figure_from_stored_numbers(paper, monkeypatch):
    """Each script draws at least two panels, all with titles and data, without any run."""
    pytest.importorskip("matplotlib").use("agg")
    import matplotlib.pyplot as plt

    monkeypatch.setattr("calibrant.core.calibrator.Calibrator.fit", None)
    page = (PAGES / f"{paper}.rst").read_text(encoding="utf-8")
    scripts = re.findall(r"calibrant-picture:: (figures/\S+)", page)
    assert scripts
    for script in scripts:
        plt.close("all")
        runpy.run_path(str(PAGES / script))
        axes = plt.gcf().axes
        assert len(axes) >= 2
        assert all(ax.get_title() and ax.get_xlabel() and ax.has_data() for ax in axes)
    plt.close("all")


def test_every_script_of_a_figure_is_on_a_page():
    shown = "".join(file.read_text(encoding="utf-8") for file in PAGES.glob("*.rst"))
    for script in (PAGES / "figures").glob("*.py"):
        assert f"calibrant-picture:: figures/{script.name}\n" in shown


@pytest.fixture
def chosen(monkeypatch):
    """The function of the directive that takes columns and rows of a stored table."""
    pytest.importorskip("sphinx", reason="the tables are made while the pages are built")
    monkeypatch.syspath_prepend(str(PAGES.parent / "_ext"))
    yield pytest.importorskip("stored_tables").chosen
    sys.modules.pop("stored_tables")


@pytest.mark.parametrize("paper", PAPERS)
def test_the_directive_shows_a_table_as_it_is_stored(paper, chosen):
    for file in (HERE / paper / "stored").glob("*.csv"):
        rows = read(paper, file.stem)
        assert len(set(rows[0])) == len(rows[0]), file
        assert chosen(f"{paper}/{file.stem}") == rows


def test_the_directive_takes_the_columns_and_rows_that_it_names(chosen):
    assert chosen("regression/boxes", columns="known; output", rows="t[xy]") == [
        ["known", "output"],
        ["1.15", "tx"],
        ["1.2", "ty"],
    ]


@pytest.mark.parametrize("paper", PAPERS)
def test_the_first_pages_have_a_row_of_each_paper_with_stored_numbers(paper):
    """The README's table, and that of the section's first page: link, line of code, number."""
    row = next(
        line
        for line in README.read_text(encoding="utf-8").splitlines()
        if f"(docs/papers/{paper}.rst)" in line
    )
    *_, code, number, _ = (part.strip() for part in row.split("|"))
    *_, code_of_index, text = rows_of_index()[paper]
    assert code.strip("`") == code_of_index.strip("`")
    places = ROLE.findall(text)
    assert places
    assert all(place.startswith(f"{paper}/") for place in places)
    assert not numbers(ROLE.sub("", text))
    shown = ROLE.sub(lambda found: cell(found[1]), text)
    assert number == f"[{shown}](benchmarks/papers/{paper}/README.md)"


def test_what_the_page_says_of_rare_classes_is_what_is_stored():
    """Pooled maps: lowest on the rows of rare classes; structured scaling on two of four."""
    (_, *methods), *rows = read("exploratory", "pooled")
    ahead = dict.fromkeys(("as it is", "thinned"), 0)
    for name, *cells in rows:
        loss, error = (
            {m: float(c.replace(",", "").split()[k]) for m, c in zip(methods, cells, strict=True)}
            for k in (0, -1)
        )
        part = name.rpartition(", ")[2]
        if part == "rare classes":
            others = [m for m in methods if m != "pooled"]
            assert loss["pooled"] == min(loss.values())
            assert error["pooled"] < 0.51 * min(error[m] for m in others)
        else:
            ahead[part] += loss["structured vector scaling"] < loss["pooled"]
    assert ahead == {"as it is": 2, "thinned": 2}


def test_hoki_stands_beside_what_was_published():
    """Our numbers are those of the networks' table, theirs those of the paper's table 2."""
    _, *networks = read("hoki", "networks")
    ours, name = {}, ""
    for network, method, ece, *_ in networks:
        name = network or name
        ours[name, method] = ece
    said = {title: key for key, title in published.NETWORK.items()}
    _, *rows = read("hoki", "published")
    assert len(rows) == 4
    for network, theirs, temperature, their_temperature, hoki, their_hoki in rows:
        table = published.ece(said[theirs], 15)
        assert [temperature, hoki] == [ours[network, "temperature"], ours[network, "Hoki"]]
        assert [float(their_temperature), float(their_hoki)] == [table["TempS"], table["Hoki"]]
