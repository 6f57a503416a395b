"""Selective classification with a certified limit on the error rate among accepted answers."""

import math
from dataclasses import replace
from typing import Any, Literal, Self, get_args

import numpy as np

from calibrant._numerics.bootstrap import one_of_each
from calibrant._numerics.certificates import (
    Blocks,
    Test,
    certified_place,
    share_count,
    starts_of,
    upper_bound,
)
from calibrant._numerics.clusters import repeated_rows
from calibrant._numerics.intervals import clopper_pearson
from calibrant.calibrators.look_alike import caution_look_alike, copies_in
from calibrant.core import arrays
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import Calibrator, DomainCalibrator, require_fitted
from calibrant.core.estimators import BaseEstimator, require_option, trial
from calibrant.core.given import Inputs
from calibrant.core.groups import read_clusters
from calibrant.core.guarantee import Guarantee, Promised
from calibrant.core.map import Signal
from calibrant.core.predictions import Predictions, read
from calibrant.core.saving import Saved
from calibrant.core.text_table import percent
from calibrant.decisions.certificates import (
    Certificate,
    ErrorCounts,
    Search,
    confidence_of,
    counted_rows,
    probabilities_of,
    repetitions,
    require_share,
    uncertified,
    unrecalled,
)
from calibrant.errors import CalibrationWarning, InputError, warn

__all__ = ["SelectiveClassifier"]

#: Names of the tests, and the assumption of all of them.
TESTS: dict[str, str] = {
    "binomial": "exact binomial",
    "betting": "betting",
    "hoeffding_bentkus": "Hoeffding-Bentkus",
}
DRAWS = "{} are independent draws of one population"
#: Level of the limits of an error rate that is named beside a certificate.
SURELY = 0.95


