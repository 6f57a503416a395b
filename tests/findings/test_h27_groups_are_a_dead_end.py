"""H27: the automatic choice gave groups a tenth of the weight where their evidence was 4e-5, and a
report advised to calibrate by group with code that named none.
"""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

import calibrant as cb

N, COHORTS = 1_200, 8


def world(seed, spread):
    """(risks, outcomes, cohort, true risks) of rows to fit on, and of as many new ones."""
    rng = np.random.default_rng(seed)
    z, cohort = rng.normal(-1.7, 1.3, 2 * N), rng.integers(0, COHORTS, 2 * N)
    shift = np.linspace(-1.0, 1.0, COHORTS)
    true = 1.0 / (1.0 + np.exp(-z - (spread * shift / shift.std())[cohort]))
    p, y = 1.0 / (1.0 + np.exp(-z)), (rng.random(2 * N) < true).astype(int)
    return [(p[rows], y[rows], cohort[rows], true[rows]) for rows in (slice(0, N), slice(N, None))]


def loss(true, q):
    return -np.mean(true * np.log(q) + (1.0 - true) * np.log1p(-q))


def losses(seed, spread):
    """Of new rows: of the model, of the choice without and with groups, and of dummies; then the
    p-value of the likelihood ratio of the dummies.
    """
    (p, y, cohort, _), (new, _, of, true) = world(seed, spread)
    options = {"max_cost": 45.0}
    without = cb.AutoCalibrator(**options).fit(p, y)
    grouped = cb.AutoCalibrator(**options).fit(p, y, groups=cohort)

    def design(p, cohort):
        return np.column_stack([np.log(p / (1.0 - p)), np.eye(COHORTS)[cohort]])

    def fitted(X):
        model = LogisticRegression(C=1e4, max_iter=1_000).fit(X, y)
        return model, loss(y, model.predict_proba(X)[:, 1])

    dummies, after = fitted(design(p, cohort))
    _, before = fitted(design(p, cohort)[:, :1])
    return *(
        loss(true, q)
        for q in (
            new,
            without.predict_proba(new)[:, 1],
            grouped.predict_proba(new, groups=of)[:, 1],
            dummies.predict_proba(design(new, of))[:, 1],
        )
    ), stats.chi2.sf(2.0 * N * (before - after), COHORTS - 1)


@pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")
def test_h27_the_choice_is_not_behind_one_offset_a_group():
    found = np.array([losses(seed, 0.3) for seed in (0, 1, 4)])
    assert (found[:, -1] < 0.01).all()
    raw, _, grouped, dummies, _ = found.mean(axis=0)
    assert dummies < raw
    assert grouped <= dummies


@pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")
def test_h27_groups_that_do_not_differ_do_no_harm():
    found = np.array([losses(seed, 0.0) for seed in range(3)])
    _, without, grouped, *_ = found.mean(axis=0)
    assert grouped <= without * 1.001


@pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")
def test_h27_the_code_of_a_report_with_groups_names_them():
    (p, y, cohort, _), _ = world(0, 0.6)
    calibrator = cb.AutoCalibrator(methods=["temperature scaling", "offsets by group"])
    choice = cb.report(y, p, calibrator=calibrator, groups={"hospital": cohort}).to_dict()["choice"]
    assert "groups=groups_calibration" in choice["code"][1]
    assert "groups=groups_new" in choice["code"][2]
    weights = {one["name"]: one["weight"] for one in choice["candidates"]}
    assert weights["offsets by group"] > 0.9
