"""Calibration offsets of unnamed regions of the features: nested halves, each shrunk towards its
parent.
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from calibrant._numerics.clusters import grow_regions, region_paths
from calibrant.calibrators.offsets import CellCodes, PooledOffsets
from calibrant.calibrators.one_vs_rest import as_calibrator
from calibrant.calibrators.pool import LikelihoodPool
from calibrant.core.arrays import to_array
from calibrant.core.calibrator import Calibrator, Tags
from calibrant.core.estimators import require_count, require_valid, trial, trial_rows
from calibrant.core.folds import fit_clone
from calibrant.core.given import Inputs
from calibrant.errors import InputError

__all__ = ["ClusteredCalibration"]

#: Minimum weight of a region.
LEAST_WEIGHT = 40.0


class ClusteredCalibration(
    Calibrator,
    family="with groups or features",
    use="Offsets by region of the features",
):
    r"""Calibrate all rows together, then shift each region of the features as far as the regions
    differ.

    .. math:: \mathrm{logit}\, q_i = l_i + \sum_{d=1}^{D} b_{d, r_d(i)}, \qquad b_{d, r} \sim N(0,
        \tau_d^2)

    where :math:`r_d(i)` is the region at depth d of row i: a region is halved at the median of the
    (standardised) feature that varies most in it. The variance at each depth maximises the
    likelihood, so the data determine how fine the regions are.

    Parameters
    ----------
    calibrator : Calibrator or Map, optional
        The base, fitted on all rows first. Default :class:`LikelihoodPool`, which is unbiased
        overall, so that an error common to all rows does not appear as a difference between
        regions.
    depth : int from 1 to 12, default 5
        Number of times that regions are halved.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    calibrator_ : the fitted base.
    offsets_ : the fitted offsets of each depth.
    status_ : "converged" or "max steps", or "base" if there is no evidence that regions differ.

    See Also
    --------
    GroupCalibrator : for groups that are known.
    StackedConfidence : uses nearby training rows.

    Notes
    -----
    Use it with up to about ten relevant features and no known groups. Regions are found without the
    labels, so the search does not bias their estimates; of many features most are never halved. It
    equals the base unless the leave-one-out gain exceeds 1.5 standard errors of log loss.

    References
    ----------
    Bentley, "Multidimensional binary search trees used for associative searching", CACM 18, 1975,
    for the halving; the shrinkage is that of :class:`GroupCalibrator`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, p = rng.normal(size=(4000, 2)), rng.uniform(0.1, 0.9, 4000)
    >>> y = rng.uniform(size=4000) < 1 / (1 + (1 - p) / p * np.exp(-np.sign(X[:, 0])))
    >>> cal = ClusteredCalibration().fit(p, y, X=X)
    >>> low, high = cal.predict_proba([0.5, 0.5], X=[[-1.0, 0.0], [1.0, 0.0]])[:, 1]
    >>> bool(low < 0.35 < 0.65 < high)
    True
    """

    tags: ClassVar[Tags] = Tags(uses_features=True, label="offsets by region")
    status_: str

    def __init__(
        self,
        calibrator: Any = None,
        *,
        depth: int = 5,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.calibrator: Any = calibrator
        self.depth: int = depth

    def _fit(self, record: Any) -> None:
        require_count("depth", self.depth, most=12)
        X, weight = _numbers(record.X), record.weights
        self.mean_: np.ndarray = weight @ X / weight.sum()
        spread = np.sqrt(weight @ (X - self.mean_) ** 2 / weight.sum())
        self.scale_: np.ndarray = np.where(spread > 0.0, spread, 1.0)
        points = self._points(X)
        self.nodes_: np.ndarray = grow_regions(points, weight, int(self.depth), LEAST_WEIGHT)
        self.calibrator_: Calibrator = fit_clone(
            as_calibrator(self.calibrator, default=LikelihoodPool), record.without_features()
        )
        paths = region_paths(self.nodes_, points)
        # A depth without a halved region has no family.
        self.n_depths_: int = int((paths >= 0).any(axis=0).sum())
        cells = [CellCodes(f"depth {d + 1}", paths[:, d]) for d in range(self.n_depths_)]
        self.offsets_: PooledOffsets = PooledOffsets().fit(
            self.calibrator_.predict_record(record.without_features()), record, cells
        )
        self.status_ = (
            self.offsets_.status_ if self.offsets_.used else "base: no evidence that regions differ"
        )

    def _points(self, X: np.ndarray) -> np.ndarray:
        if X.shape[1] != len(self.mean_):
            raise InputError(
                f"X must have {len(self.mean_)} features, as in fit; got {X.shape[1]}; pass the"
                " same columns."
            )
        return (X - self.mean_) / self.scale_

    def _predict_proba(self, record: Any) -> np.ndarray:
        points = self._points(_numbers(record.X))
        Q = self.calibrator_.predict_record(record.without_features())
        return self.offsets_.added(
            Q, list(region_paths(self.nodes_, points)[:, : self.n_depths_].T)
        )


def _numbers(X: Any) -> np.ndarray:
    """Return (n, d) float64 features; images and text rows are flattened."""
    X = to_array(X, "X").astype(np.float64)
    if not np.isfinite(X).all():
        raise InputError(
            "X must be finite; got a missing or infinite feature; fill or drop those rows."
        )
    return X.reshape(len(X), -1)


@trial.register
def _(calibrator: ClusteredCalibration) -> None:
    P = trial_rows(len(calibrator.classes_), calibrator.inputs)
    require_valid(
        calibrator.predict_proba(P, X=np.zeros((len(P), len(calibrator.mean_)))), P.shape, 0.0, 1.0
    )
