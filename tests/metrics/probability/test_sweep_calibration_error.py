import numpy as np
import pytest

from calibrant import metrics

RNG = np.random.default_rng(3)
P = RNG.random(240)
Y = (RNG.random(240) < P).astype(int)


def swept(y, p):
    """The search written out for rows without ties and 240 of them, which many numbers of bins
    divide.
    """
    order = np.argsort(p)
    best = None
    for n_bins in range(1, len(p) + 1):
        middle = (np.arange(len(p)) + 0.5) / len(p) * n_bins
        parts = [order[middle.astype(int) == b] for b in range(n_bins)]
        means = [y[part].mean() for part in parts if len(part)]
        if (np.diff(means) < 0).any():
            return best
        best = sum(abs(y[part].sum() - p[part].sum()) for part in parts if len(part)) / len(p)
    return best


def test_equals_the_search_written_out():
    assert metrics.sweep_calibration_error(Y, P, target="event") == pytest.approx(
        swept(Y, P), abs=1e-12
    )


def test_separable_rows_end_the_search():
    y = (np.arange(5000) >= 2500).astype(int)
    assert 0.0 <= metrics.sweep_calibration_error(y, np.arange(5000) / 5000, target="event") <= 0.5
