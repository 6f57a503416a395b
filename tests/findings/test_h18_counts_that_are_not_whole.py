"""H18: sums of weights and of the shares of items need not be whole; certificates end for all."""

import numpy as np
import pytest
from scipy import stats

import calibrant as cb
from calibrant._numerics.certificates import least_rows, most_errors
from calibrant.errors import InputError


def several_rows_an_item(seed=2, n=400):
    rng = np.random.default_rng(seed)
    for item in np.sort(rng.integers(0, 60, n)).tolist():
        odds = np.exp(rng.normal(0.0, 4.0, 4))
        p = odds / odds.sum()
        probs = dict(zip("abcd", p.tolist(), strict=True))
        label = str(rng.choice(list("abcd"), p=p))
        yield {"id": item, "question": f"c{rng.integers(2)}", "probs": probs, "label": label}


def test_rules_of_a_log_with_several_rows_an_item_end():
    rules = cb.QuestionRules(0.2, 0.9, unit="log", calibrator=cb.QuestionCalibrator())
    with pytest.raises(InputError, match="items count once"):
        rules.fit(list(several_rows_an_item()))


@pytest.mark.parametrize("delta", [0.01, 0.3])
def test_the_most_errors_of_any_number_of_rows(delta):
    n = np.concatenate([np.geomspace(1e-3, 1e4, 200), np.arange(70.0), [0.0, 1e17, 3e20]])
    errors = most_errors(n, 0.2, delta)
    assert (errors == np.floor(errors)).all()
    assert (errors < np.maximum(n, 1.0)).all()
    whole = (n == np.floor(n)) & (n < 100.0)
    most, rows = errors[whole], n[whole]
    assert (stats.binom.cdf(most, rows, 0.2) <= delta).all()
    assert (stats.binom.cdf(most + 1.0, rows, 0.2) > delta).all()
    assert (np.diff(errors[:200]) >= 0.0).all()


def test_the_least_rows_of_any_number_of_errors():
    errors = np.concatenate([np.arange(50.0), [1e9]])
    rows = least_rows(errors, 0.07, 0.031)
    assert (rows == np.floor(rows)).all()
    assert (stats.binom.cdf(errors[:50], rows[:50], 0.07) <= 0.031).all()
