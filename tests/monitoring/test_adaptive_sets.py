"""Sets of a stream: level under drift, rows one by one, saving, and edges by hand."""

import numpy as np
import pytest

from calibrant.errors import InputError
from calibrant.monitoring import AdaptiveSets, SetRun
from calibrant.testing.check import saved_copies

SCORES = ["lac", "aps", "margin", "top_k", "ordered"]
METHODS = ["pid", "aci", "aggregated", "tracking"]


def stream(n=1_500, seed=0):
    """Probabilities of four classes that are right for 600 rows and too sharp later."""
    rng = np.random.default_rng(seed)
    Z = 2.0 * rng.normal(size=(n, 4))
    true = np.exp(Z * np.where(np.arange(n) < 600, 1.0, 0.4)[:, None])
    true /= true.sum(axis=1, keepdims=True)
    P = np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True)
    return P, (rng.random((n, 1)) > true.cumsum(axis=1)).sum(axis=1)


@pytest.mark.parametrize("method", ["pid", "aci", "tracking"])
@pytest.mark.parametrize("score", SCORES)
def test_coverage_keeps_its_level_when_the_model_gets_worse(score, method):
    P, y = stream()
    adaptive = AdaptiveSets(score=score, method=method).fit(P[:300], y[:300])
    found = adaptive.run(P[300:], y[300:])
    assert isinstance(found, SetRun)
    assert abs(found.coverage - 0.9) < 0.03
    assert np.array_equal(found.covered, found.sets[np.arange(1_200), y[300:]])
    assert found.mean_size == found.sets.sum(axis=1).mean()
    assert found.whole == found.sets.all(axis=1).mean()
    assert found.empty == (~found.sets.any(axis=1)).mean()
    promise = adaptive.guarantee()
    assert promise.least <= found.coverage <= promise.most
    assert "mean size" in str(found)


@pytest.mark.parametrize("delay", [0, 2])
@pytest.mark.parametrize("score", SCORES)
def test_rows_one_by_one_equal_a_run(score, delay):
    P, y = stream(200)
    labels = np.array(["ant", "bee", "cat", "dog"])
    fitted = AdaptiveSets(score=score, classes=labels, delay=delay)
    fitted.fit(P[:100], labels[y[:100]])
    (_, other), _ = saved_copies(fitted)
    run = fitted.run(P[100:], labels[y[100:]])
    sets = []
    for t in range(100, 200 + delay):
        if t < 200:
            sets.append(other.predict_one(P[t]))
        if t >= 100 + delay:
            other.learn_one(P[t - delay], labels[y[t - delay]])
    assert sets == [labels[row].tolist() for row in run.sets]
    assert other.n_ == 100
    assert other.explain() == fitted.explain()


@pytest.mark.parametrize("method", METHODS)
def test_a_saved_stream_goes_on_with_the_same_bits(method):
    P, y = stream(300)
    fitted = AdaptiveSets(method=method, score="aps").fit(P[:100], y[:100])
    fitted.predict_one(P[100], key="first")
    for _, copy in saved_copies(fitted):
        copy.learn_one(P[100], y[100], key="first")
        found = copy.run(P[101:], y[101:])
        if method == METHODS[0]:
            assert copy.limits_.pending == {}
        break
    fitted.learn_one(P[100], y[100], key="first")
    assert np.array_equal(fitted.run(P[101:], y[101:]).sets, found.sets)


def test_binary_probabilities_and_sets_by_hand():
    p, y = np.tile([0.8, 0.3], 10), np.tile([1, 0], 10)
    sets = AdaptiveSets(method="aci", rate=0.5).fit(p, y)
    # Scores of the classes are .2 and .3; at 90 % the limit is .3.
    assert sets.predict_one(0.75, key=0) == [1]
    assert sets.predict_one(0.5, key=1) == []
    sets.learn_one(0.75, 0, key=0)  # a miss, at a rate of .5: all classes next
    assert sets.predict_one(0.99, key=2) == [0, 1]
    assert sets.explain().startswith("coverage of the 90 % sets at least 0")


def test_a_failing_model_gets_whole_sets_and_a_perfect_one_small_sets():
    rng = np.random.default_rng(0)
    P = np.tile([0.98, 0.01, 0.01], (900, 1))
    y = np.where(np.arange(900) < 300, 0, rng.integers(0, 3, 900))
    found = AdaptiveSets().fit(P[:100], y[:100]).run(P[100:], y[100:])
    assert abs(found.coverage - 0.9) < 0.06
    assert found.whole > 0.6


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (lambda s, P: AdaptiveSets(score="raps").fit(P, [0, 1] * 10), "score"),
        (lambda s, P: s.learn_one([0.1, 0.9], 7), "7"),
        (lambda s, P: AdaptiveSets(delay=1.5).fit(P, [0, 1] * 10), "delay"),
    ],
)
def test_input_is_checked(use, words):
    P = np.tile([[0.6, 0.4], [0.3, 0.7]], (10, 1))
    with pytest.raises(InputError, match=words):
        use(AdaptiveSets().fit(P, [0, 1] * 10), P)
