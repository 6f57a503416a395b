"""Template of maps from a score to the probability of being correct."""

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np

from calibrant._numerics.clusters import rows_by_group
from calibrant.core import arrays
from calibrant.core.arrays import ArrayLike
from calibrant.core.blas import one_blas_thread
from calibrant.core.calibrator import require_fitted
from calibrant.core.domain_calibrator import of_predictions
from calibrant.core.estimators import BaseEstimator, Exampled, Listed, clone
from calibrant.core.expression import Expression, source
from calibrant.core.labels import SoftLabels, soft_refused
from calibrant.core.saving import Saved
from calibrant.core.tags import MapTags
from calibrant.core.trial import require_valid, trial
from calibrant.core.workspace import MapWorkspace
from calibrant.errors import InputError

__all__ = ["Map"]


class Map(Exampled, Listed, Saved, BaseEstimator, ABC):
    """Base of all maps. A map implements ``_fit(score, correct, weight)`` and ``_predict(score)``
    on validated float64 arrays.

    See Also
    --------
    Platt, Spline, CenteredIsotonic : three implementations.
    OneVsRest, ConfidenceCalibrator : calibrators based on a map.
    """

    tags: ClassVar[MapTags] = MapTags()
    _workspace: MapWorkspace

    @abstractmethod
    def _fit(self, score: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> None: ...

    @abstractmethod
    def _predict(self, score: np.ndarray) -> np.ndarray: ...

    @of_predictions
    def fit(
        self,
        score: ArrayLike,
        correct: ArrayLike | SoftLabels,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit on scores (n,) and outcomes (n,) of 0 and 1.

        A weight of 2 means the row twice, a weight of 0 no row. With the tag ``soft_labels``,
        outcomes may be ``SoftLabels``, (n,) shares.
        """
        score = arrays.scores(score, domain=self.tags.domain)
        soft = isinstance(correct, SoftLabels)
        if soft and not self.tags.soft_labels:
            raise soft_refused(type(self).__name__)
        n = len(score)
        hit = correct.in_order(None, n, 2)[:, 1] if soft else arrays.binary_outcomes(correct, n)
        weight, kept = arrays.weights(sample_weight, n)
        if kept is not None:
            score, hit = score[kept], hit[kept]
        if soft:
            # Each row once without the event and once with it, weighted by the shares.
            mass = np.concatenate([1.0 - hit, hit])
            mass *= 1.0 if weight is None else np.tile(weight, 2)
            some, hit = mass > 0.0, np.repeat([0.0, 1.0], len(hit))
            score, hit, weight = np.tile(score, 2)[some], hit[some], mass[some]
        return self.fit_checked(score, hit, weight)

    def fit_checked(
        self,
        score: np.ndarray,
        correct: np.ndarray,
        weight: np.ndarray | None = None,
        workspace: MapWorkspace | None = None,
    ) -> Self:
        """Fit on validated float64 scores, outcomes of 0 and 1, and positive weights or None.

        A ``workspace`` lets a search start from the last one on nearly the same rows; without one
        the fit creates its own.
        """
        self.n_fit_: float = float(len(score) if weight is None else weight.sum())
        self.status_: str = "exact"
        self._workspace = MapWorkspace() if workspace is None else workspace
        try:
            self._fit(score, correct, np.ones(len(score)) if weight is None else weight)
        finally:
            del self._workspace
        return self

    def fit_groups(
        self,
        score: np.ndarray,
        correct: np.ndarray,
        weight: np.ndarray,
        group: np.ndarray,
        n_groups: int,
    ) -> list["Map"]:
        """One fitted copy for each of the nonempty groups 0..n_groups-1 (such as predicted
        classes); a map may vectorise this.
        """
        rows = rows_by_group(group, n_groups)
        return [clone(self).fit_checked(score[own], correct[own], weight[own]) for own in rows]

    def _expression(self, score: Expression) -> Expression:
        raise InputError(
            f"{type(self).__name__} does not define its prediction as an expression; write"
            " _expression(score) beside _predict."
        )

    def express(self, score: Expression) -> Expression:
        """``predict`` of a score that is itself an expression, of width 1."""
        require_fitted(self, "n_fit_")
        return self._expression(score)

    def expression(self) -> Expression:
        """``predict`` as an expression of the score; InputError if this is impossible."""
        return self.express(source(1))

    def predict(self, score: ArrayLike) -> np.ndarray:
        """Probability of being correct, (n,) float64 in [0, 1]."""
        require_fitted(self, "n_fit_")
        score = arrays.scores(score, domain=self.tags.domain)
        with one_blas_thread(len(score)):
            return self._predict(score)


@trial.register
def _(map: Map) -> None:
    score = np.linspace(0.0, 1.0, 12)
    require_valid(map.predict(score), score.shape, 0.0, 1.0)
