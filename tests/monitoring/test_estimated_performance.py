import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import calibrant as cb
from calibrant._numerics.logistic import sigmoid
from calibrant.errors import InputError
from calibrant.monitoring import PerformanceEstimate, estimate_performance

QUICK = cb.ImportanceWeights(model=LogisticRegression())


def world(law, rng, n, shift):
    """Inputs, labels and the risks by a model that is wrong; labels given inputs never change."""
    if law == "curved":
        X = rng.normal(size=(n, 2)) + shift * np.array([1.0, -0.7])
        y = rng.random(n) < sigmoid(1.2 * X[:, 0] + 1.5 * np.maximum(X[:, 1], 0.0) ** 2 - 1.0)
        return X, y.astype(int), sigmoid(1.5 * X[:, 0] - 0.3)
    # Two kinds of rows, of which the model is right about one; the other becomes frequent.
    kind = rng.random(n) < 0.2 + 0.5 * shift
    X = np.column_stack([rng.standard_t(4, size=n), kind])
    y = rng.random(n) < sigmoid(np.where(kind, 0.3 * X[:, 0], 2.0 * X[:, 0]))
    return X, y.astype(int), sigmoid(2.0 * X[:, 0])


def truths(y, p):
    return {"accuracy": np.mean((p > 0.5) == y), "event_brier_score": np.mean((y - p) ** 2)}


@pytest.mark.parametrize("law", ["curved", "kinds"])
def test_intervals_cover_where_the_assumption_holds(law):
    held, runs = dict.fromkeys(truths(np.ones(1), np.ones(1)), 0), 40
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        (X, y, p), (X_new, y_new, q) = world(law, rng, 600, 0.0), world(law, rng, 500, 0.6)
        for metric, true in truths(y_new, q).items():
            found = estimate_performance(
                q, reference=(p, y), X=(X, X_new), metric=metric, importance=QUICK
            )
            held[metric] += found.low <= true <= found.high
    for count in held.values():
        assert 1.0 - count / runs <= 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / runs)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["realised", "expected"])
@pytest.mark.parametrize("law", ["curved", "kinds"])
@pytest.mark.parametrize("metric", ["accuracy", "auroc", "f1", "log_loss", "event_brier_score"])
def test_intervals_cover_at_length(law, metric, target):
    held, runs = 0, 200
    _, y, p = world(law, np.random.default_rng(10**6), 200_000, 0.6)
    far = 1.0 - 1e-9
    expected = estimate_of(metric, y, np.clip(p, 1e-9, far))
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        (X, y, p), (X_new, y_new, q) = world(law, rng, 1500, 0.0), world(law, rng, 800, 0.6)
        found = estimate_performance(
            q, reference=(p, y), X=(X, X_new), metric=metric, target=target, importance=QUICK
        )
        true = expected if target == "expected" else estimate_of(metric, y_new, q)
        held += found.low <= true <= found.high
    assert 1.0 - held / runs <= 0.07 + 3.0 * np.sqrt(0.07 * 0.93 / runs)


def estimate_of(metric, y, p):
    from sklearn import metrics

    if metric == "auroc":
        return metrics.roc_auc_score(y, p)
    if metric == "f1":
        return metrics.f1_score(y, p > 0.5)
    return metrics.log_loss(y, p) if metric == "log_loss" else truths(y, p)[metric]


def test_the_fall_of_a_kind_that_became_frequent_is_seen():
    rng = np.random.default_rng(0)
    (X, y, p), (X_new, y_new, q) = world("kinds", rng, 3000, 0.0), world("kinds", rng, 2000, 1.0)
    frames = [pd.DataFrame(x, columns=["x", "kind"]) for x in (X, X_new)]
    found = estimate_performance(q, reference=(p, y), X=tuple(frames))
    assert isinstance(found, PerformanceEstimate)
    assert (found.state, found.target, found.reasons) == ("holds", "realised", [])
    assert found.before == pytest.approx(np.mean((p > 0.5) == y))
    assert found.low <= np.mean((q > 0.5) == y_new) <= found.high
    assert found.change_high < 0.0
    assert found.changed == ["kind"]
    assert "cannot be seen" in str(found)
    assert found.to_dict()["n_new"] == 2000
    # The predictions alone do not show it: the assumption is then another one.
    assert estimate_performance(q, reference=(p, y)).change > found.change + 0.03


def test_rows_of_a_new_region_cannot_tell():
    rng = np.random.default_rng(1)
    X, X_new = rng.normal(size=(400, 1)), rng.normal(size=(300, 1)) + 8.0
    y, p = (rng.random(400) < 0.5).astype(int), np.full(400, 0.5) + 0.1 * rng.random(400)
    found = estimate_performance(
        p[:300], reference=(p, y), X=(X, X_new), importance=QUICK, target="expected"
    )
    assert found.state == "cannot tell"
    assert "Cannot tell: " in str(found)


def test_known_weights_and_many_classes():
    rng = np.random.default_rng(2)
    z = rng.normal(size=(2000, 3))
    P = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    y = (P.cumsum(axis=1) < rng.random((2000, 1))).sum(axis=1)
    known = cb.ImportanceWeights(lambda X: np.ones(len(X)))
    for metric, each in {
        "accuracy": P[1000:].argmax(axis=1) == y[1000:],
        "log_loss": -np.log(P[np.arange(1000, 2000), y[1000:]]),
    }.items():
        found = estimate_performance(
            P[1000:],
            reference=(P[:1000], y[:1000]),
            X=(z[:1000], z[1000:]),
            metric=metric,
            importance=known,
        )
        assert found.low < each.mean() < found.high
        assert found.n_effective == pytest.approx(1000.0)
    plain = estimate_performance(P[1000:], reference=(P[:1000], y[:1000]), importance=QUICK)
    assert plain.low < np.mean(P[1000:].argmax(axis=1) == y[1000:]) < plain.high


