"""Our methods on CalArena's stored arrays, as CalArena's results:
``python -m benchmarks.arena.calarena --benchmark tabrepo-binary``.

CalArena (https://github.com/probkit/CalArena) keeps each benchmark in ``BENCHMARK.h5``,
``DATASET/MODEL/{probas_cal, labels_cal, probas_test, labels_test}``, and lists its experiments in
``BENCHMARK-experiments.csv``. Each method here becomes ``RESULTS/BENCHMARK/METHOD.csv`` with its
columns, so that its own scripts read ours beside theirs. The scores are computed here by its
definitions, which differ from ``metrics`` in places, each said below. ``--report --beside RESULTS``
prints the win rates of all methods, ours and those of its own folder ``results``, by its
definition. Files, columns and scores are those of CalArena's commit a0afa15.
"""

import argparse
import csv
import sys
import time
from pathlib import Path

import numpy as np
from benchmarks.arena.calibrators import discovered
from benchmarks.arena.run import attempt, chosen
from benchmarks.arena.scores import brier_scores, checked

__all__ = [
    "experiments",
    "kuiper",
    "log_loss",
    "main",
    "run_method",
    "scored",
    "top_or_event_error",
    "win_rates",
]

ARRAYS = ("probas_cal", "labels_cal", "probas_test", "labels_test")
SMALLEST = np.log(np.finfo(np.float32).tiny)


# -- CalArena's scores -----------------------------------------------------------------------------


def log_loss(Q, y):
    """Logarithms of float32 probabilities, none below that of the smallest normal float32,
    normalised.
    """
    with np.errstate(divide="ignore"):
        z = np.maximum(np.log(Q.astype(np.float32)), SMALLEST).astype(np.float64)
    return float(np.mean(np.logaddexp.reduce(z, axis=1) - z[np.arange(len(y)), y]))


def top_or_event_error(Q, y, n_bins=15):
    """ "ece-15": of the answer's confidence; of two classes that of the second class. Classes
    that the labels lack are left out first.
    """
    seen = np.unique(y)
    Q, y = Q[:, seen], np.searchsorted(seen, y)
    Q = np.clip(Q, 1e-7, 1.0 - 1e-7)
    Q = Q / Q.sum(axis=1, keepdims=True)
    score, hit = (Q[:, 1], y == 1) if Q.shape[1] == 2 else (Q.max(axis=1), Q.argmax(axis=1) == y)
    of = np.searchsorted(np.linspace(0.0, 1.0, n_bins + 1), score, side="right") - 1
    return float(np.abs(np.bincount(of, hit - score, n_bins + 1)).sum() / len(y))


def kuiper(Q, y):
    """Range of the running mean of event less probability, from the least probable row on."""
    order = np.argsort(Q[:, 1], kind="stable")
    walk = np.cumsum((y - Q[:, 1])[order]) / len(y)
    return float(max(walk.max(), 0.0) - min(walk.min(), 0.0))


def scored(Q, y, binary):
    """Column -> value, in CalArena's order."""
    values = {"brier": float(brier_scores(Q, y).mean()), "logloss": log_loss(Q, y)}
    if binary:
        values["kuiper"] = kuiper(Q, y)
    return values | {
        "ece-15": top_or_event_error(Q, y),
        "accuracy": float((Q.argmax(axis=1) == y).mean()),
    }


# -- Its files -------------------------------------------------------------------------------------


def experiments(folder, benchmark):
    """(dataset, model, {name: array}) of every experiment of the list, in its order."""
    try:
        import h5py
    except ImportError:
        raise SystemExit("CalArena's arrays are HDF5: pip install h5py") from None
    listed, stored = (Path(folder) / f"{benchmark}{end}" for end in ("-experiments.csv", ".h5"))
    for path in (listed, stored):
        if not path.exists():
            raise SystemExit(
                f"{path} is not there; download it from"
                " https://huggingface.co/datasets/probkit/CalArena"
            )
    with listed.open(newline="", encoding="utf-8") as file, h5py.File(stored, "r") as h5:
        for row in csv.DictReader(file):
            group = h5[f"{row['dataset']}/{row['model']}"]
            yield (
                row["dataset"],
                row["model"],
                {name: group[name][:] for name in ARRAYS},
            )


def both_columns(P):
    """(n,) or (n, 1) as (n, 2), float64."""
    P = np.asarray(P, dtype=np.float64)
    return P if P.ndim == 2 and P.shape[1] > 1 else np.column_stack([1.0 - P.ravel(), P.ravel()])


