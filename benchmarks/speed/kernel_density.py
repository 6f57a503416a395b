"""How long a fit of KernelDensity("b_mon2") takes on a million scores in 100 classes, and how the
direct sums compare.

    python -m benchmarks.speed.kernel_density

CPU seconds of one process. The direct search climbs the same ladder of bandwidths, with the same
rule, on the same 2,048 scores per class, with every kernel sum taken point by point; it is timed on
20,000 scores, once in 100 classes and once in one.
"""

import time

import numpy as np

import calibrant as cb
from calibrant._numerics import kernel_sums as search
from calibrant.calibrators.maps.smooth import GRID

N, K, FEW = 1_000_000, 100, 20_000


def sample(n, n_classes, rng):
    """Scores and outcomes whose shape differs from class to class."""
    group = rng.integers(0, n_classes, n)
    score = rng.beta(4.0 + group / 50.0, 1.2)
    return score, (rng.random(n) < score ** (0.5 + group / 40.0)).astype(float), group


def probabilities(score, correct, group, n_classes):
    """(P, y) whose top label and top probability are the given ones; the scores are lifted over
    1/2 first.
    """
    score = 0.5 + 0.5 * score
    P = np.repeat(((1.0 - score) / (n_classes - 1)).astype(np.float32)[:, None], n_classes, axis=1)
    P[np.arange(len(P)), group] = score
    return P, np.where(correct == 1.0, group, (group + 1) % n_classes)


def timed(function):
    start = time.process_time()
    out = function()
    return time.process_time() - start, out


def direct_search(score, correct, group, n_classes):
    """b_mon2 of each class by direct sums; the bandwidths."""
    out = []
    for k in range(n_classes):
        s, c = score[group == k], correct[group == k]
        grid = np.linspace(s.min(), s.max(), GRID)
        rate = (c.sum() + 0.5) / (len(c) + 1.0)
        spread = min(s.std(ddof=1), np.subtract(*np.quantile(s, [0.75, 0.25])) / 1.34)
        b = max(2.0 * (grid[1] - grid[0]), search.SILVERMAN_SHARE * 0.9 * spread * len(s) ** -0.2)
        while search.sign_changes(_direct_curve(grid, s, c, b, rate)[None])[
            0
        ] > 2 and b < 2.0 * np.ptp(s):
            b *= search.RUNG
        out.append(b)
    return np.array(out)


def _direct_curve(grid, score, correct, b, rate, block=200):
    right, total = np.empty(len(grid)), np.empty(len(grid))
    for start in range(0, len(grid), block):
        kernel = np.exp(-0.5 * ((grid[start : start + block, None] - score) / b) ** 2)
        right[start : start + block], total[start : start + block] = (
            kernel @ correct,
            kernel.sum(axis=1),
        )
    return (right + rate) / (total + 1.0)


def main():
    rng = np.random.default_rng(0)
    score, correct, group = sample(N, K, rng)
    P, y = probabilities(score, correct, group, K)
    calibrator = cb.ConfidenceCalibrator(map=cb.calibrators.KernelDensity(), per_class=True)
    whole, calibrator = timed(lambda: calibrator.fit(P, y))
    scan, _ = timed(lambda: (P.max(axis=1), P.argmax(axis=1), P.sum(axis=1)))
    weight = np.ones(N)
    maps_only, maps = timed(
        lambda: cb.calibrators.KernelDensity()._fit_groups(score, correct, weight, group, K)
    )
    apply, _ = timed(lambda: calibrator.predict_confidence(P))
    tried = sum(len(m.search_) for m in maps)
    print(f"{N:,} scores, {K} classes, b_mon2")
    print(
        f"  fit of all maps                    {maps_only:8.2f} s CPU ({tried:,} bandwidths tried)"
    )
    print(
        f"  ConfidenceCalibrator.fit(P, y)     {whole:8.2f} s CPU, of which reading P about"
        f" {scan:.2f} s a scan"
    )
    print(f"  predict_confidence(P)              {apply:8.2f} s CPU")
    for n_classes in (K, 1):
        few = sample(FEW, n_classes, rng)
        binned, maps = timed(
            lambda few=few, k=n_classes: cb.calibrators.KernelDensity()._fit_groups(
                *few[:2], np.ones(FEW), few[2], k
            )
        )
        direct, widths = timed(lambda few=few, k=n_classes: direct_search(*few, k))
        agree = np.median(np.abs(widths / [m.bandwidth_ for m in maps] - 1.0))
        print(f"{FEW:,} scores, {n_classes} class{'es' if n_classes > 1 else ''}")
        print(
            f"  binned {binned:.3f} s CPU, direct {direct:.2f} s CPU: {direct / binned:.0f} times;"
            f" median difference of b {agree:.1e}"
        )
        print(
            f"  the fit of {N:,} scores is {direct / maps_only:.1f} times faster than these direct"
            " sums"
        )


if __name__ == "__main__":
    main()
