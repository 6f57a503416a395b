"""Jang et al., section 7.2: Hoki's calibration error on new rows "closely tracks" the gap between
validation and test accuracy.

Simulated, it does: by chance alone, more than temperature scaling's, and where the gap is planted,
as that of any calibrator. In the paper's own table 2 the correlation is .43, and one cannot "hope
to do better than this difference": 4 of its 15 rows do.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics

#: (accuracy on the validation set, accuracy on the test set, ECE of Hoki) in percent, table 2.
TABLE_2 = np.array(
    [
        (98.85, 98.81, 0.08),
        (91.92, 91.75, 0.57),
        (72.00, 72.77, 1.10),
        (94.12, 93.10, 0.71),
        (90.28, 90.38, 0.44),
        (96.06, 95.94, 0.26),
        (68.82, 68.16, 0.73),
        (37.82, 37.66, 1.23),
        (70.60, 69.52, 1.27),
        (70.62, 70.10, 0.98),
        (79.62, 79.90, 1.12),
        (76.83, 77.45, 0.43),
        (71.69, 72.01, 0.11),
        (77.93, 78.69, 0.52),
        (78.67, 79.15, 0.67),
    ]
)


def drawn(n, rng, temperature=2.0):
    logits = 2.5 * rng.standard_normal((n, 10))
    return logits, (logits + temperature * rng.gumbel(size=logits.shape)).argmax(axis=1)


def gap_and_errors(n, seed, temperature=2.0):
    """|validation - test accuracy|, and the ECE on test rows of Hoki and of temperature scaling."""
    rng = np.random.default_rng(seed)
    (logits, y), (new, y_new) = drawn(n, rng), drawn(n, rng, temperature)
    right = new.argmax(axis=1) == y_new
    fits = [
        cls(inputs="logit").fit(logits, y).predict_confidence(new)
        for cls in (cb.calibrators.HokiCalibrator, cb.TemperatureScaling)
    ]
    gap = abs(right.mean() - (logits.argmax(axis=1) == y).mean())
    return gap, *(metrics.positive_class_calibration_error(right.astype(int), p) for p in fits)


def correlations(n, repeats):
    gap, hoki, temperature = np.transpose([gap_and_errors(n, seed) for seed in range(repeats)])
    return np.corrcoef(gap, hoki)[0, 1], np.corrcoef(gap, temperature)[0, 1]


def test_by_chance_alone():
    hoki, temperature = correlations(1500, 24)
    assert hoki > 0.4
    assert hoki > temperature + 0.1


@pytest.mark.parametrize("temperature", [1.4, 3.0])
def test_a_planted_gap_is_the_error(temperature):
    gap, hoki, _ = np.mean([gap_and_errors(2000, seed, temperature) for seed in range(4)], axis=0)
    assert gap > 0.05
    assert hoki == pytest.approx(gap, abs=0.01)


def test_the_papers_own_table_is_less_clear():
    gap, ece = np.abs(TABLE_2[:, 0] - TABLE_2[:, 1]), TABLE_2[:, 2]
    assert np.corrcoef(gap, ece)[0, 1] == pytest.approx(0.43, abs=0.01)
    assert (ece < gap).sum() == 4


@pytest.mark.slow
def test_by_chance_alone_over_many_splits():
    hoki, temperature = correlations(5000, 300)
    assert 0.6 <= hoki <= 0.85
    assert temperature < 0.45
