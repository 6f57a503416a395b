import numpy as np
import pytest

from calibrant import metrics

RNG = np.random.default_rng(0)


def test_the_spoilt_class_leads_and_a_rare_unlucky_one_does_not():
    P = RNG.dirichlet([4, 4, 4, 0.05], 4000)
    y = (RNG.random((4000, 1)) > np.cumsum(P, axis=1)[:, :-1]).sum(axis=1)
    Q = P.copy()
    Q[:, 2] *= 1.6
    Q /= Q.sum(axis=1, keepdims=True)
    names = np.array(["ant", "bee", "cat", "dog"])
    curves = metrics.reliability_curves(names[y], Q, classes=names.tolist(), worst=4)
    assert list(curves)[:2] == ["top label", "cat"]
    assert list(curves)[-1] == "dog"
    alone = metrics.reliability_curve(y, Q, target=2)
    assert curves["cat"].accuracy.tolist() == pytest.approx(alone.accuracy.tolist())


def test_no_more_classes_than_there_are():
    assert len(metrics.reliability_curves([0, 1], [0.2, 0.7], worst=9)) == 3
    assert list(metrics.reliability_curves([0, 1], [0.2, 0.7], worst=0, band="consistency")) == [
        "top label"
    ]
