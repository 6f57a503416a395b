"""Thresholds of the risk and of the raw score above which acting costs less than waiting; and
decisions for or against an event, or none, with certified limits on both error rates.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal, Self, cast

import numpy as np

from calibrant._numerics.bootstrap import one_of_each
from calibrant._numerics.certificates import allowed_errors, fewest_rows
from calibrant._numerics.thresholds import crossing_interval, net_benefit
from calibrant.calibrators.auto import default_calibrator
from calibrant.calibrators.look_alike import caution_look_alike
from calibrant.calibrators.multiclass import as_calibrator
from calibrant.core import arrays
from calibrant.core.arrays import ArrayLike, require_pairs
from calibrant.core.calibrator import Calibrator, require_fitted
from calibrant.core.cards import Card, Shown, Tile
from calibrant.core.estimators import BaseEstimator, seeded, trial
from calibrant.core.folds import cross_fit, fit_clone
from calibrant.core.given import Inputs
from calibrant.core.groups import read_clusters
from calibrant.core.guarantee import Guarantee, Promised, Result
from calibrant.core.metric import require_level
from calibrant.core.model_outputs import is_fitted
from calibrant.core.predictions import Predictions, read
from calibrant.core.reading import read_labelled
from calibrant.core.saving import Saved
from calibrant.core.text_table import percent
from calibrant.decisions.certificates import counted_rows, repetitions, require_share, too_few
from calibrant.errors import InputError, naming, warn

__all__ = ["DecisionThreshold", "NeymanPearsonClassifier", "decision_threshold"]


#: Grid points between two observed scores, to find where the calibrated risk crosses.
STEPS = 1001
#: Largest cost, and how many times the other one of the two differences of costs may be: the risk
#: is then neither 0 nor 1.
LARGEST, WIDEST = 1e100, 1e12


@dataclass(frozen=True, repr=False)
class DecisionThreshold(Shown, Result):
    """Act where the calibrated risk is at least ``risk``, or the raw score at least ``score``.

    Attributes
    ----------
    risk : float
        Threshold of the calibrated risk, from the costs alone.
    score, low, high : float
        The same on the scale of the predictions (log-odds for logits), through ``calibrator``, and
        its interval; infinite where no score or every score is enough, or the data do not bound it.
    level : float
    calibrator : Calibrator
        Fitted, for two classes; it maps the score to the risk.
    evaluation : {"out-of-fold", "as given"}
        How the rows below were evaluated: each by a calibrator fitted on other rows, or all by the
        fitted one that was passed.
    n, flagged, true_positives : float
        Sums of weights: of all rows, of those at or above the threshold, and of the events among
        these.
    expected_cost, cost_of_none, cost_of_all : float
        Mean cost of a row with the threshold, when never acting, and when always acting.
    net_benefit : float
        True positives minus false ones weighted by the odds of the threshold, per row.

    See Also
    --------
    decision_threshold : makes this result.
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

    def _card(self) -> Card:
        flags = f"{self.flagged:g} of {self.n:g} rows, {self.true_positives:g} of them events"
        alternatives = f"none {self.cost_of_none:.4g}, all {self.cost_of_all:.4g}"
        interval = f"{100.0 * self.level:g} % interval [{self.low:.4g}, {self.high:.4g}]"
        return Card(
            f"Act from a calibrated risk of {self.risk:.4g}: a score of {self.score:.4g},"
            f" {interval}.",
            "Decision threshold",
            f"Act from {percent(self.risk)}",
            "act",
            tiles=[
                Tile("flags", percent(self.flagged / self.n), f"{flags} ({self.evaluation})"),
                Tile("costs a row", f"{self.expected_cost:.4g}", f"flagging {alternatives}"),
                Tile("net benefit", f"{self.net_benefit:.4g}", "true positives a row"),
            ],
        )


