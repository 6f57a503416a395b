"""Intervals of a rate from a judge's scores and 100, 200 or 500 labels: coverage and width."""

from collections.abc import Iterator

import numpy as np
from benchmarks.arena.outputs import FOLDER
from benchmarks.questions.table import goal, line

import calibrant as cb

__all__ = ["judge"]

LABELS, RATES, SCORED = (100, 200, 500), (0.02, 0.1, 0.5, 0.9, 0.98), 5_000
#: Standard normal quantile of the plain intervals.
Z = 1.959964


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-x))


def _level(rate: float) -> float:
    """The mean log-odds at which the rate is ``rate``, for deviations of 1.5."""
    z = np.random.default_rng(99).normal(0.0, 1.5, 100_000)
    low, high = -12.0, 12.0
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _sigmoid(middle + z).mean() < rate else (low, middle)
    return 0.5 * (low + high)


def _simulated(rate: float, level: float, labels: int, repeats: int) -> Iterator[tuple]:
    """(scores, labels, true rate, population) of a judge with noise and a bent scale."""
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        z = rng.normal(0.0, 1.5, SCORED)
        label = (rng.random(SCORED) < _sigmoid(level + z)).astype(float)
        score = _sigmoid(level + z + rng.normal(0.0, 0.7, SCORED)) ** 0.7
        label[rng.permutation(SCORED)[labels:]] = np.nan
        yield score, label, rate, "new"


def _triviaqa(first: int, labels: int, repeats: int) -> Iterator[tuple]:
    """The same of a judge of TriviaQA answers, whose rate of right answers is that of the log."""
    with np.load(FOLDER / "judge_triviaqa.npz") as z:
        verdict, human = z["verdicts"][:, first].astype(float), z["human"].astype(float)
    kept = (verdict >= 0.0) & (human >= 0.0)
    verdict, human = verdict[kept], human[kept]
    for seed in range(repeats):
        label = human.copy()
        label[np.random.default_rng(seed).permutation(len(human))[labels:]] = np.nan
        yield verdict, label, float(human.mean()), "log"


def _plus(score: np.ndarray, label: np.ndarray, population: str) -> tuple[float, float, float]:
    """PPI++ with a normal interval, without calibration or unseen labels."""
    seen = np.isfinite(label)
    n, N = int(seen.sum()), len(score)
    y, f = label[seen], score[seen]
    spread = f.var(ddof=1)
    weight = float(np.cov(y, f)[0, 1] / spread / (1.0 + n / N)) if spread > 0.0 else 0.0
    r = y - weight * f
    value = weight * float(score.mean()) + float(r.mean())
    variance = r.var(ddof=1) / n * (1.0 - n / N if population == "log" else 1.0)
    variance += weight**2 * score.var(ddof=1) / N if population == "new" else 0.0
    half = Z * float(np.sqrt(variance))
    return value, value - half, value + half


def _classical(label: np.ndarray, population: str) -> tuple[float, float, float]:
    y = label[np.isfinite(label)]
    rest = 1.0 - len(y) / len(label) if population == "log" else 1.0
    half = Z * float(np.sqrt(y.var(ddof=1) / len(y) * rest))
    return float(y.mean()), float(y.mean()) - half, float(y.mean()) + half


def _summary(found: np.ndarray, truth: float) -> tuple[float, float, float]:
    """(coverage, mean width, mean width if every half were stretched to cover 95 %)."""
    value, low, high = found.T
    side = np.where(truth >= value, high - value, value - low)
    needed = np.abs(truth - value) / np.maximum(side, 1e-12)
    width = float((high - low).mean())
    held = float(((low <= truth) & (truth <= high)).mean())
    return held, width, width * float(np.quantile(needed, 0.95))


def _cases(repeats: int) -> Iterator[tuple[str, float, Iterator[tuple]]]:
    for labels in LABELS:
        for rate in RATES:
            draws = _simulated(rate, _level(rate), labels, repeats)
            yield f"rate {rate:g}, {labels} labels", rate, draws
        for first in (0, 5, 10):
            draws = _triviaqa(first, labels, repeats)
            yield f"triviaqa judge {first}, {labels} labels", 0.5, draws


def judge(repeats: int) -> None:
    """Print coverage and width of ours, of PPI++ and of the labels alone."""
    columns = ("covers", "width", "PPI++ covers", "width", "alone", "width", "equal ratio")
    line("rate of right answers", columns)
    inside, outside, ratio = list[float](), list[float](), list[float]()
    for name, rate, draws in _cases(repeats):
        mine, plus, alone, truths = list[tuple](), list[tuple](), list[tuple](), list[float]()
        for score, label, truth, population in draws:
            truths.append(truth)
            one = cb.estimate_rate(judge=score, labels=label, population=population)
            mine.append((one.value, one.low, one.high))
            plus.append(_plus(score, label, population))
            alone.append(_classical(label, population))
        found = [_summary(np.array(one), truths[0]) for one in (mine, plus, alone)]
        ratio.append(found[0][2] / min(found[1][2], found[2][2]))
        line(name, [number for one in found for number in one[:2]] + [ratio[-1]])
        if "100" in name.split(",")[1]:
            (inside if 0.1 <= rate <= 0.9 else outside).append(found[0][0])
    words = f"cover 93 to 97 % at 100 labels, rates of .1 to .9 ({repeats} draws)"
    told = f"{min(inside):.1%} to {max(inside):.1%}"
    goal(words, told, min(inside) >= 0.93 and max(inside) <= 0.97)
    goal("cover 93 % or more outside", f"{min(outside):.1%}", min(outside) >= 0.93)
    words = "width at most 1.05 times the smaller of PPI++ and labels alone, at equal coverage"
    goal(words, f"{min(ratio):.2f} to {max(ratio):.2f}", max(ratio) <= 1.05)
