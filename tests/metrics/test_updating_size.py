"""Rows for an update: the information matrix by hand, and simulations of the fits that are
planned.
"""

import numpy as np
import pytest
from scipy import special

from calibrant._numerics.logistic import intercept_at_unit_slope, slope_and_intercept
from calibrant.errors import InputError
from calibrant.metrics import updating_size


def test_of_one_risk_the_shift_has_the_information_of_a_rate():
    """All risks 0.2: the log-odds of a share of N rows have the variance 1 / (N 0.16)."""
    size = updating_size(update="intercept", risks=[0.2], offset_width=0.4)
    assert size.rows == int(np.ceil((1.959963984540054 / 0.2) ** 2 / 0.16))
    assert size.events == int(np.ceil(0.2 * size.rows))


def test_two_risks_by_the_inverse_of_their_information():
    risks, line = np.array([0.1, 0.6]), (0.3, 0.8)
    odds = special.logit(risks)
    p = special.expit(line[0] + line[1] * odds)
    held = 0.5 * p * (1 - p)
    design = np.column_stack([np.ones(2), odds - held @ odds / held.sum()])
    covariance = np.linalg.inv((design * held[:, None]).T @ design)
    size = updating_size(
        risks=risks, intercept=line[0], slope=line[1], offset_width=0.3, slope_width=0.5
    )
    assert covariance[0, 1] == pytest.approx(0.0, abs=1e-9)
    shift, slope = size.criteria
    assert shift.rows == int(np.ceil(covariance[0, 0] * (1.959963984540054 / 0.15) ** 2))
    assert slope.rows == int(np.ceil(covariance[1, 1] * (1.959963984540054 / 0.25) ** 2))
    assert size.prevalence == pytest.approx(p.mean())


def test_simulated_updates_have_the_standard_errors_that_were_planned():
    rng, line = np.random.default_rng(0), (0.5, 0.8)
    alone = updating_size(update="intercept", normal=(-2.0, 1.2), intercept=0.5)
    both = updating_size(normal=(-2.0, 1.2), intercept=line[0], slope=line[1])
    shifts, slopes = [], []
    for _ in range(250):
        odds = rng.normal(-2.0, 1.2, max(alone.rows, both.rows))
        risk, drawn = special.expit(odds), rng.random(len(odds))
        one = slice(alone.rows)
        hit = (drawn < special.expit(0.5 + odds)).astype(float)
        shifts.append(intercept_at_unit_slope(risk[one], hit[one], np.ones(alone.rows))[0])
        hit = (drawn < special.expit(line[0] + line[1] * odds)).astype(float)
        slopes.append(slope_and_intercept(risk, hit, np.ones(len(odds)))[0][0])
    for found, planned in ((shifts, alone.criteria[0]), (slopes, both.criteria[1])):
        assert np.std(found) == pytest.approx(planned.standard_error, rel=3 / np.sqrt(2 * 249))
    assert both.rows == max(one.rows for one in both.criteria)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"update": "all", "normal": (0, 1)}, "update must be"),
        ({"normal": (0, 1), "offset_width": -1.0}, "offset_width must be a finite number above 0"),
        (
            {"normal": (0, 1), "slope_width": float("nan")},
            "slope_width must be a finite number above 0",
        ),
        ({}, "distribution of risks is unknown"),
    ],
)
def test_bad_input_is_refused(given, said):
    with pytest.raises(InputError, match=said):
        updating_size(**given)
