"""G18: a table that is read in parts gets the mean losses of its rows, before calibration and
after a map with steps.
"""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

#: What the report says that merging rows into cells moves a mean loss by at most.
SAID = 1e-5


def told(run, monkeypatch, rows: int, *asked: str) -> dict[str, dict[str, dict[str, float]]]:
    """The metrics by key, where tables of more than so many rows are read in parts."""
    monkeypatch.setenv("CALIBRANT_STREAMED_ROWS", str(rows))
    found = run(
        "evaluate", "log.parquet", "--risk", "risk", "--label", "happened", "--json", *asked
    )
    assert ("read in parts" in found.stderr) == (rows < 2000)
    return {row["key"]: row for row in json.loads(found.stdout)["metrics"]}


def test_g18_losses_after_a_step_map_are_those_of_the_rows(
    run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The risks lie within some ten cells, so that the steps of the map fall among the rows of a
    cell.
    """
    rng = np.random.default_rng(0)
    risk = 0.3 + 0.02 * rng.random(2050)
    happened = (rng.random(len(risk)) < np.where(risk > 0.31, 0.9, 0.1)).astype(int)
    for name, rows in (("first", slice(50)), ("log", slice(50, None))):
        pq.write_table(
            pa.table({"risk": risk[rows], "happened": happened[rows]}), tmp_path / f"{name}.parquet"
        )
    run(
        "fit",
        "first.parquet",
        "--risk",
        "risk",
        "--label",
        "happened",
        "--method",
        "isotonic",
        "-o",
        "map.calibrant",
    )
    streamed, whole = (
        told(run, monkeypatch, rows, "--calibrator", "map.calibrant") for rows in (1000, 1_000_000)
    )
    for when in ("before", "after"):
        for key in ("log_loss", "event_brier_score"):
            assert abs(streamed[key][when]["value"] - whole[key][when]["value"]) < SAID, (key, when)
