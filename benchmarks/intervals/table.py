"""Coverage, width, interval score and seconds, by method and level."""

from collections.abc import Iterable

import numpy as np
from benchmarks.intervals.cases import LEVELS

#: One judged run: (set, method, level index) -> (coverage, mean width, interval score, seconds).
Results = dict[tuple[str, int, str, int], tuple[float, float, float, float]]


def judged(
    ends: np.ndarray, y: np.ndarray, seconds: float
) -> list[tuple[float, float, float, float]]:
    """(coverage, mean width, mean interval score, seconds) at each level."""
    out = []
    for level, (low, high) in zip(LEVELS, ends, strict=True):
        miss = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
        score = high - low + 2.0 / (1.0 - level) * miss
        out.append(
            (
                float(np.mean(miss == 0.0)),
                float(np.mean(high - low)),
                float(np.mean(score)),
                seconds,
            )
        )
    return out


def table(results: Results, sets: Iterable[str], baseline: str) -> str:
    """Means over the runs of some sets: coverage, width and score relative to the baseline's
    (geometric means), and CPU milliseconds.
    """
    chosen = [key for key in results if key[0] in set(sets)]
    runs = sorted({key[:2] for key in chosen})
    lines = [
        f"{'':54s}"
        + "".join(f"|{level:>9.0%} cover  width  score " for level in LEVELS)
        + "|  CPU ms"
    ]
    for method in dict.fromkeys(key[2] for key in chosen):
        line = f"{method:54s}"
        for j in range(len(LEVELS)):
            values = np.array([results[(*run, method, j)] for run in runs])
            base = np.array([results[(*run, baseline, j)] for run in runs])
            # Where rows are too few the interval is infinite, and counted instead of averaged.
            finite = np.isfinite(values[:, 2]) & np.isfinite(base[:, 2])
            ratio = (
                np.exp(np.log(values[finite, 1:3] / base[finite, 1:3]).mean(axis=0))
                if finite.any()
                else [np.nan] * 2
            )
            without = f"{(~finite).sum()}inf" if not finite.all() else ""
            line += f"|{without:>9s} {values[:, 0].mean():.3f}  {ratio[0]:.3f}  {ratio[1]:.3f} "
        lines.append(
            line + f"|{1e3 * np.mean([results[(*run, method, 0)][3] for run in runs]):8.1f}"
        )
    return "\n".join(lines)
