"""Our exact nearest neighbours beside scikit-learn's and faiss's, on the work of the paper on
geometric separation: for each query the nearest point of its class and the nearest of any other.

    python -m benchmarks.speed.neighbors                       # MNIST, L2
    python -m benchmarks.speed.neighbors --data mnist cifar10 gtsrb kitti kin8nm power-plant
    python -m benchmarks.speed.neighbors --metrics l1 linf --queries 100
    python -m venv PEERS && PEERS/bin/pip install faiss-cpu numpy
    python -m benchmarks.speed.neighbors --data features noise --repeats 1 --queries 1000 --store \
        --engines ours faiss faiss-graphs faiss-any --python PEERS/bin/python

Every run is a process of its own with one thread. Engines take turns; a table gives medians over
``--repeats`` rounds of CPU time, and of the ratio to ours within a round. The reference rows are
all training rows of the paper's split (60 %), the queries the first rows of its validation and
test parts (40 %), each with its true class. "whole" is the build plus the time of all those 40 %,
at the rate measured. scikit-learn gets the better of two arrangements: one index for each class
for brute force (all indexes together hold each point once), an index of the class and one of its
complement for trees. "peak" is how far memory rose above the data as given, "off" the largest
difference of a separation from ours, "missed" the share of rows where it is above 1 % of the median
absolute separation. faiss (``pip install faiss-cpu``, here or for the Python that ``--python``
names) ranks in float32. It may miss the nearest point with "faiss-lists", an inverted file of which
8 lists are visited, and by HNSW: "faiss-graphs" is a graph for each class, all of them searched,
"faiss-graph" one of all rows, searched twice with the rows of the class allowed or excluded, and
"faiss-any" the same graph searched once for the nearest row of any class, which is judged by that
distance, because it gives no separation.

Two data sets are simulated, of ``--rows`` rows with 128 float32 numbers in 100 classes, 10,000
queries: "features" are like a hidden layer's (16 factors, of which the class shifts the mean,
through random weights, a bias and ReLU, with normal noise of 0.1), and in "noise" nothing depends
on anything, so that no search can skip much.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

import numpy as np

SCIKIT = {"l2": "euclidean", "l1": "manhattan", "linf": "chebyshev"}
TREES = ("kd_tree", "ball_tree")
GRAPHS = ("faiss-graphs", "faiss-graph", "faiss-any")
ENGINES = ("ours", "ours-brute", "brute", "brute-32", *TREES, "faiss", "faiss-lists")
ONLY_L2 = ("ours-brute", "brute-32", "faiss-lists", *GRAPHS)
LIBRARIES = {"ours": "calibrant.calibrators.neighbors", "faiss": "faiss"}
#: Those that may miss the nearest point.
INEXACT = ("faiss-lists", *GRAPHS)
SIMULATED = ("features", "noise")
ROWS, CLASSES, FEATURES, FACTORS, SIMULATED_QUERIES = 1_000_000, 100, 128, 16, 10_000
#: Links of a row and rows looked at by a search, of faiss's HNSW.
LINKS, LOOKED_AT = 16, 64
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
        X = X.astype(self.kind, copy=False)
        if engine.startswith("faiss"):
            self.searches = [by_faiss(X[y == k], metric, engine) for k in np.unique(y)]
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
    from sklearn.neighbors import NearestNeighbors

    index = NearestNeighbors(n_neighbors=1, algorithm="brute", metric=SCIKIT[metric]).fit(X)
    return lambda queries: index.kneighbors(queries)[0][:, 0]


def with_faiss():
    """The module, with one thread and products by BLAS, which its newest release leaves off."""
    import faiss

    faiss.omp_set_num_threads(1)
    faiss.cvar.distance_compute_blas_threshold = 20
    return faiss


def by_faiss(X, metric, engine):
    """The same by faiss, in its one precision."""
    faiss = with_faiss()
    kinds = {"l2": faiss.METRIC_L2, "l1": faiss.METRIC_L1, "linf": faiss.METRIC_Linf}
    index = flat = faiss.IndexFlat(X.shape[1], kinds[metric])
    if engine == "faiss-graphs":
        index = faiss.IndexHNSWFlat(X.shape[1], LINKS)
        index.hnsw.efSearch = LOOKED_AT
    if engine == "faiss-lists" and len(X) >= 4 * POINTS_PER_LIST:
        n_lists = min(len(X) // POINTS_PER_LIST, int(4 * len(X) ** 0.5))
        index = faiss.IndexIVFFlat(flat, X.shape[1], n_lists)
        index.train(X)
        index.nprobe = 8
    index.add(X)
    last = np.sqrt if metric == "l2" else np.asarray
    # faiss does not keep the flat index alive.
    return lambda queries, kept=flat: last(index.search(queries, 1)[0][:, 0])


class OneGraph:
    """faiss's HNSW graph of all rows, searched among the rows of the class and among all others, or
    once for the nearest of all.
    """

    def __init__(self, engine, metric, X, y):
        self.once = engine == "faiss-any"
        self.faiss = with_faiss()
        self.offsets = np.searchsorted(np.sort(y), np.arange(int(y.max()) + 2))
        self.index = self.faiss.IndexHNSWFlat(X.shape[1], LINKS)
        X = X.astype(np.float32, copy=False)
        self.index.add(X if self.once else X[np.argsort(y, kind="stable")])

    def __call__(self, queries, group):
        queries, out = queries.astype(np.float32), np.empty((2, len(queries)))
        if self.once:
            self.index.hnsw.efSearch = LOOKED_AT
            out[:] = self.index.search(queries, 1)[0][:, 0]
            return np.sqrt(out)
        for k in np.unique(group):
            rows = group == k
            same = self.faiss.IDSelectorRange(*self.offsets[k : k + 2].tolist())
            for i, allowed in enumerate((same, self.faiss.IDSelectorNot(same))):
                options = self.faiss.SearchParametersHNSW(sel=allowed, efSearch=LOOKED_AT)
                out[i, rows] = self.index.search(queries[rows], 1, params=options)[0][:, 0]
        return np.sqrt(out)


class OwnAndOther:
    """scikit-learn's trees, for each class one of its points and one of all others."""

    def __init__(self, engine, metric, X, y):
        from sklearn.neighbors import NearestNeighbors

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
    if engine in ("faiss-graph", "faiss-any"):
        return OneGraph(engine, *arguments)
    return (Ours if engine.startswith("ours") else ByClass)(engine, *arguments)


