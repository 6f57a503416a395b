import numpy as np
import pytest

from calibrant.core.predictions import read
from calibrant.reporting.quality import cautions, quality
from calibrant.reporting.states import Seen


def seen(record):
    return Seen.of([record], 15, 0.95)


def made(n, seed, concentration=(1.0, 1.0, 1.0)):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(concentration, n)
    return P, (rng.random(n)[:, None] > P.cumsum(axis=1)).sum(axis=1)


def test_repeated_and_shared_rows_are_counted():
    P, y = made(600, 0)
    Q, z = made(400, 1)
    Q[:100], z[:100] = P[:100], y[:100]
    twice = np.r_[np.arange(400), np.arange(40)]
    found = quality(seen(read(Q[twice], z[twice])), seen(read(P, y)))
    assert found.repeated == pytest.approx(40 / 440)
    assert found.shared == pytest.approx(140 / 440)
    other = z.copy()
    other[:100] = (z[:100] + 1) % 3
    assert quality(seen(read(Q, other)), seen(read(P, y))).shared == 0.0


def test_a_shift_is_named_and_chance_is_not():
    P, y = made(2000, 0)
    same = quality(seen(read(*made(2000, 5))), seen(read(P, y)))
    assert not same.label_shift.named
    assert not same.confidence_shift.named
    assert same.confidence_shift.p_value > 0.01
    moved = read(*made(2000, 2, (6.0, 1.0, 1.0)))
    found = quality(seen(moved), seen(read(P, y)))
    assert found.label_shift.named
    assert found.label_shift.distance == pytest.approx(
        0.5 * np.abs(np.bincount(moved.labels) / 2000 - np.bincount(y) / 2000).sum()
    )
    assert found.confidence_shift.named
    assert (
        sum(
            "than where the calibrator was fitted" in words
            for words in cautions(seen(moved), found)
        )
        == 2
    )


def test_distance_of_confidences_is_that_of_scipy():
    from scipy.stats import ks_2samp

    a, b = read(*made(500, 0)), read(*made(700, 1, (2.0, 1.0, 1.0)))
    assert quality(seen(a), seen(b)).confidence_shift.distance == pytest.approx(
        ks_2samp(a.confidence, b.confidence).statistic
    )


def test_too_good_to_be_true_is_said():
    P = np.tile([[0.9, 0.1], [0.2, 0.8]], (150, 1)) + np.linspace(0, 0.01, 300)[:, None] * [1, -1]
    record = seen(read(P, [0, 1] * 150))
    assert any("not trained on these rows" in words for words in cautions(record, quality(record)))


def test_columns_in_another_order_are_said():
    P, y = made(600, 0, (1.0, 1.0, 0.7))
    record = seen(read(P[:, [1, 2, 0]], y))
    words = [words for words in cautions(record, quality(record)) if "exchanged" in words]
    assert len(words) == 1
    assert words[0].startswith("3 columns look exchanged: where class ")
    # A few classes of many, and the one column that is highest there.
    P, y = made(4000, 1, (0.2,) * 8)
    order = [0, 1, 5, 3, 4, 2, 6, 7]
    record = seen(read(P[:, order], y))
    words = [words for words in cautions(record, quality(record)) if "exchanged" in words]
    assert words[0].startswith("2 columns look exchanged: where class ")
    assert (
        "class 2 is true, the column of class 5" in words[0]
        or "class 5 is true, the column of class 2" in words[0]
    )


@pytest.mark.parametrize("seed", range(10))
def test_columns_in_order_are_not_said_to_be_exchanged(seed):
    rng = np.random.default_rng(seed)
    honest, y = made(300, seed, (0.5, 0.5, 0.5, 0.5))
    blind = rng.dirichlet(np.ones(4), 300)
    constant = np.tile([0.7, 0.1, 0.1, 0.1], (300, 1))
    for P in (honest, blind, constant):
        record = seen(read(P, y))
        assert not any("exchanged" in words for words in cautions(record, quality(record)))
