"""Quantities above each threshold of a risk: coverage, events, net benefit and the crossing of a
level; and what a decision is expected to score where labels are known by their probabilities only.

For the expected scores every row has a mass for each class, whose sum over all rows is 1. Each
function returns the value and its derivatives by the masses, so that a standard error follows.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit, logit, xlog1py, xlogy

from calibrant._numerics.intervals import (
    minus,
    multinomial_correlation,
    normal_quantile,
    rate_interval,
    sum_limits,
)

__all__ = [
    "crossing_interval",
    "decision_loss",
    "expected_auroc",
    "expected_f1",
    "expected_mean",
    "net_benefit",
    "net_benefit_interval",
    "optimal_area",
    "probability_grid",
    "probability_scale",
    "probability_ticks",
    "ranked",
    "risk_coverage",
    "risk_coverage_area",
    "row_moves",
    "scale_ends",
    "threshold_counts",
]


def risk_coverage(
    confidence: np.ndarray, correct: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(confidence, covered weight, wrong weight) down to each distinct confidence, from the
    highest: three (m,) arrays.
    """
    unique, sums = ranked(*np.unique(confidence, return_inverse=True))
    rows, covered, wrong = sums(correct, weight)
    return unique[rows], covered, wrong


def ranked(
    unique: np.ndarray, place: np.ndarray
) -> tuple[np.ndarray, Callable[[np.ndarray, np.ndarray], tuple[Any, np.ndarray, np.ndarray]]]:
    """(distinct confidences, ``sums(correct, weight)``: which of them have weight, and their
    covered and wrong weight), highest first.

    It takes the distinct confidences, ascending, and the index of each row among them.
    """
    inverse = len(unique) - 1 - place

    def sums(correct: np.ndarray, weight: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
        mass, wrong = (
            np.bincount(inverse, weights=weight),
            np.bincount(inverse, weights=weight * (1.0 - correct)),
        )
        rows = slice(None) if mass.all() else np.flatnonzero(mass)
        return rows, np.cumsum(mass[rows]), np.cumsum(wrong[rows])

    return unique[::-1], sums


def risk_coverage_area(covered: np.ndarray, wrong: np.ndarray) -> float:
    """Integral of the risk over the coverage from 0 to 1; tied rows enter together, their errors
    spread evenly.
    """
    _, step, rate, rest, logs = _runs(covered, wrong)
    return float((rate * step).sum() + rest[1:] @ logs[1:]) / float(covered[-1])


def _runs(
    covered: np.ndarray, wrong: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(weight before each run of ties, its weight, its risk, intercept of its line, log ratio of
    the weights).
    """
    before, wrong_before = np.append(0.0, covered[:-1]), np.append(0.0, wrong[:-1])
    step = covered - before
    rate = (wrong - wrong_before) / step
    # Within a run the wrong weight is linear in the covered one: a line through (before,
    # wrong_before), divided by the coverage.
    return (
        before,
        step,
        rate,
        wrong_before - rate * before,
        np.append(0.0, np.log(covered[1:] / before[1:])),
    )


def row_moves(
    place: np.ndarray, correct: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Influence of each row on the area (derivative by its weight, times the total weight), and its
    influence if it were wrong.

    ``place`` is the index of each row among the distinct confidences, ascending.
    """
    wrong = 1.0 - correct
    covered, errors = (
        np.bincount(place, weights=mass)[::-1].cumsum() for mass in (weight, weight * wrong)
    )
    before, step, rate, rest, logs = _runs(covered, errors)
    # Lower runs change through both ends, the run itself through its lower end and its rate.
    ends = np.append(0.0, rest[1:] * (1.0 / covered[1:] - 1.0 / before[1:]) - rate[1:] * logs[1:])
    any_row = (
        ends[::-1].cumsum()[::-1]
        - ends
        + rest / covered
        + rate * before / step * logs
        - risk_coverage_area(covered, errors)
    )
    wrong_row = 1.0 - before / step * logs + np.log(covered[-1] / covered)
    any_row, wrong_row = any_row[::-1][place], wrong_row[::-1][place]
    return any_row + wrong * wrong_row, any_row + wrong_row


def optimal_area(risk: float) -> float:
    """The area of a perfect ranking, at this overall risk."""
    right = 1.0 - risk
    return risk + (right * np.log(right) if right > 0.0 else 0.0)


def threshold_counts(
    score: np.ndarray,
    hit: np.ndarray,
    weight: np.ndarray,
    thresholds: Any,
    resolution: Any = 0.0,
    *,
    above: Any = False,
) -> tuple[np.ndarray, np.ndarray, float, float]:
    """(weight of events flagged, of others flagged, of all events, of all others): the first two of
    the shape of ``thresholds``.

    A row is flagged if its score is at least the threshold; a relative difference of ``resolution``
    counts as equal, as 0.7 in float32 is below that in float64. With ``above`` only scores above
    the threshold are flagged.
    """
    ranked, flagged, others = risk_coverage(score, hit, weight)
    flagged, others = np.append(0.0, flagged), np.append(0.0, others)
    limits = np.asarray(thresholds, dtype=np.float64) * (
        1.0 + (resolution if above else -resolution)
    )
    place = len(ranked) - np.searchsorted(ranked[::-1], limits, side="right" if above else "left")
    # Sums of fractional weights have rounding errors, and a count is never below 0.
    events = np.maximum(flagged - others, 0.0)
    return events[place], others[place], float(events[-1]), float(others[-1])


def net_benefit(true_positives: Any, false_positives: Any, n: Any, threshold: Any) -> Any:
    """TP / n - FP / n * t / (1 - t), numbers or arrays; thresholds in [0, 1).

    Shares stand in for counts with n = 1: sensitivity * prevalence and false positive
    rate * (1 - prevalence) for case-control data. Acting on all rows is (events, the others, n, t),
    on none 0.
    """
    return (true_positives - false_positives * (threshold / (1.0 - threshold))) / n


def net_benefit_interval(
    true: Any,
    false: Any,
    events: Any,
    others: Any,
    threshold: Any,
    level: float,
    *,
    prevalence: float | None = None,
    standardised: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(value, low, high) arrays, from weights of events and of others flagged (T,) and in all.

    Rows are drawn at random, or events and others separately if a prevalence is given. The limits
    of the two shares (exact for few rows, else Wilson's) are combined, so that the interval has a
    width even if no row, or every row, is flagged. ``standardised`` divides by the prevalence.
    """
    n, odds = events + others, threshold / (1.0 - threshold)
    if prevalence is not None:
        unit = prevalence if standardised else 1.0
        gain = [prevalence / unit * share for share in _share(true, events, level)]
        harm = [(1.0 - prevalence) / unit * share for share in _share(false, others, level)]
        value = net_benefit(gain[0], harm[0], 1.0, threshold)
        correlation = 0.0
    elif standardised:
        # Given the number of events, flagged events and flagged others are independent; false /
        # events is an odds.
        gain = _share(true, events, level)
        harm = [share / (1.0 - share) for share in _share(false, false + events, level)]
        value, correlation = net_benefit(true, false, events, threshold), 0.0
    else:
        gain, harm = _share(true, n, level), _share(false, n, level)
        value, correlation = (
            net_benefit(true, false, n, threshold),
            -multinomial_correlation(gain[0], harm[0]),
        )
    low, high = sum_limits(gain, minus(harm, odds), correlation)
    return value, np.minimum(low, value), np.maximum(high, value)


def _share(part: np.ndarray, whole: Any, level: float) -> tuple[Any, ...]:
    return part / whole, *rate_interval(part, whole, level)


#: Maximal number of tested positions between scores.
PLACES = 4000
#: The quantiles of the ratio's limit (Banerjee and Wellner 2001) are at most those of the square of
#: 0.79 times a normal variable.
SHRUNK = 0.79
#: The weight of the row that is added beyond either end.
UNSEEN = 0.5


def crossing_interval(
    score: np.ndarray, hits: np.ndarray, mass: np.ndarray, risk: float, level: float
) -> tuple[float, float]:
    """(low, high): the score at which the risk first reaches ``risk`` is above ``low`` and at most
    ``high``.

    ``score`` (m,) ascending, distinct; ``hits`` and ``mass`` (m,) the weights of the events and of
    all rows there. A position between two scores is kept by a likelihood ratio test: rising risks,
    at most ``risk`` below it and at least ``risk`` above it, against any rising risks. This needs
    no smoothness, bins or bandwidth. For scores of few values the ratio is half 0, half
    chi-squared, which is wider than the continuous limit at usual levels; the wider is used. The
    last few scores may happen to be all events: half a row of the other outcome is added beyond
    either end.
    """
    m = len(score)
    places = np.unique(np.linspace(0, m, min(m, PLACES) + 1).astype(np.intp))
    hits, mass = np.add.reduceat(hits, places[:-1]), np.add.reduceat(mass, places[:-1])
    ends = np.append(UNSEEN, hits), np.append(UNSEEN, mass)
    first = max(_likely_positions(*ends, risk, level)[0] - 1, 0)
    ends = np.append(hits, 0.0), np.append(mass, UNSEEN)
    last = min(_likely_positions(*ends, risk, level)[-1], len(places) - 1)
    low = -np.inf if first == 0 else score[places[first - 1]]
    high = np.inf if last == len(places) - 1 else score[places[last + 1] - 1]
    return float(low), float(high)


def _likely_positions(hits: np.ndarray, mass: np.ndarray, risk: float, level: float) -> np.ndarray:
    """The positions 0..m at which the ratio does not reject the crossing."""
    below = _rising_likelihoods(hits, mass, risk)
    above = _rising_likelihoods((mass - hits)[::-1], mass[::-1], 1.0 - risk)[::-1]
    ratio = 2.0 * (_rising_likelihoods(hits, mass, 1.0)[-1] - below - above)
    z = SHRUNK * normal_quantile(level), normal_quantile(max(2.0 * level - 1.0, 0.0))
    return np.flatnonzero(ratio <= max(z) ** 2 + 1e-9)


def _rising_likelihoods(hits: np.ndarray, mass: np.ndarray, most: float) -> np.ndarray:
    """Log-likelihood of the first j = 0..m entries under the best rising rates of at most ``most``,
    (m + 1,).
    """
    out, stack = [0.0], [(0.0, 0.0, 0.0)]
    for h, n in zip(hits.tolist(), mass.tolist(), strict=True):
        # Pooling adjacent violators from the left: later entries never change finished blocks.
        while len(stack) > 1 and stack[-1][0] * n >= h * stack[-1][1]:
            h, n = h + stack[-1][0], n + stack[-1][1]
            stack.pop()
        rate = min(h / n, most)
        stack.append((h, n, stack[-1][2] + float(xlogy(h, rate) + xlog1py(n - h, -rate))))
        out.append(stack[-1][2])
    return np.array(out)


def decision_loss(forecast: np.ndarray, share: np.ndarray, weight: np.ndarray) -> float:
    r"""sup over kinks m of sum_v w_v |share_v - m| 1{m between forecast_v and share_v} / max(m, 1 -
    m), over distinct forecasts, (m,).

    Between neighbouring forecasts, shares and 1/2 the quotient is monotone in m, so it is largest
    at one of them.
    """
    low, high = np.minimum(forecast, share), np.maximum(forecast, share)
    pull = np.sign(share - forecast) * weight
    kink = np.unique(np.concatenate([forecast, share, [0.5]]))
    starts, ends = (
        _running(end, pull, share, kink, side) for end, side in ((low, "right"), (high, "left"))
    )
    mass, hits = starts - ends
    return max(
        float(((hits - kink * mass) / np.maximum(kink, 1.0 - kink)).max() / weight.sum()), 0.0
    )


def _running(end: Any, pull: Any, share: Any, kink: Any, side: Any) -> Any:
    """Sums of (pull, pull * share) over entries whose end is at most (``side="right"``), or below
    ("left"), each kink, (2, kinks).
    """
    order = np.argsort(end)
    sums = np.zeros((2, len(end) + 1))
    np.cumsum([pull[order], (pull * share)[order]], axis=1, out=sums[:, 1:])
    return sums[:, np.searchsorted(end[order], kink, side=side)]


#: Logit axes end at this distance from 0 and 1, and logarithmic axes too unless the event is rarer.
NEAREST = 1e-5
FAR_BELOW = 1e-3
#: An event in fewer rows than this is rare, and a risk nearer to 0 or 1 than this near an end.
RARE = 0.05
#: Share of scores at infinity on a scale that is still drawn at its end.
CERTAIN = 0.01
TICKS: dict[str, tuple[float, ...]] = {
    "linear": (0.0, 0.25, 0.5, 0.75, 1.0),
    "log": tuple(float(f"{m}e{k}") for k in range(-12, 13) for m in (1, 2, 5)),
    "logit": (0.00001, 0.0001, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999),
}
SPARSE = (0.00001, 0.001, 0.1, 0.5, 0.9, 0.999, 0.99999)
#: More ticks than this are thinned: to powers of ten, or to every other one from the middle.
MANY = 7


def probability_scale(score: np.ndarray, share: np.ndarray, weight: np.ndarray) -> str:
    """The name of the scale for rows, or for bins: scores, shares of events (outcomes, of rows) and
    weights, (n,) each.

    Logit where at least half of the weight is near 0 or 1 and some of it near 1; else log where
    events are rare. Linear where more than a few scores are exactly 0, or 1 for logit: these are
    at infinity on the other scales.
    """
    total = weight.sum()
    near_one = weight[score > 1.0 - RARE].sum() / total
    if near_one >= RARE and near_one + weight[score < RARE].sum() / total >= 0.5:
        scale, ends = "logit", (0.0, 1.0)
    else:
        scale, ends = "log" if weight @ share < RARE * total else "linear", (0.0,)
    return "linear" if weight[np.isin(score, ends)].sum() > CERTAIN * total else scale


def scale_ends(scale: str, score: np.ndarray, rate: float) -> tuple[float, float]:
    """(low, high) of the axis: 0 and 1 where linear, else decades that hold the scores that are
    not much smaller than the event's rate.
    """
    if scale == "linear":
        return 0.0, 1.0
    inner = score[(score > 0.0) & (score < 1.0)]
    nearest = min(
        inner.min(initial=0.1), (1.0 - inner).min(initial=0.1) if scale == "logit" else 0.1
    )
    floor = min(NEAREST, FAR_BELOW * rate) if scale == "log" and rate > 0.0 else NEAREST
    low = 10.0 ** np.floor(np.log10(max(nearest, floor)) + 1e-9)
    return low, (1.0 - low if scale == "logit" else 1.0)


def probability_ticks(scale: str, low: float, high: float) -> list[float]:
    """The values from low to high that get a tick, a handful."""
    ticks = [tick for tick in TICKS[scale] if low * (1.0 - 1e-9) <= tick <= high * (1.0 + 1e-9)]
    if len(ticks) <= MANY:
        return ticks
    return [
        tick
        for tick in ticks
        if (f"{tick:e}".startswith("1.0") if scale == "log" else tick in SPARSE)
    ]


def probability_grid(scale: str, low: float, high: float, count: int) -> np.ndarray:
    """``count`` points from low to high, equally far apart on the scale."""
    if scale == "linear":
        return np.linspace(low, high, count)
    return (
        np.geomspace(low, high, count)
        if scale == "log"
        else expit(np.linspace(logit(low), logit(high), count))
    )


# -- Scores that a decision is expected to have ----------------------------------------------------


def expected_mean(mass: np.ndarray, loss: np.ndarray) -> tuple[float, np.ndarray]:
    """(value, (n, K) derivatives) of the mean loss: sum of mass times loss, both (n, K)."""
    value = float(np.einsum("ij,ij->", mass, loss))
    return value, loss - value


def expected_f1(mass: np.ndarray, chosen: np.ndarray) -> tuple[float, np.ndarray]:
    """(value, (n, 2) derivatives) of F1 as a ratio of expectations, where ``chosen`` (n,) are the
    rows that the model names positive.
    """
    total = float(mass[chosen].sum() + mass[:, 1].sum())
    if not total > 0.0:
        return np.nan, np.zeros(mass.shape)
    value = 2.0 * float(mass[chosen, 1].sum()) / total
    second = (2.0 * chosen - value * (chosen + 1.0)) / total
    return value, np.column_stack([-value * chosen / total, second])


def expected_auroc(
    mass: np.ndarray, score: np.ndarray, self_pairs: float = 0.0
) -> tuple[float, np.ndarray]:
    """(value, (n, 2) derivatives) of the probability that a positive row has a higher score than a
    negative one; ties count half.

    ``self_pairs`` is the sum of the products of both masses of each row that is one and the same
    row: a row is not compared with itself.
    """
    _, place = np.unique(score, return_inverse=True)
    at = np.array([np.bincount(place, weights=part) for part in mass.T])
    upto = np.cumsum(at, axis=1)
    below = upto[0] - 0.5 * at[0]
    above = upto[1, -1] - upto[1] + 0.5 * at[1]
    pairs = float(upto[0, -1] * upto[1, -1]) - self_pairs
    if not pairs > 0.0:
        return np.nan, np.zeros(mass.shape)
    value = (float(mass[:, 1] @ below[place]) - 0.5 * self_pairs) / pairs
    first = (above[place] - value * upto[1, -1]) / pairs
    return value, np.column_stack([first, (below[place] - value * upto[0, -1]) / pairs])
