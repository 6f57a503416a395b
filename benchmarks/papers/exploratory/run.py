"""The MNIST protocol of Appendix A, whole: train (or read) the pool, draw ensembles, fit and
measure, print tables, draw figures.

    python -m benchmarks.papers.exploratory.run  # 60 networks, 100 ensembles, all variants
    python -m benchmarks.papers.exploratory.run --variants shifted --networks 50 --ensembles 20

It resumes: networks and ensembles already in cache/ are not made again. Tables and figures go to
results/. What was found is in README.md.
"""

import argparse
import hashlib
import time
from pathlib import Path

import numpy as np
from benchmarks.papers.exploratory import data, ensembles, figures, measure, networks, tables
from benchmarks.papers.exploratory.methods import METHODS
from benchmarks.papers.stored import keep

RESULTS = Path(__file__).resolve().parent / "results"


def measured(variant, pool, labels, n_networks, steps, n_ensembles, floor):
    """(scores (ensembles, ...), positives (ensembles, 2, 10)), each ensemble kept as soon as it
    is measured.
    """
    settings = hashlib.sha256(f"{METHODS}{measure.BINS}{floor}{n_networks}".encode()).hexdigest()[
        :12
    ]
    folder = networks.CACHE / f"scores-{variant}-{steps}-{settings}"
    folder.mkdir(parents=True, exist_ok=True)
    out, start = [], time.perf_counter()
    for number in range(n_ensembles):
        path = folder / f"{number:04d}.npz"
        if not path.exists():
            scores, positives = measure.ensemble(ensembles.draw(pool, number), labels, floor)
            np.savez(folder / "part.npz", scores=scores, positives=positives)
            (folder / "part.npz").rename(path)
            left = (time.perf_counter() - start) / (number + 1) * (n_ensembles - number - 1)
            print(
                f"{variant}: ensemble {number + 1} of {n_ensembles}, {left:.0f} s left", flush=True
            )
        with np.load(path) as archive:
            out.append((archive["scores"], archive["positives"]))
    return tuple(np.stack(column) for column in zip(*out, strict=True))


def report(variant, scores, positives, options):
    apart = tables.apart_classes(positives)
    parts = [
        (
            f"{variant}: {options.networks} networks of {options.steps} steps, {options.ensembles}"
            f" ensembles of ten, confidences floored {options.floor:g} from 0 and 1"
        ),
        (
            f"Classes apart (fewer than {measure.FEWEST} positives in either set; digit: in how"
            f" many ensembles): {apart or 'none'}"
        ),
        tables.macro_table(scores, positives),
        tables.claims(variant, scores, positives),
        *(
            tables.class_table(scores, positives, name, t)
            for name in measure.MEASURES
            for t in (1, 2)
        ),
    ]
    return "\n\n".join(parts)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--variants", nargs="+", choices=tuple(data.VARIANTS), default=list(data.VARIANTS)
    )
    parser.add_argument("--networks", type=int, default=60)
    parser.add_argument("--ensembles", type=int, default=100)
    parser.add_argument(
        "--steps",
        type=int,
        default=networks.STEPS,
        help="400 as in the paper; 10,000 for its fully trained networks",
    )
    parser.add_argument("--floor", type=float, default=measure.FLOOR)
    parser.add_argument("--no-figures", action="store_true")
    options = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    for variant in options.variants:
        networks.fill(variant, options.networks, options.steps)
        pool, labels = networks.pool(variant, options.networks, options.steps)
        scores, positives = measured(
            variant, pool, labels, options.networks, options.steps, options.ensembles, options.floor
        )
        text = report(variant, scores, positives, options)
        (RESULTS / f"{variant}.txt").write_text(text + "\n", encoding="utf-8")
        print(text, end="\n\n")
        usual = options.steps == networks.STEPS and options.floor == measure.FLOOR
        fits = usual and (options.networks, options.ensembles) == tables.SIZES[variant]
        smaller = "" if fits else "other networks or ensembles than those of the table"
        keep("exploratory", "mnist", tables.cells(variant, scores, positives), smaller)
        if not options.no_figures:
            figures.draw(variant, ensembles.draw(pool, 0), labels, scores, RESULTS)


if __name__ == "__main__":
    main()
