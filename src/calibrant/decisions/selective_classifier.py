"""Selective classification with a certified limit on the error rate among accepted answers."""

import math
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np

from calibrant import arrays
from calibrant._kernels.certificates import fewest_rows
from calibrant._kernels.certified_threshold import (
    Blocks,
    Method,
    Test,
    certified_place,
    first_count,
    upper_bound,
)
from calibrant._kernels.draws import one_of_each
from calibrant._support.estimators import BaseEstimator
from calibrant._support.options import require_option
from calibrant._support.rounded import percent
from calibrant._support.saving import Saved
from calibrant._support.trial import trial
from calibrant.arrays import ArrayLike
from calibrant.contracts.calibrator import Calibrator, require_fitted
from calibrant.contracts.columns import plain
from calibrant.contracts.guarantee import Guarantee, Promised
from calibrant.contracts.signal import Signal
from calibrant.decisions.certainty import (
    confidence_of,
    counted_rows,
    repetitions,
    require_share,
    too_few,
    uncertified,
)
from calibrant.errors import CalibrationWarning, InputError, warn
from calibrant.groups import read_clusters
from calibrant.predictions import Inputs, read
from calibrant.select.look_alike import caution_look_alike

__all__ = ["Certificate", "ErrorCounts", "SelectiveClassifier"]


