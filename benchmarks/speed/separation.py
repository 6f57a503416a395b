"""Separation on MNIST (42,000 training points, 784 pixels): against the authors' way and against
brute force, in one run.

    python -m benchmarks.speed.separation [--queries 300] [--metrics]

CPU seconds of one thread; run with OMP_NUM_THREADS=1. What a claim compares is run in turn and the
least of three times counts, since other work on the machine slows some kinds of work more than
others. ``benchmarks.speed.neighbors`` compares with other searches. The authors' way is
scikit-learn's nearest neighbours, two for each class, in float64, asked one point at a time; brute
force in batches is one float32 BLAS product with the centred points and two minima a row. Exits
with 1 where fast separation is not exact, a single query is not 20 times the authors' throughput,
a batch is slower than BLAS brute force, the search of definition 4 costs more than twice the
distance row it starts from or is off brute force by 1e-5, or a maximal zone takes more than 0.2 s.
"""

import argparse
import sys
import time

import numpy as np
from benchmarks.papers.geometric.authors import authors_way
from benchmarks.papers.geometric.data import load

import calibrant as cb
from calibrant._numerics.separation import min_max
from calibrant._numerics.threads import set_threads
from calibrant.calibrators.neighbors import BruteIndex, ExactIndex, split

TRAIN, CLASSES = 42_000, 10
SINGLES, PAIRS, BRUTE_PAIRS, ZONES = 100, 200, 2, 30
REPEATS = 3


def in_turn(n, *functions):
    """[(CPU milliseconds a query, result)] of each function, the quickest of REPEATS runs that
    take turns.
    """
    runs = [[cpu(function, n) for function in functions] for _ in range(REPEATS)]
    return [min(of, key=lambda run: run[0]) for of in zip(*runs, strict=True)]


def cpu(function, n):
    """(CPU milliseconds a query, result)."""
    start = time.process_time()
    out = function()
    return 1000.0 * (time.process_time() - start) / n, out


def blas_brute(X, y, queries, group):
    """A function that takes all distances of the batch by one float32 product with the centred
    points.
    """
    order = np.argsort(y, kind="stable")
    centre = X.mean(axis=0)
    points = (X[order] - centre).astype(np.float32)
    square, offsets = (points**2).sum(axis=1), np.searchsorted(y[order], np.arange(CLASSES + 1))

    def run():
        out = np.empty(len(queries))
        for start in range(0, len(queries), 128):
            rows = (queries[start : start + 128] - centre).astype(np.float32)
            D = square - 2.0 * (rows @ points.T)
            norm = (rows**2).sum(axis=1)
            for i, k in enumerate(group[start : start + 128]):
                own = D[i, offsets[k] : offsets[k + 1]].min()
                D[i, offsets[k] : offsets[k + 1]] = np.inf
                a, b = np.sqrt(np.maximum([own + norm[i], D[i].min() + norm[i]], 0.0))
                out[start + i] = 0.5 * (b - a)
        return out

    return run


def by_differences(X, y, queries, group):
    """Fast separation from all float64 differences."""
    D = np.stack([np.sqrt(((X - q) ** 2).sum(axis=1)) for q in queries])
    own = y[None] == group[:, None]
    return 0.5 * (np.where(own, np.inf, D).min(axis=1) - np.where(own, D, np.inf).min(axis=1))


def all_pairs(ends, starts, query):
    """Least over the ends of the largest over the starts of the distance to their bisector, by
    all pairs, float64.
    """
    far, near = ((ends - query) ** 2).sum(axis=1), ((starts - query) ** 2).sum(axis=1)
    best, square, size = np.inf, (starts**2).sum(axis=1), 8_000_000 // len(starts)
    for begin in range(0, len(ends), size):
        rows = ends[begin : begin + size]
        apart = (rows**2).sum(axis=1)[:, None] + square - 2.0 * rows @ starts.T
        best = min(
            best,
            ((far[begin : begin + size, None] - near) / (2.0 * np.sqrt(np.maximum(apart, 1e-300))))
            .max(axis=1)
            .min(),
        )
    return best


def off_all_pairs(X, y, queries, group):
    """The largest error of definition 4, both ways, with the true class predicted (safe, where
    the two are one) and another.
    """
    wide, P, errors = X.astype(np.float64), np.eye(CLASSES), []
    ways = {
        how: cb.calibrators.PairwiseSeparation(how).fit(P, X=queries[:CLASSES], reference=(X, y))
        for how in ("min-max", "max-min")
    }
    for i in range(BRUTE_PAIRS):
        for k, dangerous in ((group[i], False), ((group[i] + 1) % CLASSES, True)):
            own, other, query = wide[y == k], wide[y != k], queries[i].astype(float)
            wanted = {"min-max": all_pairs(other, own, query)} | (
                {"max-min": -all_pairs(own, other, query)} if dangerous else {}
            )
            errors += [
                abs(value - ways[how].score(P[k : k + 1], X=queries[i : i + 1])[0])
                for how, value in wanted.items()
            ]
    return max(errors)


