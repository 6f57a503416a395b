import numpy as np
import pytest

from calibrant.predictions import read
from calibrant.reporting.cautions import cautions
from calibrant.reporting.quality import quality
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
    )  # fmt: skip
    assert found.confidence_shift.named
    assert sum("than where the calibrator was fitted" in words for words in cautions(seen(moved), found)) == 2


def test_distance_of_confidences_is_that_of_scipy():
    from scipy.stats import ks_2samp

    a, b = read(*made(500, 0)), read(*made(700, 1, (2.0, 1.0, 1.0)))
    assert quality(seen(a), seen(b)).confidence_shift.distance == pytest.approx(ks_2samp(a.confidence, b.confidence).statistic)


def test_too_good_to_be_true_is_said():
    P = np.tile([[0.9, 0.1], [0.2, 0.8]], (100, 1)) + np.linspace(0, 0.01, 200)[:, None] * [1, -1]
    record = seen(read(P, [0, 1] * 100))
    assert any("not trained on these rows" in words for words in cautions(record, quality(record)))