def one(folder, engine, metric, queries):
    """Print one run's CPU seconds, peak memory and separations, as JSON."""
    X, y, Q, group = (np.load(folder / f"{name}.npy") for name in ("X", "y", "Q", "group"))
    Q, group = Q[:queries], group[:queries]
    kind = "ours" if engine.startswith("ours") else engine.partition("-")[0]
    import_module(LIBRARIES.get(kind, "sklearn.neighbors"))
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
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
                "nearest": np.minimum(same, other).tolist(),
            }
        )
    )


def _peak():
    """The most memory since the program was started, or since ``clear_refs`` was written, in MiB;
    getrusage would count the parent's.
    """
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def child(folder, engine, metric, queries, python):
    """The answer of one run in a process of its own; faiss's by ``python``."""
    python = python if engine.startswith("faiss") else sys.executable
    command = [python, "-m", "benchmarks.speed.neighbors", "--child", str(folder)]
    command += [engine, metric, str(queries)]
    environment = os.environ | ONE_THREAD
    if engine.startswith("faiss") and "avx512f" in Path("/proc/cpuinfo").read_text("utf-8"):
        # The OpenBLAS in faiss's wheel does not know newer processors and is four times as slow.
        environment["OPENBLAS_CORETYPE"] = "SkylakeX"
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def simulated(name, rows, seed):
    """(X (rows, FEATURES) float32, labels) of one of SIMULATED."""
    rng, model = np.random.default_rng([7, seed]), np.random.default_rng(7)
    y = rng.integers(0, CLASSES, rows)
    X = rng.standard_normal((rows, FEATURES), dtype=np.float32)
    if name == "noise":
        return X, y
    mean, weight, bias = (
        model.standard_normal(shape).astype(np.float32)
        for shape in ((CLASSES, FACTORS), (FACTORS, FEATURES), FEATURES)
    )
    spread = np.arange(1, FACTORS + 1, dtype=np.float32) ** -0.5
    for part in np.array_split(np.arange(rows), max(1, rows // 50_000)):
        factors = rng.standard_normal((len(part), FACTORS), dtype=np.float32) * spread
        hidden = (mean[y[part]] + factors) @ weight / FACTORS**0.5 + bias
        X[part] = np.maximum(hidden, 0.0) + 0.1 * X[part]
    return X, y


def work(name, options):
    """(reference rows, their labels, queries, their labels) of a data set."""
    if name in SIMULATED:
        return *simulated(name, options.rows, 0), *simulated(name, SIMULATED_QUERIES, 1)
    from benchmarks.papers.geometric.data import split

    parts = split(name, 0)
    Q = np.concatenate([parts.X["validation"], parts.X["test"]])
    group = np.concatenate([parts.y["validation"], parts.y["test"]])
    X = parts.X["train"]
    if X.dtype != np.uint8:  # tables are standardised by the signal
        mean, std = X.mean(axis=0), X.std(axis=0)
        X, Q = ((part - mean) / np.where(std > 0, std, 1.0) for part in (X, Q))
    return X, parts.y["train"], Q, group


def table(name, metric, options):
    """Print the rows of one data set and metric; the least ratio of a whole to ours, and cells of
    the stored table.
    """
    X, y, Q, group = work(name, options)
    n = len(Q)
    engines = [e for e in options.engines if metric == "l2" or e not in ONLY_L2]
    runs = {engine: [] for engine in engines}
    with tempfile.TemporaryDirectory() as folder:
        for key, value in {"X": X, "y": y, "Q": Q, "group": group}.items():
            np.save(Path(folder) / f"{key}.npy", value)
        for _ in range(options.repeats):
            for engine in engines:
                wide = engine in TREES and X.shape[1] > 20
                queries = max(20, options.queries // (FEWER if wide else 1))
                runs[engine].append(child(folder, engine, metric, queries, options.python))
    print(f"\n{name}, {metric}: {len(X)} reference rows of {X.shape[1]} numbers, {n} queries\n")
    print("| engine | build s | ms a query | ratio | alone, ms | ratio | whole, s | ratio | peak |")
    print("|---|---|---|---|---|---|---|---|---|")
    for run in (run for own in runs.values() for run in own):
        run["whole"] = run["build"] + n * run["batch"]
    wholes, cells = {}, {}
    for engine, own in runs.items():
        show = {}
        for key in ("batch", "single", "whole"):
            ratios = [run[key] / ours[key] for run, ours in zip(own, runs["ours"], strict=True)]
            show[key] = np.median([run[key] for run in own]), np.median(ratios)
        wholes[engine] = show["whole"][1]
        build, peak = (np.median([run[key] for run in own]) for key in ("build", "MiB"))
        said = "nearest" if engine == "faiss-any" else "separation"
        exact, theirs = (np.array(run[0][said]) for run in (runs["ours"], own))
        apart = np.abs(theirs - exact[: len(theirs)])
        missed = (apart > 0.01 * np.median(np.abs(exact))).mean()
        print(
            f"| {engine} | {build:.2f} | {1e3 * show['batch'][0]:.3f} | {show['batch'][1]:.1f}"
            f" | {1e3 * show['single'][0]:.2f} | {show['single'][1]:.1f} | {show['whole'][0]:.1f}"
            f" | {show['whole'][1]:.2f} | {peak:.0f} MiB; off {apart.max():.0e}, missed"
            f" {missed:.2%} |",
            flush=True,
        )
        cells[f"{name}, {engine}"] = {
            "queries a second": f"{1.0 / show['batch'][0]:,.0f}",
            "of ours": f"{1.0 / show['batch'][1]:.2f}",
            "one at a time": f"{1.0 / show['single'][0]:,.0f}",
            "build, s": f"{build:.1f}",
            "peak, MiB": f"{peak:,.0f}",
            "missed": f"{missed:.1%}",
        }
    peers = [whole for engine, whole in wholes.items() if not engine.startswith(("ours", *INEXACT))]
    return min(peers, default=np.inf), cells


def main():
    """Command line."""
    if sys.argv[1:2] == ["--child"]:
        folder, engine, metric, queries = sys.argv[2:]
        return one(Path(folder), engine, metric, int(queries))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="+", default=["mnist"])
    parser.add_argument("--rows", type=int, default=ROWS, help="of the simulated data")
    parser.add_argument("--metrics", nargs="+", default=["l2"], choices=list(SCIKIT))
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=[*ENGINES, *GRAPHS])
    parser.add_argument("--queries", type=int, default=2_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--python", default=sys.executable, help="that has faiss")
    parser.add_argument(
        "--store", action="store_true", help="in the rows of geometric/stored/search.csv"
    )
    options = parser.parse_args()
    found = {}
    for name in options.data:
        for metric in options.metrics:
            least, cells = table(name, metric, options)
            found |= cells
            if np.isfinite(least):
                print(f"\nthe best exact peer takes {least:.2f} times as long as ours on the whole")
    if options.store:
        from benchmarks.papers import stored

        smaller = "" if options.rows == ROWS else f"{options.rows:,} rows"
        stored.keep("geometric", "search", found, smaller)
    return None


if __name__ == "__main__":
    sys.exit(main())
