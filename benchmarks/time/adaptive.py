"""Intervals and sets that keep their level, beside peers on twelve series.

All methods get the same scores of the same forecasts. The interval score is relative to that of
MAPIE's adaptive conformal inference at rate .05; infinite ends become the range of the outcomes,
widened by its length to both sides. Two tables: labels known before the next prediction, and labels
a day, a week or a quarter late. The first judges settings chosen on other series; for the second
the feedback and the experts were revised once, on those other series, after it had been seen.
"""

import time
from collections.abc import Callable

import numpy as np
from benchmarks.arena.outputs import FOLDER as STAGE2
from benchmarks.questions.table import goal, line
from benchmarks.time.peers import PEERS
from benchmarks.time.series import Series, series
from scipy import stats

import calibrant as cb
from calibrant._numerics.conformal import ideal_worst_window, worst_window

__all__ = ["run"]

LEVEL, WINDOW = 0.9, 200
#: Name -> options of the library's own methods.
OURS: dict[str, dict[str, object]] = {
    "pid (default)": {},
    "pid, symmetric": {"symmetric": True},
    "aggregated": {"method": "aggregated"},
    "aci": {"method": "aci"},
    "aci, symmetric": {"method": "aci", "symmetric": True},
    "tracking": {"method": "tracking"},
}
#: Those with late labels.
LATE = {name: OURS[name] for name in ("pid (default)", "pid, symmetric", "tracking")}
REFERENCE = "MAPIE ACI, rate .05"


