"""Limits of scores that follow a stream: an interval or a set holds what scores at most its
limit.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, cast

import numpy as np

from calibrant._numerics.conformal import (
    feedback,
    hedge_weights,
    pinball,
    rank_within,
    replace_sorted,
    saturation,
)
from calibrant.core.calibrator import require_fitted
from calibrant.core.estimators import require_count, require_option, trial
from calibrant.core.guarantee import Guarantee
from calibrant.core.metric import require_level
from calibrant.core.saving import Saved
from calibrant.decisions.certificates import require_share
from calibrant.errors import InputError

__all__ = [
    "MOST_DELAYED",
    "WINDOW",
    "Issued",
    "LimitMethod",
    "LimitedStream",
    "ScoreLimits",
    "plain_key",
    "require_method",
]

LimitMethod = Literal["pid", "aci", "aggregated", "tracking"]

#: Experts: half-lives of the centre and of the spread of the scores, None for constant ones, and
#: whether the distance from 0 counts instead of the signed score where ends are separate.
EXPERTS: tuple[tuple[float | None, float | None, bool], ...] = (
    (None, None, True),
    (None, 100.0, True),
    (None, 25.0, True),
    (None, 8.0, True),
    (None, None, False),
    (None, 25.0, False),
    (25.0, 25.0, False),
    (8.0, 25.0, False),
    (2.0, 25.0, False),
    (0.7, 25.0, False),
)
CENTRE_SHARE, SPREAD_SHARE = (
    np.array([0.0 if half is None else 1.0 - 0.5 ** (1.0 / half) for half in column])
    for column in list(zip(*EXPERTS, strict=True))[:2]
)
#: Rates of the methods that need one: shared by the ends, and in mean absolute scores.
RATES = {"aci": 0.02, "tracking": 0.2}
#: Longest delay of labels in rows.
MOST_DELAYED = 100_000
#: Fewest calibration rows.
LEAST = 10
#: Rows of the windows whose worst one is reported.
WINDOW = 200
#: Scores after which experts are compared.
COMPARED = 20
#: Predictions kept until their label arrives.
MOST_PENDING = 100_000
#: Least spread of an expert, in mean absolute scores of the start.
LEAST_SPREAD = 1e-6
#: A limit holds the score that it was computed from, whatever the rounding.
SLACK = 1e-12

METHODS = {
    "pid": "conformal PID: experts as scorecaster, tangent integrator",
    "aci": "adaptive conformal inference",
    "tracking": "online quantile tracking",
}

#: Limits (E,), centres and spreads (J,), limits of the experts (E, J), rows learned before.
Issued = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]


def require_method(level: float, method: str, rate: float | None, window: int, delay: int) -> None:
    """Raise InputError for invalid options of limits."""
    require_count("delay", delay, 0, most=MOST_DELAYED)
    require_level(level)
    require_option("method", method, ("pid", "aci", "aggregated", "tracking"))
    require_count("window", window, 20)
    if rate is not None:
        require_share("rate", rate)
        if method not in RATES:
            raise InputError(f'rate must be None for method="{method}", which needs none.')


def plain_key(key: Any) -> Any:
    """The key of a row as a text, a number or a tuple of these, which can be saved; times become
    texts.
    """
    if isinstance(key, tuple):
        return tuple(plain_key(part) for part in cast(tuple[Any, ...], key))
    plain: Any = cast(Any, key).item() if isinstance(key, np.generic) else key
    plain = plain.isoformat() if hasattr(plain, "isoformat") else plain
    if not isinstance(plain, str | int | float):
        raise InputError(f"key must be a str, a number, a time or a tuple of these; got {key!r}.")
    return plain


@dataclass(eq=False)
class ScoreLimits(Saved):
    """Limits of one end or two, with their state.

    Attributes
    ----------
    level : float, share of the scores at most the limit of an end
    method : {"pid", "aci", "aggregated", "tracking"}
    rate : float, 0 for methods without
    ends : 1 for the score itself, 2 for its negative and itself
    control : (E,) miscoverage in use ("aci"), limits ("tracking") or misses beyond the expected
        number ("pid")
    centre, spread : (J,) of the scores by each expert
    kept, ordered : (J, W) standardised scores by time and by size
    folds : (J,) whether an expert uses the distance from 0
    seen, n : numbers of scores learned, and of those after the start
    losses, gap : (E, J) and (E,) summed pinball losses and mixability gaps of the experts
    unit : float, mean absolute score at the start
    low, high : range of the scores of the ends so far
    delay : most rows learned between a prediction and its label, so far or as expected
    pending : predictions without labels, by key
    """

    level: float
    method: LimitMethod
    rate: float
    ends: int
    control: np.ndarray
    centre: np.ndarray
    spread: np.ndarray
    kept: np.ndarray
    ordered: np.ndarray
    losses: np.ndarray
    gap: np.ndarray
    folds: np.ndarray
    unit: float
    low: float = np.inf
    high: float = -np.inf
    seen: int = 0
    n: int = 0
    delay: int = 0
    pending: dict[Any, Any] = field(default_factory=dict[Any, Any])

    @classmethod
    def start(
        cls,
        scores: np.ndarray,
        *,
        level: float,
        method: LimitMethod,
        rate: float | None,
        ends: int,
        window: int,
        delay: int,
    ) -> "ScoreLimits":
        """Start from the finite scores of calibration rows, in the order of time."""
        if len(scores) < LEAST or not np.isfinite(scores).all():
            raise InputError(
                f"fit needs {LEAST} rows or more, all with finite scores; got {len(scores)}, of"
                f" which {np.isfinite(scores).sum()} have; add or mend calibration rows."
            )
        weighs = method in ("pid", "aggregated")
        size = len(EXPERTS) if weighs else 1
        unit = max(float(np.abs(scores).mean()), np.finfo(np.float64).tiny ** 0.5)
        out = cls(
            level,
            method,
            RATES.get(method, 0.0) / (ends if method == "aci" else 1) if rate is None else rate,
            ends,
            control=np.full(ends, 1.0 - level if method == "aci" else 0.0),
            centre=np.zeros(size),
            spread=np.full(size, unit if weighs else 1.0),
            kept=np.full((size, window), np.inf),
            ordered=np.full((size, window), np.inf),
            losses=np.zeros((ends, size)),
            gap=np.zeros(ends),
            folds=np.array([fold and ends == 2 for _, _, fold in EXPERTS])[:size] & weighs,
            unit=unit,
            delay=delay,
        )
        return out.seeded(scores)

    def seeded(self, scores: np.ndarray) -> "ScoreLimits":
        """Learn calibration scores, in order and after the delay, without counting misses."""
        levels, waiting = np.full(self.ends, self.level), deque[Issued]()
        for row in range(len(scores) + self.delay):
            candidates = self._candidates(levels)
            waiting.append((self.control, self.centre, self.spread, candidates, 0))
            if row >= self.delay:
                self._absorb(self._directed(float(scores[row - self.delay])), waiting.popleft())
        if self.method == "tracking":
            self.control = self._candidates(levels)[:, 0]
        return self

    def predict(self, key: Any) -> np.ndarray:
        """Return the limits (E,) of the next row, and remember them for its label."""
        issued = self._issued()
        self.pending.setdefault(key, []).append(issued)
        if len(self.pending) > MOST_PENDING:
            del self.pending[next(iter(self.pending))]
        return issued[0]

    def learn(self, key: Any, score: float) -> np.ndarray:
        """Return (E,) whether the score exceeds the limits that were predicted for its row, and
        learn it; without a prediction the limits are those of now.
        """
        waiting = self.pending.get(key)
        issued = self._issued() if waiting is None else waiting.pop(0)
        if waiting == []:
            del self.pending[key]
        directed = self._directed(score)
        # Nothing is at most an empty limit, not even a score of minus infinity.
        missed = (directed > issued[0]) | np.isneginf(issued[0])
        steps = {"aci": -self.rate, "tracking": self.rate * self.unit}
        self.control = self.control + steps.get(self.method, 1.0) * (missed - (1.0 - self.level))
        self.delay = max(self.delay, self.n - issued[4])
        self.n += 1
        if np.isfinite(score):
            self._absorb(directed, issued)
        else:
            self.low, self.high = -np.inf, np.inf
        return missed

    def follow(self, scores: np.ndarray, delay: int) -> tuple[np.ndarray, np.ndarray]:
        """Return limits and misses (n, E) of rows in order, each learned ``delay`` rows later."""
        limits, missed = np.empty((2, len(scores), self.ends))
        for row in range(len(scores) + delay):
            if row < len(scores):
                limits[row] = self.predict(("row", row))
            if row >= delay:
                missed[row - delay] = self.learn(("row", row - delay), float(scores[row - delay]))
        return limits, missed.astype(bool)

    def deviation(self, n: int) -> float:
        """Return the most that the share of misses of an end over n rows differs from its level,
        for scores in the range so far.
        """
        wait = self.delay + 1.0
        if self.method == "pid":
            return (0.5 * np.pi * saturation(n, self.level, self.delay) + wait) / n
        if self.method == "aci":
            return (max(self.level, 1.0 - self.level) + self.rate * wait) / (self.rate * n)
        step = self.rate * self.unit
        return (self.high - self.low + step * wait) / (step * n)

    def guarantee(self, quantity: str, n: int | None) -> Guarantee | None:
        """Return the bound on the coverage of all ends over n rows, or the rows learned."""
        n = self.n if n is None else n
        if self.method == "aggregated" or n < 1:
            return None
        level, deviation = 1.0 - self.ends * (1.0 - self.level), self.ends * self.deviation(n)
        condition = f"labels are learned after at most {self.delay} later ones"
        return Guarantee(
            "long run",
            quantity,
            "all rows of the sequence together",
            f"{condition} and scores stay in their range"
            if self.method == "tracking"
            else condition,
            n=n,
            least=max(level - deviation, 0.0),
            # A row beyond both of two crossed ends is missed once.
            most=min(level + deviation, 1.0) if self.ends == 1 else None,
            method=METHODS[self.method],
        )

    def _directed(self, score: float) -> np.ndarray:
        return np.array([score] if self.ends == 1 else [-score, score])

    def _issued(self) -> Issued:
        now = self.centre, self.spread
        if self.method == "tracking":
            return self.control, *now, self.control[:, None], self.n
        if self.method == "aci":
            candidates = self._candidates(1.0 - self.control)
            limit = np.where(self.control >= 1.0, -np.inf, candidates[:, 0])
            return np.where(self.control <= 0.0, np.inf, limit), *now, candidates, self.n
        candidates, limit = self._candidates(np.full(self.ends, self.level)), np.empty(self.ends)
        for end in range(self.ends):
            weight = hedge_weights(self.losses[end], self.gap[end])[0]
            mean = float(weight @ candidates[end])
            limit[end] = mean + SLACK * abs(mean)
            if self.method == "pid":
                saturated = saturation(self.n + 1.0, self.level, self.delay)
                limit[end] += feedback(self.control[end], saturated) * float(weight @ self.spread)
        return limit, *now, candidates, self.n

    def _candidates(self, levels: np.ndarray) -> np.ndarray:
        """Return (E, J) limits by each expert."""
        out, n = np.empty((self.ends, len(self.centre))), min(self.seen, self.kept.shape[1])
        for end, level in enumerate(levels):
            k = rank_within(n, level)
            z, sign = self.ordered[:, k - 1], 1.0
            if self.ends == 2 and end == 0:
                z, sign = -self.ordered[:, max(n - k, 0)], -1.0
            if self.folds.any():
                folded = self.ordered[:, rank_within(n, 2.0 * level - 1.0) - 1]
                z = np.where(self.folds, folded, z)
            out[end] = sign * self.centre + self.spread * z
        return out

    def _absorb(self, directed: np.ndarray, issued: Issued) -> None:
        """Learn a finite score, by the experts' state when its limits were predicted."""
        _, centre, spread, candidates, _ = issued
        self.low, self.high = float(min(self.low, *directed)), float(max(self.high, *directed))
        score, place = float(directed[-1]), self.seen % self.kept.shape[1]
        if self.seen >= COMPARED and np.isfinite(candidates).all():
            self._compare(directed, candidates)
        z = np.where(self.folds, abs(score), score - centre) / spread
        replace_sorted(self.ordered, self.kept[:, place], z)
        self.kept[:, place] = z
        self.seen += 1
        if len(self.centre) > 1:
            change = SPREAD_SHARE * (np.abs(score - self.centre) - self.spread)
            self.spread = np.maximum(self.spread + change, LEAST_SPREAD * self.unit)
            self.centre = self.centre + CENTRE_SHARE * (score - self.centre)

    def _compare(self, directed: np.ndarray, candidates: np.ndarray) -> None:
        """Add the losses of the experts to their sums, and to the gap what mixing them lost."""
        for end in range(self.ends):
            loss = pinball(candidates[end], directed[end], self.level)
            weight, before = hedge_weights(self.losses[end], self.gap[end])
            self.losses[end] += loss
            mixed = hedge_weights(self.losses[end], self.gap[end])[1] - before
            self.gap[end] += max(float(weight @ loss) - mixed, 0.0)


