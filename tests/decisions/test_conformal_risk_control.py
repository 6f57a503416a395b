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
    rng, make, found = (
        np.random.default_rng(0),
        several if controls == "missed_labels" else one_of,
        [],
    )
    for _ in range(200):
        rule = cb.decisions.ConformalRiskControl(0.1, controls).fit(*make(100, rng))
        found.append(loss_of(rule, *make(500, rng)))
    check_guarantee(rule.guarantee_, found)
    if controls != "top_k":
        assert np.mean(found) > 0.1 - 2.0 / 101.0 - 0.01


def test_the_error_among_the_accepted_is_another_number():
    rng = np.random.default_rng(1)
    P, y = one_of(20_000, rng)
    rule = cb.decisions.ConformalRiskControl(0.1, "accepted_and_wrong").fit(P, y)
    accepted = rule.accept(P)
    wrong = P.argmax(axis=1) != y
    assert np.mean(accepted & wrong) <= 0.1
    assert np.mean(wrong[accepted]) > 0.11


def test_everything_is_accepted_where_nothing_is_wrong():
    P, y = np.eye(3)[np.arange(90) % 3] * 0.7 + 0.1, np.arange(90) % 3
    rule = cb.decisions.ConformalRiskControl(0.1, "accepted_and_wrong").fit(P, y)
    assert rule.parameter_ == -np.inf
    assert rule.accept(P).all()
    assert (
        cb.decisions.ConformalRiskControl(0.1, "top_k")
        .fit(P, y)
        .predict_set(P)
        .sum(axis=1)
        .tolist()
        == [1] * 90
    )


def test_losses_of_ones_own_give_the_same():
    rng = np.random.default_rng(2)
    P, y = one_of(300, rng)
    rank = (P[np.arange(300), y][:, None] <= P).sum(axis=1)
    k = np.arange(1.0, 5.0)
    mine = cb.decisions.ConformalRiskControl(0.15).fit_losses(k, rank[:, None] > k)
    assert mine.parameter_ == cb.decisions.ConformalRiskControl(0.15, "top_k").fit(P, y).parameter_
    assert mine.guarantee_.quantity == "mean loss"


def test_the_first_parameter_of_small_enough_losses():
    """(sum of the losses + 1) / (n + 1) at most the risk, for losses of any size in [0, 1] that
    fall by any steps.
    """
    rng = np.random.default_rng(5)
    for n, risk in ((12, 0.2), (19, 0.1), (30, 0.35)):
        at = np.sort(rng.normal(size=8))
        lost = -np.sort(-(rng.random((n, 8)) ** 2), axis=1) * np.linspace(1.0, 0.0, 8)
        weight = rng.integers(0, 3, n)
        for w in (np.ones(n, dtype=int), weight):
            bound = (w @ lost + 1.0) / (w.sum() + 1.0)
            rule = cb.decisions.ConformalRiskControl(risk).fit_losses(at, lost, sample_weight=w)
            first = int(np.argmax(bound <= risk))
            assert rule.parameter_ == at[first]
            assert rule.mean_loss_ == pytest.approx(w @ lost[:, first] / w.sum())
    # The first parameter where it is good enough; a rise by rounding is none.
    assert (
        cb.decisions.ConformalRiskControl(0.1).fit_losses([-3.0, 2.0], [[0.0, 0.0]] * 20).parameter_
        == -3.0
    )
    assert (
        cb.decisions.ConformalRiskControl(0.2)
        .fit_losses([1.0, 2.0], [[0.01, 0.01 + 9e-13]] * 20)
        .parameter_
        == 1.0
    )
    with pytest.raises(InputError, match="row 2 rises"):
        cb.decisions.ConformalRiskControl(0.2).fit_losses(
            [1.0, 2.0, 3.0], [[0.1, 0.1, 0.1]] * 2 + [[0.01, 0.0, 1.1e-12], [0.0, 0.1, 0.0]]
        )
    with pytest.raises(InputError, match="ascending parameters"):
        cb.decisions.ConformalRiskControl(0.2).fit_losses([1.0, 1.0], [[0.1, 0.0]] * 20)
    with pytest.raises(InputError, match="each of the 3 ascending parameters"):
        cb.decisions.ConformalRiskControl(0.2).fit_losses([1.0, 2.0, 3.0], [[0.1, 0.0]] * 20)


def test_how_many_rows_a_risk_takes():
    for risk, n in ((0.1, 9), (0.5, 1), (0.3, 3), (0.01, 99)):
        assert (
            cb.decisions.ConformalRiskControl(risk)
            .fit_losses([0.0, 1.0], [[1.0, 0.0]] * n)
            .parameter_
            == 1.0
        )
        if n > 1:
            with pytest.raises(InputError, match=f"needs at least {n} rows; got {n - 1}"):
                cb.decisions.ConformalRiskControl(risk).fit_losses(
                    [0.0, 1.0], [[1.0, 0.0]] * (n - 1)
                )
    with pytest.raises(InputError, match="needs at least 19 clusters; got 10"):
        cb.decisions.ConformalRiskControl(0.05).fit_losses(
            [0.0, 1.0], [[1.0, 0.0]] * 20, cluster=np.arange(20) // 2
        )


