"""True against predicted: hand counts, both normalisations, weights."""

import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError


def test_counts_and_both_normalisations_by_hand():
    P = [[0.8, 0.1, 0.1], [0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.1, 0.8, 0.1]]
    joint = metrics.joint_distribution(
        ["a", "b", "a", "b"], P, classes=["a", "b", "c"], sample_weight=[1, 2, 1, 3]
    )
    assert joint.counts.tolist() == [[2, 0, 0], [2, 3, 0], [0, 0, 0]]
    np.testing.assert_array_equal(joint.by_true, [[1, 0, 0], [0.4, 0.6, 0], [np.nan] * 3])
    np.testing.assert_array_equal(
        joint.by_predicted, [[0.5, 0, np.nan], [0.5, 1, np.nan], [0, 0, np.nan]]
    )


def test_the_reverse_diagonal_is_the_accuracy_of_each_predicted_class():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(4), 500)
    y = rng.integers(0, 4, 500)
    predicted = P.argmax(axis=1)
    diagonal = metrics.joint_distribution(y, P).by_predicted.diagonal()
    assert diagonal == pytest.approx([(y == k)[predicted == k].mean() for k in range(4)])


def test_frames():
    joint = metrics.joint_distribution([0, 1], [0.2, 0.9])
    frame = joint.frame("predicted")
    assert frame.columns.name == "predicted"
    assert frame.to_numpy().tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert joint.to_dict() == {"classes": [0, 1], "counts": [[1.0, 0.0], [0.0, 1.0]]}
    with pytest.raises(InputError, match="normalise"):
        joint.frame("rows")


def test_labels_are_needed():
    with pytest.raises(InputError, match="y_true"):
        metrics.joint_distribution(None, [0.2, 0.9])


def test_weights_are_repetition():
    rng = np.random.default_rng(1)
    P, y, weight = rng.dirichlet(np.ones(3), 50), rng.integers(0, 3, 50), rng.integers(0, 3, 50)
    weighted = metrics.joint_distribution(y, P, sample_weight=weight, classes=[0, 1, 2])
    repeated = metrics.joint_distribution(
        np.repeat(y, weight), np.repeat(P, weight, axis=0), classes=[0, 1, 2]
    )
    np.testing.assert_allclose(weighted.counts, repeated.counts)
    assert weighted.counts.sum() == weight.sum()


def test_a_planted_rare_class_is_found_but_seldom_meant():
    """Nine in ten of the rare class are found; of what is called rare, only nine in 59 are."""
    y = np.array([0] * 990 + [1] * 10)
    predicted = np.array([0] * 940 + [1] * 50 + [1] * 9 + [0])
    joint = metrics.joint_distribution(y, np.eye(2)[predicted])
    assert joint.by_true[1, 1] == pytest.approx(0.9)
    assert joint.by_predicted[1, 1] == pytest.approx(9 / 59)
