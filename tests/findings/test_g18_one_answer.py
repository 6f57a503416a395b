"""G18: a table gets the same answer from Python and the shell, in one file or in several."""

import json

import numpy as np
import pytest

import calibrant as cb

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def log(tmp_path):
    """A table of scores and outcomes, as one file and as a folder of two."""
    rng = np.random.default_rng(0)
    score = rng.beta(2.0, 5.0, 3000)
    table = pa.table({"score": score, "y": (rng.random(3000) < score**1.3).astype(int)})
    pq.write_table(table, tmp_path / "log.parquet")
    (tmp_path / "logs").mkdir()
    for i, part in enumerate((table[:1000], table[1000:])):
        pq.write_table(part, tmp_path / "logs" / f"{i}.parquet")
    return table


def test_g18_python_and_the_shell_answer_the_same_question(log, run):
    told = json.loads(
        run("evaluate", "log.parquet", "--risk", "score", "--label", "y", "--json").stdout
    )
    found = cb.evaluate(log, probabilities="score", label="y").overall()
    shared = ("log_loss", "event_brier_score", "observed_expected_ratio", "event_ece")
    want = {row["key"]: row["before"]["value"] for row in told["metrics"] if row["key"] in shared}
    assert sorted(want) == sorted(shared)
    assert {key: found.get(key) for key in shared} == pytest.approx(want, abs=1e-9)


@pytest.mark.parametrize("name", ["logs", "logs/*.parquet"])
def test_g18_a_folder_is_told_of_as_a_file_is(name, log, run):
    asked = ("--risk", "score", "--label", "y")
    assert run("evaluate", name, *asked).stdout == run("evaluate", "log.parquet", *asked).stdout
