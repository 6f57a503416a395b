"""Prediction sets that keep their level as time goes on."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from calibrant._numerics.conformal import ideal_worst_window, worst_window
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import require_fitted
from calibrant.core.estimators import BaseEstimator, require_option, require_seed
from calibrant.core.given import Inputs
from calibrant.core.guarantee import Result
from calibrant.core.predictions import Predictions, read
from calibrant.core.reading import read_labelled
from calibrant.core.saving import Saved
from calibrant.decisions.set_rows import SCORES
from calibrant.decisions.set_scores import Scorer
from calibrant.monitoring.score_limits import (
    WINDOW,
    LimitedStream,
    LimitMethod,
    ScoreLimits,
    plain_key,
    require_method,
)

__all__ = ["AdaptiveSets", "SetRun"]


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
        self.limits_ = ScoreLimits.start(
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
        limits = self.limits_.predict(_key(record, key))
        return self.classes_[self._scorer.within(record, limits[None, :])[0]].tolist()

    def learn_one(self, p: ArrayLike, y: Any, *, key: Any = None) -> Self:
        """Learn the label of a row: by the set that :meth:`predict_one` returned for it, whenever
        that was.
        """
        record = self._labelled(np.asarray(p)[None], [y])
        self.limits_.learn(_key(record, key), float(self._scorer.of_labels(record)[0]))
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


def _key(record: Predictions, key: Any) -> Any:
    """Return the key of a row: by default its probabilities."""
    return tuple(record.values[0].tolist()) if key is None else plain_key(key)