class LimitedStream:
    """Mixin of intervals and sets with ``limits_``: their promise."""

    limits_: ScoreLimits
    level: float
    #: What is predicted, in the words of the promise.
    predicts: ClassVar[str]

    @property
    def n_(self) -> int:
        """Number of rows learned after the fit."""
        require_fitted(self, "limits_")
        return self.limits_.n

    @property
    def regret_(self) -> float:
        """Bound on the pinball losses beyond those of the best experts, without delay."""
        require_fitted(self, "limits_")
        return float(2.0 * self.limits_.gap.sum())

    def guarantee(self, n: int | None = None) -> Guarantee | None:
        """Return the bound on the coverage of the rows learned so far, or of ``n`` rows; None for
        "aggregated", and before the first row.
        """
        require_fitted(self, "limits_")
        return self.limits_.guarantee(f"coverage of the {100 * self.level:g} % {self.predicts}", n)

    def explain(self) -> str:
        """Return the promise, or the reason for none."""
        promise = self.guarantee()
        if promise is not None:
            return str(promise)
        if self.limits_.method == "aggregated":
            return (
                "no coverage is promised; the pinball losses exceed those of the best expert by at"
                f" most {self.regret_:.4g} in all"
            )
        return "nothing is promised before the first row is learned"


@trial.register
def _(stream: LimitedStream) -> None:
    limits = stream.limits_
    if limits.control.shape != (limits.ends,) or limits.kept.shape != limits.ordered.shape:
        raise ValueError("its limits do not have the number of ends")
