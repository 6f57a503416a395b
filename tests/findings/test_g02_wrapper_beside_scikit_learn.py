"""G2: the wrapper lost to scikit-learn's where the model is flexible: refitted, it is sharper
than those the calibrator learned on.
"""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

import calibrant as cb
from calibrant import metrics

TRAIN, TEST = slice(800), slice(800, None)
BOOSTING = HistGradientBoostingClassifier(
    max_iter=25, learning_rate=0.3, max_leaf_nodes=15, random_state=0
)


@pytest.mark.parametrize(
    "model",
    [BOOSTING, DecisionTreeClassifier(min_samples_leaf=5, random_state=0)],
    ids=["boosting", "tree"],
)
def test_g02_the_default_is_not_behind(model):
    ours, theirs = [], []
    for seed in (0, 1, 2):
        X, y = make_classification(4800, 12, n_informative=6, flip_y=0.25, random_state=seed)
        ours.append(
            metrics.log_loss(
                y[TEST],
                cb.CalibratedClassifier(model).fit(X[TRAIN], y[TRAIN]).predict_proba(X[TEST]),
            )
        )
        wrapped = (
            CalibratedClassifierCV(model, method=method, cv=5)
            for method in ("sigmoid", "isotonic", "temperature")
        )
        theirs.append(
            [
                metrics.log_loss(y[TEST], one.fit(X[TRAIN], y[TRAIN]).predict_proba(X[TEST]))
                for one in wrapped
            ]
        )
    assert np.mean(ours) <= np.mean(theirs, axis=0).min()
