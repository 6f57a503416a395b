"""Figures 5 to 8 of the paper, as numbers and pictures: the fitted curves, and each reduction's
throughput, calibration and bytes.

    python -m benchmarks.papers.geometric.figures  # MNIST, random forest, 1 shuffle, t = 2, 3, 4
    python -m benchmarks.papers.geometric.figures --data gtsrb --steps 2
    python -m benchmarks.papers.geometric.figures --data cifar10 --models rf gb cnn --shuffles 10

``--steps`` without a number leaves all but figure 5 out; of the data named there, figure 5 is
stored.

Figure 5: the share right by separation, in 50 groups of the validation rows, beside the isotonic
and the sigmoid fit. Figures 6 and 7: queries a second (our exact index in batches and one at a
time, the authors' way one at a time, by CPU time), memory, ECE, log loss and AURC by reduction.
Figure 8: the ECE of max pooling, among them, for each model named. Colour images are made grey
before any reduction. One JSON line each goes to results/figures.jsonl, and what is there is not run
again. The pictures are drawn into results/ from all rows of the command (--folder to draw
elsewhere); they need matplotlib.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
from benchmarks.papers import stored as tables
from benchmarks.papers.geometric import data, measure, methods, models, pictures
from benchmarks.papers.geometric.authors import authors_way

import calibrant as cb
from calibrant.calibrators.reductions import (
    AveragePool,
    BilinearResize,
    ClassCentroids,
    Grayscale,
    MaxPool,
    PrincipalComponents,
    RandomFeatures,
    RandomSubset,
)

RESULTS = Path(__file__).parent / "results" / "figures.jsonl"
STEPS = (2, 3, 4)
GROUPS = 50
#: Queries asked one at a time, of our index and in the authors' way.
SINGLES = 50


def reductions(shape):
    """{name: function of t that gives the options of FastSeparation} for grey images of a shape,
    or for tables (None).
    """
    out = {
        "PCA": lambda t: {"features": PrincipalComponents(t)},
        "random pixels": lambda t: {"features": RandomFeatures(t)},
        "k-means": lambda t: {"points": ClassCentroids(t)},
        "random subset": lambda t: {"points": RandomSubset(t)},
    }
    if shape is not None:
        out |= {
            "average pool": lambda t: {"features": AveragePool(t, shape=shape)},
            "max pool": lambda t: {"features": MaxPool(t, shape=shape)},
            "bilinear": lambda t: {"features": BilinearResize(t, shape=shape)},
        }
    return out


def cases(split, steps):
    """[(reduction, t, whether the images are made grey first, options of FastSeparation)] of a
    split.
    """
    colour = split.shape is not None and len(split.shape) == 3
    first = [("none", 1, False, {})] + ([("grayscale", 1, True, {})] if colour else [])
    makers = reductions(split.shape and split.shape[:2])
    return first + [(name, t, colour, make(t)) for name, make in makers.items() for t in steps]


def grey(split):
    """{part: flat grey images}."""
    to_grey = Grayscale(shape=split.shape)
    return {k: to_grey.transform(v).reshape(len(v), -1) for k, v in split.X.items()}


def one(problem, options):
    """Measures, throughput and bytes of one reduction, and the scores."""
    P, X, y = problem.said, problem.features, problem.y
    signal = cb.calibrators.FastSeparation(scale="none", **options)
    began = time.process_time()
    signal.fit(
        P["validation"], y["validation"], X=X["validation"], reference=(X["train"], y["train"])
    )
    built = time.process_time()
    scores = {part: signal.score(P[part], X=X[part]) for part in P}
    rate = sum(map(len, scores.values())) / (time.process_time() - built)
    out = {
        "queries_per_second": round(rate),
        "build_seconds": round(built - began, 1),
        "MiB": round(signal.nbytes_ / 2**20, 1),
    }
    out |= singles(problem, signal, scores)
    for mode in ("combined", "paper"):
        out[mode] = measure.measures(
            methods.geometric(problem, scores, mode), problem.correct["test"]
        )
    return out, scores


def singles(problem, signal, scores):
    """Queries a second one at a time, ours and the authors' way, on the points of a fitted
    signal.
    """
    P, X = problem.said["test"][:SINGLES], problem.features["test"][:SINGLES]
    began = time.process_time()
    for i in range(SINGLES):
        signal.score(P[i : i + 1], X=X[i : i + 1])
    ours = (time.process_time() - began) / SINGLES
    points, small = signal.index_.points_, signal.space_.transform(X)
    theirs = points.wide_rows(slice(0, len(points)))
    said, seconds, size = authors_way(theirs, points.groups, small, P.argmax(axis=1), P.shape[1])
    off = np.abs(said - scores["test"][:SINGLES]).max() / np.abs(said).mean()
    return {
        "single_per_second": round(1 / ours),
        "authors_per_second": round(1 / seconds),
        "authors_MiB": round(size / 2**20, 1),
        "off_authors": float(off),
    }


def figure_5(problem, scores):
    """[[mean separation, share right, isotonic, sigmoid] of each group of validation rows]."""
    score, right = scores["validation"], problem.correct["validation"]
    fits = [m.fit(score, right) for m in (cb.Isotonic(), cb.Platt(scale="probability"))]
    groups = np.array_split(np.argsort(score), GROUPS)
    return [
        [
            float(v)
            for v in (
                score[g].mean(),
                right[g].mean(),
                *(f.predict(score[g].mean()[None])[0] for f in fits),
            )
        ]
        for g in groups
    ]


def stored():
    """{(data, model, seed, reduction, t): record}."""
    if not RESULTS.exists():
        return {}
    records = [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]
    return {(r["data"], r["model"], r["seed"], r["reduction"], r["t"]): r for r in records}


def run(name, kind, seed, options):
    """Runs what is missing of one shuffle; its records."""
    label, known = models.label(name, kind, options), stored()
    split = data.split(name, seed, options.rows, options.by_frame)
    missing = [
        case for case in cases(split, options.steps) if (label, kind, seed, *case[:2]) not in known
    ]
    if missing:
        said, _, _ = models.fitted(kind, name, seed, split, options)
        images = {False: split.X} | (
            {True: grey(split)} if any(case[2] for case in missing) else {}
        )
    for reduction, t, is_grey, made in missing:
        print(f"{label}, shuffle {seed + 1}: {reduction} {t}", file=sys.stderr, flush=True)
        problem = methods.Problem(label, split, said, features=images[is_grey])
        found, scores = one(problem, made)
        record = {
            "data": label,
            "model": kind,
            "seed": seed,
            "reduction": reduction,
            "t": t,
        } | found
        if reduction == "none":
            record["figure_5"] = figure_5(problem, scores)
        RESULTS.parent.mkdir(exist_ok=True)
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
    return [r for k, r in stored().items() if k[:3] == (label, kind, seed)]


def show(label, records):
    """Figure 5's curve and the table behind figures 6 to 8."""
    curve = next(r["figure_5"] for r in records if r["reduction"] == "none")
    print(
        f"\n{label}, figure 5: separation, share right, isotonic, sigmoid (every fifth of {GROUPS}"
        " groups)"
    )
    for row in curve[::5]:
        print("  " + "".join(f"{v:10.3f}" for v in row))
    print(
        f"\n{label}, figures 6 to 8; queries a second in batches, one at a time, the authors' way"
    )
    print(
        "| reduction, t | batch | single | authors' | MiB | authors' | ECE-15 | log loss | AURC |"
        " combined: log loss | AURC |"
    )
    print("|" + "---|" * 11)
    for reduction, t in dict.fromkeys((r["reduction"], r["t"]) for r in records):
        own = [r for r in records if (r["reduction"], r["t"]) == (reduction, t)]
        mean = lambda get, own=own: float(np.mean([get(r) for r in own]))  # noqa: E731
        sizes = [
            mean(lambda r, k=k: r[k])
            for k in (
                "queries_per_second",
                "single_per_second",
                "authors_per_second",
                "MiB",
                "authors_MiB",
            )
        ]
        paper = [mean(lambda r, k=k: r["paper"][k]) for k in ("ECE", "NLL", "AURC")]
        both = [mean(lambda r, k=k: r["combined"][k]) for k in ("NLL", "AURC")]
        print(
            f"| {reduction} {t} | "
            + " | ".join(f"{v:,.0f}" for v in sizes)
            + f" | {paper[0]:.2f} | {paper[1]:.4f} | {paper[2]:.2f} | {both[0]:.4f} |"
            f" {both[1]:.2f} |"
        )


