"""The faiss backend against the embedded one."""

import sys

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError, MissingDependencyError
from calibrant.neighbors.exact import ExactIndex
from calibrant.neighbors.faiss_index import FaissIndex

try:
    import faiss
except ImportError:
    faiss = None
needs_faiss = pytest.mark.skipif(faiss is None, reason="faiss-cpu is not installed")


@pytest.fixture(scope="module")
def cloud():
    rng = np.random.default_rng(0)
    return (
        rng.normal(size=(2000, 30)) + 50.0,
        rng.integers(0, 3, 2000),
        rng.normal(size=(50, 30)) + 50.0,
        rng.integers(0, 4, 50),
    )


@needs_faiss
@pytest.mark.parametrize("metric", ["l2", "l1", "linf"])
def test_exact_agrees_with_the_embedded_index(cloud, metric):
    X, y, queries, group = cloud
    a, b = (
        index.fit(X, y, 4).nearest(queries, group)
        for index in (FaissIndex(metric), ExactIndex(metric))
    )
    np.testing.assert_allclose(a.same, b.same, atol=1e-5)
    np.testing.assert_allclose(a.other, b.other, atol=1e-5)
    assert np.isinf(a.same[group == 3]).all()


@needs_faiss
def test_approximate_is_never_below_and_mostly_right(cloud):
    X, y, queries, group = cloud
    a, b = (
        index.fit(X, y, 4).nearest(queries, group)
        for index in (FaissIndex(approximate=True), ExactIndex())
    )
    assert (a.other >= b.other - 1e-9).all()
    assert np.mean(a.other <= b.other + 1e-9) > 0.5


@needs_faiss
def test_as_a_signals_index_saved_and_added_to(cloud, tmp_path):
    X, y, queries, _ = cloud
    P = np.eye(3)[np.arange(50) % 3]
    signal = cb.signals.FastSeparation(index=FaissIndex()).fit(
        P, np.arange(50) % 3, X=queries, reference=(X[:1500], y[:1500])
    )
    signal.add(X[1500:], y[1500:])
    plain = cb.signals.FastSeparation().fit(P, np.arange(50) % 3, X=queries, reference=(X, y))
    np.testing.assert_allclose(signal.score(P, X=queries), plain.score(P, X=queries), atol=1e-5)
    assert (
        cb.load(signal.save(tmp_path / "s.calibrant")).score(P, X=queries)
        == signal.score(P, X=queries)
    ).all()


@needs_faiss
def test_metrics_it_has_not():
    with pytest.raises(InputError, match="metric"):
        FaissIndex("l1", approximate=True).fit(np.ones((2, 2)), np.array([0, 1]), 2)


def test_without_faiss_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingDependencyError, match=r"calibrant\[faiss\]"):
        FaissIndex().fit(np.ones((2, 2)), np.array([0, 1]), 2)
