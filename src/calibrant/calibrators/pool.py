"""Average of a few calibrators with an intercept, weighted by likelihood: unbiased overall, and
cheap.
"""

from typing import ClassVar

import numpy as np

from calibrant.calibrators.maps.sigmoids import Beta, Platt, QuadraticScaling
from calibrant.calibrators.maps.smooth import Spline
from calibrant.calibrators.matrix import StructuredVectorScaling
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import Calibrator, Tags, require_fitted
from calibrant.core.expression import Expression, SymbolicRecord, join, weighted_sum
from calibrant.core.folds import fit_clone
from calibrant.core.given import Inputs
from calibrant.core.map import Map
from calibrant.core.predictions import Predictions
from calibrant.core.solving import event_rows

__all__ = ["LikelihoodPool"]

#: Maps of the event with their numbers of parameters; the fit of the spline determines its own.
MAPS: dict[type[Map], float] = {Platt: 2.0, Beta: 3.0, QuadraticScaling: 3.0, Spline: 2.0}
#: Maps below this weight are left out of the average.
LEAST_WEIGHT = 0.01
FLOOR = 1e-300


class LikelihoodPool(
    Calibrator,
    examples=[{"keep_order": True, "inputs": "logit"}],
    family="automatic choice",
    use="A fast average of a few methods by likelihood",
):
    r"""Average of a few calibrators with an intercept, weighted by their penalised likelihood.

    .. math:: q = \sum_j w_j\, g_j(p), \qquad
        w_j \propto \exp\left( \sum_i \log g_j(p_i)_{y_i} - \tfrac{k_j}{2} \log n \right)

    over Platt scaling (a temperature with an intercept), beta calibration, quadratic scaling and a
    spline of the log-odds with :math:`k_j` effective parameters. Few rows give the weight to the
    simplest map, many rows to the best-fitting one. Three or more classes have one member,
    structured vector scaling, which has an offset for each class.

    Parameters
    ----------
    keep_order : bool, default False
        Leave out the spline, which may decrease; with two classes the order of the predictions is
        then preserved.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    maps_, weights_ : the fitted maps of the event and their weights, which sum to 1; empty for
        three or more classes.
    scaling_ : the fitted scaling of three or more classes, or None.
    status_ : the status of the members' fits.

    See Also
    --------
    AutoCalibrator : more candidates, weighted out of fold, with no calibration among them.
    GroupCalibrator, Multicalibration, ClusteredCalibration, PerClass : use it as their base.

    Notes
    -----
    Use it inside another calibrator that needs a base: the mean of its predictions is close to the
    rate of the event, so an error common to all rows does not appear as a difference between
    groups. It costs as much as its four fits and needs no folds. Do not use it alone on fewer than
    about 50 rows: it always changes the predictions, while :class:`AutoCalibrator` may keep them.

    References
    ----------
    Raftery, "Bayesian model selection in social research", Sociological Methodology 25, 1995, for
    the weights.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0.05, 0.95, 2000)
    >>> y = rng.uniform(size=2000) < 1 / (1 + 9 * (1 - p) / p)
    >>> LikelihoodPool().fit(p, y).predict_proba([0.5])[:, 1].round(1).tolist()
    [0.1]
    """

    tags: ClassVar[Tags] = Tags(soft_labels=True, label="pool by likelihood")

    def __init__(
        self,
        *,
        keep_order: bool = False,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.keep_order: bool = keep_order

    def _fit(self, record: Predictions) -> None:
        self.maps_: list[Map] = []
        self.scaling_: Calibrator | None = None
        if record.n_classes > 2:
            self.scaling_ = fit_clone(StructuredVectorScaling(), record)
            self.weights_: np.ndarray = np.ones(1)
            self.status_: str = self.scaling_.status_
            return
        templates = [make() for make in MAPS]
        fitted = [
            _fitted(one, record) for one in templates if one.tags.monotone or not self.keep_order
        ]
        penalty = 0.5 * np.log(max(float(record.weights.sum()), 1.0))
        criterion = np.array([_loss(one, record) + penalty * _freedom(one) for one in fitted])
        weights = np.exp(criterion.min() - criterion)
        weights[weights < LEAST_WEIGHT * weights.sum()] = 0.0
        kept = np.flatnonzero(weights)
        self.maps_ = [fitted[j] for j in kept.tolist()]
        self.weights_ = weights[kept] / weights.sum()
        self.status_ = ", ".join(sorted({one.status_ for one in self.maps_}))

    def _predict_proba(self, record: Predictions) -> np.ndarray:
        if self.scaling_ is not None:
            return self.scaling_.predict_record(record)
        event = np.zeros(len(record))
        for weight, one in zip(self.weights_.tolist(), self.maps_, strict=True):
            event += weight * one.predict(record.probabilities[:, 1])
        return np.column_stack([1.0 - event, event])

    def _expression(self, record: SymbolicRecord) -> Expression:
        if self.scaling_ is not None:
            return self.scaling_.express(record)
        event = record.probabilities.column(1)
        calibrated = weighted_sum([one.express(event) for one in self.maps_], self.weights_)
        return join([1.0 - calibrated, calibrated])

    def explain(self) -> str:
        """Describe the members and their weights, the largest first."""
        require_fitted(self, "weights_")
        if self.scaling_ is not None:
            return f"Every row is calibrated by {self.scaling_.tags.label}."
        order: list[int] = np.argsort(-self.weights_, kind="stable").tolist()
        said = ", ".join(f"{self.maps_[j].tags.label} {self.weights_[j]:.2f}" for j in order)
        return f"Every row is calibrated by an average, weighted by likelihood: {said}."


def _fitted(template: Map, record: Predictions) -> Map:
    """Return the map of the event; during a search it starts from the previous solution of the same
    map.
    before.
    """
    rows = event_rows(record, 1, template.tags.smooth)
    return template.fit_checked(*rows, record.work.of_map(template, 1))


def _freedom(fitted: Map) -> float:
    """Return the effective number of parameters."""
    return fitted.freedom_ if isinstance(fitted, Spline) else MAPS[type(fitted)]


def _loss(fitted: Map, record: Predictions) -> float:
    """Return the log loss of the rows, a sum."""
    score, hit, weight = event_rows(record, 1, fitted.tags.smooth)
    event = fitted.predict(score)
    losses = -np.log(np.maximum(np.where(hit > 0.0, event, 1.0 - event), FLOOR))
    return float(losses.sum() if weight is None else weight @ losses)
