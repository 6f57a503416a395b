"""Rows for validation: published results to their digits, formulas by hand, simulations of what
is promised.
"""

import numpy as np
import pytest
from scipy import special

from calibrant._numerics.logistic import slope_and_intercept
from calibrant._numerics.planning import class_laws, normal_law, true_rates
from calibrant.errors import InputError
from calibrant.metrics import (
    calibration_slope,
    event_auroc,
    observed_expected_ratio,
    validation_size,
)

#: The first example in the manuals of pmvalsampsize for R, Stata and Python: mechanical heart valve
#: failure.
VALVES = {"prevalence": 0.018, "auroc": 0.8, "oe_width": 1.0}


def _rows(size):
    return {one.name: one.rows for one in size.criteria}


def test_the_packages_first_example_to_its_printed_digits():
    """docs/example.ipynb of pmvalsampsize for Python prints 905, 4544, 4252 and 82 events; it
    draws a million log-odds with this seed.
    """
    drawn = np.random.RandomState(123456).normal(-5.0, 2.5, 1_000_000)
    size = validation_size(**VALVES, risks=special.expit(drawn), rounding="pmvalsampsize")
    assert _rows(size) == {"O/E": 905, "calibration slope": 4544, "AUROC": 4252}
    assert (size.rows, size.events) == (4544, 82)
    assert [round(one.standard_error, 3) for one in size.criteria] == [0.246, 0.051, 0.026]
    # Its draws have a standard deviation of 10 rows about the exact answer.
    assert abs(_rows(validation_size(**VALVES, normal=(-5, 2.5)))["calibration slope"] - 4544) < 30


def test_the_packages_example_of_beta_distributed_risks():
    """Its test suite has 905, 1644, 4252 and a final 4252."""
    size = validation_size(**VALVES, beta=(0.5, 0.5), rounding="pmvalsampsize")
    assert _rows(size) == {"O/E": 905, "calibration slope": 1644, "AUROC": 4252}
    assert size.rows == 4252


def test_the_standard_errors_of_the_paper():
    """The cases of Riley et al. (2021), section 3.1.1, where (1 - p) / (p SE^2) is 3460.2, 384.5
    and 293.9; rows are rounded up.
    """
    for prevalence, error, rows in ((0.1, 0.051, 3461), (0.5, 0.051, 385), (0.1, 0.175, 294)):
        width = 2.0 * np.sinh(1.96 * error)
        found = validation_size(
            prevalence=prevalence,
            auroc=0.7,
            oe_width=width,
            slope_width=None,
            auroc_width=None,
            rounding="pmvalsampsize",
        )
        assert _rows(found) == {"O/E": rows}


def test_net_benefit_of_the_paper():
    """The case of section 3.4.1: sensitivity 0.6, specificity 0.88 at a threshold of 0.8 and 72
    % events, 545.5 rows for SE 0.051.
    """
    given = {
        "prevalence": 0.72,
        "auroc": 0.8,
        "threshold": 0.8,
        "sensitivity": 0.6,
        "specificity": 0.88,
    }
    only = {"oe_width": None, "slope_width": None, "auroc_width": None}
    assert _rows(validation_size(**given, **only, rounding="pmvalsampsize")) == {
        "standardised net benefit": 546
    }
    w = 0.28 / 0.72 * 4.0
    by_hand = (0.24 / 0.72 + w**2 * 0.88 * 0.12 / 0.28 + w**2 * 0.0144 / (0.72 * 0.28)) / (
        0.1 / 1.959963984540054
    ) ** 2
    size = validation_size(**given, **only)
    assert size.rows == int(np.ceil(by_hand))
    assert size.driver.value == pytest.approx(0.6 - 0.12 * w)


def test_the_auroc_is_the_fewest_rows_whose_interval_is_narrow_enough():
    def width(n, c, events):
        inner = 1 + (n / 2 - 1) * ((1 - c) / (2 - c)) + (n / 2 - 1) * c / (1 + c)
        return (
            2 * 1.959963984540054 * np.sqrt(c * (1 - c) * inner / (n * n * events * (1 - events)))
        )

    for c, events in ((0.8, 0.018), (0.7, 0.1), (0.95, 0.5), (0.6, 0.3)):
        n = _rows(validation_size(prevalence=events, auroc=c))["AUROC"]
        assert width(n, c, events) <= 0.1 < width(n - 1, c, events)