@seeded
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
    n_splits: int | None = None,
    random_state: int = 0,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> DecisionThreshold:
    r"""Compute the risk threshold that the costs imply, and its place on the scale of the raw
    score.

    .. math:: t = \frac{c_{FP} - c_{TN}}{(c_{FP} - c_{TN}) + (c_{FN} - c_{TP})}

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    cost_false_positive, cost_false_negative, cost_true_positive, cost_true_negative : float
        In any common unit; a gain is negative. A false positive must cost more than a true
        negative, and a false negative more than a true positive.
    target : {"event", "answer"} or a class label, default "event"
        The event to act on: class 1 of two, a correct answer, or the named class.
    calibrator : Calibrator or Map, optional
        Unfitted, or None for the default: fitted on all rows, and evaluated out of fold. A fitted
        one for two classes is used as it is; these rows must be new to it. ``Identity()`` treats
        the predictions as calibrated.
    level : float, default 0.95
        Level of the interval.
    n_splits : int, optional
        Number of folds in which the calibrator is fitted again. Default: 5; the automatic choice
        uses the folds of its own fit.
    random_state : int, default 0
        Seed of the folds.
    sample_weight : (n,), optional
        Weight 2 means the row twice, weight 0 no row. Weights of a sampling design shift the costs
        and the score correctly, but the interval counts them as rows.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    DecisionThreshold

    Raises
    ------
    InputError
        When the predictions cannot be read, or the costs imply no decision.

    See Also
    --------
    metrics.net_benefit : at a threshold chosen beforehand.

    Notes
    -----
    The threshold of the risk follows from the costs without error; the data must show which score
    has that risk. The interval holds the scores where a likelihood ratio test does not reject that
    the risk, rising with the score, crosses there. In simulations at level 95 % it covered in 94 to
    100 of 100 runs. It does not depend on the calibrator, whose threshold may lie outside; a
    warning reports that. The threshold with the lowest cost on these rows would be worse: it
    follows the noise, and its bootstrap is inconsistent. In scikit-learn,
    ``FixedThresholdClassifier(CalibratedClassifier(model), threshold=found.risk)`` applies it. The
    interval assumes independent rows.

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
    risk = _risk_of_costs(
        cost_false_positive=cost_false_positive,
        cost_true_negative=cost_true_negative,
        cost_false_negative=cost_false_negative,
        cost_true_positive=cost_true_positive,
    )
    record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
    require_pairs(record.weight, "an interval")
    pair = _pair(record, target)
    calibrator = as_calibrator(calibrator, default=default_calibrator, fitted=True)
    if is_fitted(calibrator):
        evaluation, calibrated = "as given", calibrator.predict_record(pair)
    else:
        out_of_fold = cross_fit(calibrator, pair, n_splits=n_splits, random_state=random_state)
        evaluation, calibrated = "out-of-fold", out_of_fold.result
        calibrator = (
            fit_clone(calibrator, pair) if out_of_fold.fitted is None else out_of_fold.fitted
        )
    score, low, high = _score(pair, calibrator, risk, level)
    weight, hit = pair.weights, pair.labels == 1
    acted = np.asarray(calibrated)[:, 1] >= risk
    n, events = float(weight.sum()), float(weight @ hit)
    n_hits, flagged = float(weight @ (acted & hit)), float(weight @ acted)

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
        n_hits,
        cost(n_hits, flagged),
        cost(0.0, 0.0),
        cost(events, n),
        net_benefit(n_hits, flagged - n_hits, n, risk),
    )


def _risk_of_costs(**costs: float) -> float:
    """The risk from which on acting is expected to cost less: of a false positive, a true negative,
    a false negative and a true positive.
    """
    for name, cost in costs.items():
        if not (isinstance(cost, Real) and abs(cost) <= LARGEST):
            raise InputError(
                f"{name} must be a number of at most {LARGEST:g} in size; got {cost!r}; pass all"
                " costs in one common unit."
            )
    false_positive, true_negative, false_negative, true_positive = costs.values()
    acting, waiting = false_positive - true_negative, false_negative - true_positive
    if not max(acting, waiting) < WIDEST * min(acting, waiting):
        raise InputError(
            "costs must be higher for a false positive than for a true negative, and for a false"
            f" negative than for a true positive, within a factor of {WIDEST:g}; got differences of"
            f" {acting!r} and {waiting!r}; raise cost_false_positive or cost_false_negative."
        )
    return acting / (acting + waiting)


def _pair(record: Predictions, target: Any) -> Predictions:
    """Return the record with a yes-no outcome and no answer of its own; the event of two classes
    keeps their names, for a fitted calibrator.
    """
    pair = record.as_pair(target)
    return replace(pair, own=None, classes=record.classes if target == "event" else pair.classes)


def _score(
    pair: Predictions, calibrator: Calibrator, risk: float, level: float
) -> tuple[float, float, float]:
    """Return (threshold of the raw score, low, high)."""
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
            f" interval [{low:.4g}, {high:.4g}], which assumes only that the risk rises with the"
            " score; the calibrator may fit poorly there; try another."
        )
    return score, low, high


def _first_reaching(
    risk_of: Callable[[np.ndarray], np.ndarray], scores: np.ndarray, risk: float, logit: bool
) -> float:
    """Return the smallest score from which on the risk is at least ``risk``, to the grid step
    between two observed scores.
    """
    short = np.flatnonzero(risk_of(scores) < risk)
    first = short[-1] + 1 if len(short) else 0
    if logit and first in (0, len(scores)):
        return -np.inf if first == 0 else np.inf
    low, high = np.concatenate([[0.0], scores, [1.0]])[first : first + 2]
    between = cast(np.ndarray, np.linspace(low, high, STEPS))
    reached = np.flatnonzero(risk_of(between) >= risk)
    return float(between[reached[0]]) if len(reached) else np.inf


WORDS = {
    "false_positive_rate": "share of rows without the event that are predicted to have it",
    "false_negative_rate": "share of events that are predicted as none",
}


class NeymanPearsonClassifier(Promised, Saved, BaseEstimator):
    r"""Predict the event above one threshold and no event below another; both error rates hold at
    once with probability ``confidence``.

    .. math:: \hat t_{high} = s^-_{(e + 1)} \text{ from above}, \qquad \hat t_{low} = s^+_{(e' +
        1)} \text{ from below}

    where e is the largest number of errors on the :math:`n_-` rows without the event for which
    :math:`P(Bin(n_-, \alpha) \le e) \le \delta`, and e' the same for the :math:`n_+` events. Here
    :math:`\delta` = 1 - confidence, half for each if both rates are limited.

    Parameters
    ----------
    false_positive_rate : float or None, default 0.05
        Maximum share of predicted events among rows without the event; None for no limit.
    false_negative_rate : float or None, default None
        Maximum share of events that are predicted as none.
    confidence : float, default 0.95
    target : "event" or a class label, default "event"
        Class 1 of two, or the class named.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    high_, low_ : float
        The event is predicted for scores above ``high_`` and no event below ``low_``; in between
        there is no decision. If the rates allow a decision on every row, both are one number in the
        middle of the allowed range, and scores on it count as no event.
    n_positive_, n_negative_ : float
        Rows (or clusters with in all) with and without the event.
    guarantees_ : list of Guarantee, one for each rate
    classes_ : (K,) labels, where it was fitted on predictions

    See Also
    --------
    SelectiveClassifier : limits the error rate among the answers given.
    decision_threshold : where costs determine the decision rather than rates.

    Notes
    -----
    Use it where a rate is prescribed, as in screening, alarms and triage. It assumes nothing about
    the scores and needs no correction for the search: the rates are monotone in the threshold, so
    the best one is the answer. With one rate alone every row is decided, at the threshold of that
    rate. Rows tied with a threshold get no decision. It limits errors among rows with or without
    the event; it does not bound the share of events among predicted events.

    References
    ----------
    Tong, Feng and Li, "Neyman-Pearson classification algorithms and NP receiver operating
    characteristics", Science Advances 2018.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(2000)
    >>> y = (rng.random(2000) < p).astype(int)
    >>> rule = NeymanPearsonClassifier(0.05, 0.05).fit(p, y)
    >>> rule.low_ < rule.high_, rule.decide([0.05, 0.5, 0.95]).tolist()
    (True, [0, -1, 1])
    """

    n_negative_: float
    n_positive_: float
    high_: float
    low_: float

    def __init__(
        self,
        false_positive_rate: float | None = 0.05,
        false_negative_rate: float | None = None,
        confidence: float = 0.95,
        *,
        target: Any = "event",
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        self.false_positive_rate: float | None = false_positive_rate
        self.false_negative_rate: float | None = false_negative_rate
        self.confidence: float = confidence
        self.target: Any = target
        self.inputs: Inputs = inputs
        self.classes: ArrayLike | None = classes

    def fit(
        self,
        P: ArrayLike,
        y: ArrayLike,
        *,
        cluster: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Certify the thresholds on held-out predictions (n, K), or (n,) for binary, and the true
        labels.

        ``cluster`` names clusters of dependent rows, of which one row of each kind counts;
        ``sample_weight`` are whole numbers, how often each row was observed. Weights of a sampling
        design are refused, because the certificate would concern other rows.
        """
        record = read(P, y, inputs=self.inputs, classes=self.classes, sample_weight=sample_weight)
        if record.labels is None:
            raise InputError("y must be the true labels, one a row; got None; pass them.")
        self._certify(
            self._score(record), record.labels == record.position(self.target), record, cluster
        )
        self.classes_: np.ndarray = record.classes
        if cluster is None:
            caution_look_alike(record, "the promise")
        return self

    def fit_scores(
        self,
        score: ArrayLike,
        event: ArrayLike,
        *,
        cluster: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Certify the thresholds on scores (n,), larger for more likely events, and
        outcomes (n,).
        """
        values = arrays.scores(score)
        hit = naming("correct", "event")(arrays.binary_outcomes)(event, len(values)) == 1.0
        counted = counted_rows(len(values), sample_weight)
        selection = slice(None) if counted.kept is None else counted.kept
        self._certify(values[selection], hit[selection], counted, cluster)
        return self

    def decide(self, P: ArrayLike) -> np.ndarray:
        """Return (n,) int: 1 for the event, 0 for none, -1 for no decision."""
        require_fitted(self, "classes_")
        return self.decide_scores(self._score(read(P, inputs=self.inputs, classes=self.classes_)))

    def decide_scores(self, score: ArrayLike) -> np.ndarray:
        """Return the decisions for scores."""
        require_fitted(self, "high_")
        values = arrays.scores(score)
        negative = values < self.low_ if self.low_ != self.high_ else values <= self.low_
        return np.where(values > self.high_, 1, np.where(negative, 0, -1))

    @property
    def guarantees_(self) -> list[Guarantee]:
        """The promises, with their assumptions."""
        require_fitted(self, "high_")
        counts = {"false_positive_rate": self.n_negative_, "false_negative_rate": self.n_positive_}
        assumes = f"{self.unit_} of a kind are independent draws of those of that kind"
        return [
            Guarantee(
                "pac",
                WORDS[name],
                f"new {self.unit_}",
                assumes,
                counts[name],
                most=float(rate),
                unit=self.unit_,
                confidence=self.confidence,
                method="exact binomial, one order statistic",
            )
            for name, rate in self._limits().items()
        ]

    def _limits(self) -> dict[str, float]:
        rates = {
            "false_positive_rate": self.false_positive_rate,
            "false_negative_rate": self.false_negative_rate,
        }
        limits = {name: rate for name, rate in rates.items() if rate is not None}
        for name, rate in (*limits.items(), ("confidence", self.confidence)):
            require_share(name, rate)
        if not limits:
            raise InputError(
                "false_positive_rate or false_negative_rate must be a number; got None for both;"
                " pass one."
            )
        return limits

    def _score(self, record: Predictions) -> np.ndarray:
        place = record.position(self.target)
        if record.kind == "logit" and record.n_classes == 2:
            return np.asarray(
                record.values[:, place] - record.values[:, 1 - place], dtype=np.float64
            )
        return record.probabilities[:, place]

    def _certify(
        self, score: np.ndarray, event: np.ndarray, record: Predictions, cluster: Any
    ) -> None:
        # A threshold on the user's own scores does not apply to probabilities.
        vars(self).pop("classes_", None)
        limits, weight = self._limits(), repetitions(record.weights)
        index = None if cluster is None else read_clusters(cluster, record)
        self.unit_: Any = "rows" if cluster is None else "clusters"
        for name, kind in (("an event", event), ("none", ~event)):
            if not kind.any():
                raise InputError(
                    f"y must hold rows with and without the event; got no row with {name}; fit it"
                    " on rows of both."
                )
        of_kind = [_rows(score, kind, weight, index) for kind in (~event, event)]
        self.n_negative_, self.n_positive_ = (float(w.sum()) for _, w in of_kind)
        delta, ends = (
            (1.0 - self.confidence) / len(limits),
            {"false_positive_rate": np.inf, "false_negative_rate": -np.inf},
        )
        for (name, end), (values, times), side in zip(
            ends.items(), of_kind, (1.0, -1.0), strict=True
        ):
            rate = limits.get(name)
            ends[name] = (
                end
                if rate is None
                else side
                * _threshold(side * values, times, rate, delta, self.confidence, self.unit_)
            )
        high, low = ends["false_positive_rate"], ends["false_negative_rate"]
        if len(limits) == 1:
            high = low = (
                high if "false_positive_rate" in limits else float(np.nextafter(low, -np.inf))
            )
        elif high <= low:
            # Ties with a threshold stay open; if both thresholds are equal, the scores on either
            # side of it are decided.
            high, low = (
                (0.5 * (high + low),) * 2
                if high < low
                else (float(np.nextafter(high, np.inf)), low)
            )
        self.high_, self.low_ = float(high), float(low)


def _rows(
    score: np.ndarray, kind: np.ndarray, weight: np.ndarray, cluster: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return (scores, repetitions) of the rows of one kind, or of one such row of each cluster."""
    if cluster is None:
        return score[kind], weight[kind]
    place = np.unique(cluster[kind], return_inverse=True)[1]
    rows = one_of_each(place, score[kind], np.zeros(len(place)), weight[kind])
    return score[kind][rows], np.ones(len(rows))


def _threshold(
    values: np.ndarray, times: np.ndarray, rate: float, delta: float, confidence: float, unit: str
) -> float:
    """Return the smallest value that at most a share ``rate`` of all exceed."""
    n = int(times.sum())
    errors = allowed_errors(n, rate, delta)
    if errors < 0:
        raise InputError(
            too_few(n, fewest_rows(rate, delta), rate, confidence, f"{unit} of a kind")
        )
    order = np.argsort(-values, kind="stable")
    return (
        float(values[order][np.searchsorted(np.cumsum(times[order]), errors + 1.0)])
        if errors < n
        else float(-np.inf)
    )


@trial.register
def _(rule: NeymanPearsonClassifier) -> None:
    rule.decide_scores([0.0, 1.0])
