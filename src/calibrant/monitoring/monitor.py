"""Watch the calibration of a stream of predictions, with a stated rate of false alarms however long it runs."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.betting import N_ALTERNATIVES, growth_since, likeliest_start, log_evidence, log_factors, next_stakes
from calibrant._kernels.bins import equal_width_index, grouped_sums
from calibrant._kernels.intervals import clopper_pearson
from calibrant._support.estimators import BaseEstimator
from calibrant._support.options import require_count
from calibrant._support.saving import Saved
from calibrant._support.trial import trial
from calibrant.contracts.calibrator import require_fitted
from calibrant.contracts.reading import read_labelled
from calibrant.errors import InputError
from calibrant.metrics.pair import target_pair
from calibrant.monitoring.advice import Advice, advise
from calibrant.monitoring.drift_curve import DriftCurve, drift_curve
from calibrant.predictions import Inputs

__all__ = ["CalibrationMonitor"]


class CalibrationMonitor(Saved, BaseEstimator):
    r"""Raise an alarm when predictions stop being calibrated; the probability that it is ever false is at most ``alpha``.

    Money is staked against calibration, and grows only if it is wrong:

    .. math:: E_t = \frac{1}{t + 1} + \sum_{j \le t} \frac{1}{j (j + 1)} \frac1A \sum_{a=1}^A \prod_{i=j}^t \prod_{b}
        \Big(\frac{q_{ab}}{r_{ab}}\Big)^{h_{ib}} \Big(\frac{1 - q_{ab}}{1 - r_{ab}}\Big)^{n_{ib} - h_{ib}}

    with n rows and h hits in bin b of batch i, and for each of A = 134 recalibrations (a shift and a slope of the log-odds) the rate q it
    says and the rate r nearest to it that counts as calibrated. Under calibration :math:`E_t` is a nonnegative supermartingale
    that starts at 1, so that :math:`P(\exists t: E_t \ge 1 / \alpha) \le \alpha` (Ville): look as often as you like. The sum over j lets
    the change begin at any batch.

    .. versionchanged:: 0.2
       ``target``: "answer" was "top", "event" was "positive".

    Parameters
    ----------
    alpha : float, default 0.05
        Probability that a stream which is calibrated throughout ever raises the alarm.
    tolerance : float, default 0.01
        Gaps between accuracy and confidence up to this count as calibrated. With 0 the claim is exact calibration, which no model
        of real data keeps for millions of rows.
    n_bins : int, default 15
        Bins of equal width of the score; the guarantee holds for any number.
    target : {"answer", "event"} or a class label
        Whose probability: the predicted label's against its being right, class 1's of two, or the named class's.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    evidence_, log_evidence_ : float
        E_t and its logarithm: money made against calibration so far.
    p_value_ : float
        1 / max E_t, valid at any time.
    alarm_ : bool
        Whether E_t ever reached ``threshold_``.
    alarm_time_ : the batch's time at the alarm, or None.
    threshold_ : float
        1 / alpha, or 2 / alpha with a reference.
    n_ : float, rows seen.
    low_, high_ : (B,) what the rate of hits in a bin may be, as offsets from its mean score.
    batches_, times_, path_ : lists with one entry a batch: its (B, 3) sums, its time, and the log evidence after it.
    log_stakes_ : (A,) logarithms of the stakes.

    See Also
    --------
    monitor : the calibration over time of an evaluation.
    DriftDisplay : draws the evidence.

    Notes
    -----
    Use it on labels as they come in, by day or by batch; :func:`calibrant.monitor` takes the result of :func:`calibrant.evaluate` by slice
    and time. After :meth:`fit` on reference data the claim is "the gap in each bin is what it was there", by a Clopper-Pearson band at
    alpha / 2 over all bins, the other half being the bets'. It sees errors in level and sharpness; errors that balance within a bin or
    wiggle about the diagonal it does not. Labels must be independent given the scores of a batch (and the past): copies of rows are
    not, so there are no weights. After a re-fit start a new one.

    References
    ----------
    Ramdas, Gruenwald, Vovk and Shafer, "Game-theoretic statistics and safe anytime-valid inference", Statistical Science 38, 2023. Arnold,
    Henzi and Ziegel, "Sequentially valid tests for forecast calibration", Annals of Applied Statistics 17, 2023. Shin, Ramdas and
    Rinaldo, "E-detectors: a nonparametric framework for sequential change detection", NEJSDS 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import CalibrationMonitor
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
    """

    batches_: list[np.ndarray]
    times_: list[Any]
    path_: list[float]
    n_: float

    def __init__(
        self, *, alpha: float = 0.05, tolerance: float = 0.01, n_bins: int = 15, target: Any = "answer", inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        self.alpha: float = alpha
        self.tolerance: float = tolerance
        self.n_bins: int = n_bins
        self.target: Any = target
        self.inputs: Inputs = inputs
        self.classes: ArrayLike | None = classes

    def fit(self, P: ArrayLike, y: ArrayLike) -> Self:
        """Take the calibration of these predictions, (n, K) or (n,), and labels as the claim; what was seen before is forgotten."""
        return self.fit_sums(self._summed(P, y))

    def fit_sums(self, sums: np.ndarray) -> Self:
        """As :meth:`fit`, from (B, 3) sums by bin: rows, summed score, hits."""
        sums = self._checked(sums)
        self._begin(sums)
        n, total, hits = sums.T
        low, high = clopper_pearson(hits, n, 1.0 - 0.5 * self.alpha / max(float((n > 0.0).sum()), 1.0))
        score = np.divide(total, n, out=np.zeros(len(n)), where=n > 0.0)
        # Nothing is claimed of a bin that had no rows.
        self.low_: np.ndarray = np.where(n > 0.0, low - score, -1.0) - self.tolerance
        self.high_: np.ndarray = np.where(n > 0.0, high - score, 1.0) + self.tolerance
        self.threshold_: float = 2.0 / self.alpha
        return self

    def update(self, P: ArrayLike, y: ArrayLike, *, time: int | str | None = None) -> Self:
        """Add one batch of predictions, (n, K) or (n,), and labels.

        Parameters
        ----------
        P : (n, K), or (n,) for binary
        y : (n,) labels
        time : str or number, optional
            What the batch is called; default its number, from 0.

        Returns
        -------
        self
        """
        return self.update_sums(self._summed(P, y), time=time)

    def update_sums(self, sums: ArrayLike, *, time: int | str | None = None) -> Self:
        """As :meth:`update`, from (B, 3) sums by bin: rows, summed score, hits. Sums of parts of a batch are added up first."""
        sums = self._checked(sums)
        if not hasattr(self, "batches_"):
            self._begin(sums)
        if len(sums) != len(self.low_):
            raise InputError(f"all batches must have the same bins, {len(self.low_)}; got {len(sums)}.")
        self.batches_.append(sums)
        self.times_.append(len(self.times_) if time is None else _named(time))
        self.n_ += float(sums[:, 0].sum())
        self.log_stakes_: np.ndarray = next_stakes(self.log_stakes_, len(self.batches_), log_factors(sums, self.low_, self.high_))
        self.log_evidence_: float = log_evidence(self.log_stakes_, len(self.batches_))
        self.path_.append(self.log_evidence_)
        if self.alarm_time_ is None and self.log_evidence_ >= np.log(self.threshold_):
            self.alarm_time_: int | str | None = self.times_[-1]
        return self

    def _begin(self, sums):
        if not (isinstance(self.alpha, float) and 0.0 < self.alpha < 1.0):
            raise InputError(f"alpha must be between 0 and 1; got {self.alpha!r}; 0.05 is usual.")
        if not (isinstance(self.tolerance, int | float) and 0.0 <= self.tolerance < 1.0):
            raise InputError(f"tolerance must be at least 0 and below 1; got {self.tolerance!r}; 0.01 is usual.")
        self.low_, self.high_ = np.full(len(sums), -float(self.tolerance)), np.full(len(sums), float(self.tolerance))
        self.threshold_ = 1.0 / self.alpha
        self.batches_, self.times_, self.path_ = [], [], []
        self.alarm_time_, self.n_, self.log_evidence_ = None, 0.0, 0.0
        self.log_stakes_ = np.full(N_ALTERNATIVES, -np.inf)

    def _summed(self, P, y):
        record = read_labelled(y, P, inputs=self.inputs, classes=self.classes, called="y")
        require_count("n_bins", self.n_bins)
        score, hit = target_pair(record, self.target)
        return grouped_sums(equal_width_index(score, self.n_bins, record.resolution), self.n_bins, [score, hit])

    def _checked(self, sums):
        sums = np.asarray(sums, dtype=np.float64)
        if sums.ndim != 2 or sums.shape[1] != 3 or not np.isfinite(sums).all() or (sums < 0.0).any() or (sums[:, 1:] > sums[:, :1]).any():
            raise InputError(f"sums must be (B, 3): rows, summed score and hits of each bin, the last two at most the first; got {sums!r}.")
        return sums

    @property
    def alarm_(self) -> bool:
        """Whether the evidence ever reached the threshold."""
        require_fitted(self, "batches_")
        return self.alarm_time_ is not None

    @property
    def evidence_(self) -> float:
        """Money made against calibration so far; infinite beyond the largest float."""
        require_fitted(self, "batches_")
        return float(np.exp(min(self.log_evidence_, 709.0))) if self.log_evidence_ < 709.0 else float("inf")

    @property
    def p_value_(self) -> float:
        """1 / the largest evidence so far (doubled with a reference), at most 1."""
        require_fitted(self, "batches_")
        return float(min(self.alpha * self.threshold_ * np.exp(-max(self.path_, default=0.0)), 1.0))

    def since(self) -> int:
        """The batch, from 0, from which the evidence is greatest: where the change most likely began."""
        return likeliest_start(self.growth_since())

    def growth_since(self) -> np.ndarray:
        """(T,) log of what money staked at each batch has become: where it is as much from the first, nothing shows a change later."""
        require_fitted(self, "batches_")
        return growth_since(np.array([log_factors(sums, self.low_, self.high_) for sums in self.batches_]))

    def curve(self, *, level: float | None = 0.95) -> DriftCurve:
        """The calibration error of each batch with its interval at ``level``, the evidence after it, and whether the alarm was on.

        With ``level=None`` the intervals, which take some milliseconds a batch, and the error freed of noise are nan.
        """
        require_fitted(self, "batches_")
        return drift_curve(self, level)

    def advice(self) -> Advice:
        """Whether to re-fit or to leave the calibration as it is, and why."""
        require_fitted(self, "batches_")
        return advise(self)


def _named(time):
    """A number as it is, anything else as text; a day without its midnight."""
    return time if isinstance(time, int | float) else str(time).removesuffix(" 00:00:00")


@trial.register
def _(monitor: CalibrationMonitor):
    monitor.growth_since()
    monitor.curve(level=None)
    if not 0.0 <= monitor.p_value_ <= 1.0:
        raise ValueError(f"its p-value is {monitor.p_value_}")
