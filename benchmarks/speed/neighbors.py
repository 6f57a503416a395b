"""Our exact nearest neighbours beside scikit-learn's and faiss's, on the work of the paper on
geometric separation: for each query the nearest point of its class and the nearest of any other.

    python -m benchmarks.speed.neighbors                       # MNIST, L2
    python -m benchmarks.speed.neighbors --data mnist cifar10 gtsrb kitti kin8nm power-plant
    python -m benchmarks.speed.neighbors --metrics l1 linf --queries 100

Every run is a process of its own with one thread. Engines take turns; a table gives medians over
``--repeats`` rounds of CPU time, and of the ratio to ours within a round. The reference rows are
all training rows of the paper's split (60 %), the queries the first rows of its validation and
test parts (40 %), each with its true class. "whole" is the build plus the time of all those 40 %,
at the rate measured. scikit-learn gets the better of two arrangements: one index for each class
for brute force (all indexes together hold each point once), an index of the class and one of its
complement for trees. "peak" is how far memory rose above the data as given, "off" the largest
difference of a separation from ours. faiss (``pip install faiss-cpu``) ranks in float32, and with
"faiss-lists", an inverted file of which 8 lists are visited, may miss the nearest point.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.neighbors import NearestNeighbors

SCIKIT = {"l2": "euclidean", "l1": "manhattan", "linf": "chebyshev"}
TREES = ("kd_tree", "ball_tree")
ENGINES = ("ours", "ours-brute", "brute", "brute-32", *TREES, "faiss", "faiss-lists")
ONLY_L2 = ("ours-brute", "brute-32", "faiss-lists")
#: faiss asks for so many to train an inverted file.
POINTS_PER_LIST = 39
#: Trees look at nearly all points of an image one by one: fewer queries say enough.
FEWER, SINGLES = 20, 30
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
ONE_THREAD["CALIBRANT_THREADS"] = "1"


class Ours:
    """An index of ours, of all points."""

    def __init__(self, engine, metric, X, y):
        from calibrant.calibrators import BruteIndex, ExactIndex

        index = ExactIndex(metric) if engine == "ours" else BruteIndex()
        self.index = index.fit(X, y, int(y.max()) + 1)

    def __call__(self, queries, group):
        near = self.index.nearest(queries, group)
        return near.same, near.other


class ByClass:
    """An index for each class: scikit-learn's brute force, or faiss's."""

    def __init__(self, engine, metric, X, y):
        self.kind = np.float64 if engine == "brute" else np.float32
        X = X.astype(self.kind)
        if engine.startswith("faiss"):
            lists = engine == "faiss-lists"
            self.searches = [by_faiss(X[y == k], metric, lists) for k in np.unique(y)]
        else:
            self.searches = [scikit_brute(X[y == k], metric) for k in np.unique(y)]

    def __call__(self, queries, group):
        queries = queries.astype(self.kind)
        near = np.column_stack([search(queries) for search in self.searches])
        each = np.arange(len(queries))
        same = near[each, group].copy()
        near[each, group] = np.inf
        return same, near.min(axis=1)


def scikit_brute(X, metric):
    """A function of queries that gives the distance to the nearest row."""
    index = NearestNeighbors(n_neighbors=1, algorithm="brute", metric=SCIKIT[metric]).fit(X)
    return lambda queries: index.kneighbors(queries)[0][:, 0]


def by_faiss(X, metric, lists):
    """The same by faiss, in its one precision."""
    import faiss

    faiss.omp_set_num_threads(1)
    kinds = {"l2": faiss.METRIC_L2, "l1": faiss.METRIC_L1, "linf": faiss.METRIC_Linf}
    index = flat = faiss.IndexFlat(X.shape[1], kinds[metric])
    if lists and len(X) >= 4 * POINTS_PER_LIST:
        n_lists = min(len(X) // POINTS_PER_LIST, int(4 * len(X) ** 0.5))
        index = faiss.IndexIVFFlat(flat, X.shape[1], n_lists)
        index.train(X)
        index.nprobe = 8
    index.add(X)
    last = np.sqrt if metric == "l2" else np.asarray
    # faiss does not keep the flat index alive.
    return lambda queries, kept=flat: last(index.search(queries, 1)[0][:, 0])


class OwnAndOther:
    """scikit-learn's trees, for each class one of its points and one of all others."""

    def __init__(self, engine, metric, X, y):
        X = X.astype(np.float64)
        made = lambda rows: NearestNeighbors(  # noqa: E731
            n_neighbors=1, algorithm=engine, metric=SCIKIT[metric]
        ).fit(rows)
        self.pairs = [(made(X[y == k]), made(X[y != k])) for k in np.unique(y)]

    def __call__(self, queries, group):
        queries, out = queries.astype(np.float64), np.empty((2, len(queries)))
        for k in np.unique(group):
            rows = group == k
            for i, index in enumerate(self.pairs[k]):
                out[i, rows] = index.kneighbors(queries[rows])[0][:, 0]
        return out[0], out[1]


