"""F46: what the pages of papers 000 and 002 claim is what their tables show, and what they lack
is named.
"""

from pathlib import Path

import pytest

PAPERS = Path(__file__).resolve().parents[2] / "benchmarks" / "papers"
GEOMETRIC = (PAPERS / "geometric" / "README.md").read_text(encoding="utf-8")
HEAD = (
    "| data, model, shuffles | uncalibrated | Iso, 1-v-r | Iso, top label | TS | ETS | separation,"
    " Iso | **combined** |"
)
SCORE_MAPS, ALONE, COMBINED = slice(0, 5), 5, 6


@pytest.fixture(scope="module")
def rows():
    """For each row of the second table, for each column its (log loss, Brier score, AURC)."""
    lines = GEOMETRIC[GEOMETRIC.index(HEAD) :].split("\n\n")[0].splitlines()[2:]
    return [
        [tuple(map(float, cell.split("/"))) for cell in line.strip("| ").split("|")[1:8]]
        for line in lines
    ]


def test_f46_how_often_separation_alone_and_combined_rank_best(rows):
    alone = [row[ALONE][2] / min(cell[2] for cell in row[SCORE_MAPS]) for row in rows]
    assert sum(ratio < 1 for ratio in alone) == 2
    assert f"in {sum(ratio < 1 for ratio in alone)} of the {len(rows)} rows" in GEOMETRIC
    assert f"{min(r for r in alone if r > 1):.2f} to {max(alone):.1f} times" in GEOMETRIC
    for measure in range(3):
        assert all(row[COMBINED][measure] < row[ALONE][measure] for row in rows)
        best = sum(
            row[COMBINED][measure] == min(cell[measure] for cell in row[: COMBINED + 1])
            for row in rows
        )
        assert f"in {best} of the {len(rows)} rows" in GEOMETRIC


def test_f46_what_is_not_among_the_data_is_named():
    for name in ("SignLang", "Fashion-MNIST", "wine", "airline"):
        assert name in GEOMETRIC[GEOMETRIC.index("## Not run here") :], name
    gp = (PAPERS / "gp" / "README.md").read_text(encoding="utf-8")
    for name in ("PCam", "ImageNet"):
        assert name in gp, name
