import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError
from calibrant.testing import check_guarantee


def several(n, rng, k=5):
    p = rng.beta(0.5, 1.0, (n, k))
    return p, (rng.random((n, k)) < p).astype(int)


def one_of(n, rng, k=4):
    P = rng.dirichlet(np.full(k, 0.5), n)
    return P, (rng.random((n, 1)) > P.cumsum(axis=1)).sum(axis=1).clip(max=k - 1)


def loss_of(rule, P, y):
    if rule.controls == "accepted_and_wrong":
        return np.mean(rule.accept(P) & (P.argmax(axis=1) != y))
    held = rule.predict_set(P)
    if rule.controls == "top_k":
        return np.mean(~held[np.arange(len(y)), y])
    return np.mean((y * ~held).sum(axis=1) / np.maximum(y.sum(axis=1), 1))


@pytest.mark.parametrize("controls", ["missed_labels", "top_k", "accepted_and_wrong"])
def test_the_expected_loss_is_at_most_the_risk_and_hardly_less(controls):
    rng, make, found = np.random.default_rng(0), several if controls == "missed_labels" else one_of, []
    for _ in range(200):
        rule = cb.ConformalRiskControl(0.1, controls).fit(*make(100, rng))
        found.append(loss_of(rule, *make(500, rng)))
    check_guarantee(rule.guarantee_, found)
    if controls != "top_k":
        assert np.mean(found) > 0.1 - 2.0 / 101.0 - 0.01


def test_the_error_among_the_accepted_is_another_number():
    rng = np.random.default_rng(1)
    P, y = one_of(20_000, rng)
    rule = cb.ConformalRiskControl(0.1, "accepted_and_wrong").fit(P, y)
    accepted = rule.accept(P)
    wrong = P.argmax(axis=1) != y
    assert np.mean(accepted & wrong) <= 0.1
    assert np.mean(wrong[accepted]) > 0.11


def test_everything_is_accepted_where_nothing_is_wrong():
    P, y = np.eye(3)[np.arange(90) % 3] * 0.7 + 0.1, np.arange(90) % 3
    rule = cb.ConformalRiskControl(0.1, "accepted_and_wrong").fit(P, y)
    assert rule.parameter_ == -np.inf
    assert rule.accept(P).all()
    assert cb.ConformalRiskControl(0.1, "top_k").fit(P, y).predict_set(P).sum(axis=1).tolist() == [1] * 90


def test_losses_of_ones_own_give_the_same():
    rng = np.random.default_rng(2)
    P, y = one_of(300, rng)
    rank = (P[np.arange(300), y][:, None] <= P).sum(axis=1)
    k = np.arange(1.0, 5.0)
    mine = cb.ConformalRiskControl(0.15).fit_losses(k, rank[:, None] > k)
    assert mine.parameter_ == cb.ConformalRiskControl(0.15, "top_k").fit(P, y).parameter_
    assert mine.guarantee_.quantity == "mean loss"


def test_weights_and_clusters():
    rng = np.random.default_rng(3)
    p, y = several(200, rng)
    weight = rng.integers(0, 3, 200)
    rows = np.repeat(np.arange(200), weight)
    a = cb.ConformalRiskControl().fit(p, y, sample_weight=weight)
    b = cb.ConformalRiskControl().fit(p[rows], y[rows])
    assert (a.parameter_, a.n_) == (b.parameter_, b.n_)
    each = cb.ConformalRiskControl().fit(np.repeat(p, 4, axis=0), np.repeat(y, 4, axis=0), cluster=np.repeat(np.arange(200), 4))
    assert (each.parameter_, each.n_, each.unit_) == (cb.ConformalRiskControl().fit(p, y).parameter_, 200.0, "clusters")


def test_it_is_saved(tmp_path):
    P, y = one_of(300, np.random.default_rng(4))
    for controls in ("top_k", "accepted_and_wrong"):
        rule = cb.ConformalRiskControl(0.1, controls, signal=cb.Margin()).fit(P, y)
        again = cb.load(rule.save(tmp_path / f"{controls}.calibrant"))
        assert loss_of(again, P, y) == loss_of(rule, P, y)
        assert again.guarantee_ == rule.guarantee_


@pytest.mark.parametrize(("make", "words"), [
    (lambda: cb.ConformalRiskControl(0.1).fit([[0.5, 0.5]] * 5, [[0, 1]] * 5), "takes 9 rows; got 5"),
    (lambda: cb.ConformalRiskControl(0.1).fit([[0.5, 0.5]] * 20, [0, 1] * 10), r"y must be \(n, K\)"),
    (lambda: cb.ConformalRiskControl(0.1).fit([[0.5, 0.5]] * 20, [[0, 2]] * 20), "in \\[0, 1\\]"),
    (lambda: cb.ConformalRiskControl(0.1).fit([[0.5, 1.5]] * 20, [[0, 1]] * 20), "in \\[0, 1\\]"),
    (lambda: cb.ConformalRiskControl(0.1, "fdr").fit([[0.5, 0.5]], [[0, 1]]), "controls must be"),
    (lambda: cb.ConformalRiskControl(0.1).fit_losses([1, 2], [[0.0, 1.0]] * 20), "must not rise"),
    (lambda: cb.ConformalRiskControl(0.1).fit_losses([1, 2], [[1.0, 1.0]] * 20), "no parameter loses"),
    (lambda: cb.ConformalRiskControl(0.1).fit_losses([2, 1], [[1.0, 1.0]] * 20), "which ascend"),
    (lambda: cb.ConformalRiskControl(0.5).fit_losses([0.2, 0.3], [[1.0, 0.0]] * 20).predict_set([[0.1, 0.9]]), "of your own; got 0.3"),
    (lambda: cb.ConformalRiskControl(0.1, "top_k").fit([[0.5, 0.5]] * 20, [0, 1] * 10).accept([[0.5, 0.5]]), "accepted_and_wrong"),
])  # fmt: skip
def test_what_is_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()