def made(engine, *arguments):
    """The engine, built."""
    if engine in TREES:
        return OwnAndOther(engine, *arguments)
    return (Ours if engine.startswith("ours") else ByClass)(engine, *arguments)


def one(folder, engine, metric, queries):
    """Print one run's CPU seconds, peak memory and separations, as JSON."""
    X, y, Q, group = (np.load(folder / f"{name}.npy") for name in ("X", "y", "Q", "group"))
    Q, group = Q[:queries], group[:queries]
    before = _peak()
    times = [time.process_time()]
    index = made(engine, metric, X, y)
    times.append(time.process_time())
    same, other = index(Q, group)
    times.append(time.process_time())
    peak = _peak() - before
    for i in range(min(SINGLES, len(Q))):
        index(Q[i : i + 1], group[i : i + 1])
    times.append(time.process_time())
    build, batch, single = np.diff(times)
    print(
        json.dumps(
            {
                "build": build,
                "batch": batch / len(Q),
                "single": single / min(SINGLES, len(Q)),
                "MiB": peak,
                "separation": (0.5 * (other - same)).tolist(),
            }
        )
    )


def _peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def child(folder, engine, metric, queries):
    """The answer of one run in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.speed.neighbors", "--child", str(folder)]
    command += [engine, metric, str(queries)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | ONE_THREAD)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def table(name, metric, options):
    """Print the rows of one data set and metric; the least ratio of a whole to ours."""
    from benchmarks.papers.geometric.data import split

    parts = split(name, 0)
    Q = np.concatenate([parts.X["validation"], parts.X["test"]])
    group = np.concatenate([parts.y["validation"], parts.y["test"]])
    X, n = parts.X["train"], len(Q)
    if X.dtype != np.uint8:  # tables are standardised by the signal
        mean, std = X.mean(axis=0), X.std(axis=0)
        X, Q = ((part - mean) / np.where(std > 0, std, 1.0) for part in (X, Q))
    engines = [e for e in options.engines if metric == "l2" or e not in ONLY_L2]
    runs = {engine: [] for engine in engines}
    with tempfile.TemporaryDirectory() as folder:
        for key, value in {"X": X, "y": parts.y["train"], "Q": Q, "group": group}.items():
            np.save(Path(folder) / f"{key}.npy", value)
        for _ in range(options.repeats):
            for engine in engines:
                wide = engine in TREES and X.shape[1] > 20
                queries = max(20, options.queries // (FEWER if wide else 1))
                runs[engine].append(child(folder, engine, metric, queries))
    print(f"\n{name}, {metric}: {len(X)} reference rows of {X.shape[1]} numbers, {n} queries\n")
    print("| engine | build s | ms a query | ratio | alone, ms | ratio | whole, s | ratio | peak |")
    print("|---|---|---|---|---|---|---|---|---|")
    for run in (run for own in runs.values() for run in own):
        run["whole"] = run["build"] + n * run["batch"]
    said, wholes = runs["ours"][0]["separation"], {}
    for engine, own in runs.items():
        show = {}
        for key in ("batch", "single", "whole"):
            ratios = [run[key] / ours[key] for run, ours in zip(own, runs["ours"], strict=True)]
            show[key] = np.median([run[key] for run in own]), np.median(ratios)
        wholes[engine] = show["whole"][1]
        build, peak = (np.median([run[key] for run in own]) for key in ("build", "MiB"))
        off = np.abs(np.subtract(own[0]["separation"], said[: len(own[0]["separation"])])).max()
        print(
            f"| {engine} | {build:.2f} | {1e3 * show['batch'][0]:.3f} | {show['batch'][1]:.1f}"
            f" | {1e3 * show['single'][0]:.2f} | {show['single'][1]:.1f} | {show['whole'][0]:.1f}"
            f" | {show['whole'][1]:.2f} | {peak:.0f} MiB; off {off:.0e} |",
            flush=True,
        )
    return min(v for k, v in wholes.items() if not k.startswith(("ours", "faiss-lists")))


def main():
    """Command line."""
    if sys.argv[1:2] == ["--child"]:
        folder, engine, metric, queries = sys.argv[2:]
        return one(Path(folder), engine, metric, int(queries))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="+", default=["mnist"])
    parser.add_argument("--metrics", nargs="+", default=["l2"], choices=list(SCIKIT))
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=ENGINES)
    parser.add_argument("--queries", type=int, default=2_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    for name in options.data:
        for metric in options.metrics:
            least = table(name, metric, options)
            print(f"\nthe best peer takes {least:.2f} times as long as ours on the whole")
    return None


if __name__ == "__main__":
    sys.exit(main())