def _scored(low: np.ndarray, high: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """(interval score, coverage, worst window)."""
    beyond = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
    inside = (low <= y) & (y <= high)
    score = float((high - low + 2.0 / (1.0 - LEVEL) * beyond).mean())
    return score, float(inside.mean()), worst_window(inside, WINDOW)


def _found(one: Series, delay: int) -> dict[str, tuple[float, ...]]:
    """Name of a method -> (interval score, coverage, worst window, infinite, empty)."""
    start, y = one.calibrated, one.y
    reach = (float(2.0 * y.min() - y.max()), float(2.0 * y.max() - y.min()))
    out = dict[str, tuple[float, ...]]()
    for name, options in OURS.items() if delay == 0 else LATE.items():
        adaptive = cb.AdaptiveIntervals(LEVEL, bounds=reach, delay=delay, **options)  # pyright: ignore
        adaptive.fit(one.part(slice(0, start)), y[:start])
        found = adaptive.run(one.part(slice(start, None)), y[start:])
        out[name] = (*_scored(found.lower, found.upper, y[start:]), found.infinite, found.empty)
    scores, at = _scores(one)
    for name, peer in PEERS.items():
        limits = peer(scores, start, LEVEL, delay=delay)
        low, high = (np.clip(at(limit), *reach) for limit in limits)
        out[name] = (*_scored(low, high, y[start:]), 0.0, float((low > high).mean()))
    return out


def _scores(one: Series) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Signed scores, and the outcomes of limits of the rows after the calibration."""
    rest = slice(one.calibrated, None)
    if isinstance(one.forecast, cb.QuantileForecast):
        later = one.forecast.take(rest)
        return one.forecast.score(one.y), lambda limit: later.at(limit[:, None])[:, 0]
    mean, std = one.forecast if isinstance(one.forecast, tuple) else (one.forecast, 1.0)
    std = np.broadcast_to(std, mean.shape)
    return (one.y - mean) / std, lambda limit: mean[rest] + std[rest] * limit


def _intervals(*, late: bool) -> None:
    tables, rows = dict[str, dict[str, tuple[float, ...]]](), dict[str, int]()
    for one in series():
        tables[one.name] = _found(one, one.late if late else 0)
        rows[one.name] = len(one.y) - one.calibrated
    names, ours = list(next(iter(tables.values()))), list(LATE if late else OURS)
    print("\ninterval score relative to", REFERENCE, ", late labels" if late else "")
    line("", [*(name[:11] for name in tables), "mean"])
    line("rows", list(rows.values()))
    mean = dict[str, float]()
    for name in names:
        each = [table[name][0] / table[REFERENCE][0] for table in tables.values()]
        mean[name] = float(np.exp(np.mean(np.log(each))))
        line(name, [*each, mean[name]])
    print("\ncoverage, and the worst 200 rows, of the level .9")
    for name in names:
        line(name, [f"{t[name][1]:.3f} {t[name][2]:.3f}" for t in tables.values()])
    ideal = [ideal_worst_window(n, LEVEL, WINDOW) for n in rows.values()]
    line("ideal fixed intervals", [f"0.900 {one:.3f}" for one in ideal])
    print("\ninfinite and empty intervals, %")
    for name in ours:
        line(name, [f"{100 * t[name][3]:.1f} {100 * t[name][4]:.1f}" for t in tables.values()])
    _judged(tables, mean)


def _judged(tables: dict[str, dict[str, tuple[float, ...]]], mean: dict[str, float]) -> None:
    best, default = min(PEERS, key=lambda name: mean[name]), "pid (default)"
    goal(
        f"interval score below the best peer's on average ({best})",
        f"{mean[default]:.4f} against {mean[best]:.4f}",
        mean[default] < mean[best],
    )
    beaten = sum(t[default][0] < min(t[p][0] for p in PEERS) for t in tables.values())
    print(f"  below every peer on {beaten} of {len(tables)} series")
    off = max(abs(t[default][1] - LEVEL) for t in tables.values())
    goal("coverage within .02 of the level on every series", f"at most {off:.3f} off", off <= 0.02)


def _independent(repeats: int) -> None:
    """What adapting costs where nothing changes."""
    half = stats.norm.ppf(0.5 + 0.5 * LEVEL)
    cost = list[float]()
    for seed in range(repeats):
        y = np.random.default_rng(seed).normal(size=2_300)
        found = (
            cb.AdaptiveIntervals(LEVEL).fit(np.zeros(300), y[:300]).run(np.zeros(2_000), y[300:])
        )
        cost.append(
            found.interval_score / _scored(np.full(2_000, -half), np.full(2_000, half), y[300:])[0]
        )
    goal(
        "independent rows: interval score at most 2 % above the known quantiles'",
        f"{100 * (np.mean(cost) - 1.0):.2f} %",
        float(np.mean(cost)) <= 1.02,
    )


def _sets() -> None:
    """Sets of two fixed models of the electricity market; the default was chosen on the first 8,000
    rows and a simulated stream.
    """
    with np.load(STAGE2 / "drift_elec2.npz") as file:
        y, models = (
            file["label"],
            {name: file[name].astype(float) for name in ("p_logreg", "p_hgb")},
        )
    print("\nsets of drift_elec2, rows 8,000 and later")
    line("", ["coverage", "window", "mean size", "whole %", "empty %"])
    for model, p in models.items():
        fit, rest = slice(7_500, 8_000), slice(8_000, None)
        fixed = cb.ConformalSets(level=LEVEL).fit(p[fit], y[fit]).predict_set(p[rest])
        inside = fixed[np.arange(len(fixed)), y[rest]]
        size = fixed.sum(axis=1)
        shares = [100.0 * float((size == k).mean()) for k in (2, 0)]
        values = [float(inside.mean()), worst_window(inside, WINDOW), float(size.mean())]
        line(f"{model}, fixed", [*values, *shares])
        for method in ("aci", "pid", "aggregated", "tracking"):
            found = cb.AdaptiveSets(LEVEL, method=method).fit(p[fit], y[fit]).run(p[rest], y[rest])
            values = [found.coverage, found.worst_window, found.mean_size]
            line(f"{model}, {method}", [*values, 100.0 * found.whole, 100.0 * found.empty])
        line("ideal fixed sets", [LEVEL, found.ideal_window, "", "", ""])


def _speed() -> None:
    y = np.random.default_rng(0).normal(size=6_000)
    adaptive = cb.AdaptiveIntervals().fit(np.zeros(1_000), y[:1_000])
    start = time.perf_counter()
    adaptive.run(np.zeros(5_000), y[1_000:])
    print(f"  {5_000 / (time.perf_counter() - start):,.0f} rows a second")


def run(repeats: int) -> None:
    """Print the tables and goals."""
    _intervals(late=False)
    _intervals(late=True)
    _independent(repeats)
    _sets()
    _speed()