@dataclass(frozen=True)
class Certificate(Saved):
    """The evidence behind a certified threshold.

    Attributes
    ----------
    n : float
        Rows (or clusters) that the threshold was certified on.
    accepted : float
        How many of them it accepts; rows tied with the threshold are not accepted.
    errors : float
        Number of errors among the accepted rows, or their summed loss.
    risk : float
        Upper limit of the share of errors among accepted rows, which holds with probability
        ``confidence`` over calibration sets.
    bound : float
        Upper limit of that share at this threshold alone, as if it had been chosen beforehand. It
        is at most ``risk``, and is not guaranteed.
    confidence : float
    method : str
    unit : {"rows", "clusters"}
    quantity : str
        The quantity that counts as an error.

    See Also
    --------
    SelectiveClassifier, NeymanPearsonClassifier : make certificates.
    contracts.Guarantee : the promise, with its assumptions.

    Examples
    --------
    >>> said = Certificate(1000, 547, 41, 0.1, 0.0945, 0.9, "exact binomial, fixed sequence")
    >>> str(said).split(";")[0]
    'Accepts 547 of 1,000 rows (54.7 %), 41 of them wrong'
    """

    n: float
    accepted: float
    errors: float
    risk: float
    bound: float
    confidence: float
    method: str
    unit: Literal["rows", "clusters"] = "rows"
    quantity: str = "wrong"

    @property
    def share(self) -> float:
        """The share of rows that are accepted."""
        return self.accepted / self.n

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and the share, ready for JSON."""
        return plain({**vars(self), "share": self.share})

    def __str__(self) -> str:
        lost = self.quantity == "wrong"
        held = (
            f"{self.errors:,.0f} of them wrong"
            if lost
            else f"with a summed {self.quantity} of {self.errors:,.4g}"
        )
        promise = (
            f"at most {100.0 * self.risk:g} % of accepted new {self.unit} are wrong"
            if lost
            else f"the mean {self.quantity} of accepted new {self.unit} is at most {self.risk:g}"
        )
        return (
            f"Accepts {self.accepted:,.0f} of {self.n:,.0f} {self.unit} ({percent(self.share)}"
            f"), {held}; {promise}, with confidence {100.0 * self.confidence:g} %"
            f" ({self.method})."
        )


#: Cells have equal width in the logit and reach to 1.5e-8 from 0 and 1. No cell of a smooth
#: distribution holds a share of 1e-4 of the rows.
N_CELLS, REACH = 2**18, 18.0
EDGES: np.ndarray = 1.0 / (1.0 + np.exp(-np.linspace(-REACH, REACH, N_CELLS - 1)))


class ErrorCounts(Saved):
    """Counts of rows and errors in 262,144 cells of a score in [0, 1], to certify a threshold where
    the rows do not fit in memory.

    Parameters
    ----------
    counts : (262144, 2) array, optional
        Rows and errors of each cell; empty by default.

    See Also
    --------
    SelectiveClassifier : ``fit_counts`` reads them.

    Notes
    -----
    Add the counts of the parts with ``+`` or ``sum``; they take four megabytes for any number of
    rows. The threshold is the lower end of a cell, so the certificate is as exact as from the rows;
    it only accepts up to a cell of rows less.

    Examples
    --------
    >>> a = ErrorCounts().add([0.9, 0.6], [0, 1])
    >>> b = ErrorCounts().add([0.8], [0])
    >>> (a + b).n
    3.0
    """

    def __init__(self, counts: np.ndarray | None = None) -> None:
        self.counts: np.ndarray = np.zeros((N_CELLS, 2)) if counts is None else counts

    def add(
        self, score: ArrayLike, loss: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add scores (n,) in [0, 1] and losses (n,) of 0 and 1, and return self."""
        values = arrays.scores(score, domain="unit")
        wrong = arrays.binary_outcomes(loss, len(values))
        weight, kept = arrays.weights(sample_weight, len(values))
        if kept is not None:
            values, wrong = values[kept], wrong[kept]
        cell = np.searchsorted(EDGES, values, side="right")
        times = None if weight is None else repetitions(weight)
        rows = np.bincount(cell, times, N_CELLS)
        self.counts = self.counts + np.column_stack(
            [rows, np.bincount(cell, wrong if times is None else wrong * times, N_CELLS)]
        )
        return self

    @property
    def n(self) -> float:
        """Number of rows."""
        return float(self.counts[:, 0].sum())

    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (score, loss, repetitions) in place of the rows, for both outcomes; the score is
        the largest number below the next cell.
        """
        if self.n == 0.0:
            raise InputError("counts must hold rows; got none; call add first.")
        ends = np.append(np.nextafter(EDGES, -np.inf), 1.0)
        wrong, right = self.counts[:, 1], self.counts[:, 0] - self.counts[:, 1]
        score, loss, times = (
            np.tile(ends, 2),
            np.repeat([1.0, 0.0], N_CELLS),
            np.concatenate([wrong, right]),
        )
        held = times > 0.0
        return score[held], loss[held], times[held]

    def __add__(self, other: Any) -> "ErrorCounts":
        return (
            ErrorCounts(self.counts + other.counts)
            if isinstance(other, ErrorCounts)
            else NotImplemented
        )

    def __radd__(self, other: Any) -> "ErrorCounts":
        return self if other == 0 else NotImplemented


#: Names of the methods and tests, and the assumption of all of them.
METHODS: dict[str, str] = {
    "fixed_sequence": "fixed sequence",
    "sgr": "selection with guaranteed risk",
    "learn_then_test": "learn then test, 8 shares",
}
TESTS: dict[str, str] = {
    "binomial": "exact binomial",
    "betting": "betting",
    "hoeffding_bentkus": "Hoeffding-Bentkus",
}
DRAWS = "{} are independent draws of one population"


class SelectiveClassifier(Promised, Saved, BaseEstimator):
    r"""Accept answers whose score exceeds a threshold, with an error rate of at most ``risk`` among
    them with probability ``confidence``.

    .. math:: P\big( P(\text{wrong} \mid s > \hat t\,) \le \text{risk} \big) \ge \text{confidence},
        \qquad
        \hat t = s_{(k + 1)}, \quad p_j = P(Bin(j, \text{risk}) \le e_j) \le 1 - \text{confidence}
        \text{ for all } k_0 \le j \le k

    where :math:`s_{(1)} \ge s_{(2)} \ge \dots` are the scores of n rows and :math:`e_j` the errors
    among the j highest.

    Parameters
    ----------
    risk : float, default 0.05
        Maximum share of errors among accepted rows, or maximum mean loss.
    confidence : float, default 0.95
        Share of calibration sets whose threshold keeps the promise.
    signal : Signal or fitted Calibrator, optional
        The score, larger for more certain answers; default the largest probability. An unfitted
        signal is fitted without the labels.
    method : {"fixed_sequence", "sgr", "learn_then_test"}
        The thresholds to test. "fixed_sequence": every one, from a tenth of the rows on, until one
        fails. With many rows, half of the failure probability is kept for starts at .3, .5 and .7
        of them, because the most certain rows may be worse than the next. "sgr": a search by halves
        (selection with guaranteed risk). "learn_then_test": eight shares of the rows fixed
        beforehand. All are valid if errors do not fall as the score rises, and accept more if they
        do.
    accepted_share : float, optional
        Minimum share of new rows that must be accepted; both limits hold with probability
        ``confidence``, and each has half of the failure probability.
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
    guarantee_ : Guarantee
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
    the model and the calibrator; rows that chose the score give no guarantee. The row at the
    threshold does not count, rows tied with it are not accepted, and the start of the sequence
    depends on n alone. Each cluster counts once, by one row drawn at random. The promise is for all
    accepted rows together, not for each group, and only while new rows come from the same
    distribution. At risk 0.1 and confidence 0.9, of 1,000 rows of which 65 % could be accepted, it
    accepts 54 %, "sgr" 47 %, "learn_then_test" 41 % (``python -m benchmarks.decisions``).

    References
    ----------
    Geifman and El-Yaniv, "Selective classification for deep neural networks", NeurIPS 2017.
    Angelopoulos et al., "Learn then test: calibrating predictive algorithms to achieve risk
    control", Annals of Applied Statistics 2025. Waudby-Smith and Ramdas, "Estimating means of
    bounded random variables by betting", JRSS B 2024.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(2000)
    >>> y = (rng.random(2000) < p).astype(int)
    >>> rule = SelectiveClassifier(risk=0.1, confidence=0.9).fit(p, y)
    >>> round(rule.threshold_, 3), rule.accept([0.95, 0.6, 0.02]).tolist()
    (0.827, [True, False, True])
    """

    def __init__(
        self,
        risk: float = 0.05,
        confidence: float = 0.95,
        *,
        signal: Signal | Calibrator | None = None,
        method: Literal["fixed_sequence", "sgr", "learn_then_test"] = "fixed_sequence",
        accepted_share: float | None = None,
        bound: Literal["auto", "binomial", "betting", "hoeffding_bentkus"] = "auto",
        when_uncertain: Literal["raise", "accept_none"] = "raise",
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        self.risk: float = risk
        self.confidence: float = confidence
        self.signal: Signal | Calibrator | None = signal
        self.method: Literal["fixed_sequence", "sgr", "learn_then_test"] = method
        self.accepted_share: float | None = accepted_share
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
        if record.labels is None:
            raise InputError("y must be the true labels, one a row; got None; pass them.")
        seen = np.unique(record.labels)
        if len(seen) == 1:
            raise InputError(
                f"y must hold at least two classes; got {record.classes.tolist()[seen[0]]!r}"
                " alone, which shows no errors on the others; fit it on rows of every class, or"
                " pass scores and losses to fit_scores."
            )
        signal, score = confidence_of(self.signal, record)
        index = None if cluster is None else read_clusters(cluster, record)
        self._certify(score, 1.0 - record.correct, repetitions(record.weights), index)
        if cluster is None:
            caution_look_alike(record, "the certificate")
        self.signal_: Signal | Calibrator | None = signal
        self.classes_: np.ndarray = record.classes
        return self

    def fit_scores(
        self,
        score: ArrayLike,
        loss: ArrayLike,
        *,
        cluster: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Certify a threshold on scores (n,), larger for more certain answers, and losses (n,) in
        [0, 1] of any task, 1 for wrong, 0 for right.
        """
        self._check()
        values = arrays.scores(score)
        lost = arrays.scores(loss, "loss", "unit")
        if lost.shape != values.shape:
            raise InputError(
                f"loss must have one number for each of the {len(values)} scores; got shape"
                f" {lost.shape}."
            )
        record = counted_rows(len(values), sample_weight)
        held = slice(None) if record.kept is None else record.kept
        self._certify(
            values[held],
            lost[held],
            repetitions(record.weights),
            None if cluster is None else read_clusters(cluster, record),
        )
        return self

    def fit_counts(self, counts: ErrorCounts) -> Self:
        """Certify a threshold on counts of rows and errors by score, summed over parts of
        the data.
        """
        self._check()
        self._certified(Blocks.of(*counts.rows(), self.bound == "betting"), "rows")
        return self

    def accept(self, P: ArrayLike, *, X: Any = None) -> np.ndarray:
        """Return (n,) booleans, whether each answer is accepted."""
        require_fitted(self, "classes_")
        return self.accept_scores(
            confidence_of(self.signal_, read(P, inputs=self.inputs, classes=self.classes_, X=X))[1]
        )

    def accept_scores(self, score: ArrayLike) -> np.ndarray:
        """Return (n,) booleans, whether each score is above the threshold."""
        require_fitted(self, "threshold_")
        return arrays.scores(score) > self.threshold_

    @property
    def certificate_(self) -> Certificate:
        """The evidence, which prints as one sentence."""
        require_fitted(self, "threshold_")
        method = f"{TESTS[self.test_]}, {METHODS[self.method]}"
        quantity = "wrong" if self.test_ == "binomial" else "loss"
        return Certificate(
            self.n_,
            self.accepted_,
            self.errors_,
            self.risk,
            self.bound_,
            self.confidence,
            method,
            self.unit_,
            quantity,
        )

    @property
    def guarantee_(self) -> Guarantee:
        """The promise, with its assumptions."""
        said = self.certificate_
        quantity = (
            f"{'error rate' if said.quantity == 'wrong' else 'mean loss'} among accepted"
            f" {said.unit}"
        )
        return Guarantee(
            "pac",
            quantity,
            f"new {said.unit}",
            DRAWS.format(said.unit),
            said.n,
            most=self.risk,
            unit=said.unit,
            confidence=self.confidence,
            method=said.method,
        )

    def _check(self) -> None:
        for name in ("risk", "confidence"):
            require_share(name, getattr(self, name))
        if self.accepted_share is not None:
            require_share("accepted_share", self.accepted_share)
        require_option("method", self.method, METHODS)
        require_option("bound", self.bound, ("auto", *get_args(Test)))
        require_option("when_uncertain", self.when_uncertain, ("raise", "accept_none"))
        if self.accepted_share is not None and self.when_uncertain == "accept_none":
            raise InputError(
                'accepted_share and when_uncertain="accept_none" exclude each other: a rule that'
                " accepts nothing has no such share; leave one out."
            )

    def _certify(
        self, score: np.ndarray, loss: np.ndarray, weight: np.ndarray, cluster: np.ndarray | None
    ) -> None:
        if cluster is not None:
            cluster = np.unique(cluster, return_inverse=True)[1]
            rows = one_of_each(cluster, score, loss, weight, seed=0)
            score, loss, weight = score[rows], loss[rows], np.ones(len(rows))
        self._certified(
            Blocks.of(score, loss, weight, self.bound == "betting"),
            "rows" if cluster is None else "clusters",
        )

    def _certified(self, blocks: Blocks, unit: Literal["rows", "clusters"]) -> None:
        for name in (
            "signal_",
            "classes_",
        ):  # a threshold on the user's own scores does not apply to an earlier fit's
            vars(self).pop(name, None)
        delta = (1.0 - self.confidence) / (1.0 if self.accepted_share is None else 2.0)
        test: Test = (
            ("binomial" if blocks.binary else "betting") if self.bound == "auto" else self.bound
        )
        if test == "binomial" and not blocks.binary:
            raise InputError(
                'bound="binomial" needs losses of 0 and 1; got others; pass bound="betting", or'
                " leave it out."
            )
        place, each, reason = self._searched(blocks, delta, test, unit)
        if reason and self.when_uncertain == "raise":
            raise InputError(reason)
        if reason:
            warn(f"{reason} No answer is accepted.", CalibrationWarning)
        below = float(blocks.score[place + 1]) if place + 1 < len(blocks.score) else -math.inf
        self.threshold_: float = math.inf if reason else below
        self.n_: float = blocks.n
        self.accepted_: float = 0.0 if reason else float(blocks.covered[place])
        self.errors_: float = 0.0 if reason else float(blocks.lost[place])
        self.bound_: float = math.nan if reason else upper_bound(blocks, place, each, test)
        self.test_: Test = test
        self.unit_: Literal["rows", "clusters"] = unit

    def _searched(
        self, blocks: Blocks, delta: float, test: Test, unit: Literal["rows", "clusters"]
    ) -> tuple[int, float, str]:
        """Return (the last block accepted, the failure probability of its test, the reason if
        nothing is certified).
        """
        least = fewest_rows(self.risk, delta)
        if blocks.n < least:
            return -1, delta, too_few(blocks.n, least, self.risk, self.confidence, unit)
        first = first_count(blocks.n, self.risk, delta, self.accepted_share)
        method: Method = self.method
        place, each = certified_place(blocks, self.risk, delta, method, test, first)
        if place >= 0 and not blocks.covered[place] < first * (self.accepted_share is not None):
            return place, each, ""
        at = min(int(np.searchsorted(blocks.covered, first - 1e-9)), len(blocks.covered) - 1)
        seen = float(blocks.lost[at]), float(blocks.covered[at]), blocks.n
        return -1, each, uncertified(*seen, self.risk, self.confidence, each, unit)


@trial.register
def _(rule: SelectiveClassifier) -> None:
    rule.accept_scores([0.0, 1.0])