class SelectiveClassifier(Promised, Saved, BaseEstimator):
    r"""Accept answers whose score exceeds a threshold, with an error rate of at most ``risk`` among
    them with probability ``confidence``.

    .. math:: P\big( P(\text{wrong} \mid s > \hat t\,) \le \text{risk} \big) \ge
        \text{confidence}, \qquad \hat t = s_{(k + 1)}, \quad P(Bin(i, \text{risk}) \le e_i) \le
        \delta_j \text{ for all } k_j \le i \le k

    where :math:`s_{(1)} \ge s_{(2)} \ge \dots` are the scores of n rows and :math:`e_i` the errors
    among the i highest. The starts :math:`k_j` and their shares :math:`\delta_j` of 1 - confidence
    do not depend on the labels.

    Parameters
    ----------
    risk : float, default 0.05
        Maximum share of errors among accepted rows, or maximum mean loss.
    confidence : float, default 0.95
        Share of calibration sets whose threshold keeps the promise.
    target : "answer", "event" or a class label, default "answer"
        "answer" accepts answers, which are wrong if another class is true. "event" (class 1 of two)
        or a class flags rows as that class (alerts), which are wrong if they are not of it.
    signal : Signal or fitted Calibrator, optional
        The score, larger for more certain answers; default the largest probability. An unfitted
        signal is fitted without the labels. Alerts take a calibrator only.
    accepted_share : float, optional
        Minimum share of new rows that must be accepted. All limits hold together with probability
        ``confidence``, and have equal parts of the failure probability.
    recall : float, optional
        Minimum share of the new rows of ``target`` that must be flagged, likewise.
    bound : {"auto", "binomial", "betting", "hoeffding_bentkus"}
        The test of one threshold. "auto": exact binomial where every loss is 0 or 1, else betting.
    when_uncertain : {"raise", "accept_none"}
        Response if nothing can be certified: an error that says how many rows would suffice, or a
        warning and a rule that accepts no answer, which keeps the promise.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    threshold_ : float
        Rows whose score is above it are accepted; -inf where all are, inf where none is.
    certificate_ : Certificate
    guarantee_ : Guarantee of the risk
    guarantees_ : list of Guarantee, with that of the recall
    n_, accepted_, errors_, bound_ : float
        The numbers of the certificate.
    signal_ : the fitted signal, or None
    classes_ : (K,) labels, where it was fitted on predictions

    See Also
    --------
    NeymanPearsonClassifier : limits false alarms and misses, each with its own rate.
    ConformalRiskControl : bounds the mean, for losses that never rise with the threshold.
    metrics.coverage_at_risk : the best threshold in hindsight, without a guarantee.

    Notes
    -----
    Use it where a person handles the answers that are not accepted. Fit it on rows that are new to
    the model and the calibrator; rows that chose the score give no guarantee. Each start tests its
    number of rows and all larger ones up to the next start, until one fails, and hands its share on
    if none does. The starts grow by factors of :math:`2^{1/4}` from 1.5 times the fewest rows that
    prove anything, so that rare rows can be certified, and rows that are worse than the next ones
    do not end the search. Two fifths of the failure probability are on the start that the
    predicted probabilities suggest. The row at the threshold does not count, and rows tied with it
    are not accepted. Each cluster counts once, by one row drawn at random. The promise is for all
    accepted rows together, not for each group, and only while new rows come from the same
    distribution. At risk 0.1 and confidence 0.9, of 1,000 rows of which 65 % could be accepted, it
    accepts 53 % (``python -m benchmarks.decisions``).

    References
    ----------
    Geifman and El-Yaniv, "Selective classification for deep neural networks", NeurIPS 2017.
    Angelopoulos et al., "Learn then test: calibrating predictive algorithms to achieve risk
    control", Annals of Applied Statistics 2025. Wiens, "A fixed sequence Bonferroni procedure for
    testing multiple endpoints", Pharmaceutical Statistics 2003. Waudby-Smith and Ramdas,
    "Estimating means of bounded random variables by betting", JRSS B 2024.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(2000)
    >>> y = (rng.random(2000) < p).astype(int)
    >>> rule = SelectiveClassifier(risk=0.1, confidence=0.9).fit(p, y)
    >>> round(rule.threshold_, 3), rule.accept([0.95, 0.6, 0.02]).tolist()
    (0.824, [True, False, True])
    """

    def __init__(
        self,
        risk: float = 0.05,
        confidence: float = 0.95,
        *,
        target: Any = "answer",
        signal: Signal | Calibrator | None = None,
        accepted_share: float | None = None,
        recall: float | None = None,
        bound: Literal["auto", "binomial", "betting", "hoeffding_bentkus"] = "auto",
        when_uncertain: Literal["raise", "accept_none"] = "raise",
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        self.risk: float = risk
        self.confidence: float = confidence
        self.target: Any = target
        self.signal: Signal | Calibrator | None = signal
        self.accepted_share: float | None = accepted_share
        self.recall: float | None = recall
        self.bound: Literal["auto", "binomial", "betting", "hoeffding_bentkus"] = bound
        self.when_uncertain: Literal["raise", "accept_none"] = when_uncertain
        self.inputs: Inputs = inputs
        self.classes: ArrayLike | None = classes

    def fit(
        self,
        P: ArrayLike,
        y: ArrayLike,
        *,
        cluster: Any = None,
        sample_weight: ArrayLike | None = None,
        X: Any = None,
        reference: Any = None,
    ) -> Self:
        """Certify a threshold on held-out predictions and the true labels.

        Parameters
        ----------
        P : (n, K), or (n,) for binary: probability of the second class
        y : (n,) labels
        cluster : (n,) labels of any kind, optional
            Clusters of dependent rows: one row of each is drawn, and n counts clusters.
        sample_weight : (n,) whole numbers, optional
            How often each row was observed. Weights of a sampling design or of importance are
            refused, and must not be rounded: a certificate counts independent rows of its
            population.
        X, reference : for signals that read them
        """
        self._check()
        record = read(
            P,
            y,
            inputs=self.inputs,
            classes=self.classes,
            sample_weight=sample_weight,
            X=X,
            reference=reference,
        )
        index = None if cluster is None else read_clusters(cluster, record)
        return self.fit_record(replace(record, cluster=index))

    def fit_record(self, record: Predictions) -> Self:
        """Certify a threshold on a validated record, whose clusters are dependent rows."""
        self._check()
        if record.labels is None:
            raise InputError("y must be the true labels, one a row; got None; pass them.")
        present = np.unique(record.labels)
        if len(present) == 1:
            raise InputError(
                f"y must hold at least two classes; got {record.classes.tolist()[present[0]]!r}"
                " alone, which shows no errors on the others; fit it on rows of every class, or"
                " pass scores and losses to fit_scores."
            )
        signal, score = self._signal_and_score(self.signal, record)
        loss, weight = 1.0 - record.pair(self.target)[1], repetitions(record.weights)
        # The predicted losses were learned from other rows.
        of_probabilities = signal is None or isinstance(signal, DomainCalibrator)
        predicted = 1.0 - score if of_probabilities else None
        copies = copies_in(record) if record.cluster is None else None
        self._certify(score, loss, weight, record.cluster, predicted, copies)
        if copies is not None and not copies.any():
            caution_look_alike(record, "the certificate")
        self.signal_: Signal | Calibrator | None = signal
        self.classes_: np.ndarray = record.classes
        self.note_: str = "" if self.target != "answer" else self._note(record, score, weight)
        return self

    def fit_scores(
        self,
        score: ArrayLike,
        loss: ArrayLike,
        *,
        cluster: Any = None,
        sample_weight: ArrayLike | None = None,
        predicted: ArrayLike | None = None,
    ) -> Self:
        """Certify a threshold on scores (n,), larger for more certain answers, and losses (n,) in
        [0, 1] of any task, 1 for wrong, 0 for right.

        ``predicted`` (n,) are losses that were predicted without these rows, such as 1 - p for
        the probability p of being right. They only choose where a part of the failure
        probability is spent.
        """
        self._check()
        values = arrays.scores(score)
        losses = arrays.scores(loss, "loss", "unit")
        expected = None if predicted is None else arrays.scores(predicted, "predicted", "unit")
        for name, other in (("loss", losses), ("predicted", expected)):
            if other is not None and other.shape != values.shape:
                raise InputError(
                    f"{name} must have one number for each of the {len(values)} scores; got shape"
                    f" {other.shape}."
                )
        record = counted_rows(len(values), sample_weight)
        selection = slice(None) if record.kept is None else record.kept
        values, losses = values[selection], losses[selection]
        index = None if cluster is None else read_clusters(cluster, record)
        expected = None if expected is None else expected[selection]
        copies = repeated_rows(values, values, losses) if index is None else None
        self._certify(values, losses, repetitions(record.weights), index, expected, copies)
        return self

    def fit_counts(self, counts: ErrorCounts) -> Self:
        """Certify a threshold on counts of rows and errors by score, summed over parts of
        the data.
        """
        self._check()
        self._certify_blocks(Blocks.of(*counts.rows(), self.bound == "betting"), "rows")
        return self

    def accept(self, P: ArrayLike, *, X: Any = None) -> np.ndarray:
        """Return (n,) booleans, whether each answer is accepted, or each row flagged."""
        require_fitted(self, "classes_")
        return self.accept_record(read(P, inputs=self.inputs, classes=self.classes_, X=X))

    def accept_record(self, record: Predictions) -> np.ndarray:
        """Return the same for a validated record."""
        require_fitted(self, "classes_")
        return self.accept_scores(self._signal_and_score(self.signal_, record)[1])

    def accept_scores(self, score: ArrayLike) -> np.ndarray:
        """Return (n,) booleans, whether each score is above the threshold."""
        require_fitted(self, "threshold_")
        return arrays.scores(score) > self.threshold_

    @property
    def certificate_(self) -> Certificate:
        """The evidence, which prints as one sentence."""
        require_fitted(self, "threshold_")
        return Certificate(
            self.n_,
            self.accepted_,
            self.errors_,
            self.risk,
            self.bound_,
            self.confidence,
            f"{TESTS[self.test_]}, fixed sequence",
            self.unit_,
            "wrong" if self.test_ == "binomial" else "loss",
            self.target,
            self.recall,
            getattr(self, "note_", ""),
        )

    @property
    def guarantee_(self) -> Guarantee:
        """The promise on the risk, with its assumptions."""
        return self.guarantees_[0]

    @property
    def guarantees_(self) -> list[Guarantee]:
        """All promises, which hold together."""
        proof = self.certificate_
        rate = "error rate" if proof.quantity == "wrong" else "mean loss"
        action = "accepted" if self.target == "answer" else "flagged"
        limits: dict[str, tuple[float | None, float | None]] = {
            f"{rate} among {action} {proof.unit}": (None, self.risk),
            "share of events that are flagged": (self.recall, None),
            f"share of {proof.unit} that are {action}": (self.accepted_share, None),
        }
        return [
            Guarantee(
                *("pac", quantity, f"new {proof.unit}", DRAWS.format(proof.unit), proof.n),
                *(least, most, proof.unit, self.confidence, proof.method),
            )
            for quantity, (least, most) in limits.items()
            if (least, most) != (None, None)
        ]

    def _check(self) -> None:
        for name in ("risk", "confidence"):
            require_share(name, getattr(self, name))
        shares = [name for name in ("accepted_share", "recall") if getattr(self, name) is not None]
        for name in shares:
            require_share(name, getattr(self, name))
        require_option("bound", self.bound, ("auto", *get_args(Test)))
        require_option("when_uncertain", self.when_uncertain, ("raise", "accept_none"))
        if self.recall is not None and self.target == "answer":
            raise InputError(
                f"recall takes alerts of one class; got recall={self.recall:g} with"
                ' target="answer"; pass target="event", or leave recall out.'
            )
        if shares and self.when_uncertain == "accept_none":
            raise InputError(
                f'{shares[0]} and when_uncertain="accept_none" exclude each other: a rule that'
                " accepts nothing has no such share; leave one out."
            )

    def _signal_and_score(
        self, part: Signal | Calibrator | None, record: Predictions
    ) -> tuple[Signal | Calibrator | None, np.ndarray]:
        """Return (the fitted part, the score of each row)."""
        if isinstance(self.target, str) and self.target == "answer":
            return confidence_of(part, record)
        place = record.position(self.target)
        return part, probabilities_of(part, record)[:, place]

    def _note(self, record: Predictions, score: np.ndarray, weight: np.ndarray) -> str:
        """Return a sentence on the predicted class whose accepted answers are wrong surely more
        often than the promise allows; "" if there is none.
        """
        accepted = weight * (score > self.threshold_)
        answers = np.bincount(record.predicted, accepted, record.n_classes)
        errors = np.bincount(record.predicted, accepted * (record.correct < 0.5), record.n_classes)
        level = 1.0 - (1.0 - SURELY) / record.n_classes
        least = clopper_pearson(errors, answers, level)[0]
        worst = int(np.argmax(least))
        if not least[worst] > self.risk:
            return ""
        target = "event" if record.n_classes == 2 and worst == 1 else record.classes.tolist()[worst]
        return (
            f"Of the {answers[worst]:,.0f} that are predicted as {record.classes[worst]},"
            f" {percent(errors[worst] / answers[worst])} are wrong: target={target!r} limits the"
            " errors among these."
        )

    def _certify(
        self,
        score: np.ndarray,
        loss: np.ndarray,
        weight: np.ndarray,
        cluster: np.ndarray | None,
        predicted: np.ndarray | None,
        copies: np.ndarray | None,
    ) -> None:
        """Certify on rows of which one of each cluster counts, or those that are no ``copies``."""
        rows = np.arange(len(score))
        if cluster is not None:
            cluster = np.unique(cluster, return_inverse=True)[1]
            rows = one_of_each(cluster, score, loss, weight)
            weight = np.ones(len(score))
        elif copies is not None and copies.any():
            rows = np.flatnonzero(~copies)
            warn(
                f"{np.count_nonzero(copies):,} of {len(copies):,} rows repeat an earlier one, with"
                " its outcome, and are not counted, because copies prove nothing; pass cluster=,"
                " the object of each row, to count objects.",
                CalibrationWarning,
            )
        score, loss, weight = score[rows], loss[rows], weight[rows]
        predicted = None if predicted is None else predicted[rows]
        self._certify_blocks(
            Blocks.of(score, loss, weight, self.bound == "betting", predicted),
            "rows" if cluster is None else "clusters",
        )

    def _certify_blocks(self, blocks: Blocks, unit: Literal["rows", "clusters"]) -> None:
        # A threshold on the user's own scores does not apply to an earlier fit's.
        for name in ("signal_", "classes_", "note_"):
            vars(self).pop(name, None)
        parts = 1 + (self.accepted_share is not None) + (self.recall is not None)
        delta = (1.0 - self.confidence) / parts
        test: Test = (
            ("binomial" if blocks.binary else "betting") if self.bound == "auto" else self.bound
        )
        if not blocks.binary and (test == "binomial" or self.recall is not None):
            option = "recall" if self.recall is not None else 'bound="binomial"'
            raise InputError(
                f"{option} needs losses of 0 and 1; got others; leave it out, or pass right and"
                " wrong."
            )
        place, failure, reason = self._search(blocks, delta, test, unit)
        if reason and self.when_uncertain == "raise":
            raise InputError(reason)
        if reason:
            warn(f"{reason} No answer is accepted.", CalibrationWarning)
        below = float(blocks.score[place + 1]) if place + 1 < len(blocks.score) else -math.inf
        self.threshold_: float = math.inf if reason else below
        self.n_: float = blocks.n
        self.accepted_: float = 0.0 if reason else float(blocks.covered[place])
        self.errors_: float = 0.0 if reason else float(blocks.total_loss[place])
        self.bound_: float = math.nan if reason else upper_bound(blocks, place, failure, test)
        self.test_: Test = test
        self.unit_: Literal["rows", "clusters"] = unit

    def _search(
        self, blocks: Blocks, delta: float, test: Test, unit: Literal["rows", "clusters"]
    ) -> tuple[int, float, str]:
        """Return (the last block accepted, the failure probability of its test, the reason if
        nothing is certified).
        """
        share = self.accepted_share
        least = 1.0 if share is None else float(share_count(blocks.n, delta, share))
        starts = starts_of(blocks, self.risk, delta, test, least)
        place, failure = certified_place(blocks, self.risk, starts, test)
        if place < 0:
            search = Search(blocks, starts, least, self.risk, self.confidence, delta, test, unit)
            return place, failure, uncertified(search)
        if self.recall is None:
            return place, failure, ""
        hits = blocks.covered - blocks.total_loss
        needed_hits = share_count(float(hits[-1]), delta, self.recall)
        if hits[place] >= needed_hits:
            return place, failure, ""
        return (
            place,
            failure,
            unrecalled(self.recall, self.risk, hits[place], hits[-1], needed_hits),
        )


@trial.register
def _(rule: SelectiveClassifier) -> None:
    rule.accept_scores([0.0, 1.0])