def fast(X, y, queries, group):
    """Rows of the table on fast separation, and the claims that fail."""
    build, index = cpu(lambda: ExactIndex().fit(X, y, CLASSES), 1)
    wide = X.astype(np.float64)
    brute = blas_brute(wide, y, queries.astype(float), group)
    (batch, near), (blas, rough) = in_turn(
        len(queries), lambda: index.nearest(queries, group), brute
    )
    ours = 0.5 * (near.other - near.same)
    single, _ = in_turn(
        SINGLES,
        lambda: [index.nearest(queries[i : i + 1], group[i : i + 1]) for i in range(SINGLES)],
    )[0]
    said, theirs, size = authors_way(wide, y, queries[:SINGLES], group[:SINGLES], CLASSES)
    theirs *= 1000.0
    error = (
        np.abs(ours[:50] - by_differences(wide, y, queries[:50].astype(float), group[:50])).max()
        / 255
    )
    print(
        f"fast separation, ms/q: batch {batch:.3f}, single {single:.3f}; build {build / 1000:.2f}"
        f" s, {index.nbytes / 2**20:.0f} MiB kept"
    )
    off = [np.abs(said - ours[:SINGLES]).max() / 255, np.abs(rough - ours).max() / 255]
    print(
        f"  the authors' way: single {theirs:.1f} ({theirs / single:.0f} times ours),"
        f" {size / 2**20:.0f} MiB; off ours by {off[0]:.0e}"
    )
    print(
        f"  BLAS brute force: batch {blas:.3f} ({blas / batch:.1f} times ours); off ours by"
        f" {off[1]:.0e}"
    )
    print(
        f"  largest error of ours against float64 differences, 50 queries: {error:.0e} of a pixel"
        " range"
    )
    return [
        (error <= 1e-12, "fast separation is exact"),
        (theirs >= 20.0 * single, "a single query is 20 times faster than the authors' way"),
        (batch <= blas, "a batch is no slower than BLAS brute force"),
    ]


def pairwise(X, y, queries, group):
    """Rows on definition 4 and the maximal zone, and the claims that fail."""
    index, n = BruteIndex().fit(X, y, CLASSES), PAIRS
    Q = queries[:n].astype(float)
    counts, at = [], index.points_.group_of
    low = np.concatenate([index.points_.lower_squares(Q[i : i + 50]) for i in range(0, n, 50)])
    sides = lambda: (split(low[i], *at(group[i])) for i in range(n))  # noqa: E731
    (row, _), (search, _) = in_turn(
        n,
        lambda: [index.points_.lower_squares(Q[i : i + 50]) for i in range(0, n, 50)],
        lambda: [
            min_max(q, o, s, index.points_, -np.inf, counts)[0]
            for q, (s, o) in zip(Q, sides(), strict=True)
        ],
    )
    full, scanned = np.mean(counts, axis=0)
    error = off_all_pairs(X, y, queries, group) / 255
    print(
        f"definition 4 (safe), ms/q: distance row {row:.2f}, search {search:.2f}"
        f" ({search / row:.2f} times the row)"
    )
    print(f"  inner maxima a query {full:.2f}, other points scanned {scanned:.0f}")
    print(
        f"  off all pairs by {error:.0e} ({BRUTE_PAIRS} queries with the true class predicted,"
        f" {BRUTE_PAIRS} with another)"
    )
    P, wrong = np.eye(CLASSES)[group], np.eye(CLASSES)[(group + 1) % CLASSES]
    for name, signal in (
        ("min-max", cb.calibrators.PairwiseSeparation()),
        ("max-min", cb.calibrators.PairwiseSeparation("max-min")),
        ("zone", cb.calibrators.MaximalZone()),
    ):
        signal.fit(P[:1], group[:1], X=queries[:1], reference=(X, y))
        times = [
            [
                cpu(lambda s=signal, i=i, p=p: s.score(p[i : i + 1], X=queries[i : i + 1]), 1)[0]
                for i in range(ZONES)
            ]
            for p in (P, wrong)
        ]
        means, worst = np.mean(times, axis=1), np.max(times)
        print(
            f"  {name}, one at a time, ms/q: true class predicted {means[0]:.1f}, another"
            f" {means[1]:.1f}, slowest {worst:.0f}"
        )
    return [
        (search <= 2.0 * row, "the search costs at most twice the distance row"),
        (error <= 1e-5, "definition 4 equals brute force"),
        (worst <= 200.0, "each maximal zone takes at most 0.2 s"),
    ]


def metrics(X, y, queries, group):
    """L1 and L-infinity."""
    for metric in ("l1", "linf"):
        index = ExactIndex(metric).fit(X, y, CLASSES)
        batch, _ = cpu(lambda i=index: i.nearest(queries[:20], group[:20]), 20)
        print(f"{metric}, ms/q: batch {batch:.0f}")


def main():
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--metrics", action="store_true", help="L1 and L-infinity too")
    options = parser.parse_args()
    set_threads(1)
    X, y, _, _ = load("mnist")
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:TRAIN], order[TRAIN : TRAIN + max(options.queries, PAIRS)]
    arguments = X[train], y[train], X[test], y[test]
    claims = fast(*arguments) + pairwise(*arguments)
    if options.metrics:
        metrics(*arguments)
    for holds, claim in claims:
        print(("yes  " if holds else "NO   ") + claim)
    return not all(holds for holds, _ in claims)


if __name__ == "__main__":
    sys.exit(main())