def test_sets_and_answers_of_the_parameter_found():
    """Of ten rows the true label is second in two: one may be missed at .2, so that two are
    shown, at .3 one is.
    """
    P, y = np.array([[0.6, 0.3, 0.1]] * 10), np.array([0] * 8 + [1] * 2)
    assert [
        cb.decisions.ConformalRiskControl(risk, "top_k").fit(P, y).parameter_ for risk in (0.2, 0.3)
    ] == [
        2.0,
        1.0,
    ]
    assert cb.decisions.ConformalRiskControl(0.2, "top_k").fit(P, y).predict_set(
        [[0.2, 0.3, 0.5], [0.4, 0.4, 0.2]]
    ).tolist() == [
        [False, True, True],
        [True, True, False],
    ]
    # Answers of a confidence above that of the last mistake that must not be accepted.
    sure = np.array([0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99])
    rule = cb.decisions.ConformalRiskControl(0.2, "accepted_and_wrong").fit(
        np.column_stack([sure, 1.0 - sure]), [1, 0, 1, 0, 0, 0, 1, 0, 0, 0]
    )
    assert rule.parameter_ == pytest.approx(0.65)
    assert rule.accept(np.array([[0.649, 0.351], [0.651, 0.349]])).tolist() == [False, True]
    # Of a row with two true labels each counts half; a row without any cannot lose.
    found = cb.decisions.ConformalRiskControl(0.2).fit(
        [[0.9, 0.3]] * 9 + [[0.5, 0.5]] * 5, [[1, 1]] * 9 + [[0, 0]] * 5
    )
    assert (found.parameter_, found.mean_loss_) == (-0.3, 0.0)
    assert found.predict_set([[0.3, 0.29]]).tolist() == [[True, False]]
    assert (
        cb.decisions.ConformalRiskControl(0.4)
        .fit([[0.9, 0.3]] * 9 + [[0.5, 0.5]] * 5, [[1, 1]] * 9 + [[0, 0]] * 5)
        .parameter_
        == -0.9
    )


def test_weights_and_clusters():
    rng = np.random.default_rng(3)
    p, y = several(200, rng)
    weight = rng.integers(0, 3, 200)
    rows = np.repeat(np.arange(200), weight)
    a = cb.decisions.ConformalRiskControl().fit(p, y, sample_weight=weight)
    b = cb.decisions.ConformalRiskControl().fit(p[rows], y[rows])
    assert (a.parameter_, a.n_) == (b.parameter_, b.n_)
    each = cb.decisions.ConformalRiskControl().fit(
        np.repeat(p, 4, axis=0), np.repeat(y, 4, axis=0), cluster=np.repeat(np.arange(200), 4)
    )
    assert (each.parameter_, each.n_, each.unit_) == (
        cb.decisions.ConformalRiskControl().fit(p, y).parameter_,
        200.0,
        "clusters",
    )


def test_it_is_saved(tmp_path):
    P, y = one_of(300, np.random.default_rng(4))
    for controls in ("top_k", "accepted_and_wrong"):
        rule = cb.decisions.ConformalRiskControl(0.1, controls, signal=cb.calibrators.Margin()).fit(
            P, y
        )
        again = cb.load(rule.save(tmp_path / f"{controls}.calibrant"))
        assert loss_of(again, P, y) == loss_of(rule, P, y)
        assert again.guarantee_ == rule.guarantee_


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: cb.decisions.ConformalRiskControl(0.1).fit([[0.5, 0.5]] * 5, [[0, 1]] * 5),
            "needs at least 9 rows; got 5",
        ),
        (
            lambda: cb.decisions.ConformalRiskControl(0.1).fit([[0.5, 0.5]] * 20, [0, 1] * 10),
            r"y must be \(n, K\)",
        ),
        (
            lambda: cb.decisions.ConformalRiskControl(0.1).fit([[0.5, 0.5]] * 20, [[0, 2]] * 20),
            "in \\[0, 1\\]",
        ),
        (
            lambda: cb.decisions.ConformalRiskControl(0.1).fit([[0.5, 1.5]] * 20, [[0, 1]] * 20),
            "in \\[0, 1\\]",
        ),
        (
            lambda: cb.decisions.ConformalRiskControl(0.1, "fdr").fit([[0.5, 0.5]], [[0, 1]]),
            "controls must be",
        ),
        (
            lambda: cb.decisions.ConformalRiskControl(0.1).fit_losses([1, 2], [[0.0, 1.0]] * 20),
            "must not rise",
        ),
        (
            lambda: cb.decisions.ConformalRiskControl(0.1).fit_losses([1, 2], [[1.0, 1.0]] * 20),
            "no parameter has a mean loss",
        ),
        (
            lambda: cb.decisions.ConformalRiskControl(0.1).fit_losses([2, 1], [[1.0, 1.0]] * 20),
            "ascending parameters",
        ),
        (
            lambda: (
                cb.decisions.ConformalRiskControl(0.5)
                .fit_losses([0.2, 0.3], [[1.0, 0.0]] * 20)
                .predict_set([[0.1, 0.9]])
            ),
            "of your own; got 0.3",
        ),
        (
            lambda: (
                cb.decisions.ConformalRiskControl(0.1, "top_k")
                .fit([[0.5, 0.5]] * 20, [0, 1] * 10)
                .accept([[0.5, 0.5]])
            ),
            "accepted_and_wrong",
        ),
    ],
)
def test_what_is_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()
