"""Prediction sets with valid coverage in overlapping groups and along features."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from calibrant._numerics.bootstrap import placed_codes, uniform_of_rows
from calibrant._numerics.conformal import conditional_limits
from calibrant.calibrators.multiclass import as_calibrator
from calibrant.core.arrays import ArrayLike, column_names, to_array
from calibrant.core.calibrator import require_fitted
from calibrant.core.estimators import BaseEstimator
from calibrant.core.given import Inputs
from calibrant.core.guarantee import Guarantee, Promised
from calibrant.core.metric import require_level
from calibrant.core.model_outputs import is_fitted
from calibrant.core.predictions import Predictions, read
from calibrant.core.reading import read_labelled
from calibrant.core.saving import Saved
from calibrant.decisions.cells import rows_of_cells
from calibrant.decisions.set_rows import (
    SetRows,
    SetRule,
    fitted,
    inputs_for,
    n_units,
    require_options,
)
from calibrant.decisions.set_scores import ScoreName
from calibrant.errors import InputError

__all__ = ["ConditionalScores", "ConditionalSets", "read_features"]


@dataclass(frozen=True, eq=False)
class ConditionalScores(Saved):
    """Distinct pairs of score and features, ascending by score.

    Attributes
    ----------
    names : names of the columns, or their numbers
    points : (m, d + 1) features, with a column of ones
    scores, mass : (m,) scores, and the number of rows that each stands for
    """

    names: list[Any]
    points: np.ndarray
    scores: np.ndarray
    mass: np.ndarray

    @classmethod
    def of(
        cls, names: list[Any], features: np.ndarray, score: np.ndarray, weight: np.ndarray
    ) -> "ConditionalScores":
        """Build from rows in any order: scores (n,), features (n, d) and whole weights."""
        positive = weight > 0.0
        rows, place = np.unique(
            np.column_stack([score, features])[positive], axis=0, return_inverse=True
        )
        points = np.column_stack([rows[:, 1:], np.ones(len(rows))])
        return cls(names, points, rows[:, 0], np.bincount(place.ravel(), weights=weight[positive]))

    def limits(self, features: np.ndarray, level: float, u: np.ndarray | None) -> np.ndarray:
        """(n,) the largest score that a class in the set of a new row may have."""
        return conditional_limits(
            self.points,
            self.scores,
            self.mass,
            np.column_stack([features, np.ones(len(features))]),
            level,
            u,
        )


def read_features(
    features: Any, record: Predictions, names: list[Any] | None = None
) -> tuple[list[Any], np.ndarray]:
    """Return (names, (n, d) numbers) of the features of a record's rows; ``names`` are the columns
    seen in ``fit``.
    """
    if features is None:
        raise InputError(
            "features must be given, (n, d) numbers or indicators of groups; pass features=."
        )
    values = record.per_row(to_array(features, "features").astype(np.float64))
    values = values[:, None] if values.ndim == 1 else values
    if (
        values.ndim != 2
        or len(values) != len(record)
        or not values.shape[1]
        or not np.isfinite(values).all()
    ):
        raise InputError(
            f"features must be ({len(record)}, d) finite numbers, with groups as columns of 0 and"
            f" 1; got shape {values.shape}; fill the gaps."
        )
    columns = column_names(features, "features") or list(range(values.shape[1]))
    if names is not None and columns != names:
        raise InputError(
            f"features must have the columns that were passed to fit, {names}; got {columns};"
            " pass the same columns."
        )
    return columns, values


class ConditionalSets(Promised, Saved, BaseEstimator):
    r"""Prediction sets whose coverage holds in each of several overlapping groups, and over each
    non-negative sum of features.

    .. math:: E\left[f(X)\,(1\{Y \in C(X)\} - \text{level})\right] \ge 0 \quad \text{for all } f(x)
        = \phi(x)^T b \ge 0

    where :math:`\phi` are the features and a one. A class is in the set where its score is at most
    the limit of the new row. The limit is a quantile regression of the calibration scores on the
    features that includes the new row.

    Parameters
    ----------
    score : {"lac", "aps", "raps", "margin", "top_k", "ordered"}
        The score, as in :class:`ConformalSets`.
    level : float, default 0.9
    calibrator : Calibrator or Map, optional
        A fitted one must come from other rows and is used as it is. For an unfitted one, ``fit``
        sets aside ``fit_share`` of its rows, and the promise rests on the others. Default none: the
        promise holds for any score, and a calibrator would take rows from it.
    randomised : bool, default True
        Whether "aps", "raps" and "ordered" are randomised. Sets are larger without it.
    smoothed : bool, default False
        Whether limits are randomised, which makes the promise an equality for any sum of features.
        Sets are then smaller, and a share of 1 - level has a limit below any score of its row; many
        of these are empty. Every row needs a linear program of its own.
    penalty, k_reg : float and int, optional
        For "raps": the penalty of each rank beyond ``k_reg``. None: chosen for small sets on rows
        that ``fit`` sets aside.
    fit_share : float, default 0.5
        Share of the rows for the parts to fit or choose, if any, in equal parts.
    random_state : int, default 0
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    guarantee_ : core.Guarantee
    rule_ : the rule that scores rows
    scores_ : the calibration scores (``scores``) and features (``points``)
    n_ : float, number of rows behind the promise
    split_ : dict, number of rows for each use
    classes_ : (K,)

    See Also
    --------
    ConformalSets : ``by="groups"`` for groups that do not overlap; ``by="overlapping"`` gives
        larger sets in a fraction of the time.
    metrics.set_coverage_by, metrics.worst_slab_coverage : check conditional coverage.

    Notes
    -----
    Use them where coverage must hold for women, for the old and for each clinic at once, or must
    not fall along a number such as the row's length. Without randomisation the coverage exceeds the
    level, for a group of share q by at most (d + 1) / (q (n + 1)), with d features. Keep that bound
    small, or sets grow. Where nothing bounds a row's limit, as for features far from the
    calibration rows, its set holds every class. Sets need not be nested in level. Each distinct row
    of features takes one linear program of some milliseconds; groups have few such rows.

    References
    ----------
    Gibbs, Cherian and Candes, "Conformal prediction with conditional guarantees", 2023, Journal of
    the Royal Statistical Society B, 2025.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> P, member = rng.dirichlet(np.ones(4), 400), rng.random((400, 2)) < 0.4
    >>> y = (P.cumsum(axis=1) < rng.random(400)[:, None]).sum(axis=1)
    >>> y = np.where(
    ...     member[:, 0], rng.integers(0, 4, 400), y
    ... )  # of the first group the model knows nothing
    >>> sets = ConditionalSets(level=0.8).fit(P[:200], y[:200], features=member[:200])
    >>> found = sets.predict_set(P[200:], features=member[200:])
    >>> bool(found[member[200:, 0]].sum(axis=1).mean() > found[~member[200:, 0]].sum(axis=1).mean())
    True
    """

    def __init__(
        self,
        score: ScoreName = "lac",
        level: float = 0.9,
        *,
        calibrator: Any = None,
        randomised: bool = True,
        smoothed: bool = False,
        penalty: float | None = None,
        k_reg: int | None = None,
        fit_share: float = 0.5,
        random_state: int = 0,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        self.score: ScoreName = score
        self.level: float = level
        self.calibrator: Any = calibrator
        self.randomised: bool = randomised
        self.smoothed: bool = smoothed
        self.penalty: float | None = penalty
        self.k_reg: int | None = k_reg
        self.fit_share: float = fit_share
        self.random_state: int = random_state
        self.inputs: Inputs = inputs
        self.classes: ArrayLike | None = classes

    @classmethod
    def _examples(cls) -> list["ConditionalSets"]:
        """Instances for the contract suite."""
        return [cls(), cls("aps"), cls("raps", penalty=0.01, k_reg=2)]

    def fit(
        self,
        P: ArrayLike,
        y: ArrayLike,
        *,
        features: Any = None,
        sample_weight: ArrayLike | None = None,
        X: Any = None,
    ) -> Self:
        """Fit on predictions for rows that the model did not learn from, and the true labels.

        Parameters
        ----------
        P : (n, K), or (n,) for binary: probability of the second class
        y : (n,) labels
        features : (n, d) numbers, or booleans of groups that may overlap; ``predict_set`` needs the
            same columns of a frame
        sample_weight : (n,), optional
            Whole numbers: how often each row was observed. Weights of a sampling design or of
            importance are refused and must not be rounded. They need weighted conformal prediction,
            with weights learned from other rows.
        X : (n, ...) features of the rows, for calibrators that use them
        """
        require_options(
            self.score, self.level, self.penalty, self.k_reg, self.fit_share, 256, self.random_state
        )
        calibrator = (
            None if self.calibrator is None else as_calibrator(self.calibrator, fitted=True)
        )
        options: dict[str, Any] = {
            "classes": self.classes,
            "X": X,
            "sample_weight": sample_weight,
            "called": "y",
        }
        record = read_labelled(y, P, inputs=inputs_for(self.inputs, calibrator), **options)
        names, points = read_features(features, record)
        uses = {
            "calibrator": calibrator is not None and not is_fitted(calibrator),
            "penalty": self.score == "raps" and self.penalty is None,
        }
        split = SetRows.of(
            record,
            [use for use, needed in uses.items() if needed],
            self.fit_share,
            self.random_state,
        )
        certificate = split.parts["certificate"]
        self.rule_: SetRule = fitted(
            SetRule.unfitted(self, calibrator), split, rows_of_cells(None, record, None), self.level
        )
        self.scores_: ConditionalScores = ConditionalScores.of(
            names, points[split.rows], self.rule_.scorer.of_labels(certificate), certificate.weights
        )
        self.classes_: np.ndarray = record.classes
        self.split_: dict[str, float] = split.sizes
        self.n_: float = n_units(certificate)
        self.status_: str = "exact"
        return self

    def predict_set(
        self, P: ArrayLike, *, features: Any = None, level: float | None = None, X: Any = None
    ) -> np.ndarray:
        """Return (n, K) booleans, whether a class is in the set, at another ``level`` if passed."""
        require_fitted(self, "rule_")
        level = self.level if level is None else level
        require_level(level)
        record = read(
            P, inputs=inputs_for(self.inputs, self.rule_.calibrator), classes=self.classes_, X=X
        )
        _, points = read_features(features, record, self.scores_.names)
        return self.rule_.scorer.within(
            record, self.scores_.limits(points, level, self._draws(record))[:, None]
        )

    def labels(
        self, P: ArrayLike, *, features: Any = None, level: float | None = None, X: Any = None
    ) -> list[list[Any]]:
        """Return the sets as lists of labels."""
        return [
            self.classes_[row].tolist()
            for row in self.predict_set(P, features=features, level=level, X=X)
        ]

    @property
    def guarantee_(self) -> Guarantee:
        """The coverage that the sets promise, with its assumptions."""
        require_fitted(self, "rule_")
        kind = "sum" if self.smoothed else "sum that is nowhere negative"
        condition = (
            "the calibrator was fitted on other rows"
            if self.rule_.calibrator is not None
            else "nothing else was fitted on them"
        )
        return Guarantee(
            "marginal",
            "coverage",
            f"new rows weighted by any {kind} of the features, thus of each group among them and"
            " of all",
            f"new rows are exchangeable with these rows, and {condition}",
            self.n_,
            self.level,
            self.level if self.smoothed else None,
            method="conditional conformal by quantile regression",
        )

    def _draws(self, record: Predictions) -> np.ndarray | None:
        return (
            uniform_of_rows(placed_codes(record.values), self.random_state + 1)
            if self.smoothed
            else None
        )
