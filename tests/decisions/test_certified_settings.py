import numpy as np
import pytest
from scipy import stats

from calibrant.decisions import certified_settings
from calibrant.errors import InputError
from calibrant.testing import check_guarantee

LOW = np.linspace(0.01, 0.6, 40)


def drawn(n, seed):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return p, rng.random(n) < p


def missed(p, event):
    """Of rows with the event, those below each threshold."""
    return np.where(event[:, None], p[:, None] < LOW, np.nan)


def alarms(p, event):
    return np.where(event[:, None], np.nan, p[:, None] >= 1.0 - LOW)


def test_p_values_are_the_binomial_tails():
    p, event = drawn(300, 0)
    found = certified_settings(missed(p, event), 0.1, 0.9)
    errors = (p[event][:, None] < LOW).sum(axis=0)
    np.testing.assert_allclose(found.p_values, stats.binom.cdf(errors, event.sum(), 0.1))
    assert found.settings.tolist() == list(range(int(np.argmax(found.p_values > 0.1))))
    np.testing.assert_allclose(found.losses[0], errors / event.sum())


def test_all_certified_settings_together_keep_the_risk():
    """The truth: a miss at t has a probability of t^2."""
    worst = []
    for seed in range(600):
        found = certified_settings(missed(*drawn(400, seed)), 0.05, 0.8, n_starts=1)
        worst.append(float(LOW[found.settings].max() ** 2) if len(found.settings) else 0.0)
    check_guarantee(found.guarantee, worst)
    assert np.mean(worst) > 0.02


def test_of_several_risks_all_hold():
    p, event = drawn(1000, 0)
    one, other = (
        certified_settings(missed(p, event), 0.05),
        certified_settings(alarms(p, event), 0.02),
    )
    both = certified_settings([missed(p, event), alarms(p, event)], [0.05, 0.02])
    np.testing.assert_array_equal(both.p_values, np.maximum(one.p_values, other.p_values))
    assert set(both.settings) <= set(one.settings) & set(other.settings)
    assert "0.02" in str(both.guarantee)


def test_starts_find_good_settings_behind_bad_ones():
    rng = np.random.default_rng(0)
    losses = rng.random((500, 6)) < np.array([0.5, 0.5, 0.5, 0.01, 0.01, 0.5])
    assert certified_settings(losses, 0.1).settings.tolist() == []
    assert certified_settings(losses, 0.1, n_starts=2).settings.tolist() == [3, 4]


def test_losses_between_and_weights():
    rng = np.random.default_rng(0)
    losses, weight = rng.beta(1, 30, (200, 3)), rng.integers(0, 3, 200)
    weighted, repeated = (
        certified_settings(losses, 0.1, sample_weight=weight),
        certified_settings(np.repeat(losses, weight, axis=0), 0.1),
    )
    np.testing.assert_allclose(weighted.p_values, repeated.p_values)
    assert weighted.settings.tolist() == [0, 1, 2]
    assert certified_settings(np.full((5, 2), np.nan)).settings.tolist() == []


@pytest.mark.parametrize(
    ("losses", "options", "match"),
    [
        (np.full((5, 2), 1.5), {}, r"losses must be \(n, m\) numbers in \[0, 1\]"),
        (np.zeros(5), {}, "losses must be"),
        (np.zeros((5, 2)), {"risk": [0.1, 0.1]}, "risk must be one number"),
        (np.zeros((5, 2)), {"risk": 0.0}, "risk must be above 0"),
        (np.zeros((5, 2)), {"n_starts": 0}, "n_starts"),
    ],
)
def test_what_cannot_be(losses, options, match):
    with pytest.raises(InputError, match=match):
        certified_settings(losses, **options)


def test_risks_may_be_an_array_and_no_losses_are_refused():
    tables = [np.zeros((100, 2)), np.zeros((100, 2))]
    assert (
        certified_settings(tables, np.array([0.1, 0.2])).guarantee
        == certified_settings(tables, [0.1, 0.2]).guarantee
    )
    with pytest.raises(InputError, match="losses must be"):
        certified_settings([])
