"""Rows of files in their order: numbers that depend on nothing but the place."""

import numpy as np
import pytest

from calibrant.errors import InputError
from calibrant.tables.apply import TableRows, row_count, row_hash
from calibrant.tables.columns import Layout

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
LAYOUT = Layout("event", ("p",), None, "y", weight="w")


class Seen:
    """Risks and numbers of rows, in order."""

    def __init__(self, parts):
        self.parts = parts

    def plus(self, other):
        return Seen(self.parts + other.parts)


@pytest.fixture
def paths(tmp_path):
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "p": rng.random(300_000).round(6),
            "y": rng.integers(0, 2, 300_000),
            "w": rng.integers(0, 2, 300_000),
        }
    )
    found = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for path, part in zip(found, (frame[:170_000], frame[170_000:]), strict=True):
        part.to_parquet(path)
    return list(map(str, found)), frame


@pytest.mark.parametrize("engine", ["polars", "duckdb", "pyarrow"])
def test_each_row_has_the_number_of_its_place(paths, engine):
    pytest.importorskip(engine)
    paths, frame = paths
    read = []
    found = TableRows(paths, LAYOUT, engine).fold(
        lambda record, number: Seen([(record.probabilities[:, 1], number)]), read.append
    )
    risk, number = (np.concatenate(column) for column in zip(*found.parts, strict=True))
    kept = frame["w"].to_numpy() > 0
    assert risk == pytest.approx(frame["p"].to_numpy()[kept], abs=1e-15)
    assert (number == row_hash(0, len(frame))[kept]).all()
    assert sum(read) == row_count(paths) == len(frame)


def test_numbers_are_spread_evenly_and_apart():
    number = row_hash(0, 1_000_000)
    assert len(np.unique(number)) == len(number)
    folds = np.bincount((number % np.uint64(5)).astype(int))
    assert np.abs(folds - 200_000).max() < 4 * np.sqrt(1_000_000 * 0.2 * 0.8)
    assert abs((number < np.uint64(2**63)).mean() - 0.5) < 4 * 0.5 / 1000
    parts = (number // np.uint64(1 << 16) % np.uint64(100)).astype(int)
    together = np.bincount(parts * 5 + (number % np.uint64(5)).astype(int))
    assert ((together - 2000.0) ** 2 / 2000.0).sum() == pytest.approx(499, abs=5 * np.sqrt(2 * 499))


def test_an_empty_table_and_a_cluster_engine_are_refused(tmp_path):
    pandas.DataFrame({"p": [0.5], "y": [1], "w": [1]})[:0].to_parquet(tmp_path / "none.parquet")
    with pytest.raises(InputError, match="no rows"):
        TableRows([str(tmp_path / "none.parquet")], LAYOUT).fold(lambda record, number: Seen([]))
