"""Prediction intervals and prediction sets that keep their level as time goes on."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np

from calibrant._numerics.conformal import ideal_worst_window, worst_window
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import require_fitted
from calibrant.core.conformal_forecast import CONFORMITY, ConformalEnds
from calibrant.core.estimators import BaseEstimator, require_option, require_seed
from calibrant.core.forecast import Forecast, NormalForecast
from calibrant.core.forecast_record import ForecastRecord, is_forecast, read_forecast
from calibrant.core.given import Inputs
from calibrant.core.guarantee import Result
from calibrant.core.predictions import Predictions, read
from calibrant.core.reading import read_labelled
from calibrant.core.saving import Saved
from calibrant.decisions.set_rows import SCORES
from calibrant.decisions.set_scores import Scorer
from calibrant.errors import InputError
from calibrant.monitoring.score_limits import (
    WINDOW,
    LimitedStream,
    LimitMethod,
    ScoreLimits,
    plain_key,
    require_method,
)

__all__ = ["AdaptiveIntervals", "AdaptiveSets", "IntervalRun", "SetRun"]


@dataclass(frozen=True)
class IntervalRun(Result):
    """Intervals of a run of rows, with their coverage and width.

    Attributes
    ----------
    lower, upper : (n,)
        An empty interval has both ends at one point.
    covered : (n,) bool
        Whether the interval held the outcome; an empty one never does.
    level : float
    coverage : float
    mean_width : float
        Mean width of the intervals with finite ends.
    interval_score : float
        Mean width plus 2 / (1 - level) times the distance of outcomes beyond an end (Winkler); a
        proper score, infinite if an interval is.
    infinite, empty : float
        Shares of the intervals with an infinite limit, and of empty ones.
    worst_window, ideal_window : float
        Least coverage in any 200 consecutive rows, and that of an ideal fixed interval with
        independent errors: the median of 200 simulated series of as many rows.

    See Also
    --------
    AdaptiveIntervals : makes it.
    """

    lower: np.ndarray
    upper: np.ndarray
    covered: np.ndarray
    level: float
    coverage: float
    mean_width: float
    interval_score: float
    infinite: float
    empty: float
    worst_window: float
    ideal_window: float

    def __str__(self) -> str:
        return (
            f"coverage {100 * self.coverage:.1f} % of {len(self.covered):,} rows (level"
            f" {100 * self.level:g} %), worst {WINDOW} rows {100 * self.worst_window:.1f} % (ideal"
            f" {100 * self.ideal_window:.1f} %), mean width {self.mean_width:.4g}, interval score"
            f" {self.interval_score:.4g}, infinite {100 * self.infinite:.2g} %, empty"
            f" {100 * self.empty:.2g} %"
        )


class AdaptiveIntervals(LimitedStream, Saved, BaseEstimator):
    r"""Prediction intervals of a series that learn from each outcome, so that their coverage keeps
    its level when errors change.

    .. math:: q_t = \sum_j w_{tj} \Big( m_{tj} + v_{tj}\, \hat Q_j(\text{level}') \Big) + 0.3\,
        \bar v_t \tan \frac{\sum_{i < t} (\text{miss}_i - \alpha')}{3 \sqrt{\alpha' (1 - \alpha')
        (D + 1) (t + 10 D + 10)}}

    is the limit of the score of one end (``method="pid"``), with :math:`\alpha'` the miscoverage of
    an end and labels D rows late. Ten experts follow centre m and spread v of the scores with
    half-lives of .7 to 100 rows or none, and take the quantile of the last standardised scores.
    Their weights w follow their pinball losses (AdaHedge). The tangent widens after too many misses
    and narrows after too few. It is infinite before the sum of misses is far from its expectation,
    whatever the experts do.

    Parameters
    ----------
    level : float, default 0.9
    method : {"pid", "aci", "aggregated", "tracking"}
        "pid": the formula above, conformal PID with the experts as scorecaster. "aci": the quantile
        of the last scores at a miscoverage :math:`\alpha_{t+1} = \alpha_t + \gamma (\alpha -
        \text{miss}_t)`; everything where it is not positive, nothing from 1 on. "aggregated": the
        experts without the tangent; it promises no coverage. "tracking": :math:`q_{t+1} = q_t +
        \eta\, (\text{miss}_t - \alpha)`.
    symmetric : bool, default False
        Whether one limit moves both ends, for absolute scores. Otherwise each end has its own
        limit, at half of the miscoverage, and the interval may leave the forecast's centre.
    score : {"auto", "absolute", "scaled", "distributional"}
        Score of an outcome, as in :class:`ConformalIntervals`. "auto": "absolute" for means alone,
        "scaled" for normal forecasts, "distributional" for others.
    rate : float, optional
        :math:`\gamma` of "aci", default 0.02 for one limit and 0.01 for two; :math:`\eta` of
        "tracking" in mean absolute scores of the calibration rows, default 0.2. The other methods
        have none.
    bounds : (low, high), optional
        Limits of any outcome; intervals end there.
    window : int, default 1000
        Number of past scores that quantiles are taken of.
    delay : int, default 0
        Number of rows that are predicted before the label of a row arrives, as for forecasts of
        several steps. Experts are compared with this delay. Labels of single rows may come
        sooner or later.

    Attributes
    ----------
    limits_ : the limits of the scores and their state
    score_ : the score in use
    n_ : int, rows learned after the fit
    regret_ : float
        Bound on the sum of pinball losses of the aggregated limits, less that of the best single
        expert of each end, for labels without delay; in units of the score.

    See Also
    --------
    ConformalIntervals : fixed intervals for rows that do not change.
    AdaptiveSets : the same for classes.
    CalibrationMonitor : raises an alarm when a calibrator stops being right.

    Notes
    -----
    Use them for a stream whose labels arrive later: the forecast's errors may grow, shrink or move.
    ``guarantee()`` states the promise, for every sequence: with two ends, T rows learned, and
    labels after at most D later ones, the coverage is at least the level less
    :math:`2 (\tfrac{3\pi}{2} \sqrt{\alpha' (1 - \alpha') (D + 1) (T + 10 D + 10)} + D + 1) / T`
    for "pid",
    :math:`2 (\max(\alpha', 1 - \alpha') + \gamma (D + 1)) / (\gamma T)` for "aci", and
    :math:`2 (b + \eta (D + 1)) / (\eta T)` for "tracking" with scores in a range of length b. It is
    an average over all T rows. It says nothing about a window or a kind of row, and intervals
    without end would meet it too: read it beside the interval score and the share of infinite
    intervals of ``run``.

    Without ``key``, a label belongs to the oldest waiting prediction from an equal forecast;
    without such a prediction, to the interval of now. Pass a key, such as the time, where labels
    arrive out of order and forecasts repeat.

    Settings were chosen on six simulated and six real series, and compared with other libraries on
    twelve others (``python -m benchmarks.time --only adaptive``).

    References
    ----------
    Gibbs and Candes, "Adaptive conformal inference under distribution shift", NeurIPS 2021.
    Angelopoulos, Candes and Tibshirani, "Conformal PID control for time series prediction",
    NeurIPS 2023. Zaffran et al., "Adaptive conformal predictions for time series", ICML 2022.
    Rooij et al., "Follow the leader if you can, hedge if you must", JMLR 15, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import AdaptiveIntervals
    >>> rng = np.random.default_rng(0)
    >>> spread = np.where(np.arange(2200) < 1000, 1.0, 2.0)
    >>> y = spread * rng.normal(size=2200)
    >>> adaptive = AdaptiveIntervals(level=0.9).fit(np.zeros(200), y[:200])
    >>> found = adaptive.run(np.zeros(2000), y[200:])
    >>> round(found.coverage, 2), found.infinite
    (0.9, 0.0)
    >>> low, high = adaptive.predict_one(0.0)
    >>> -4.5 < low < -2.5, 2.5 < high < 4.5
    (True, True)
    >>> adaptive.learn_one(0.0, 1.5).n_
    2001
    """

    predicts: ClassVar[str] = "intervals"
    score_: str

    def __init__(
        self,
        level: float = 0.9,
        *,
        method: LimitMethod = "pid",
        symmetric: bool = False,
        score: Literal["auto", "absolute", "scaled", "distributional"] = "auto",
        rate: float | None = None,
        bounds: tuple[float, float] | None = None,
        window: int = 1_000,
        delay: int = 0,
    ) -> None:
        self.level: float = level
        self.method: LimitMethod = method
        self.symmetric: bool = symmetric
        self.score: Literal["auto", "absolute", "scaled", "distributional"] = score
        self.rate: float | None = rate
        self.bounds: tuple[float, float] | None = bounds
        self.window: int = window
        self.delay: int = delay

    def fit(self, forecast: Any, y: ArrayLike, *, std: ArrayLike | None = None) -> Self:
        """Start from the scores of calibration rows in the order of time, 10 or more.

        Parameters
        ----------
        forecast : means (n,), with or without ``std``; (mean, std), Forecast of one output, or
            frozen scipy distribution
        y : (n,) outcomes
        std : (n,), optional
        """
        require_method(self.level, self.method, self.rate, self.window, self.delay)
        require_option("score", self.score, ("auto", *CONFORMITY))
        record, means_only = _read(forecast, std, y)
        self._ends.require_within(record.y)
        usual = "scaled" if isinstance(record.forecast, NormalForecast) else "distributional"
        self.score_ = self.score if self.score != "auto" else "absolute" if means_only else usual
        if means_only and self.score_ != "absolute":
            raise InputError(
                f'score="{self.score}" needs forecasts with standard deviations; got means alone;'
                ' pass std=, or score="absolute".'
            )
        self.limits_: ScoreLimits = ScoreLimits.start(
            self._scores(record),
            level=float(self.level if self.symmetric else 0.5 + 0.5 * self.level),
            method=self.method,
            rate=self.rate,
            ends=1 if self.symmetric else 2,
            window=int(self.window),
            delay=int(self.delay),
        )
        return self

    def predict_one(
        self, forecast: Any, *, std: float | None = None, key: Any = None
    ) -> tuple[float, float]:
        """Return (low, high) for the next row, and remember them until its label is learned.

        Parameters
        ----------
        forecast : mean, (mean, std), or a Forecast of one row
        std : float, optional
            The standard deviation of a mean that is passed alone, as in ``run``.
        key : str, number, time or tuple of these, optional
            Name of the row, such as its time, to find the prediction when the label arrives.
        """
        record = self._row(forecast, std)
        limits = self.limits_.predict(_forecast_key(record, key))
        low, high, _ = self._intervals(record.forecast, limits[None, :])
        return float(low[0]), float(high[0])

    def learn_one(
        self, forecast: Any, y: float, *, std: float | None = None, key: Any = None
    ) -> Self:
        """Learn the outcome of a row: by the interval that :meth:`predict_one` returned for it,
        whenever that was.
        """
        record = self._row(forecast, std, y)
        self.limits_.learn(_forecast_key(record, key), float(self._scores(record)[0]))
        return self

    def run(self, forecast: Any, y: ArrayLike, *, std: ArrayLike | None = None) -> IntervalRun:
        """Predict and learn rows in order, each label ``delay`` rows later; it goes on from the
        rows learned before.
        """
        require_fitted(self, "limits_")
        record = self._same_kind(*_read(forecast, std, y))
        self._ends.require_within(record.y)
        limits, missed = self.limits_.follow(self._scores(record), int(self.delay))
        low, high, empty = self._intervals(record.forecast, limits)
        covered = np.asarray(~missed.any(axis=1))
        width, outcome = high - low, np.asarray(record.y)
        excess = np.maximum(low - outcome, 0.0) + np.maximum(outcome - high, 0.0)
        finite = np.isfinite(width)
        return IntervalRun(
            low,
            high,
            covered,
            self.level,
            coverage=float(covered.mean()),
            mean_width=float(width[finite].mean()) if finite.any() else np.inf,
            interval_score=float((width + 2.0 / (1.0 - self.level) * excess).mean()),
            infinite=float(np.isposinf(limits).any(axis=1).mean()),
            empty=float(empty.mean()),
            worst_window=worst_window(covered, WINDOW),
            ideal_window=ideal_worst_window(len(covered), self.level, WINDOW),
        )

    @property
    def _ends(self) -> ConformalEnds:
        return ConformalEnds(bounds=(-np.inf, np.inf) if self.bounds is None else self.bounds)

    def _scores(self, record: ForecastRecord) -> np.ndarray:
        if record.y is None:
            raise InputError("y must be the outcomes, one per row; got None.")
        signed = CONFORMITY[self.score_].of(record.forecast, np.asarray(record.y))
        return np.abs(signed) if self.symmetric else signed

    def _intervals(
        self, forecast: Forecast, limits: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (low, high, whether empty), (n,) each, for limits (n, E)."""
        below, above = -limits[:, 0], limits[:, -1].copy()
        empty = below > above
        finite = np.isfinite(below) & np.isfinite(above)
        middle = 0.5 * (np.where(finite, below, 0.0) + np.where(finite, above, 0.0))
        below[empty] = above[empty] = middle[empty]
        ends = np.clip(
            CONFORMITY[self.score_].at(forecast, np.stack([below, above], axis=-1)),
            *self._ends.bounds,
        )
        return ends[..., 0], ends[..., 1], empty

    def _row(self, forecast: Any, std: float | None, y: float | None = None) -> ForecastRecord:
        require_fitted(self, "limits_")
        if isinstance(forecast, tuple):
            forecast = tuple(np.atleast_1d(part) for part in cast(tuple[Any, ...], forecast))
        elif not is_forecast(forecast):
            forecast = np.atleast_1d(forecast)
        arrays = (None if value is None else np.atleast_1d(value) for value in (std, y))
        record = self._same_kind(*_read(forecast, *arrays))
        if len(record) != 1:
            raise InputError(f"forecast must be of one row; got {len(record)}; use run for more.")
        return record

    def _same_kind(self, record: ForecastRecord, means_only: bool) -> ForecastRecord:
        if means_only and self.score_ != "absolute":
            raise InputError(
                "forecast must have standard deviations, as in fit; got means alone; pass (mean,"
                " std)."
            )
        return record


def _read(forecast: Any, std: Any, y: Any) -> tuple[ForecastRecord, bool]:
    """Return a record of one output, and whether it has means alone."""
    means_only = std is None and not isinstance(forecast, tuple) and not is_forecast(forecast)
    if means_only:
        std = np.ones(np.shape(cast(Any, forecast)))
    record = read_forecast(forecast, std, y)
    if len(record.forecast.shape) != 1:
        raise InputError(
            f"forecast must have one output, (n,); got shape {record.forecast.shape}; use one"
            " object for each output."
        )
    return record, means_only


def _forecast_key(record: ForecastRecord, key: Any) -> Any:
    """Return the key of a row: by default the mean and the std of its forecast."""
    return (float(record.mean[0]), float(record.std[0])) if key is None else plain_key(key)


@dataclass(frozen=True)
class SetRun(Result):
    """Sets of a run of rows, with their coverage and size.

    Attributes
    ----------
    sets : (n, K) bool
    covered : (n,) bool
    level : float
    coverage : float
    mean_size : float
    whole, empty : float
        Shares of the sets of all classes and of the empty ones.
    worst_window, ideal_window : float
        Least coverage in any 200 consecutive rows, and that of an ideal fixed rule with independent
        rows: the median of 200 simulated series of as many rows.

    See Also
    --------
    AdaptiveSets : makes it.
    """

    sets: np.ndarray
    covered: np.ndarray
    level: float
    coverage: float
    mean_size: float
    whole: float
    empty: float
    worst_window: float
    ideal_window: float

    def __str__(self) -> str:
        return (
            f"coverage {100 * self.coverage:.1f} % of {len(self.covered):,} rows (level"
            f" {100 * self.level:g} %), worst {WINDOW} rows {100 * self.worst_window:.1f} % (ideal"
            f" {100 * self.ideal_window:.1f} %), mean size {self.mean_size:.3g}, all classes"
            f" {100 * self.whole:.2g} %, empty {100 * self.empty:.2g} %"
        )


class AdaptiveSets(LimitedStream, Saved, BaseEstimator):
    r"""Prediction sets of a stream that learn from each label, so that their coverage keeps its
    level when the classes or the model's errors change.

    .. math:: \{y : s(x_t, y) \le q_t\}

    where :math:`q_t` follows the scores of the true classes as in :class:`AdaptiveIntervals` with
    one end.

    Parameters
    ----------
    level : float, default 0.9
    score : {"lac", "aps", "margin", "top_k", "ordered"}
        Score of a class, as in :class:`ConformalSets`.
    method : {"aci", "pid", "aggregated", "tracking"}
    rate : float, optional
    window : int, default 1000
    delay : int, default 0
        As in :class:`AdaptiveIntervals`, where another method is the default: a whole set costs
        less than an infinite interval, and "aci" then has the tightest promise.
    randomised : bool, default True
        Whether "aps" and "ordered" are randomised.
    random_state : int, default 0
        Seed of the draws.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    limits_ : the limits of the scores and their state
    classes_ : (K,)
    n_ : int, rows learned after the fit

    See Also
    --------
    ConformalSets : fixed sets for rows that do not change.
    AdaptiveIntervals : the same for numbers, with the formulas and bounds of the methods.

    Notes
    -----
    Use them for a stream of classes whose labels arrive later. ``guarantee()`` states the promise,
    for every sequence: the share of sets with their class is within the bound of its level,
    over all T rows learned. It says nothing about a window or a class, and sets that are sometimes
    everything and sometimes nothing would meet it too: read it beside the mean size and the shares
    of whole and empty sets of ``run``. Labels are matched to predictions by ``key``, or by equal
    probabilities in the order of prediction.

    References
    ----------
    Gibbs and Candes, "Adaptive conformal inference under distribution shift", NeurIPS 2021.
    Angelopoulos, Candes and Tibshirani, "Conformal PID control for time series prediction",
    NeurIPS 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import AdaptiveSets
    >>> rng = np.random.default_rng(0)
    >>> P = rng.dirichlet(np.ones(3), 1200)
    >>> y = (rng.random((1200, 1)) > P.cumsum(axis=1)).sum(axis=1)
    >>> y[600:] = rng.integers(0, 3, 600)
    >>> adaptive = AdaptiveSets(level=0.8).fit(P[:200], y[:200])
    >>> found = adaptive.run(P[200:], y[200:])
    >>> abs(found.coverage - 0.8) < 0.02
    True
    >>> adaptive.predict_one([0.98, 0.01, 0.01])
    [0]
    """

    predicts: ClassVar[str] = "sets"
    classes_: np.ndarray

    def __init__(
        self,
        level: float = 0.9,
        *,
        score: Literal["lac", "aps", "margin", "top_k", "ordered"] = "lac",
        method: LimitMethod = "aci",
        rate: float | None = None,
        window: int = 1_000,
        delay: int = 0,
        randomised: bool = True,
        random_state: int = 0,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        self.level: float = level
        self.score: Literal["lac", "aps", "margin", "top_k", "ordered"] = score
        self.method: LimitMethod = method
        self.rate: float | None = rate
        self.window: int = window
        self.delay: int = delay
        self.randomised: bool = randomised
        self.random_state: int = random_state
        self.inputs: Inputs = inputs
        self.classes: ArrayLike | None = classes

    def fit(self, P: ArrayLike, y: ArrayLike) -> Self:
        """Start from the scores of calibration rows in the order of time.

        Parameters
        ----------
        P : (n, K), or (n,) for binary: probability of the second class
        y : (n,) labels
        """
        require_method(self.level, self.method, self.rate, self.window, self.delay)
        require_option("score", self.score, SCORES)
        require_seed("random_state", self.random_state)
        record = read_labelled(y, P, inputs=self.inputs, classes=self.classes, called="y")
        self.classes_ = record.classes
        self.limits_: ScoreLimits = ScoreLimits.start(
            self._scorer.of_labels(record),
            level=float(self.level),
            method=self.method,
            rate=self.rate,
            ends=1,
            window=int(self.window),
            delay=int(self.delay),
        )
        return self

    def predict_one(self, p: ArrayLike, *, key: Any = None) -> list[Any]:
        """Return the labels in the set of the next row, and remember its limit until its label is
        learned.

        Parameters
        ----------
        p : (K,) probabilities, or for binary the probability of the second class
        key : str, number, time or tuple of these, optional
            Name of the row, such as its time, to find the prediction when the label arrives.
        """
        require_fitted(self, "limits_")
        record = read(np.asarray(p)[None], inputs=self.inputs, classes=self.classes_)
        limits = self.limits_.predict(_classes_key(record, key))
        return self.classes_[self._scorer.within(record, limits[None, :])[0]].tolist()

    def learn_one(self, p: ArrayLike, y: Any, *, key: Any = None) -> Self:
        """Learn the label of a row: by the set that :meth:`predict_one` returned for it, whenever
        that was.
        """
        record = self._labelled(np.asarray(p)[None], [y])
        self.limits_.learn(_classes_key(record, key), float(self._scorer.of_labels(record)[0]))
        return self

    def run(self, P: ArrayLike, y: ArrayLike) -> SetRun:
        """Predict and learn rows in order, each label ``delay`` rows later; it goes on from the
        rows learned before.
        """
        record = self._labelled(P, y)
        limits, missed = self.limits_.follow(self._scorer.of_labels(record), int(self.delay))
        sets = self._scorer.within(record, limits)
        covered, size = ~missed[:, 0], sets.sum(axis=1)
        return SetRun(
            sets,
            covered,
            self.level,
            coverage=float(covered.mean()),
            mean_size=float(size.mean()),
            whole=float((size == sets.shape[1]).mean()),
            empty=float((size == 0).mean()),
            worst_window=worst_window(covered, WINDOW),
            ideal_window=ideal_worst_window(len(covered), self.level, WINDOW),
        )

    @property
    def _scorer(self) -> Scorer:
        return Scorer(
            SCORES[self.score](), None, int(self.random_state) if self.randomised else None
        )

    def _labelled(self, P: ArrayLike, y: ArrayLike) -> Predictions:
        require_fitted(self, "limits_")
        return read_labelled(y, P, inputs=self.inputs, classes=self.classes_, called="y")


def _classes_key(record: Predictions, key: Any) -> Any:
    """Return the key of a row: by default its probabilities."""
    return tuple(record.values[0].tolist()) if key is None else plain_key(key)
