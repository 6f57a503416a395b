"""What the engines are asked in the tests, and what it means that two of them agree."""

import numpy as np

from calibrant.tables.evaluation import Evaluation

__all__ = ["COLUMNS", "MODES", "assert_same"]

COLUMNS = [f"p_{k}" for k in range(4)]
MODES = {
    "columns": {"probabilities": "p_*"},
    "list": {"probabilities": "vector"},
    "weighted": {"probabilities": COLUMNS, "weight": "w", "classes": range(4)},
    "sliced": {"probabilities": "p_*", "by": ["model", "region"], "time": "ts", "every": "day"},
    "score": {"score": "score", "predicted": "predicted", "by": "model"},
    "mass": {"probabilities": "p_*", "strategy": "mass", "by": "region"},
}


def assert_same(found, expected):
    """Whether every column agrees to the order of summation; those of each class, too, where
    there are classes.
    """
    options = {"per_class": True} if isinstance(found, Evaluation) else {}
    left, right = found.columns(**options), expected.columns(**options)
    assert list(left) == list(right)
    for name in left:
        if isinstance(left[name], list):
            assert left[name] == right[name], name
        else:
            np.testing.assert_allclose(left[name], right[name], rtol=1e-9, atol=1e-9, err_msg=name)
