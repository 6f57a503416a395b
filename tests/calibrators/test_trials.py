"""Candidates tried by folds: what fails is left out with a reason, and nobody sees the rows held
out.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant.calibrators import auto, candidates, held_out
from calibrant.calibrators.candidates import CANDIDATES, Candidate
from calibrant.calibrators.held_out import HeldOut, canonical, fitted, tried
from calibrant.core.calibrator import Calibrator, Tags
from calibrant.core.predictions import read
from calibrant.errors import InputError


def problem(n=400, seed=0):
    """Predictions of two classes that are too sure, and of what group each row is: the log-odds
    are off by 2 in one of them.
    """
    rng = np.random.default_rng(seed)
    z, group = rng.normal(size=n), rng.integers(0, 2, n)
    y = (rng.uniform(size=n) < 1.0 / (1.0 + np.exp(-z - 2.0 * group))).astype(int)
    return 1.0 / (1.0 + np.exp(-1.5 * z)), y, group


class _Fails(Calibrator):
    """Fits only what holds every row."""

    def _fit(self, record):
        if len(record) < 400:
            raise InputError("rows are missing.")

    def _predict_proba(self, record):
        return record.probabilities


class _ByColumn(Calibrator):
    """The rate of each value of the first feature, or of the groups."""

    def _values(self, record):
        return np.asarray(record.groups) if self.tags.uses_groups else np.asarray(record.X)[:, 0]

    def _fit(self, record):
        values = self._values(record)
        self.rate_ = {
            v: np.average(record.labels[values == v], weights=record.weights[values == v])
            for v in np.unique(values)
        }

    def _predict_proba(self, record):
        rate = np.array([self.rate_[v] for v in self._values(record)])
        return np.column_stack([1.0 - rate, rate])


class ByFeature(_ByColumn):
    tags = Tags(uses_features=True)


class ByGroup(_ByColumn):
    tags = Tags(uses_groups=True)


def test_what_fails_in_a_fold_is_left_out_with_its_reason():
    p, y, _ = problem()
    pieces = canonical(read(p, y))
    folds = np.arange(400) % 4
    pool = [CANDIDATES[0], Candidate("fails", _Fails, 1.0), CANDIDATES[3]]
    assert [*fitted(pool, pieces.record)[0]] == [
        "uncalibrated",
        "fails",
        "temperature scaling",
    ]
    said = []
    summary, notes = tried(pool, pieces, folds, "log_loss", said.append)
    assert [one.name for one in summary.candidates] == ["uncalibrated", "temperature scaling"]
    assert notes == {"fails": "rows are missing."}
    assert summary.likelihood.shape == (2, 400)
    assert said == [f"fold {k} of 4" for k in range(1, 5)]
    fit, (held, place) = pieces.outside(folds == 1), pieces.inside(folds == 1)
    own = cb.TemperatureScaling().fit_record(fit).predict_record(held)
    np.testing.assert_allclose(
        summary.likelihood[1, folds == 1], own[place, pieces.labels[folds == 1]], atol=1e-6
    )


@pytest.mark.parametrize("grouped", [False, True])
def test_many_rows_are_judged_by_part_of_them_and_all_are_fitted(monkeypatch, grouped):
    rng = np.random.default_rng(0)
    z = rng.normal(size=2_000)
    p, y = 1.0 / (1.0 + np.exp(-3.0 * z)), (rng.logistic(size=2_000) < z).astype(int)
    cluster, seen = np.arange(2_000) // 4 if grouped else None, []
    monkeypatch.setattr(auto, "EVIDENCE_ROWS", 150)
    monkeypatch.setattr(
        held_out, "HeldOut", lambda *given: seen.append(HeldOut(*given)) or seen[-1]
    )
    names = ["temperature scaling", "structured vector scaling"]
    cal = cb.AutoCalibrator(methods=names).fit(p, y, cluster=cluster)
    assert 140 <= len(seen[0].weight) <= 170
    assert np.isfinite(seen[0].likelihood).all()
    # The members are those of all rows, although few rows judged them.
    found = [m.temperature_ for m in cal.members_ if isinstance(m, cb.TemperatureScaling)]
    assert found == [pytest.approx(cb.TemperatureScaling().fit(p, y).temperature_, rel=1e-6)]
    assert cal.n_fit_ == 2_000
    order = rng.permutation(2_000)
    cluster = cluster if cluster is None else cluster[order]
    again = cb.AutoCalibrator(methods=names).fit(p[order], y[order], cluster=cluster)
    np.testing.assert_array_equal(cal.weights_, again.weights_)


@pytest.fixture
def pool(monkeypatch):
    more = (
        *CANDIDATES,
        Candidate("by feature", ByFeature, 1.0),
        Candidate("by group", ByGroup, 1.0),
    )
    for module in (auto, candidates):
        monkeypatch.setattr(module, "CANDIDATES", more)


@pytest.mark.parametrize(("name", "candidate"), [("X", "by feature"), ("groups", "by group")])
def test_a_candidate_that_uses_what_is_given_joins_by_one_line(pool, name, candidate):
    p, y, group = problem(2000)
    # What is known of the rows says more than the predictions here.
    beside = {name: group[:, None] if name == "X" else [("a", "b")[g] for g in group]}
    methods = ["temperature scaling", candidate]
    cal = cb.AutoCalibrator(methods=methods).fit(np.full(2000, 0.5), y, **beside)
    assert {row["name"]: row["weight"] for row in cal.table_}[candidate] > 0.9
    Q = cal.predict_proba([0.5, 0.5], **{name: beside[name][:2]})
    assert abs(Q[0, 1] - Q[1, 1]) > 0.2 or group[0] == group[1]
    without = cb.AutoCalibrator(methods=methods).fit(p, y)
    assert candidate not in {row["name"] for row in without.table_}
    with pytest.raises(InputError, match=f"{name} was not passed to the fit"):
        without.predict_proba(p, **beside)
    with pytest.raises(InputError, match="unlabeled"):
        cb.AutoCalibrator().fit(p, y, unlabeled=p, **beside)


def test_rows_of_weight_0_take_their_groups_with_them(pool):
    p, y, group = problem(600)
    weight = (np.arange(600) % 3 > 0).astype(float)
    kept = weight > 0
    cal = cb.AutoCalibrator(methods=["by group"]).fit(p, y, groups=group, sample_weight=weight)
    same = cb.AutoCalibrator(methods=["by group"]).fit(p[kept], y[kept], groups=group[kept])
    np.testing.assert_allclose(
        cal.predict_proba(p, groups=group), same.predict_proba(p, groups=group), atol=1e-12
    )


def test_a_fit_does_not_ask_for_what_the_one_before_it_used():
    p, y, group = problem(600)
    cal = cb.AutoCalibrator(methods=["offsets by group"]).fit(p, y, groups=group)
    assert cal.tags.uses_groups
    assert not cal.fit(p, y).tags.uses_groups


def test_what_no_candidate_uses_is_refused():
    p, y, group = problem()
    with pytest.raises(InputError, match="AutoCalibrator does not use X; leave it out"):
        cb.AutoCalibrator(methods=["temperature scaling"]).fit(p, y, X=group[:, None])
    with pytest.raises(InputError, match="AutoCalibrator does not use groups; leave it out"):
        cb.AutoCalibrator(methods=["temperature scaling"]).fit(p, y, groups=group)
    with pytest.raises(InputError, match="AutoCalibrator does not use groups; leave it out"):
        cb.AutoCalibrator(methods=["temperature scaling"]).fit(p, y).predict_proba(p, groups=group)
