"""H14: an interval of a rare rate is hardly wider than the exact one of the labels, and "as from"
says what the printed interval says.
"""

import re

import numpy as np
import pytest
from scipy import stats

import calibrant as cb


def exact(hits, n):
    return stats.beta.ppf(0.025, hits, n - hits + 1), stats.beta.ppf(0.975, hits + 1, n - hits)


@pytest.mark.parametrize(("hits", "n"), [(2, 199), (1, 50), (5, 100), (95, 100), (3, 400)])
def test_a_rare_rate_is_hardly_wider_than_the_labels_alone(hits, n):
    labels = np.full(4_000, np.nan)
    labels[:n] = np.arange(n) < hits
    judge = np.random.default_rng(0).random(4_000)
    found = cb.estimate_rate(judge=judge, labels=labels)
    low, high = exact(hits, n)
    assert found.high - found.low <= 1.05 * (high - low)
    assert found.low == pytest.approx(low, abs=0.1 * (high - low))
    assert found.high == pytest.approx(high, abs=0.1 * (high - low))


def test_as_from_is_that_of_the_printed_interval():
    rng = np.random.default_rng(0)
    for passes in (0.0, 0.02, 0.3, 0.9):
        y = (rng.random(3_000) < 0.03).astype(float)
        judge = np.where(rng.random(3_000) < passes, 1.0, y)
        labels = np.where(np.arange(3_000) < 300, y, np.nan)
        found = cb.estimate_rate(judge=judge, labels=labels)
        wide, alone = found.high - found.low, found.classical[2] - found.classical[1]
        assert wide <= alone * 1.0001
        said = float(re.search(r"as from ([\d,]+) labels", str(found))[1].replace(",", ""))
        assert said == pytest.approx(300 * (alone / wide) ** 2, abs=1.0)
