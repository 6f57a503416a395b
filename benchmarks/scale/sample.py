"""What fitting on a sample of rows costs in accuracy, against fitting on all, for scalings of many
classes.

python benchmarks/scale/sample.py --rows 200000 --classes 100

Class frequencies fall as 1/k; probabilities are twice as sure as they should be, and each class is
off by a factor of its own, so that a temperature and a bias for each class are there to be found.
The loss is the log loss on rows of their own, minus that of the fit on all rows, averaged over
seeds, for ``tables.sample`` and for as many rows drawn at random.
"""

import argparse
import time

import numpy as np
import pyarrow as pa

import calibrant as cb
from calibrant import metrics
from calibrant.tables import sample


def rows(rng, n, bias):
    """(P (n, K) float32, y (n,))."""
    K = len(bias)
    logit = rng.gumbel(size=(n, K)).astype(np.float32) * 2.0 - np.log(
        np.arange(1, K + 1), dtype=np.float32
    )
    y = (logit + rng.gumbel(size=(n, K))).argmax(axis=1)
    shown = 2.0 * logit + bias
    P = np.exp(shown - shown.max(axis=1, keepdims=True))
    return (P / P.sum(axis=1, keepdims=True)).astype(np.float32), y


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--classes", type=int, default=100)
    parser.add_argument("--sizes", type=int, nargs="+", default=[2_500, 10_000, 40_000])
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    bias = rng.normal(0.0, 0.5, args.classes).astype(np.float32)
    (P, y), (P_test, y_test) = rows(rng, args.rows, bias), rows(rng, 50_000, bias)
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(P.ravel()), args.classes)
    table = pa.table({"vector": vectors, "label": y})
    rare = y_test >= args.classes // 2
    print(
        f"log loss before: {metrics.log_loss(y_test, P_test):.4f}; {args.rows:,} rows,"
        f" {args.classes} classes"
    )
    heads = (
        ("rows", 8),
        ("all rows", 9),
        ("sample", 9),
        ("at random", 9),
        ("sample, rare", 12),
        ("random, rare", 12),
        ("fit s", 6),
    )
    print(f"{'calibrator':>20}", *(f"{head:>{width}}" for head, width in heads))
    for calibrator in (cb.TemperatureScaling(), cb.calibrators.VectorScaling()):
        name, start = type(calibrator).__name__, time.process_time()
        whole = type(calibrator)(classes=range(args.classes)).fit(P, y)
        seconds = time.process_time() - start
        Q = whole.predict_proba(P_test)
        base = metrics.log_loss(y_test, Q), metrics.log_loss(y_test[rare], Q[rare])
        print(f"{name:>20} {args.rows:>8} {base[0]:9.5f} {'':>43} {seconds:6.1f}", flush=True)
        for n in args.sizes:
            lost, start = [], time.process_time()
            for seed in range(args.seeds):
                drawn = sample(table, n, probabilities="vector", random_state=seed)
                some = np.random.default_rng(seed).choice(args.rows, len(drawn), replace=False)
                fits = (
                    drawn.fit(calibrator),
                    type(calibrator)(classes=range(args.classes)).fit(P[some], y[some]),
                )
                for Q in (fit.predict_proba(P_test) for fit in fits):
                    lost.append(
                        (
                            metrics.log_loss(y_test, Q) - base[0],
                            metrics.log_loss(y_test[rare], Q[rare]) - base[1],
                        )
                    )
            (ours, ours_rare), (random, random_rare) = (
                np.mean(lost[::2], axis=0),
                np.mean(lost[1::2], axis=0),
            )
            each = (time.process_time() - start) / args.seeds
            print(
                f"{'':>20} {n:>8} {'':>9} {ours:+9.5f} {random:+9.5f} {ours_rare:+12.5f}"
                f" {random_rare:+12.5f} {each:6.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