def curves(found):
    """Rows of figure 5 for each data set: separation, share right, isotonic, sigmoid."""
    rows = [["data, model", "separation", "share right", "isotonic", "sigmoid"]]
    for label, records in found.items():
        curve = next(r["figure_5"] for r in records if r["reduction"] == "none")
        rows += [[label, *(f"{value:.4f}" for value in row)] for row in curve]
    return rows


def main():
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="+", default=["mnist"])
    parser.add_argument("--models", nargs="+", default=["rf"], choices=["rf", "gb", "cnn"])
    parser.add_argument("--steps", nargs="*", type=int, default=list(STEPS))
    parser.add_argument("--shuffles", type=int, default=1)
    parser.add_argument("--full-boosting", action="store_true")
    parser.add_argument("--epochs", type=int, default=models.EPOCHS)
    parser.add_argument("--rows", type=int)
    parser.add_argument(
        "--by-frame", action="store_true", help="split GTSRB's frames at random, as the paper does"
    )
    parser.add_argument("--folder", type=Path, default=RESULTS.parent)
    options = parser.parse_args()
    found = {}
    for name in options.data:
        for kind in options.models:
            found[models.label(name, kind, options)] = [
                r for seed in range(options.shuffles) for r in run(name, kind, seed, options)
            ]
    for label, records in found.items():
        show(label, records)
    if not options.steps:
        tables.write("geometric", "figure_5", curves(found))
        return
    pictures.draw(found, options.folder)


if __name__ == "__main__":
    main()
