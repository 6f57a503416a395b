"""The risk, and the raw score, from which acting costs less than waiting."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.thresholds import crossing_interval, net_benefit
from calibrant.arrays import require_pairs
from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.columns import Result
from calibrant.contracts.interval import require_level
from calibrant.contracts.reading import read_labelled
from calibrant.errors import InputError, warn
from calibrant.folds.model_outputs import is_fitted
from calibrant.folds.splits import fit_clone, out_of_fold
from calibrant.predictions import Inputs, Predictions
from calibrant.select.default import default_calibrator
from calibrant.wrap.one_vs_rest import as_calibrator

__all__ = ["DecisionThreshold", "decision_threshold"]

#: Points between two scores of the data, to find where the calibrated risk crosses.
STEPS = 1001


@dataclass(frozen=True, repr=False)
class DecisionThreshold(Result):
    """Act where the calibrated risk is at least ``risk``, or the raw score at least ``score``.

    Attributes
    ----------
    risk : float
        Threshold of the calibrated risk, from the costs alone.
    score, low, high : float
        The same on the scale of the predictions given (log-odds for logits), through
        ``calibrator``, and its interval; infinite where no score, or every one, is enough, or the
        rows do not say.
    level : float
    calibrator : Calibrator
        Fitted, of two classes: what takes the score to the risk.
    evaluation : {"out-of-fold", "as given"}
        How the rows below were judged: each by a calibrator that has not seen it, or all by the
        fitted one that was given.
    n, flagged, true_positives : float
        Sums of weights: of all rows, those at or above the threshold, and those among them where
        the event happened.
    expected_cost, cost_of_none, cost_of_all : float
        Mean cost of a row with the threshold, without acting at all, and acting on every row.
    net_benefit : float
        True positives less false ones at the odds of the threshold, a row.

    See Also
    --------
    decision_threshold : makes it.
    """

    risk: float
    score: float
    low: float
    high: float
    level: float
    calibrator: Calibrator
    evaluation: Literal["out-of-fold", "as given"]
    n: float
    flagged: float
    true_positives: float
    expected_cost: float
    cost_of_none: float
    cost_of_all: float
    net_benefit: float

    def __repr__(self) -> str:
        return "\n".join(
            [
                (
                    f"act from a calibrated risk of {self.risk:.4g}: a score of {self.score:.4g}, "
                    f"{100.0 * self.level:g} % interval [{self.low:.4g}, {self.high:.4g}]"
                ),
                (
                    f"flags {self.flagged:g} of {self.n:g} rows"
                    f" ({1000.0 * self.flagged / self.n:.4g} per 1,000), {self.true_positives:g} of"
                    f" them events ({self.evaluation})"
                ),
                (
                    f"costs {self.expected_cost:.4g} a row; flagging none {self.cost_of_none:.4g},"
                    f" all {self.cost_of_all:.4g}; net benefit {self.net_benefit:.4g}"
                ),
            ]
        )


def decision_threshold(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    cost_false_positive: float,
    cost_false_negative: float,
    cost_true_positive: float = 0.0,
    cost_true_negative: float = 0.0,
    target: Any = "event",
    calibrator: Any = None,
    level: float = 0.95,
    n_splits: int = 5,
    random_state: int = 0,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> DecisionThreshold:
    r"""The threshold that the costs ask for, from calibrated risk, and where it lies on the scale
    of the model's own score.

    .. math:: t = \frac{c_{FP} - c_{TN}}{(c_{FP} - c_{TN}) + (c_{FN} - c_{TP})}

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    cost_false_positive, cost_false_negative, cost_true_positive, cost_true_negative : float
        In any one unit; a gain is negative. Acting wrongly must cost more than rightly waiting, and
        a miss more than rightly acting.
    target : {"event", "answer"} or a class label, default "event"
        What is acted on: class 1 of two, the answer's being right, or the named class.
    calibrator : Calibrator or Map, optional
        Unfitted, or None for the default: fitted on all rows, and judged out of fold. Fitted, of
        two classes: used as it is, on rows that it has not seen. ``Identity()`` takes the
        predictions for calibrated.
    level : float, default 0.95
        Of the interval.
    n_splits : int, default 5
        Folds.
    random_state : int, default 0
        Seed of the folds.
    sample_weight : (n,), optional
        Weight 2 means the row twice, weight 0 no row. Weights of a sampling design move the costs
        and the score as they should, but not the interval, which counts them as rows.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    DecisionThreshold

    Raises
    ------
    InputError
        When the predictions cannot be read, or the costs leave nothing to decide.

    See Also
    --------
    metrics.net_benefit : of a threshold named beforehand.

    Notes
    -----
    The threshold of the risk follows from the costs and has no error; what the data must say is
    which score has that risk. The interval holds the scores at which a likelihood ratio test does
    not refuse that the risk, rising with the score, crosses there (held 94 to 100 times of 100 in
    simulations, 95 asked for). It asks nothing of the calibrator, whose threshold may lie outside:
    a warning says so. The threshold with the least cost on these rows would be worse: it follows
    the noise, and its bootstrap is inconsistent. With scikit-learn,
    ``FixedThresholdClassifier(CalibratedClassifier(model), threshold=found.risk)`` decides by it.
    The interval takes rows for independent.

    References
    ----------
    Elkan, "The foundations of cost-sensitive learning", IJCAI 2001; Banerjee and Wellner,
    "Likelihood ratio tests for monotone functions", Annals of Statistics 2001.

    Examples
    --------
    >>> from calibrant import Platt
    >>> y, p = [0, 0, 0, 1, 0, 1, 1, 1] * 25, [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8] * 25
    >>> decision_threshold(
    ...     y, p, cost_false_positive=1, cost_false_negative=4, calibrator=Platt()
    ... ).risk
    0.2
    """
    require_level(level)
    acting, waiting = (
        cost_false_positive - cost_true_negative,
        cost_false_negative - cost_true_positive,
    )
    if not (0.0 < acting < np.inf and 0.0 < waiting < np.inf):
        raise InputError(
            "the costs must make acting wrongly dearer than rightly waiting, and a miss dearer"
            f" than rightly acting; got differences of {acting!r} and {waiting!r}; give"
            " cost_false_positive and cost_false_negative above the others."
        )
    risk = acting / (acting + waiting)
    record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
    require_pairs(record.weight, "an interval")
    pair = _pair(record, target)
    calibrator = as_calibrator(calibrator, default=default_calibrator, fitted=True)
    if is_fitted(calibrator):
        evaluation, calibrated = "as given", calibrator.predict_record(pair)
    else:
        evaluation, (calibrated, _) = (
            "out-of-fold",
            out_of_fold(calibrator, pair, n_splits=n_splits, random_state=random_state),
        )
        calibrator = fit_clone(calibrator, pair)
    score, low, high = _score(pair, calibrator, risk, level)
    weight, hit = pair.weights, pair.labels == 1
    acted = np.asarray(calibrated)[:, 1] >= risk
    n, events = float(weight.sum()), float(weight @ hit)
    right, flagged = float(weight @ (acted & hit)), float(weight @ acted)

    def cost(true_positives: float, flagged: float) -> float:
        return (
            cost_true_positive * true_positives
            + cost_false_positive * (flagged - true_positives)
            + cost_false_negative * (events - true_positives)
            + cost_true_negative * (n - flagged - events + true_positives)
        ) / n

    return DecisionThreshold(
        risk,
        score,
        low,
        high,
        level,
        calibrator,
        evaluation,
        n,
        flagged,
        right,
        cost(right, flagged),
        cost(0.0, 0.0),
        cost(events, n),
        net_benefit(right, flagged - right, n, risk),
    )


def _pair(record: Predictions, target: Any) -> Predictions:
    """The record as yes or no, without an answer of its own; the event of two classes keeps
    their names, for a fitted calibrator.
    """
    pair = record.as_pair(target)
    return replace(pair, own=None, classes=record.classes if target == "event" else pair.classes)


def _score(
    pair: Predictions, calibrator: Calibrator, risk: float, level: float
) -> tuple[float, float, float]:
    """(threshold of the raw score, low, high)."""
    logit = pair.kind == "logit"
    raw = pair.values[:, 1] - pair.values[:, 0] if logit else pair.probabilities[:, 1]
    unique, index = np.unique(raw, return_inverse=True)
    hits, mass = (
        np.bincount(index, weights=w) for w in (pair.weights * (pair.labels == 1), pair.weights)
    )
    low, high = crossing_interval(unique, hits, mass, risk, level)

    def risk_of(scores: np.ndarray) -> np.ndarray:
        values = np.column_stack([np.zeros_like(scores) if logit else 1.0 - scores, scores])
        return calibrator.predict_record(
            replace(pair, values=values, labels=None, weight=None, kept=None)
        )[:, 1]

    score = _first_reaching(risk_of, unique, risk, logit)
    if not low <= score <= high:
        warn(
            f"the calibrated risk reaches {risk:.4g} at a score of {score:.4g}, outside the"
            f" interval [{low:.4g}, {high:.4g}], which asks only that the risk rise with the score:"
            " the calibrator may not fit there; try another."
        )
    return score, low, high


def _first_reaching(
    risk_of: Callable[[np.ndarray], np.ndarray], scores: np.ndarray, risk: float, logit: bool
) -> float:
    """The least score from which on the risk is at least ``risk``: to the step between two
    scores of the data.
    """
    short = np.flatnonzero(risk_of(scores) < risk)
    first = short[-1] + 1 if len(short) else 0
    if logit and first in (0, len(scores)):
        return -np.inf if first == 0 else np.inf
    low, high = np.concatenate([[0.0], scores, [1.0]])[first : first + 2]
    between = cast(np.ndarray, np.linspace(low, high, STEPS))
    reached = np.flatnonzero(risk_of(between) >= risk)
    return float(between[reached[0]]) if len(reached) else np.inf
