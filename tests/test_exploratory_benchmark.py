"""The exploratory benchmark's own arithmetic: how labels are thinned and exchanged, ensembles
drawn, classes set apart.
"""

import numpy as np
import pytest
from benchmarks.papers.exploratory import data, ensembles, measure, tables
from benchmarks.papers.exploratory.methods import METHODS


@pytest.fixture(scope="module")
def digits():
    rng = np.random.default_rng(0)
    return {
        name: rng.integers(0, 10, n)
        for name, n in (("train", 20_000), ("test1", 4_000), ("test2", 4_000))
    }


def test_digits_are_thinned_to_their_shares_and_a_fifth_exchanged(digits):
    kept = data.labelled("imbalanced", digits)
    for name, (rows, labels) in kept.items():
        truth = digits[name][rows]
        for digit, share in enumerate(data.SHARES):
            assert (truth == digit).sum() == round(share * (digits[name] == digit).sum())
        assert (np.diff(rows) > 0).all()
        changed = labels != truth
        assert set(truth[changed]) <= {4, 9}
        assert changed[truth == 9].mean() == pytest.approx(0.2, abs=0.01)
        assert set(labels[changed & (truth == 9)]) == {4}


def test_shifted_thins_the_training_set_only_and_in_the_same_way(digits):
    shifted, imbalanced, balanced = (
        data.labelled(v, digits) for v in ("shifted", "imbalanced", "balanced")
    )
    assert shifted["train"][0].tolist() == imbalanced["train"][0].tolist()
    assert shifted["train"][1].tolist() == imbalanced["train"][1].tolist()
    assert len(shifted["test1"][0]) == 4_000
    assert balanced["test2"][1].tolist() == digits["test2"].tolist()


def test_an_ensemble_sums_ten_members_that_its_number_decides():
    pool = {
        name: np.random.default_rng(1).normal(size=(15, 6, 10)).astype(np.float32)
        for name in ("test1", "test2")
    }
    first, again, other = (ensembles.draw(pool, i)["test1"] for i in (0, 0, 1))
    assert (first == again).all()
    assert (first != other).any()
    members = np.random.default_rng(0).choice(15, 10, replace=False)
    assert first == pytest.approx(pool["test1"][members].sum(axis=0), abs=1e-5)


def test_every_method_is_measured_and_few_positives_are_apart():
    rng = np.random.default_rng(2)
    said, labels = {}, {}
    for name in ("test1", "test2"):
        labels[name] = rng.choice(10, 1500, p=[0.004] + [0.996 / 9] * 9)
        said[name] = (
            2.0 * np.eye(10)[labels[name]]
            + rng.normal(size=(1500, 10))
            - 3.0 * (np.arange(10) == 0)
        )
    scores, positives = measure.ensemble(said, labels)
    values, enough = measure.macro(scores, positives)
    assert not enough[0]
    assert enough[1:].all()
    assert np.isfinite(values).all()
    assert 0 in tables.apart_classes(positives[None])
    nll = dict(zip(METHODS, values[:, 1, 0], strict=True))
    assert nll["KDE b_mon2"] < nll["Conf1"]
    assert nll["TSwA"] < nll["Conf1"]


def test_nll_ece_and_paired_interval_by_hand():
    c, right = np.array([0.9, 0.9, 0.2, 1.0]), np.array([True, False, False, True])
    assert measure.nll(c, right) == pytest.approx(-np.log([0.9, 0.1, 0.8, 0.999]).mean())
    assert measure.ece(c, right, 1) == pytest.approx(0.75 * abs(2.8 / 3 - 2 / 3) + 0.25 * 0.2)
    mean, half = tables.paired(np.array([1.0, 2.0, 3.0]))
    assert (mean, half) == (2.0, pytest.approx(4.302653 / np.sqrt(3.0), rel=1e-6))
