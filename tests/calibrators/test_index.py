"""What an index must have: one written to the template's description works in a signal."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import calibrant as cb
from calibrant.calibrators.neighbors import Nearest, NeighborIndex
from calibrant.calibrators.stored_points import StoredPoints


class AllDistances(NeighborIndex):
    """As small as an index can be."""

    metric = "l1"

    def fit(self, X, group, n_groups, column_scale=None):
        self.points_ = StoredPoints(X, group, n_groups, column_scale)
        _, self.radius_ = self.points_.centre_and_radius(self.metric)
        return self

    def add(self, X, group):
        self.points_, _ = self.points_.extended(X, group)
        _, self.radius_ = self.points_.centre_and_radius(self.metric)
        return self

    def nearest(self, queries, group, progress=None):
        points = self.points_
        apart = cdist(points.scaled(queries), points.wide_rows(slice(0, len(points))), "cityblock")
        own = points.groups == np.asarray(group)[:, None]
        sides = [np.where(own, apart, np.inf), np.where(own, np.inf, apart)]
        same, other = (
            (D.min(axis=1), np.where(np.isinf(D.min(axis=1)), -1, D.argmin(axis=1))) for D in sides
        )
        return Nearest(*same, *other)

    @property
    def nbytes(self):
        return self.points_.nbytes


def test_a_small_index_of_ones_own_in_a_signal():
    rng = np.random.default_rng(0)
    X_train, y, X = (
        rng.normal(size=(60, 3)) * [1.0, 5.0, 0.2],
        rng.integers(0, 3, 60),
        rng.normal(size=(9, 3)),
    )
    P = np.eye(4)[np.arange(9) % 4]
    own, plain = (
        cb.calibrators.FastSeparation("l1", scale="standard", index=index).fit(
            P, np.arange(9) % 4, X=X, reference=(X_train[:40], y[:40])
        )
        for index in (AllDistances(), None)
    )
    np.testing.assert_allclose(own.score(P, X=X), plain.score(P, X=X), rtol=1e-12)
    for signal in (own, plain):
        signal.add(X_train[40:], y[40:])
    present = np.arange(9) % 4 < 3
    np.testing.assert_allclose(own.score(P, X=X)[present], plain.score(P, X=X)[present], rtol=1e-12)
    assert own.nbytes_ > 0


@pytest.mark.parametrize("missing", sorted(NeighborIndex.__abstractmethods__))
def test_what_must_be_written_is_asked_for(missing):
    assert missing in {"fit", "add", "nearest", "nbytes"}
    members = {name: value for name, value in vars(AllDistances).items() if name != missing}
    with pytest.raises(TypeError, match=missing):
        type("Incomplete", (NeighborIndex,), members)()
