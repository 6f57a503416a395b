"""Principal components and random features."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from calibrant.calibrators.reductions import PrincipalComponents, RandomFeatures
from calibrant.errors import InputError


def test_components_are_the_leading_ones():
    rng = np.random.default_rng(0)
    X = (
        rng.normal(size=(400, 4)) * [20, 15, 10, 8] @ rng.normal(size=(4, 16))
        + rng.normal(size=(400, 16)) * 0.1
    )
    ours, theirs = PrincipalComponents(2).fit(X), PCA(4).fit(X)
    assert ours.components_.shape == (16, 4)
    overlap = np.linalg.svd(ours.components_.T @ theirs.components_.T, compute_uv=False)
    np.testing.assert_allclose(overlap, 1.0, atol=1e-6)
    Z = ours.transform(X)
    assert Z.dtype == np.float32
    apart = np.linalg.norm(Z[:, None] - Z[None], axis=2)
    assert (apart <= np.linalg.norm(X[:, None] - X[None], axis=2) * (1 + 1e-5) + 1e-4).all()


def test_no_reduction_keeps_distances():
    X = np.random.default_rng(1).normal(size=(9, 3))
    Z = PrincipalComponents(1).fit_transform(X)
    np.testing.assert_allclose(
        np.linalg.norm(Z[0] - Z[1:], axis=1), np.linalg.norm(X[0] - X[1:], axis=1), rtol=1e-6
    )


def test_random_features_are_columns_by_seed():
    X = np.arange(60.0).reshape(3, 20)
    a, b, c = (RandomFeatures(2, random_state=s).fit(X) for s in (0, 0, 1))
    assert a.transform(X).shape == (3, 5)
    assert (a.chosen_ == b.chosen_).all()
    assert (a.chosen_ != c.chosen_).any()
    assert (a.transform(X) == X[:, a.chosen_]).all()


@pytest.mark.parametrize("reduction", [PrincipalComponents, RandomFeatures])
def test_bad_step(reduction):
    with pytest.raises(InputError, match="t must"):
        reduction(1.5).fit(np.zeros((3, 4)))