def test_prevalence_and_auroc_are_those_of_the_risks_where_they_are_not_given():
    rng = np.random.default_rng(1)
    risks = special.expit(rng.normal(-2.0, 1.3, 400))
    size = validation_size(risks=risks)
    pairs = risks[:, None], risks
    better = ((pairs[0] > pairs[1]) + 0.5 * (pairs[0] == pairs[1])) * risks[:, None] * (1 - risks)
    by_pairs = better.sum() / (risks.sum() * (1 - risks).sum())
    assert size.prevalence == pytest.approx(risks.mean())
    assert size.criteria[2].value == pytest.approx(by_pairs)


def test_forms_of_one_distribution_agree():
    rng = np.random.default_rng(2)
    exact = validation_size(beta=(2.0, 5.0))
    drawn = validation_size(risks=rng.beta(2.0, 5.0, 200_000))
    assert drawn.rows == pytest.approx(exact.rows, rel=0.02)
    odds, share = class_laws(0.2, 0.8)
    assert share @ special.expit(odds) == pytest.approx(0.2, abs=1e-12)
    assert _rows(validation_size(prevalence=0.2, auroc=0.8))["calibration slope"] > 0


def test_a_slope_below_1_needs_fewer_rows_and_the_shift_counts():
    """Log-odds that say too much are worth less of a slope: p (1 - p) stays larger. Checked
    against the matrix inverse.
    """
    odds, share = normal_law(-1.0, 1.5)
    for line in ((0.0, 1.0), (0.4, 0.7), (-1.0, 1.2)):
        p = special.expit(line[0] + line[1] * odds)
        design = np.column_stack([np.ones_like(odds), odds])
        covariance = np.linalg.inv((design * (share * p * (1 - p))[:, None]).T @ design)
        rows = covariance[1, 1] / (0.1 / 1.959963984540054) ** 2
        assert _rows(validation_size(normal=(-1.0, 1.5), intercept=line[0], slope=line[1]))[
            "calibration slope"
        ] == int(np.ceil(rows))


def _deviation(values):
    """(standard deviation, its own standard error) of simulated estimates."""
    return np.std(values, ddof=1), np.std(values, ddof=1) / np.sqrt(2 * (len(values) - 1))


def test_simulated_slopes_have_the_standard_error_that_was_planned():
    rng, size = (
        np.random.default_rng(3),
        validation_size(normal=(-1.0, 1.5), slope_width=0.4, oe_width=None, auroc_width=None),
    )
    found = []
    for _ in range(300):
        risk = special.expit(rng.normal(-1.0, 1.5, size.rows))
        hit = (rng.random(size.rows) < risk).astype(float)
        found.append(slope_and_intercept(risk, hit, np.ones(size.rows))[0][0])
    deviation, error = _deviation(found)
    assert abs(deviation - size.driver.standard_error) < 3 * error


def test_simulated_ratios_and_net_benefits_have_the_standard_error_that_was_planned():
    rng = np.random.default_rng(4)
    size = validation_size(
        prevalence=0.1, auroc=0.8, oe_width=0.3, slope_width=None, auroc_width=None, threshold=0.15
    )
    ratio, benefit = size.criteria
    deviation, error = _deviation(np.log(rng.binomial(ratio.rows, 0.1, 4000) / (0.1 * ratio.rows)))
    assert abs(deviation - ratio.standard_error) < 3 * error
    odds, share = class_laws(0.1, 0.8)
    sensitivity, specificity = true_rates(odds, special.expit(odds), share, 0.15)
    events = rng.binomial(benefit.rows, 0.1, 4000)
    true, false = (
        rng.binomial(events, sensitivity),
        rng.binomial(benefit.rows - events, 1 - specificity),
    )
    deviation, error = _deviation((true - false * 0.15 / 0.85) / events)
    assert abs(deviation - benefit.standard_error) < 3 * error


def test_simulated_aurocs_have_the_standard_error_that_was_planned():
    rng = np.random.default_rng(5)
    size = validation_size(
        prevalence=0.3, auroc=0.75, auroc_width=0.15, oe_width=None, slope_width=None
    )
    shift, found = np.sqrt(2.0) * special.ndtri(0.75), []
    for _ in range(400):
        hit = (rng.random(size.rows) < 0.3).astype(int)
        found.append(event_auroc(hit, special.expit(rng.normal(shift * hit))))
    deviation, error = _deviation(found)
    # Newcombe's formula is of exponential scores; of normal ones it is a little large.
    assert (
        -0.02 * size.driver.standard_error - 3 * error
        < size.driver.standard_error - deviation
        < 0.1 * size.driver.standard_error + 3 * error
    )