def run_method(method, found, binary):
    """One row of results for each experiment. A method that fails leaves the probabilities as
    they were, and says so on stderr.
    """
    for dataset, model, arrays in found:
        P, P_test = both_columns(arrays["probas_cal"]), both_columns(arrays["probas_test"])
        y, y_test = (arrays[name].ravel().astype(np.intp) for name in ("labels_cal", "labels_test"))
        start = time.perf_counter()
        Q, remarks = attempt(
            method.make,
            lambda c, P=P, y=y: c.fit(P, y),
            lambda c, P=P_test: checked(c.predict_proba(P), P.shape),
        )
        seconds = time.perf_counter() - start
        if Q is None:
            print(f"{method.name} on {dataset}, {model}: {remarks['problem']}", file=sys.stderr)
        about = {
            "dataset": dataset,
            "model": model,
            "cal_size": len(P),
            "test_size": len(P_test),
        } | ({} if binary else {"n_classes": P.shape[1]})
        values = scored(P_test if Q is None else Q, y_test, binary) | {"time": seconds}
        yield about | {f"{method.name}_{key}": value for key, value in values.items()}


# -- Its win rates ---------------------------------------------------------------------------------


def win_rates(folders, benchmark, metric="logloss", draws=1000):
    """(method, win rate, low, high) of every method with results in one of the folders, the best
    first: the mean over experiments of the share of other methods with a higher score. Methods
    that lack the score in more than a tenth of the experiments are left out.

    The limits are of a 95 % bootstrap over data sets for the tabular benchmarks with many of
    them, over experiments for the others, as CalArena's ``compute_winrates`` draws them.
    """
    scores, experiments = {}, None
    for path in sorted(file for folder in folders for file in (folder / benchmark).glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        named = {
            (row["dataset"], row["model"]): float(row[f"{path.stem}_{metric}"] or "nan")
            for row in rows
        }
        if np.isnan(list(named.values())).mean() > 0.1:
            continue
        scores[path.stem] = named
        experiments = set(named) if experiments is None else experiments & set(named)
    if len(scores) < 2 or not experiments:
        return []
    order = sorted(experiments)
    table = np.array([[named[each] for each in order] for named in scores.values()])
    wins = np.array([(table > row).sum(axis=0) for row in table]) / (len(table) - 1)
    by_data = benchmark in ("tabrepo-binary", "tabarena-binary", "tabrepo-multiclass")
    _, group = np.unique([each[0] for each in order], return_inverse=True)
    limits = _limits(wins, group if by_data else np.arange(len(order)), draws)
    rates = zip(scores, wins.mean(axis=1), *limits, strict=True)
    return sorted(rates, key=lambda row: -row[1])


def _limits(wins, group, draws):
    """2.5 and 97.5 % of the mean of wins (M, E), groups of experiments drawn with replacement."""
    rng, n = np.random.default_rng(0), group.max() + 1
    sums = np.array([np.bincount(group, row, n) for row in wins])
    size = np.bincount(group, minlength=n)
    times = rng.multinomial(n, np.full(n, 1.0 / n), draws)
    means = times @ sums.T / (times @ size)[:, None]
    return np.quantile(means, [0.025, 0.975], axis=0)


def main():
    """Every method asked for, a file each; or the win rates of what is there."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.arena.calarena", description="Our methods on CalArena's arrays."
    )
    parser.add_argument(
        "--benchmark", required=True, help="its name, for example tabrepo-binary or cv-multiclass"
    )
    parser.add_argument(
        "--benchmarks_dir",
        type=Path,
        default=Path("calibration_benchmarks"),
        help="where its .h5 and .csv files lie",
    )
    parser.add_argument(
        "--results_dir", type=Path, default=Path("results"), help="where the results go"
    )
    parser.add_argument(
        "--methods",
        nargs="+",
        default=["AutoCalibrator", "EnsembleMatrixScaling"],
        metavar="NAME",
        help="ours to run",
    )
    parser.add_argument(
        "--report", action="store_true", help="run nothing, print the win rates of what is there"
    )
    parser.add_argument(
        "--beside", type=Path, nargs="+", default=[], help="CalArena's own folder of results"
    )
    parser.add_argument("--metric", default="logloss", help="what is compared (logloss)")
    options = parser.parse_args()
    options.benchmark = options.benchmark.lower()
    binary = options.benchmark.endswith("-binary")
    if not (binary or options.benchmark.endswith("-multiclass")):
        raise SystemExit(f"--benchmark must end in -binary or -multiclass; got {options.benchmark}")
    if options.report:
        folders = [options.results_dir, *options.beside]
        for name, rate, low, high in win_rates(folders, options.benchmark, options.metric):
            print(f"{name:30} {rate:.3f} ({low:.3f}, {high:.3f})")
        return
    folder = options.results_dir / options.benchmark
    for method in chosen(discovered(), options.methods):
        rows = list(
            run_method(method, experiments(options.benchmarks_dir, options.benchmark), binary)
        )
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{method.name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        print(f"{len(rows)} experiments: {folder / (method.name + '.csv')}")


if __name__ == "__main__":
    main()
