"""What is so in a world: expected values under its true law, never under a sample of outcomes."""

import numpy as np
from benchmarks.journeys.worlds import Rows, World
from scipy import stats

__all__ = [
    "accepted_error",
    "covered_intervals",
    "covered_sets",
    "expected_loss",
    "expected_score",
    "group_gaps",
    "is_off",
]

LEAST = 1e-12
#: A gap of 2 points, or 2 % of the expected log loss, matters to somebody.
MATERIAL_GAP, MATERIAL_LOSS = 0.02, 0.02


def expected_loss(truth: np.ndarray, said: np.ndarray) -> float:
    """The expected log loss of what was said, (n,) or (n, K), under the true probabilities."""
    if truth.ndim == 1:
        truth, said = (np.column_stack([1.0 - p, p]) for p in (truth, np.reshape(said, len(truth))))
    return float(-(truth * np.log(np.maximum(said, LEAST))).sum(axis=1).mean())


def expected_score(law: np.ndarray, mean: np.ndarray, std: np.ndarray) -> float:
    """The expected negative log likelihood of normal forecasts; ``law`` is (mean, scale, df)."""
    centre, scale, df = law.T
    variance = scale**2 * np.where(df > 2.0, df / (df - 2.0), np.inf)
    loss = np.log(std) + (variance + (centre - mean) ** 2) / (2.0 * std**2)
    return float(loss.mean() + 0.5 * np.log(2.0 * np.pi))


def is_off(world: World) -> bool:
    """Whether what is said is wrong by an amount that matters, given nothing but itself."""
    rows = world.fresh(0)
    if world.kind == "forecasts":
        held = covered_intervals(rows.truth, *_normal_limits(rows.said, 0.9))
        return abs(held - 0.9) > MATERIAL_GAP
    gap = np.abs(rows.said - rows.honest)
    best, now = (expected_loss(rows.honest, p) for p in (rows.honest, rows.said))
    if world.kind == "classes":
        gap = gap[np.arange(len(gap)), rows.said.argmax(axis=1)]
        return float(gap.mean()) > MATERIAL_GAP
    return float(gap.mean()) > MATERIAL_GAP or now > (1.0 + MATERIAL_LOSS) * best


def _normal_limits(said: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    half = stats.norm.ppf(0.5 + level / 2.0) * said[:, 1]
    return said[:, 0] - half, said[:, 0] + half


def covered_intervals(law: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """The probability that intervals hold the outcome."""
    centre, scale, df = law.T
    held = stats.t.cdf((high - centre) / scale, df) - stats.t.cdf((low - centre) / scale, df)
    return float(held.mean())


def covered_sets(truth: np.ndarray, held: np.ndarray) -> np.ndarray:
    """The probability that each set, a row of (n, K) flags, holds the true class."""
    both = np.column_stack([1.0 - truth, truth]) if truth.ndim == 1 else truth
    return (both * held).sum(axis=1)


def accepted_error(truth: np.ndarray, said: np.ndarray, accepted: np.ndarray) -> float:
    """The expected share of wrong answers among those accepted (0 where none is)."""
    both = [np.column_stack([1.0 - p, p]) if p.ndim == 1 else p for p in (truth, said)]
    wrong = 1.0 - both[0][np.arange(len(truth)), both[1].argmax(axis=1)]
    return float(wrong[accepted].mean()) if accepted.any() else 0.0


def group_gaps(rows: Rows, said: np.ndarray) -> dict[str, float]:
    """The mean risk said less the true one, group by group."""
    groups = rows.groups
    return {str(g): float((said - rows.truth)[groups == g].mean()) for g in np.unique(groups)}
