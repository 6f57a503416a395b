import numpy as np
import pytest
from sklearn.metrics import f1_score, roc_auc_score

from calibrant._numerics.thresholds import expected_auroc, expected_f1, expected_mean


def masses_of(labels):
    return np.eye(2)[labels] / len(labels)


def test_known_labels_give_the_metrics_themselves():
    rng = np.random.default_rng(0)
    score, labels = np.round(rng.random(200), 1), rng.integers(0, 2, 200)
    assert expected_auroc(masses_of(labels), score)[0] == pytest.approx(
        roc_auc_score(labels, score), abs=1e-12
    )
    assert expected_f1(masses_of(labels), score > 0.5)[0] == pytest.approx(
        f1_score(labels, score > 0.5), abs=1e-12
    )


def test_auroc_of_chances_by_hand():
    # c = .2, .5, .8 at scores 1, 2, 2. Pairs i != j: sum of c_i (1 - c_j) [s_i > s_j] + ties / 2:
    # .5 * .8 + .8 * .8 + (.5 * .2 + .8 * .5) / 2 = 1.29; all pairs: c_i (1 - c_j), i != j:
    # .2 * .5 + .2 * .2 + .5 * .8 + .5 * .2 + .8 * .8 + .8 * .5 = 1.68.
    c = np.array([0.2, 0.5, 0.8])
    mass = np.column_stack([1.0 - c, c]) / 3.0
    value, _ = expected_auroc(mass, np.array([1.0, 2.0, 2.0]), float(c @ (1.0 - c)) / 9.0)
    assert value == pytest.approx(1.29 / 1.68, abs=1e-12)


def test_f1_of_chances_by_hand():
    # TP = .8 + .5, predicted positive 2, expected positives 1.5: 2.6 / 3.5.
    c = np.array([0.2, 0.5, 0.8])
    mass = np.column_stack([1.0 - c, c]) / 3.0
    value, _ = expected_f1(mass, np.array([False, True, True]))
    assert value == pytest.approx(2.6 / 3.5, abs=1e-12)


def test_without_pairs_or_positives_there_is_no_value():
    mass = np.array([[0.5, 0.0], [0.5, 0.0]])
    assert np.isnan(expected_auroc(mass, np.array([0.1, 0.2]))[0])
    assert np.isnan(expected_f1(mass, np.array([False, False]))[0])


@pytest.mark.parametrize("which", ["mean", "f1", "auroc"])
def test_derivatives_are_those_of_the_value(which):
    rng = np.random.default_rng(1)
    mass, score = rng.random((6, 2)), np.array([0.1, 0.4, 0.4, 0.6, 0.8, 0.9])
    mass /= mass.sum()
    loss = rng.random((6, 2))

    def value(mass):
        if which == "mean":
            total = mass.sum()
            found, slope = expected_mean(mass / total, loss)
            return found, slope
        if which == "f1":
            return expected_f1(mass, score > 0.5)
        return expected_auroc(mass, score)

    _, slope = value(mass)
    for place in np.ndindex(mass.shape):
        step = np.zeros_like(mass)
        step[place] = 1e-6
        found = (value(mass + step)[0] - value(mass - step)[0]) / 2e-6
        assert found == pytest.approx(slope[place], abs=1e-6)
