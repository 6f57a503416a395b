"""The pool by evidence: what it gives to the best, to the equal and to none."""

import numpy as np
import pytest

from calibrant.calibrators.evidence import evidence_pool, table_of


class _Held:
    """Candidates whose means score as the mean of their scores."""

    def __init__(self, losses):
        self.each, self.weight = np.asarray(losses, dtype=float), np.ones(len(losses[0]))
        self.cluster, self.telling = None, 100.0
        self.grouped = [False] * len(losses)

    def losses(self, pool):
        return pool @ self.each

    def stack(self):
        return np.eye(len(self.each))[self.each.mean(axis=1).argmin()]

    def unknown(self, pool):
        return 0.0


def _noise(n=400, seed=0):
    return np.random.default_rng(seed).normal(size=n)


def test_the_best_has_the_weight():
    noise = _noise()
    pool = evidence_pool(_Held([noise + 1.0, noise, noise + 0.5]), 400.0, 0)
    assert pool.shares.argmax() == 1
    assert pool.shares[1] > 0.98
    assert pool.gain_in_errors > 10.0


def test_equals_share_and_without_evidence_nothing_is_done():
    noise = _noise()
    pool = evidence_pool(_Held([noise + 1.0 + 0.01 * _noise(seed=1), noise, noise]), 400.0, 0)
    assert pool.shares[2] > 0.15
    worse = evidence_pool(
        _Held([noise, noise + 0.5 * _noise(seed=1) + 0.05, noise + 0.5 * _noise(seed=2) + 0.1]),
        400.0,
        0,
    )
    assert worse.members == [0]


def test_less_evidence_earns_less():
    after, apart = _noise(50), _noise(50, 1)
    shares = [
        evidence_pool(_Held([after + 0.4 * apart + gain, after]), 50.0, 0).shares[1]
        for gain in (0.4, 0.2, 0.1)
    ]
    assert shares[0] > shares[1] > shares[2]


def test_the_table_has_a_row_for_every_candidate():
    noise = _noise()
    pool = evidence_pool(_Held([noise + 1.0, noise]), 400.0, 0)
    rows = table_of(["a", "b"], pool, np.ones(400), {"c": "it failed"})
    assert [row["name"] for row in rows] == ["a", "b", "c"]
    assert rows[1]["weight"] == pytest.approx(pool.shares[1])
    assert rows[0]["standard_error"] == 0.0
    assert rows[2]["note"] == "it failed"


def test_clustered_copies_carry_the_evidence_of_their_clusters():
    after, apart = _noise(50), _noise(50, 1)
    losses = np.array([after + 0.4 * apart + 0.1, after])
    once, copies, clustered = (
        _Held(each) for each in (losses, *[np.repeat(losses, 8, axis=1)] * 2)
    )
    clustered.cluster = np.repeat(np.arange(50), 8)
    alone, wrong, right = (
        evidence_pool(held, float(held.weight.sum()), 0).shares[1]
        for held in (once, copies, clustered)
    )
    assert wrong > 0.9
    assert right == pytest.approx(alone, abs=0.03)
