"""Monitoring of calibration, sequential, with a bounded probability of any false alarm; advice to
recalibrate or not; and calibration over time by batch, as numbers for the display.

The advice follows from the evidence of drift and the possible gain.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from calibrant._numerics.bins import binned_errors, equal_width_index, grouped_sums, inverted_limits
from calibrant._numerics.intervals import quotient
from calibrant._numerics.online import growth_since, likeliest_start, log_evidence, next_stakes
from calibrant.calibrators.trust import EVIDENCE, LEAST_ROWS
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import require_fitted
from calibrant.core.domain import domain_of_input
from calibrant.core.estimators import BaseEstimator, require_count, trial
from calibrant.core.forecast import require_levels
from calibrant.core.forecast_record import PIT_LEVELS, levels_of, pit_counts, read_forecast
from calibrant.core.given import Inputs
from calibrant.core.groups import n_clusters
from calibrant.core.guarantee import Record, Result
from calibrant.core.metric import require_level
from calibrant.core.reading import read_labelled
from calibrant.core.saving import Saved
from calibrant.errors import InputError
from calibrant.monitoring.claims import PitClaim, ScoreClaim, learned_band, reweighted_gain

__all__ = [
    "Advice",
    "CalibrationMonitor",
    "DriftCurve",
    "advise",
    "describe_change",
    "drift_curve",
    "no_drift",
]


#: Minimum likelihood ratio of a change at a batch against errors since the first.
LEAST_RATIO = 20.0
#: Standard errors by which a re-fit must gain more than an offset, which is simpler.
SHAPE = 2.0


@dataclass(frozen=True)
class Advice(Result):
    """Advice on the calibration, with its reason; ``print`` it for both.

    Attributes
    ----------
    decision : "leave" (no evidence of drift), "re-offset" (drift, and one number for all rows
        repairs it: an offset of the log-odds, or of the forecasts), "re-fit" (drift, and a re-fit
        gains more), or "wait" (drift, but the rows since then do not show a gain yet).
    reason : one sentence.
    since : time of the batch from which the calibration is most likely wrong, or None without an
        alarm. If it is the first batch, nothing has changed: the reason says that the predictions
        were never calibrated, or not as in the reference.
    rows : rows since then, or all rows without an alarm.
    gain, standard_error : out-of-fold gain of a re-fit on those rows in the log loss of the
        confidence or risk, or for forecasts of the interval between levels that holds the outcome;
        nan without an alarm, or with too few rows.
    changed : list
        "rates" where an offset suffices, as after a change of the class rates, or else "relation",
        of outcomes to predictions; and "inputs" where the predictions are distributed differently
        than before.
    gains : dict of gains: "re-offset", "re-fit", and "re-weight", of a fit on the rows before,
        weighted to the predictions since
    """

    decision: str
    reason: str
    since: Any
    rows: float
    gain: float
    standard_error: float
    changed: list[str]
    gains: dict[str, float]

    def __str__(self) -> str:
        return f"{self.decision}. {self.reason[0].upper()}{self.reason[1:]}."


def no_drift(rows: float, evidence: str) -> Advice:
    """Return the advice without an alarm."""
    reason = f"no drift shown in {rows:,.0f} rows ({evidence})"
    return Advice("leave", reason, None, rows, float("nan"), float("nan"), [], {})


def advise(
    claim: ScoreClaim | PitClaim,
    sums: np.ndarray,
    change: str,
    since: Any,
    target: Any,
    earlier: np.ndarray | None = None,
) -> Advice:
    """Return the advice after an alarm, from the sums of the batches from ``since`` on; ``change``
    describes the change there, and ``earlier`` are the sums before.
    """
    rows, finding = claim.rows(sums), change
    if isinstance(claim, PitClaim):
        finding = f"{finding}: {claim.words(sums)}"
    if rows < LEAST_ROWS:
        reason = f"{finding}; {rows:,.0f} rows since then are too few to fit on"
        return Advice("wait", reason, since, rows, float("nan"), float("nan"), [], {})
    results = {kind: claim.refit_gain(sums, kind) for kind in ("re-offset", "re-fit")}
    more, more_error = claim.refit_gain(sums, "re-fit", "re-offset")
    changed = ["relation" if more > SHAPE * more_error else "rates"]
    if isinstance(claim, ScoreClaim) and earlier is not None:
        results["re-weight"] = reweighted_gain(earlier, sums)
        changed += ["inputs"] if claim.inputs_changed(earlier, sums) else []
    offset_gains = results["re-offset"][0] > EVIDENCE * results["re-offset"][1]
    decision = "re-offset" if changed[0] == "rates" and offset_gains else "re-fit"
    gain, error = results[decision]
    size, gains = f"{gain:.4f} ± {error:.4f}", {kind: result[0] for kind, result in results.items()}
    if gain <= EVIDENCE * error:
        reason = (
            f"{finding}; the {rows:,.0f} rows since then do not show yet that a re-fit helps (log"
            f" loss lower by {size})"
        )
        return Advice("wait", reason, since, rows, gain, error, changed, gains)
    quantity = {"answer": "confidence", "forecast": "forecast's intervals"}.get(target, "risk")
    repair = "an offset" if decision == "re-offset" else "a re-fit"
    reason = (
        f"{finding}; {repair} on the {rows:,.0f} rows since then takes {size} off the log loss of"
        f" the {quantity} out of fold"
    )
    return Advice(decision, reason, since, rows, gain, error, changed, gains)


def describe_change(times: Sequence[Any], start: int, growth: np.ndarray, reference: bool) -> str:
    """Describe the evidence: a change at the batch ``start``, or errors from the first one on;
    ``growth`` is that of stakes placed at each batch.
    """
    first, since = times[0], times[start]
    if start > 0 and growth[start] - growth[0] < np.log(LEAST_RATIO):
        return (
            f"the predictions are miscalibrated, most likely since {since}; earlier batches do not"
            " show that they were ever calibrated"
        )
    if start > 0:
        return f"the calibration has changed, most likely since {since}"
    if reference:
        return f"the calibration is not that of the reference, from the first batch on ({first})"
    return f"the predictions were never calibrated, from the first batch on ({first})"


N_DRAWS = 200


@dataclass(frozen=True)
class DriftCurve(Record):
    """Table with one row a batch: its time, rows, confidence and accuracy, calibration error as
    measured, the debiased error with its interval, the log evidence for drift after it, and whether
    the alarm was on.

    For forecasts ``confidence`` and ``accuracy`` are the level and the coverage of the widest
    interval between levels, and the error is the mean gap over levels between the level and the
    share of outcomes below that quantile.
    """

    time: np.ndarray
    n: np.ndarray
    confidence: np.ndarray
    accuracy: np.ndarray
    ece: np.ndarray
    error: np.ndarray
    low: np.ndarray
    high: np.ndarray
    log_evidence: np.ndarray
    alarm: np.ndarray


def drift_curve(
    claim: ScoreClaim | PitClaim,
    batches: np.ndarray,
    times: Sequence[Any],
    path: np.ndarray,
    threshold: float,
    level: float | None = 0.95,
) -> DriftCurve:
    """Compute the curve of batches from their sums, the log evidence after each and the alarm's
    threshold.

    Noise is simulated from the hits of each bin, seeded. Without a level there are no intervals.
    """
    if level is not None:
        require_level(level)
    n, total, hits = claim.stated(batches).T
    counted = claim.errors(batches)
    error, low, high = (
        np.array([_limits(claim, *pair, level) for pair in zip(batches, counted, strict=True)])
        .reshape(-1, 3)
        .T
    )
    alarm = np.maximum.accumulate(path >= np.log(threshold))
    time = np.array(times, dtype=object)
    ece = binned_errors(counted[..., 0], counted[..., 1] - counted[..., 2], 1)
    return DriftCurve(
        time, n, quotient(total, n), quotient(hits, n), ece, error, low, high, path, alarm
    )


def _limits(claim: Any, sums: np.ndarray, counted: np.ndarray, level: float | None) -> Any:
    """Return (debiased error, low, high) of one batch; nan without rows, or without a level."""
    if level is None or not sums.any():
        return np.full(3, np.nan)
    return inverted_limits(counted[None], claim.redrawn(sums, N_DRAWS)[:, None], 1, level)[:3]


class CalibrationMonitor(Saved, BaseEstimator):
    r"""Raise an alarm when predictions or forecasts stop being calibrated, with probability at most
    ``alpha`` of any false alarm.

    It bets against calibration, and the stake grows only if calibration is violated:

    .. math:: E_t = \frac{1}{t + 1} + \sum_{j \le t} \frac{1}{j (j + 1)} \frac1A \sum_{a=1}^A
        \prod_{i=j}^t \prod_{b}
        \Big(\frac{q_{ab}}{r_{ab}}\Big)^{h_{ib}} \Big(\frac{1 - q_{ab}}{1 - r_{ab}}\Big)^{n_{ib} -
        h_{ib}}

    with n rows and h hits in bin b of batch i. Each of A = 134 recalibrations (a shift and a slope
    of the log-odds) has the rate q that it predicts, and the nearest rate r that counts as
    calibrated. Under calibration :math:`E_t` is a nonnegative supermartingale that starts at 1, so
    :math:`P(\exists t: E_t \ge 1 / \alpha) \le \alpha` (Ville): it may be read at any time. The sum
    over j allows the change to begin at any batch.

    For regression forecasts the bins are levels, and a row counts by the cell of its PIT, the
    predicted probability of at most the outcome. It is first below or above the median, then level
    by level outwards beyond the next one or not. These events have stated probabilities, so the
    formula holds, for A = 164 recalibrations: a mean and a std of the normal scores of the
    outcomes.

    Parameters
    ----------
    alpha : float, default 0.05
        Probability that a stream that stays calibrated ever raises the alarm.
    tolerance : float, default 0.01
        Gaps between accuracy and confidence up to this count as calibrated; for forecasts, gaps in
        the rate of each event. With 0 the claim is exact calibration, which no model satisfies over
        millions of rows.
    n_bins : int, default 15
        Number of bins of equal width of the score; the guarantee holds for any number.
    target : {"answer", "event", "forecast"} or a class label, optional
        The monitored probability: of the predicted label against its correctness, of class 1 of
        two, or of the named class. "forecast" monitors regression forecasts. Default: the event of
        two classes, and the answer of more, as in :func:`calibrant.evaluate`.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional
    levels : (L,) ascending, above 0 and below 1, optional
        Limits of the cells of outcomes of forecasts. Default: those of quantile forecasts, else
        0.025, 0.1, 0.25, 0.5, 0.75, 0.9 and 0.975.

    Attributes
    ----------
    evidence_, log_evidence_ : float
        E_t and its logarithm: the current stake against calibration.
    p_value_ : float
        1 / max E_t, valid at any time.
    alarm_ : bool
        Whether E_t ever reached ``threshold_``.
    alarm_time_ : the batch's time at the alarm, or None.
    threshold_ : float
        1 / alpha, or 2 / alpha with a reference.
    n_ : float, rows seen.
    low_, high_ : (B,) limits of the rate of hits in a bin under the claim, as offsets from its mean
        score.
    batches_, times_, path_ : lists with one entry a batch: its sums, its time, and the log evidence
        after it.
    log_stakes_ : (A,) logarithms of the stakes.
    levels_ : (L,) levels, for forecasts.
    reference_ : bool
        Whether the claim comes from a reference.
    watched_ : the target, or its default for the rows passed.

    See Also
    --------
    monitor : monitors the calibration over time of an evaluation.
    DriftDisplay : draws the evidence.

    Notes
    -----
    Use it on labels as they arrive, by day or by batch; :func:`calibrant.monitor` reads the result
    of :func:`calibrant.evaluate` by slice and time. After :meth:`fit` on reference data the claim
    is "the gap in each bin is unchanged", by a Clopper-Pearson band at alpha / 2 over all bins; the
    other half is for the bets. It detects errors in level and sharpness, but not errors that
    balance within a bin or alternate about the diagonal. Labels must be independent given the
    scores of a batch (and the past). Copies of rows are not, and rows of a sampling design differ
    from those of the stream, so there are no weights. After a re-fit start a new monitor.

    For forecasts the claim is that the predicted shares of each batch's outcomes fall between the
    levels; given the past, errors of rows must be independent of each other. Errors of one day with
    a common cause are not: monitor one series at a time. The rate of false alarms holds for
    outcomes of any distribution, including heavy tails and ties: an outcome that equals a quantile
    counts where it pays least, and ties with samples are split evenly. An alarm means that the
    level, the width or the tails are wrong.

    References
    ----------
    Ramdas, Gruenwald, Vovk and Shafer, "Game-theoretic statistics and safe anytime-valid
    inference", Statistical Science 38, 2023. Arnold, Henzi and Ziegel, "Sequentially valid tests
    for forecast calibration", Annals of Applied Statistics 17, 2023. Shin, Ramdas and Rinaldo,
    "E-detectors: a nonparametric framework for sequential change detection", NEJSDS 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.monitoring import CalibrationMonitor
    >>> rng, monitor = np.random.default_rng(0), CalibrationMonitor()
    >>> for day in range(20):
    ...     p = rng.uniform(0.5, 1.0, 200)
    ...     rate = p if day < 10 else p - 0.2
    ...     y = np.where(rng.uniform(size=200) < rate, 1, 0)
    ...     _ = monitor.update(p, y, time=day)
    >>> monitor.alarm_, 10 <= monitor.alarm_time_ <= 13
    (True, True)
    >>> monitor.advice().decision
    're-fit'

    Forecasts whose errors double on day 10:

    >>> monitor = CalibrationMonitor(target="forecast")
    >>> for day in range(20):
    ...     mean, std = rng.normal(size=100), rng.uniform(0.5, 2.0, 100)
    ...     y = mean + (1.0 if day < 10 else 2.0) * std * rng.normal(size=100)
    ...     _ = monitor.update(mean, y, std=std, time=day)
    >>> monitor.alarm_time_
    10
    """

    batches_: list[np.ndarray]
    times_: list[Any]
    path_: list[float]
    n_: float

    low_: np.ndarray
    high_: np.ndarray

    def __init__(
        self,
        *,
        alpha: float = 0.05,
        tolerance: float = 0.01,
        n_bins: int = 15,
        target: Any = None,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
        levels: ArrayLike | None = None,
    ) -> None:
        self.alpha: float = alpha
        self.tolerance: float = tolerance
        self.n_bins: int = n_bins
        self.target: Any = target
        self.inputs: Inputs = inputs
        self.classes: ArrayLike | None = classes
        self.levels: ArrayLike | None = levels

    def fit(self, P: Any, y: ArrayLike, *, std: ArrayLike | None = None) -> Self:
        """Make the calibration of these predictions the claim, with arguments as in :meth:`update`;
        earlier batches are dropped.
        """
        return self.fit_sums(self._batch_sums(P, y, std, None))

    def fit_sums(self, sums: np.ndarray) -> Self:
        """Fit as :meth:`fit` does, from sums as in :meth:`update_sums`."""
        sums = self._checked_sums(sums)
        self._begin(sums)
        self.low_, self.high_ = learned_band(
            self.claim.events(sums), 0.5 * self.alpha, self.tolerance
        )
        self.threshold_: float = 2.0 / self.alpha
        return self

    def update(
        self,
        P: Any,
        y: ArrayLike | None = None,
        *,
        std: ArrayLike | None = None,
        time: int | str | None = None,
    ) -> Self:
        """Add one batch of predictions and outcomes.

        Parameters
        ----------
        P : (n, K), or (n,) for binary; for regression the (n,) means, or a forecast of one output;
            or a log of answers, one to an item, whose confidences are monitored
        y : (n,) labels, or outcomes; a log holds its own
        std : (n,) standard deviations, if P are means
        time : str or number, optional
            Name of the batch; default its number, from 0.

        Returns
        -------
        self
        """
        return self.update_sums(
            self._batch_sums(P, y, std, getattr(self, "levels_", None)), time=time
        )

    def update_sums(self, sums: ArrayLike, *, time: int | str | None = None) -> Self:
        """Add one batch as :meth:`update` does, from sums. Add the sums of parts of a batch first.

        Parameters
        ----------
        sums : (B, 3) rows, summed score and hits of each bin; for forecasts (C, C) rows by the
            first and the last cell between ``levels`` that may hold their PIT.
        time : str or number, optional

        Returns
        -------
        self
        """
        sums = self._checked_sums(sums)
        if not hasattr(self, "batches_"):
            self._begin(sums)
        if len(self.claim.events(sums)) != len(self.low_):
            raise InputError(
                f"all batches must have the same bins, {len(self.low_)}; got {len(sums)}."
            )
        self.batches_.append(sums)
        self.times_.append(len(self.times_) if time is None else _time_label(time))
        self.n_ += self.claim.rows(sums)
        self.log_stakes_: np.ndarray = next_stakes(
            self.log_stakes_, len(self.batches_), self._log_factors(sums)
        )
        self.log_evidence_: float = log_evidence(self.log_stakes_, len(self.batches_))
        self.path_.append(self.log_evidence_)
        if self.alarm_time_ is None and self.log_evidence_ >= np.log(self.threshold_):
            self.alarm_time_: int | str | None = self.times_[-1]
        return self

    @property
    def claim(self) -> ScoreClaim | PitClaim:
        """Monitored quantity: the probabilities of bins, or for forecasts the levels of
        outcomes.
        """
        return PitClaim(self._levels()) if self.target == "forecast" else ScoreClaim()

    @property
    def _claim_type(self) -> type[ScoreClaim | PitClaim]:
        return PitClaim if self.target == "forecast" else ScoreClaim

    @property
    def reference_(self) -> bool:
        """Whether the claim comes from a reference."""
        return self.threshold_ * self.alpha > 1.0 + 1e-9

    def _levels(self) -> np.ndarray:
        if hasattr(self, "levels_"):
            return self.levels_
        levels = np.array(PIT_LEVELS if self.levels is None else self.levels, dtype=np.float64)
        require_levels(levels)
        if (np.diff(levels) <= 0.0).any():
            raise InputError(f"levels must be ascending; got {levels.tolist()}; sort them.")
        return levels

    def _log_factors(self, sums: np.ndarray) -> np.ndarray:
        return self.claim.log_factors(sums, self.low_, self.high_, self.reference_)

    def _begin(self, sums: np.ndarray) -> None:
        if not (isinstance(self.alpha, float) and 0.0 < self.alpha < 1.0):
            raise InputError(f"alpha must be between 0 and 1; got {self.alpha!r}; 0.05 is usual.")
        if not (isinstance(self.tolerance, int | float) and 0.0 <= self.tolerance < 1.0):
            raise InputError(
                f"tolerance must be at least 0 and below 1; got {self.tolerance!r}; 0.01 is usual."
            )
        if self.target == "forecast":
            self.levels_ = self._levels()
        size = len(self.claim.events(sums))
        self.low_, self.high_ = (
            np.full(size, -float(self.tolerance)),
            np.full(size, float(self.tolerance)),
        )
        self.threshold_ = 1.0 / self.alpha
        self.batches_, self.times_, self.path_ = [], [], []
        self.alarm_time_, self.n_, self.log_evidence_ = None, 0.0, 0.0
        self.log_stakes_ = np.full(self.claim.n_alternatives, -np.inf)

    def _batch_sums(self, P: Any, y: Any, std: Any, levels: np.ndarray | None) -> np.ndarray:
        domain, claim = domain_of_input(P, std), self._claim_type
        # Answers that were right or wrong are monitored whatever their kind.
        judges = hasattr(domain.record, "judged")
        judged = judges and self.target in (None, "answer")
        if domain is not claim.domain and not judged:
            remedy = 'target="answer"' if judges else claim.remedy
            raise InputError(
                f"target must match what is monitored, and is {self.target!r}; got"
                f" {domain.predictions}; pass {remedy}."
            )
        if self.target == "forecast":
            record = read_forecast(P, std, y).one_output()
            if levels is None:
                self.levels_: np.ndarray = (
                    levels_of(record.forecast) if self.levels is None else self._levels()
                )
            return pit_counts(record, self._levels())[0]
        require_count("n_bins", self.n_bins)
        if judged:
            self.watched_: Any = "answer"
            score, hit = _judged(domain.read([], y, P, sample_weight=None))
            return grouped_sums(equal_width_index(score, self.n_bins), self.n_bins, [score, hit])
        record = read_labelled(y, P, inputs=self.inputs, classes=self.classes, called="y")
        self.watched_ = record.default_target if self.target is None else self.target
        score, hit = record.pair(self.watched_)
        return grouped_sums(
            equal_width_index(score, self.n_bins, record.resolution), self.n_bins, [score, hit]
        )

    def _checked_sums(self, sums: Any) -> np.ndarray:
        return self.claim.checked(np.asarray(sums, dtype=np.float64))

    @property
    def alarm_(self) -> bool:
        """Whether the evidence ever reached the threshold."""
        require_fitted(self, "batches_")
        return self.alarm_time_ is not None

    @property
    def evidence_(self) -> float:
        """The current stake against calibration; infinite beyond the largest float."""
        require_fitted(self, "batches_")
        return (
            float(np.exp(min(self.log_evidence_, 709.0)))
            if self.log_evidence_ < 709.0
            else float("inf")
        )

    @property
    def p_value_(self) -> float:
        """The inverse of the largest evidence so far (doubled with a reference), at most 1."""
        require_fitted(self, "batches_")
        return float(min(self.alpha * self.threshold_ * np.exp(-max(self.path_, default=0.0)), 1.0))

    def since(self) -> int:
        """The batch, from 0, with the largest evidence, where the change most likely began."""
        return likeliest_start(self.growth_since())

    def growth_since(self) -> np.ndarray:
        """Return (T,) the log of stakes placed at each batch; if the first one is as large, there
        is no evidence of a later change.
        """
        require_fitted(self, "batches_")
        return growth_since(np.array([self._log_factors(sums) for sums in self.batches_]))

    def curve(self, *, level: float | None = 0.95) -> DriftCurve:
        """Return the calibration error of each batch with its interval at ``level``, the evidence
        after it, and whether the alarm was on.

        With ``level=None`` the intervals, which take some milliseconds a batch, and the debiased
        error are nan.
        """
        require_fitted(self, "batches_")
        batches, path = np.array(self.batches_), np.array(self.path_)
        return drift_curve(self.claim, batches, self.times_, path, self.threshold_, level)

    def advice(self) -> Advice:
        """Return whether to re-fit, to re-offset or to keep the calibration, and why."""
        require_fitted(self, "batches_")
        evidence = f"evidence {_short(self.evidence_)}, alarm at {self.threshold_:g}"
        if not self.alarm_:
            return no_drift(self.n_, evidence)
        start = self.since()
        change = describe_change(self.times_, start, self.growth_since(), self.reference_)
        sums, watched = (
            np.sum(self.batches_[start:], axis=0),
            vars(self).get("watched_", self.target),
        )
        earlier = np.sum(self.batches_[:start], axis=0) if start else None
        return advise(
            self.claim, sums, f"{change} ({evidence})", self.times_[start], watched, earlier
        )


def _judged(record: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return ((n,) confidence, (n,) whether each answer was right) of independent rows."""
    items = n_clusters(record)
    if items is not None or record.weight is not None:
        passed = "weights" if items is None else f"{len(record)} rows of {items} items"
        raise InputError(
            "a monitor needs independent rows that count once, one answer to an item; got"
            f" {passed}; watch each question by a monitor of its own."
        )
    return record.judged


def _short(value: float) -> str:
    return f"{value:.3g}" if np.isfinite(value) else "beyond 1e308"


def _time_label(time: int | str) -> int | str:
    """Return a number unchanged and anything else as text; a day has no midnight."""
    return time if isinstance(time, int | float) else str(time).removesuffix(" 00:00:00")


@trial.register
def _(monitor: CalibrationMonitor) -> None:
    monitor.growth_since()
    monitor.curve(level=None)
    float(monitor.evidence_)
    if not 0.0 <= monitor.p_value_ <= 1.0:
        raise ValueError(f"its p-value is {monitor.p_value_}")
