"""The closed test: the tests by hand, its level, its power, and edges."""

import numpy as np
import pytest
from scipy import optimize, special, stats

import calibrant as cb
from calibrant.errors import InputError

LINES = {"nothing": (0.0, 1.0), "intercept": (-0.8, 1.0), "intercept and slope": (0.0, 0.5)}


def _drawn(rng, n, line=(0.0, 1.0), bend=0.0):
    odds = rng.normal(-1.0, 1.3, n)
    return special.expit(odds), (
        rng.random(n) < special.expit(line[0] + line[1] * odds + bend * odds**2)
    ).astype(int)


def _loss(theta, design, hit):
    z = design @ theta
    return np.sum(np.logaddexp(0, z) - hit * z)


def test_its_p_values_are_those_of_likelihood_ratios_by_a_general_optimiser():
    score, hit = _drawn(np.random.default_rng(0), 400, (0.5, 0.6), 0.15)
    m = cb.calibrators.ClosedTest(alpha=1e-12).fit(score, hit)
    loose = cb.calibrators.ClosedTest(alpha=0.999).fit(score, hit)
    odds, k = special.logit(score), np.quantile(special.logit(score), [0.05, 0.35, 0.65, 0.95])
    assert loose.knots_ == pytest.approx(k)
    cube = [np.maximum(odds - one, 0) ** 3 for one in k]
    curved = [
        cube[j] - cube[2] * (k[3] - k[j]) / (k[3] - k[2]) + cube[3] * (k[2] - k[j]) / (k[3] - k[2])
        for j in (0, 1)
    ]
    design = np.column_stack([np.ones(400), odds, *(one / 10 for one in curved)])
    best = {0: _loss(np.array([0.0, 1.0]), design[:, :2], hit)}
    best[1] = optimize.minimize_scalar(lambda a: _loss(np.array([a, 1.0]), design[:, :2], hit)).fun
    for d in (2, 4):
        best[d] = optimize.minimize(
            _loss, np.zeros(d), (design[:, :d], hit), method="BFGS", options={"gtol": 1e-7}
        ).fun
    wanted = [stats.chi2.sf(2 * (best[d] - best[4]), 4 - d) for d in (0, 1, 2)]
    assert m.p_values_["nothing"] == pytest.approx(wanted[0], rel=1e-4)
    assert list(loose.p_values_.values()) == pytest.approx(wanted[: len(loose.p_values_)], rel=1e-4)
    assert m.chosen_ == next(name for name, p in m.p_values_.items() if p > 1e-12)


def test_a_model_that_is_not_changed_keeps_every_bit():
    score, hit = _drawn(np.random.default_rng(5), 400)
    m = cb.calibrators.ClosedTest(alpha=1e-6).fit(score, hit)
    assert (m.chosen_, list(m.p_values_)) == ("nothing", ["nothing"])
    assert m.predict(score).tolist() == score.tolist()


@pytest.mark.parametrize(("wanted", "line"), LINES.items())
def test_with_many_rows_it_finds_what_is_wrong(wanted, line):
    score, hit = _drawn(np.random.default_rng(1), 8000, line)
    m = cb.calibrators.ClosedTest(alpha=0.001).fit(score, hit)
    assert m.chosen_ == wanted
    assert m.coefficients_ == pytest.approx(line, abs=0.12)
    assert m.predict(score) == pytest.approx(
        special.expit(line[0] + line[1] * special.logit(score)), abs=0.03
    )


def test_a_bend_asks_for_the_flexible_curve():
    score, hit = _drawn(np.random.default_rng(2), 8000, (0.2, 1.0), -0.25)
    m = cb.calibrators.ClosedTest().fit(score, hit)
    assert m.chosen_ == "flexible"
    assert len(m.coefficients_) == 4
    odds = special.logit(score)
    assert np.mean(np.abs(m.predict(score) - special.expit(0.2 + odds - 0.25 * odds**2))) < 0.02
    calibrator = cb.OneVsRest(cb.calibrators.ClosedTest()).fit(score, hit)
    assert "nan" not in cb.export.to_json(calibrator).lower()
    assert "inf" not in cb.export.to_c(calibrator).lower().replace("info", "")


def test_who_updates_by_it_leaves_calibrated_models_alone_and_repairs_others():
    """Journey: of 300 calibrated samples about 5 % are changed; of as many with too high risks
    nearly all become better, none by a curve
    more than the test's level."""
    rng, changed, better, curved = np.random.default_rng(3), 0, 0, 0
    for _ in range(300):
        changed += cb.calibrators.ClosedTest().fit(*_drawn(rng, 300)).chosen_ != "nothing"
        score, hit = _drawn(rng, 300, (-0.8, 1.0))
        m, truth = (
            cb.calibrators.ClosedTest().fit(score, hit),
            special.expit(special.logit(score) - 0.8),
        )
        better += np.mean((m.predict(score) - truth) ** 2) < np.mean((score - truth) ** 2)
        curved += m.chosen_ not in ("nothing", "intercept")
    assert abs(changed / 300 - 0.05) < 3 * np.sqrt(0.05 * 0.95 / 300)
    assert better / 300 > 0.9
    assert curved / 300 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


def test_one_class_and_separated_rows_give_finite_maps():
    for score, hit in (
        ([0.2, 0.4, 0.6, 0.8] * 10, [1] * 40),
        ([0.1] * 30 + [0.9] * 30, [0] * 30 + [1] * 30),
        ([0.5], [1]),
    ):
        m = cb.calibrators.ClosedTest().fit(score, hit)
        assert np.isfinite(m.predict([0.0, 0.3, 1.0])).all()
    assert cb.calibrators.ClosedTest().fit([0.2, 0.4, 0.6, 0.8] * 10, [1] * 40).chosen_ != "nothing"


def test_constant_scores_can_only_be_shifted():
    m = cb.calibrators.ClosedTest().fit([0.5] * 100, [1] * 80 + [0] * 20)
    assert m.predict([0.5]) == pytest.approx(0.8, abs=0.01)


def test_a_level_outside_0_and_1_is_refused():
    with pytest.raises(InputError, match=r"alpha must be between 0 and 1; got 5; 0\.05 is usual"):
        cb.calibrators.ClosedTest(alpha=5).fit([0.2, 0.8], [0, 1])
