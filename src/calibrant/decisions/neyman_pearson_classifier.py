"""Decisions for or against an event, or none, with certified limits on both error rates."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant._numerics.bootstrap import one_of_each
from calibrant._numerics.certificates import allowed_errors, fewest_rows
from calibrant.calibrators.look_alike import caution_look_alike
from calibrant.core import arrays
from calibrant.core.calibrator import require_fitted
from calibrant.core.estimators import BaseEstimator, trial
from calibrant.core.given import Inputs
from calibrant.core.groups import read_clusters
from calibrant.core.guarantee import Guarantee, Promised
from calibrant.core.predictions import Predictions, read
from calibrant.core.saving import Saved
from calibrant.decisions.certainty import counted_rows, repetitions, require_share
from calibrant.decisions.refusals import too_few
from calibrant.errors import InputError, naming

__all__ = ["NeymanPearsonClassifier"]

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
        Rows (or clusters with such rows) with and without the event.
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
        held = slice(None) if counted.kept is None else counted.kept
        self._certify(values[held], hit[held], counted, cluster)
        return self

    def decide(self, P: ArrayLike) -> np.ndarray:
        """Return (n,) int: 1 for the event, 0 for none, -1 for no decision."""
        require_fitted(self, "classes_")
        return self.decide_scores(self._score(read(P, inputs=self.inputs, classes=self.classes_)))

    def decide_scores(self, score: ArrayLike) -> np.ndarray:
        """Return the decisions for scores."""
        require_fitted(self, "high_")
        values = arrays.scores(score)
        none = values < self.low_ if self.low_ != self.high_ else values <= self.low_
        return np.where(values > self.high_, 1, np.where(none, 0, -1))

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
            for name, rate in self._asked().items()
        ]

    def _asked(self) -> dict[str, float]:
        rates = {
            "false_positive_rate": self.false_positive_rate,
            "false_negative_rate": self.false_negative_rate,
        }
        asked = {name: rate for name, rate in rates.items() if rate is not None}
        for name, rate in (*asked.items(), ("confidence", self.confidence)):
            require_share(name, rate)
        if not asked:
            raise InputError(
                "false_positive_rate or false_negative_rate must be a number; got None for both;"
                " pass one."
            )
        return asked

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
        asked, weight = self._asked(), repetitions(record.weights)
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
            (1.0 - self.confidence) / len(asked),
            {"false_positive_rate": np.inf, "false_negative_rate": -np.inf},
        )
        for (name, end), (values, times), side in zip(
            ends.items(), of_kind, (1.0, -1.0), strict=True
        ):
            rate = asked.get(name)
            ends[name] = (
                end
                if rate is None
                else side * _end(side * values, times, rate, delta, self.confidence, self.unit_)
            )
        high, low = ends["false_positive_rate"], ends["false_negative_rate"]
        if len(asked) == 1:
            high = low = (
                high if "false_positive_rate" in asked else float(np.nextafter(low, -np.inf))
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


def _end(
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
