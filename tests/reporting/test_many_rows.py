"""A table of many rows is sorted a few times, and measuring it costs what some sorts of it do."""

import time

import numpy as np
import pytest

import calibrant as cb

ROWS = 200_000


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    risk = np.round(rng.beta(1.0, 3.0, ROWS), 6)
    return (rng.random(ROWS) < risk) * 1, risk


def measured(rows):
    return cb.report(*rows, calibrator=cb.calibrators.Identity(), page=False)


def counted(sort, sorts):
    def counting(values, *args, **options):
        sorts.extend([sort.__name__] * (np.shape(values)[-1:] >= (ROWS // 2,)))
        return sort(values, *args, **options)

    return counting


def test_rows_are_sorted_a_few_times(rows, monkeypatch):
    sorts = list[str]()
    for sort in (np.argsort, np.lexsort, np.sort, np.unique):
        monkeypatch.setattr(np, sort.__name__, counted(sort, sorts))
    measured(rows)
    # With a page it was 49, as each metric, bin and curve sorted them.
    assert 1 <= len(sorts) <= 8, sorts


def test_a_measurement_costs_some_sorts(rows):
    measured((rows[0][:500], rows[1][:500]))
    times = list[tuple[float, float]]()
    for _ in range(3):
        start = time.process_time()
        measured(rows)
        middle = time.process_time()
        for _ in range(5):
            np.argsort(rows[1])
        times.append((middle - start, 0.2 * (time.process_time() - middle)))
    whole, one = np.min(times, axis=0)
    assert whole <= 1_500.0 * one, (whole, one)
