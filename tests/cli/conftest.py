import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")


@pytest.fixture
def predictions():
    """P twice as sure as it should be, labels as positions, and names."""
    rng = np.random.default_rng(5)
    honest = rng.dirichlet(np.ones(3), 400)
    y = (rng.random(400)[:, None] > honest.cumsum(axis=1)).sum(axis=1)
    P = honest**2
    return P / P.sum(axis=1, keepdims=True), y, ["cat", "dog", "eel"]
