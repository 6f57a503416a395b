"""Runs of the papers store their tables, at the size that the tables state and at no other."""

import shutil

import numpy as np
import pytest
from benchmarks.papers import stored
from benchmarks.papers.exploratory import stored as halves
from benchmarks.papers.exploratory import tables as exploratory
from benchmarks.papers.geometric import page, unseen
from benchmarks.papers.geometric import tables as geometric
from benchmarks.papers.gp import protocol
from benchmarks.papers.gp import tables as gp
from benchmarks.papers.hoki import others
from benchmarks.papers.hoki import tables as hoki
from benchmarks.papers.hoki.methods import Result
from benchmarks.papers.hoki.networks import Outputs

MEASURES = {"ECE": 0.5, "NLL": 0.25, "Brier": 3.0, "AURC": 7.0}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A copy of the stored tables that a test may change."""
    for paper in stored.PAPERS:
        shutil.copytree(stored.HERE / paper / "stored", tmp_path / paper / "stored")
    monkeypatch.setattr(stored, "HERE", tmp_path)


@pytest.fixture
def table(here):
    """A small table with a group of two rows."""
    rows = [["network", "method", "ECE"], ["A", "T", ".1"], ["", "H", ".2"], ["B", "T", ".3"]]
    stored.write("hoki", "small", rows)


@pytest.mark.usefixtures("table")
def test_rows_that_a_table_has_are_stored_and_others_named(capsys):
    stored.keep("hoki", "small", {"A, H": {"ECE": ".9"}, "C, T": {"ECE": ".8"}})
    assert stored.read("hoki", "small")[1:] == [["A", "T", ".1"], ["", "H", ".9"], ["B", "T", ".3"]]
    assert "1 of 2 rows stored (no such row: C, T)" in capsys.readouterr().out


@pytest.mark.usefixtures("table")
def test_a_smaller_run_is_not_stored(capsys):
    before = stored.read("hoki", "small")
    stored.keep("hoki", "small", {"A, H": {"ECE": ".9"}}, "1 seed")
    assert stored.read("hoki", "small") == before
    assert "0 of 1 rows stored (1 seed)" in capsys.readouterr().out


@pytest.mark.usefixtures("table")
def test_a_number_of_a_text_becomes_that_of_its_cell():
    stored.write("hoki", "two", [["row", "both"], ["x", "**0.38 (0.35)**"]])
    assert stored.cell("hoki/two; x; both") == "0.38 (0.35)"
    text = "ECE 9<!-- cell: hoki/small; B, T; ECE --> (7<!-- cell: hoki/two; x; both; 2 -->)"
    assert stored.quoted(text) == text.replace("9", ".3", 1).replace("7", "0.35", 1)
    with pytest.raises(ValueError, match="not in list"):
        stored.cell("hoki/two; y; both")


@pytest.mark.usefixtures("here")
def test_a_row_of_separation_is_stored_with_its_range_if_its_shuffles_agree():
    methods = dict.fromkeys(page.ECE_COLUMNS.values(), MEASURES)
    records = [
        {"data": "mnist", "model": "rf", "methods": methods | {page.RANGED: MEASURES | {"ECE": e}}}
        for e in np.linspace(0.2, 0.6, 10)
    ]
    for found in (records, records[:2]):
        for name, cells in page.tables({"mnist rf [l2]": found}).items():
            stored.keep("geometric", name, cells)
    assert stored.cell("geometric/ece; mnist rf, 10; separation, Iso") == "0.40 (0.35)"
    assert stored.cell("geometric/ece; mnist rf, 10; its range") == "0.20 to 0.60"
    assert stored.cell("geometric/quality; mnist rf, 10; TS") == "0.2500 / 3.00 / 7.00"


def test_as_stored_takes_the_shuffles_of_the_stored_row():
    options = geometric.parsed(["--as-stored"])
    assert geometric.wanted("mnist", "rf", options) == 10
    assert geometric.wanted("mnist", "cnn", options) == 1
    assert geometric.wanted("gtsrb", "gb", options) == 2
    assert geometric.wanted("mnist", "rf", geometric.parsed([])) == 3


def test_the_check_on_unseen_data_compares_with_isotonic():
    losses = (0.5, 0.3, 0.31, 0.4, 0.2)
    records = [
        {
            "methods": {
                m: MEASURES | {"NLL": v + k}
                for m, v in zip(unseen.METHODS.values(), losses, strict=True)
            }
        }
        for k in (0.0, 0.1)
    ]
    rows = unseen.rows("some", records)
    assert [row[0] for row in rows] == ["some", "", "", "", ""]
    assert rows[0][3] == "0.5500 (0.5000 to 0.6000)"
    assert [row[-1].split(" ")[0] for row in rows] == [
        "+0.2000",
        "",
        "+0.0100",
        "+0.1000",
        "-0.1000",
    ]


@pytest.mark.usefixtures("here")
def test_gaussian_process_rows_are_stored_with_ten_folds_of_every_classifier():
    folds = [
        {"dataset": d, "classifier": c, "fold": f, "row": row, "seconds": 1.0, "ece15": 0.1}
        | {"accuracy": 0.9, "nll": 0.1 + f / 1000 - gain, "ece100": 0.01 + f / 1000}
        for d in protocol.TEST_ROWS
        for c in protocol.CLASSIFIERS
        for f in range(protocol.FOLDS)
        for row, gain in (("GPcalib", 0), ("GP, same draws", 0), ("GP full, same draws", 0.05))
    ]
    gp.keep(gp.means([*folds, {**folds[0], "row": "Temp"}]))
    assert stored.cell("gp/kitti_ece; GPcalib; AdaBoost") == "0.0145 (0.0197)"
    assert stored.cell("gp/kitti_ece; GPcalib, range over folds; AdaBoost") == "0.0100 to 0.0190"
    assert stored.cell("gp/kitti_ece; Temp; AdaBoost") == "0.0185 (0.0185)"
    assert stored.cell("gp/full; MNIST; XGBoost") == "-0.0500"


@pytest.mark.usefixtures("here")
def test_cells_of_ensembles_are_bold_where_they_are_lowest_or_surely_below():
    rng = np.random.default_rng(0)
    shape = (20, len(exploratory.NAMES), 2, 10, 3)
    scores = 0.3 + 0.001 * rng.random(shape)
    scores[:, exploratory.NAMES.index("CSTS")] -= 0.1
    cells = exploratory.cells("shifted", scores, np.full((20, 2, 10), 100))
    stored.keep("exploratory", "mnist", cells)
    heading, *body = stored.read("exploratory", "mnist")
    assert set(cells) == set(stored.names(body))
    shown = {row[0]: dict(zip(heading, row, strict=True)) for row in body}
    assert shown["CSTS"]["shifted"] == "**.2005**"
    assert shown["CSTS"]["shifted, less STS"].startswith("**-.1000 ∓ ")
    assert shown["STS"]["shifted, less STS"] == ""


def test_a_short_cell_has_a_range_where_signs_differ():
    assert halves.short([-0.01, -0.02]) == "-.015"
    assert halves.short([-0.01, 0.04]) == "**+.015** [-.010, +.040]"
    assert halves.short([-1.5, -1.0]) == "-1.250"


@pytest.mark.usefixtures("here")
def test_networks_under_noise_are_stored_beside_the_published_values():
    confidence, right = np.full(100, 0.75), np.arange(100) % 4 > 0
    result = Result(confidence, right, 0.1, None)
    found = hoki.cells("lenet-5-cifar10", [dict.fromkeys(hoki.ROWS.values(), result)] * 2)
    stored.keep("hoki", "networks", found)
    stored.keep("hoki", "published", hoki.beside(found))
    assert stored.cell("hoki/networks; LeNet-5, CIFAR-10, Hoki; its range") == "0.0000 to 0.0000"
    assert stored.cell("hoki/published; LeNet-5, CIFAR-10; Hoki") == "0.0000"
    assert stored.cell("hoki/published; LeNet-5, CIFAR-10; Hoki, published") == "0.0110"


@pytest.mark.usefixtures("here")
def test_the_summary_counts_the_outputs_where_hoki_is_lower():
    outputs = Outputs(np.eye(4), np.arange(4))
    runs = np.array([[0.02, 0.3, 0.01, 0.4, 0.0, 1.0], [0.02, 0.3, 0.03, 0.5, 0.1, 0.0]])
    _, *body = stored.read("hoki", "others")
    stored.keep("hoki", "others", {row[0]: others.cells(outputs, runs) for row in body})
    n = len(body)
    assert others.summary()[1:] == [
        ["lower ECE-15", "0", str(n)],
        ["lower log loss", "0", str(n)],
        ["splits in which the partitions cycle", str(n), str(2 * n)],
    ]
    assert stored.cell("hoki/others; AdaBoost, MNIST; ECE-15, difference") == "-0.0100 to +0.0100"


def test_views_of_an_image_stay_in_one_half():
    fit, test = others.by_image(np.repeat(np.arange(6), 3), 0)
    assert len(fit) == len(test) == 9
    assert not set(fit // 3) & set(test // 3)