def test_forecasts():
    rng = np.random.default_rng(3)
    std = np.exp(0.5 * rng.normal(size=2000)) * np.repeat([1.0, 1.6], 1000)
    error = 1.3 * std * rng.normal(size=2000)
    zero = np.zeros(1000)
    for metric, true in {
        "mae": np.abs(error[1000:]).mean(),
        "rmse": np.sqrt(np.mean(error[1000:] ** 2)),
    }.items():
        found = estimate_performance(
            (zero, std[1000:]),
            reference=((zero, std[:1000]), error[:1000]),
            metric=metric,
            importance=QUICK,
        )
        assert found.low < true < found.high
        assert found.change_low > 0.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"metric": "ece"}, "metric must be one of"),
        ({"metric": "cost"}, "costs must be passed"),
        ({"reference": np.zeros(60)}, "reference must be the pair"),
        ({"X": np.zeros((60, 1))}, "X must be the pair"),
        ({"X": (np.zeros((59, 1)), np.zeros((60, 1)))}, "must have 60 rows"),
        ({"P_new": np.full(10, 0.5)}, "20 new rows are needed"),
        ({"target": "future"}, "target must be"),
        ({"importance": cb.ImportanceWeights(np.ones_like)}, "X=\\(X_reference, X_new\\) must be"),
    ],
)
def test_errors_name_the_argument(change, words):
    p, y = np.linspace(0.1, 0.9, 60), np.arange(60) % 2
    given = {"P_new": p, "reference": (p, y), **change}
    with pytest.raises(InputError, match=words):
        estimate_performance(given.pop("P_new"), **given)


def test_extreme_rows_have_an_answer():
    rng = np.random.default_rng(4)
    p, q = rng.random(300), rng.random(200)
    y = (rng.random(300) < p).astype(int)
    right = 0.01 + 0.98 * (p > 0.5)
    found = estimate_performance(right[:200], reference=(right, (p > 0.5).astype(int)))
    assert found.value == pytest.approx(1.0)
    # None wrong of 300: the exact lower limit is .99; this one is wider.
    assert 0.9 < found.low < 0.99
    frames = [
        pd.DataFrame({"empty": np.nan * x, "level": [None, "k"] * (len(x) // 2), "p": x})
        for x in (p, q)
    ]
    assert estimate_performance(q, reference=(p, y), X=tuple(frames)).state == "holds"
    zero = np.zeros(300)
    found = estimate_performance(
        (zero[:200], zero[:200] + 1.0), reference=((zero, zero + 1.0), zero), metric="rmse"
    )
    assert found.value == pytest.approx(0.0, abs=1e-6)
    sure = estimate_performance(q, reference=(np.round(p), y), metric="log_loss")
    assert np.isfinite(sure.high)
    # No positive probability lies below 1, so a 0 counts as 1e-12.
    assert sure.before == pytest.approx(-np.log(1e-12) * np.mean(np.round(p) != y))
    with pytest.raises(InputError, match="needs rows of both classes"):
        estimate_performance(q, reference=(p, np.zeros(300, int)), metric="auroc")


def test_scores_of_a_rare_event_are_told_with_few_events_only_to_be_unknown():
    rng = np.random.default_rng(0)
    p = np.clip(rng.beta(0.3, 20.0, 900), 1e-4, 0.5)
    y = np.zeros(300, int)
    y[np.argsort(-p[:300])[:5]] = 1
    found = estimate_performance(p[300:], reference=(p[:300], y), metric="log_loss")
    assert found.state == "cannot tell"
    assert "only 5 labelled rows have the label 1" in found.reasons
    assert estimate_performance(p[300:], reference=(p[:300], y)).state == "holds"


def test_given_weights_must_be_one_a_row():
    rng = np.random.default_rng(0)
    p, X = rng.random(200), rng.normal(size=(200, 1))
    reference, y = (p[:100], (p[:100] > 0.5).astype(int)), "importance must be ImportanceWeights"
    with pytest.raises(InputError, match=y):
        estimate_performance(p[100:], reference=reference, importance="x")
    known = cb.ImportanceWeights(lambda X: np.ones(3))
    with pytest.raises(InputError, match="function must return one finite weight for each of 100"):
        estimate_performance(p[100:], reference=reference, X=(X[:100], X[100:]), importance=known)


@pytest.mark.parametrize("X", [(0.5, 0.2), ("a", "b"), (None, None), ({"a": 1}, {"a": 1})])
def test_inputs_that_are_no_tables_are_refused(X):
    y, p = np.array([0, 1] * 40), np.linspace(0.1, 0.9, 80)
    with pytest.raises(InputError, match=r"^X\[0\] must have 80 rows, as its predictions; got "):
        estimate_performance(p, reference=(p, y), X=X)
    with pytest.raises(InputError, match=r"^X must be the pair \(X_reference, X_new\)"):
        estimate_performance(p, reference=(p, y), X="abc")