def test_who_collects_as_many_rows_gets_intervals_as_narrow_as_planned():
    """Journey: the plan's rows are collected in the world it was made for, and calibrant's own
    intervals are looked at.
    """
    rng, widths = np.random.default_rng(7), {"O/E": 0.3, "calibration slope": 0.4, "AUROC": 0.08}
    size = validation_size(normal=(-1.5, 1.2), oe_width=0.3, slope_width=0.4, auroc_width=0.08)
    metrics = {
        "O/E": observed_expected_ratio,
        "calibration slope": calibration_slope,
        "AUROC": event_auroc,
    }
    for one in size.criteria:
        found = []
        for _ in range(15):
            risk = special.expit(rng.normal(-1.5, 1.2, one.rows))
            interval = metrics[one.name].interval((rng.random(one.rows) < risk).astype(int), risk)
            found.append(interval.high - interval.low)
        assert np.mean(found) == pytest.approx(widths[one.name], rel=0.07), one.name


@pytest.mark.slow
def test_simulated_slopes_of_many_laws():
    rng = np.random.default_rng(6)
    for mean, spread, line in (
        (-5.0, 2.5, (0.0, 1.0)),
        (-2.0, 1.0, (0.3, 0.8)),
        (0.5, 0.7, (0.0, 1.2)),
    ):
        size = validation_size(
            normal=(mean, spread), intercept=line[0], slope=line[1], oe_width=None, auroc_width=None
        )
        found = []
        for _ in range(1000):
            odds = rng.normal(mean, spread, size.rows)
            hit = (rng.random(size.rows) < special.expit(line[0] + line[1] * odds)).astype(float)
            found.append(slope_and_intercept(special.expit(odds), hit, np.ones(size.rows))[0][0])
        deviation, error = _deviation(found)
        assert abs(deviation - size.driver.standard_error) < 3 * error


def test_the_answer_reads_as_a_sentence_and_as_a_dictionary():
    size = validation_size(**VALVES, normal=(-5, 2.5))
    said = str(size)
    assert said.startswith(
        "4,554 rows with 82 events (0.018 of the rows) are needed: the 95 % interval of the"
        " calibration slope"
    )
    assert "906 for the O/E (width 1)" in said
    assert "implies a share of events of 0.0523, not 0.018" in said
    told = size.to_dict()
    assert told["rows"] == 4554
    assert told["criteria"]["AUROC"] == {
        "rows": 4252,
        "value": 0.8,
        "standard_error": pytest.approx(0.02551, abs=1e-5),
        "width": 0.1,
    }
    assert validation_size(prevalence=0.2, auroc=0.8).caution is None


BAD = {
    "no distribution": ({"prevalence": 0.1}, "distribution of risks is unknown"),
    "two distributions": (
        {"risks": [0.1, 0.2], "normal": (0, 1)},
        "one form; got risks and normal",
    ),
    "percent": (
        {"prevalence": 18, "auroc": 0.8},
        "prevalence must lie strictly between 0 and 1; got 18",
    ),
    "auroc": ({"prevalence": 0.1, "auroc": 0.5}, "auroc must be above 0.5"),
    "certain risks": ({"risks": [0.0, 0.5]}, "risks must lie strictly between 0 and 1"),
    "deviation": (
        {"normal": (0, 0)},
        "standard deviation in normal must be a finite number above 0",
    ),
    "three": ({"normal": (0, 1, 2)}, "normal must be two finite numbers"),
    "beta": ({"beta": (1, -1)}, "second of beta must be"),
    "width": ({"normal": (0, 1), "slope_width": 0}, "slope_width must be a finite number above 0"),
    "no width": (
        {"normal": (0, 1), "oe_width": None, "slope_width": None, "auroc_width": None},
        "at least one width",
    ),
    "one rate": ({"normal": (0, 1), "threshold": 0.1, "sensitivity": 0.5}, "passed together"),
    "a rate": (
        {"normal": (0, 1), "threshold": 0.1, "sensitivity": 0.5, "specificity": 1.5},
        "must lie in",
    ),
    "threshold": ({"normal": (0, 1), "threshold": 1.0}, "threshold must lie strictly between"),
    "level": ({"normal": (0, 1), "level": 95}, "level must be between 0 and 1"),
    "rounding": ({"normal": (0, 1), "rounding": "R"}, "rounding must be"),
}


@pytest.mark.parametrize(("given", "said"), BAD.values(), ids=BAD)
def test_bad_input_is_refused(given, said):
    with pytest.raises(InputError, match=said):
        validation_size(**given)
