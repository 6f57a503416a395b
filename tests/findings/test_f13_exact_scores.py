"""F13: beta calibration of forests whose scores are often exactly 0 or 1, against clipping at
the rounding of a float as betacal does.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant._numerics.logistic import clipped_logs, fit_sigmoid, inner_limits, sigmoid
from calibrant.datasets.sets import data_folder

EPSILON = float(np.finfo(np.float64).eps)
FORESTS = ["mondrian-forest-kitti", "random-forest-kitti"]


def _scores(name):
    path = data_folder() / "classifier_outputs" / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"{name} is not among the data")
    with np.load(path) as stored:
        return stored["probabilities"][:, 1].astype(np.float64).clip(0.0, 1.0), (
            stored["labels"] == 1
        ).astype(np.float64)


def _log_loss(p, hit):
    return float(-np.mean(np.where(hit > 0.0, np.log(p), np.log1p(-p))))


def _clipped(score, hit, test, limits):
    low, high = clipped_logs(score, limits)
    (a, b, c), _ = fit_sigmoid(
        np.column_stack([low, -high]), hit, np.ones(len(hit)), identity=[1.0, 1.0]
    )
    low, high = clipped_logs(test, limits)
    return sigmoid(a * low - b * high + c)


@pytest.mark.parametrize("name", FORESTS)
def test_f13_beta_on_forests_is_no_worse_than_clipping_at_epsilon_or_than_before(name):
    score, hit = _scores(name)
    ours, epsilon, before = [], [], []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(score))
        fit, test = order[: len(score) // 2], order[len(score) // 2 :]
        ours.append(
            _log_loss(
                cb.calibrators.Beta().fit(score[fit], hit[fit]).predict(score[test]), hit[test]
            )
        )
        for found, limits in (
            (epsilon, (EPSILON, EPSILON)),
            (before, inner_limits(score[fit], len(fit))),
        ):
            found.append(_log_loss(_clipped(score[fit], hit[fit], score[test], limits), hit[test]))
    assert np.mean(ours) <= np.mean(epsilon) - 0.002
    gain = 0.004 if name.startswith("mondrian") else 0.0
    assert np.mean(ours) <= np.mean(before) - gain + 1e-6
