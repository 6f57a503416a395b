"""Rates from judges and few labels: coverage and width beside 6dd4faf5 and the labels alone.

Cells of judges (good, bad, useless, nearly perfect, biased, wrong in whole clusters, on log-odds),
rates, labels, designs (plain, clusters, unequal chances, soft labels) and populations. The method
was chosen on seeds below ``JUDGED``; the table is of the same judges with other seeds.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from benchmarks.arena.outputs import FOLDER
from benchmarks.questions.before import rate_before
from benchmarks.questions.table import goal, line

import calibrant as cb

__all__ = ["judge", "level_of", "scored"]

#: Scored rows, seeds of the table, standard deviation of the log-odds.
SCORED, JUDGED, SPREAD = 3_000, 100_000, 1.5
#: Judge -> (share of the wrong answers that it passes, share of the right ones).
VERDICTS = {
    "good": (0.03, 1.0),
    "strict": (0.0, 0.9),
    "perfect": (0.003, 0.997),
    "bad": (0.3, 0.7),
    "biased": (0.4, 1.0),
    "useless": (0.5, 0.5),
}
#: (design, judges, rates, labels)
CELLS = (
    ("plain", ("good", "perfect", "bad", "useless", "bent"), (0.005, 0.1, 0.5, 0.97), (50, 200)),
    ("plain", ("strict", "biased", "log-odds"), (0.02, 0.5, 0.9), (100, 1_000)),
    ("calibrated", ("bent", "good"), (0.1, 0.9), (100,)),
    ("three judges", ("three",), (0.1, 0.9), (100,)),
    ("soft labels", ("good", "bent"), (0.1, 0.5), (100,)),
    ("chances", ("good", "bad", "perfect", "bent"), (0.02, 0.5, 0.9), (100,)),
    ("clusters of 5", ("good", "bad", "perfect", "failing"), (0.02, 0.5, 0.9), (100, 300)),
    ("rows of clusters", ("good", "bad"), (0.1, 0.9), (100,)),
    ("15 clusters of 20", ("good", "bad", "perfect", "failing"), (0.1, 0.5, 0.9), (300,)),
)
Draw = tuple[dict[str, Any], np.ndarray]


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-x))


def level_of(rate: float) -> float:
    """The mean log-odds at which the rate is ``rate``, for deviations of 1.5."""
    z = np.random.default_rng(99).normal(0.0, SPREAD, 100_000)
    low, high = -14.0, 14.0
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _sigmoid(middle + z).mean() < rate else (low, middle)
    return 0.5 * (low + high)


def scored(
    kind: str, p: np.ndarray, y: np.ndarray, item: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Scores of a judge for answers that are right with probabilities p, and were right or not."""
    n = len(y)
    if kind in VERDICTS or kind == "failing":
        wrong, right = VERDICTS.get(kind, VERDICTS["good"])
        f = (rng.random(n) < np.where(rng.random(n) < y, right, wrong)).astype(float)
        # It passes every answer of one cluster in twenty.
        return (
            np.where((rng.random(item.max() + 1) < 0.05)[item], 1.0, f) if kind == "failing" else f
        )
    logit = np.log(p / (1.0 - p))
    if kind == "bent":
        return _sigmoid(logit + rng.normal(0.0, 0.7, n)) ** 0.7
    if kind == "log-odds":
        return 4.0 * (y - 0.5) + rng.normal(0.0, 1.0, n)
    return np.column_stack([scored(one, p, y, item, rng) for one in ("bad", "biased", "bent")])


