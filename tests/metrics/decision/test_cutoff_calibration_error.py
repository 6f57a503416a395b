import numpy as np
import pytest

from calibrant import metrics

cutoff = metrics.cutoff_calibration_error
RNG = np.random.default_rng(0)
P = np.round(RNG.random(80), 2)
Y = (RNG.random(80) < P**2).astype(int)


def test_equals_the_largest_gap_over_all_intervals():
    ends = np.unique(P)
    gaps = [abs(np.sum((Y - P)[(a <= P) & (b >= P)])) / 80 for a in ends for b in ends if a <= b]
    assert cutoff(Y, P) == pytest.approx(max(gaps), abs=1e-12)


def test_decisions_by_cutoffs_lose_no_more():
    """Acting above t has payoff y - t: nobody who moves the cutoff by the scores' own account
    gains more than the error.
    """
    error = cutoff(Y, P)
    for t in np.linspace(0, 1, 21):
        said = max(np.sum((P - t)[a <= P]) for a in np.unique(P)) / 80
        got = np.sum((Y - t)[t <= P]) / 80
        assert abs(said - got) <= error + 1e-12


def test_the_grid_is_within_what_is_said():
    share = np.bincount((P * 16).astype(int).clip(0, 15), minlength=16).max() / 80
    assert 0.0 <= cutoff(Y, P) - cutoff(Y, P, cells=16) <= 2 * share


def test_it_is_at_least_the_ks_error():
    assert cutoff(Y, P) >= metrics.ks_calibration_error(Y, P, target="event") - 1e-12