def _drawn(design: str, kind: str, level: float, labels: int, seed: int) -> Draw:
    """(arguments of ``estimate_rate``, all labels)."""
    rng = np.random.default_rng(seed)
    size = 20 if "20" in design else 5
    item = np.repeat(np.arange(SCORED // size), size)
    z = rng.normal(0.0, SPREAD, SCORED)
    z = z[item] if "clusters" in design else z
    p = _sigmoid(level + z)
    y = (rng.random(SCORED) < p).astype(float)
    if design == "soft labels":
        y = np.where(rng.random(SCORED) < 0.3, y, rng.beta(4.0 * p, 4.0 * (1.0 - p)))
    given: dict[str, Any] = {"judge": scored(kind, p, y, item, rng)}
    given["calibrate"] = design == "calibrated"
    seen = rng.permutation(SCORED) < labels
    if "clusters" in design:
        given["cluster"] = item
        if design != "rows of clusters":
            seen = np.isin(item, rng.permutation(item.max() + 1)[: labels // size])
    if design == "chances":
        # Answers that look wrong are labelled about five times as often.
        doubt = np.where(given["judge"] < 0.5, 5.0, 1.0) * np.exp(rng.normal(0.0, 0.3, SCORED))
        given["chance"] = np.minimum(doubt * labels / doubt.sum(), 1.0)
        seen = rng.random(SCORED) < given["chance"]
    return given | {"labels": np.where(seen, y, np.nan)}, y


def _triviaqa(first: int, labels: int, seed: int) -> Draw:
    """The same of a judge of TriviaQA answers, whose rate of right answers is that of the log."""
    with np.load(FOLDER / "judge_triviaqa.npz") as z:
        verdict, human = z["verdicts"][:, first].astype(float), z["human"].astype(float)
    kept = (verdict >= 0.0) & (human >= 0.0)
    verdict, human = verdict[kept], human[kept]
    seen = np.random.default_rng(seed).permutation(len(human)) < labels
    return {"judge": verdict, "labels": np.where(seen, human, np.nan)}, human


def _cases() -> Iterator[tuple[str, float | None, Any]]:
    """(name, true rate or None for that of the log, seed -> draw)."""
    for design, kinds, rates, counts in CELLS:
        for kind, rate, labels in product(kinds, rates, counts):
            level = level_of(rate)

            def draw(seed: int, of: Any = (design, kind, level, labels)) -> Draw:
                return _drawn(*of, seed)

            yield f"{design}, {kind}, {rate:g}, {labels}", rate, draw
    for first, labels in product((0, 5, 10), (50, 200)):

        def verdicts(seed: int, of: Any = (first, labels)) -> Draw:
            return _triviaqa(*of, seed)

        yield f"triviaqa, judge {first}, {labels}", None, verdicts


def judge(repeats: int) -> None:
    """Print coverage and median width by cell, of 6dd4faf5, now, and of the labels alone."""
    line("design, judge, rate, labels", ("before new", "log", "now new", "log", "alone", "width"))
    least, widest = list[float](), list[float]()
    for name, rate, draw in _cases():
        kept = {one: list[float]() for one in ("before new", "before log", "new", "log", "alone")}
        ratio = list[list[float]]()
        for seed in range(JUDGED, JUDGED + repeats):
            given, y = draw(seed)
            if np.isfinite(given["labels"]).sum() < 10:
                continue
            for population in ("new", "log") if rate is not None else ("log",):
                truth = rate if population == "new" and rate is not None else float(y.mean())
                old = rate_before(**given, population=population)
                one = cb.estimate_rate(**given, population=population)
                kept[f"before {population}"].append(old[1] <= truth <= old[2])
                kept[population].append(one.low <= truth <= one.high)
                kept["alone"].append(one.classical[1] <= truth <= one.classical[2])
                ratio.append([one.high - one.low, one.classical[2] - one.classical[1]])
        wide, plain = np.median(ratio, axis=0).tolist()
        cells = [float(np.mean(one)) if one else "" for one in kept.values()]
        line(name, [*cells, wide / plain])
        least += [one for one in cells[2:4] if isinstance(one, float)]
        widest.append(wide / plain)
    goal(f"cover 93 % in every cell ({repeats} draws)", f"{min(least):.1%}", min(least) >= 0.93)
    words = "median width at most 1.05 times that of the labels alone"
    goal(words, f"{min(widest):.2f} to {max(widest):.2f}", max(widest) <= 1.05)
