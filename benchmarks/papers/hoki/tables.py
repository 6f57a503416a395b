"""Tables 1 to 9 and figures 3 to 6 of the paper on the networks there are, beside what was
published, and what Hoki is worth.

    python -m benchmarks.papers.hoki.tables [--networks NAME ...] [--no-figures]

Each network's held-out rows are cut into halves to fit and to test, five times (seeds 0 to 4);
numbers are means over the five. The splits share rows, so the paired intervals (Student, 4 degrees
of freedom) are a guide, not a test. Results go to results/ beside this file.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from benchmarks.papers.hoki import methods, networks, published
from benchmarks.papers.stored import keep
from benchmarks.papers.stored import spread as spread_of
from scipy import stats

from calibrant import metrics

RESULTS = Path(__file__).resolve().parent / "results"
#: Rows of the stored table of networks, for each of them -> method.
ROWS = {"temperature": "TempS", "Hoki": "Hoki", "label stability + beta": "stability + beta"}
BINS = (5, 10, 15, 30, 50, 100)


def ece(result, n_bins=15):
    return metrics.positive_class_calibration_error(
        result.correct.astype(int), result.confidence, n_bins=n_bins
    )


def log_loss(result):
    return metrics.log_loss(result.correct.astype(int), result.confidence)


def aurc(result):
    """Mean over the coverages k / n of the error among the k most confident, ties in their mean
    order.
    """
    order = np.argsort(-result.confidence, kind="stable")
    wrong, confidence = 1.0 - result.correct[order], result.confidence[order]
    _, tie = np.unique(-confidence, return_inverse=True)
    wrong = (np.bincount(tie, weights=wrong) / np.bincount(tie))[tie]
    return float(np.mean(np.cumsum(wrong) / np.arange(1, len(wrong) + 1)))


def spread(result):
    return float(result.confidence.std())


def floor(result, n_bins=15):
    """The ECE that these confidences would be expected to have if each were exactly right:
    sampling noise (normal approximation).
    """
    index = np.minimum((result.confidence * n_bins).astype(int), n_bins - 1)
    variance = np.bincount(index, weights=result.confidence * (1.0 - result.confidence))
    return float(np.sqrt(2.0 / np.pi) * np.sqrt(variance).sum() / len(index))


MEASURES = {"ECE": ece, "floor": floor, "log loss": log_loss, "AURC": aurc, "spread": spread}


def mean_over_seeds(runs, method, measure):
    return float(np.mean([measure(run[method]) for run in runs]))


def paired(runs, method, baseline, measure):
    """(mean difference, half width of its 95 % interval) over the seeds."""
    differences = [measure(run[method]) - measure(run[baseline]) for run in runs]
    half = (
        stats.t.ppf(0.975, len(differences) - 1)
        * np.std(differences, ddof=1)
        / np.sqrt(len(differences))
    )
    return float(np.mean(differences)), float(half)


def table_1(name, runs):
    """The width chosen, alpha and beta on one bin, and the spread of p-hat, of the first split."""
    print("  Table 1: noise, alpha, beta, standard deviation of p-hat on one bin")
    for method in ("Hoki", "Hoki, uniform"):
        fitted = runs[0][method].fitted
        j = np.flatnonzero(np.isfinite(fitted.alpha_[0]))[0]
        width = f"{'U width' if 'uniform' in method else 'G sd'} {fitted.signal_.scale_:.2f}"
        print(
            f"    {width:16s} {fitted.alpha_[0][j]:.4f} {fitted.beta_[0][j]:.4f}"
            f" {fitted.signal_.spread_.max():.4f}"
        )
    noise, *rest = published.TABLE_1[name]
    print(
        f"    {noise:16s} {' '.join(f'{v:.4f}' for v in rest)}   published for"
        f" {published.NETWORK[name]}"
    )


def table_2(name, runs):
    """ECE with 15 bins beside the published one, with log loss and AURC of correctness and the
    spread.
    """
    said = published.ece(name, 15)
    print(
        "  Table 2: ECE-15, and what it would be if every confidence were right; log loss, AURC x"
        " 1000, spread of the confidence;"
    )
    print(f"    published ECE-15 for {published.NETWORK[name]}")
    for method in runs[0]:
        values = [mean_over_seeds(runs, method, m) for m in MEASURES.values()]
        there = f"{said[method]:.4f}" if method in said else "-"
        cells = (
            f"{values[0]:.4f}  {values[1]:.4f}  {values[2]:.4f}  {1000 * values[3]:6.2f} "
            f" {values[4]:.4f}   {there}"
        )
        print(f"    {method:32s} {cells}")


def table_3(name, runs):
    said = published.seconds(name)
    print(
        "  Table 3: CPU seconds of the fit (ReCal: with prediction, without the network); published"
        " seconds"
    )
    for method in [m for m in runs[0] if m in said or m.startswith("Hoki")]:
        there = f"{said[method]:.2f}" if method in said else "-"
        print(
            f"    {method:32s} {mean_over_seeds(runs, method, lambda r: r.seconds):8.3f}   {there}"
        )


def tables_4_to_8(name, runs):
    print(f"  Tables 4 to 8: ECE with {', '.join(str(b) for b in BINS)} bins, ours / published")
    for method in [m for m in runs[0] if m in published.TABLE_2_COLUMNS]:
        cells = [
            f"{mean_over_seeds(runs, method, lambda r, b=b: ece(r, b)):.4f}/{published.ece(name, b)[method]:.4f}"
            for b in BINS
        ]
        print(f"    {method:14s} {'  '.join(cells)}")


def table_9(name, runs):
    ours = [mean_over_seeds(runs, m, ece) for m in ("Hoki", "Hoki from confidence")]
    there = published.TABLE_9[name]
    print(
        f"  Table 9: ECE-15 from accuracy {ours[0]:.4f} ({there[0]:.4f}), from confidence"
        f" {ours[1]:.4f} ({there[1]:.4f}) (published)"
    )


def differences(runs, baseline="TempS"):
    """What Hoki, and the same signal with other maps, change against temperature scaling, paired
    over the seeds.
    """
    print(f"  Difference to {baseline}, mean over seeds 0 to 4 and its paired 95 % interval")
    for method in [m for m in runs[0] if m.startswith(("Hoki", "stability", "top"))]:
        cells = []
        for measure, scale in ((ece, 1.0), (log_loss, 1.0), (aurc, 1000.0)):
            mean, half = paired(runs, method, baseline, measure)
            cells.append(f"{scale * mean:+.4f} +- {scale * half:.4f}")
        print(f"    {method:32s} ECE-15 {cells[0]}   log loss {cells[1]}   AURC x 1000 {cells[2]}")


def bounds(runs):
    """Both bounds of the population's error on these 15 bins, for rows that took no part in the
    fit.
    """
    for method in ("paper", "hoeffding"):
        found = [
            metrics.calibration_error_bound(
                run["Hoki"].correct.astype(int),
                run["Hoki"].confidence,
                target="event",
                method=method,
            )
            for run in runs
        ]
        print(
            f"  Hoki's true error on 15 bins is at most {np.mean([b.bound for b in found]):.3f}"
            f" with probability 0.95 ({method})"
        )


def endings(runs):
    fits = [run[m].fitted for run in runs for m in run if m.startswith("Hoki")]
    counts = {s: sum(f.status_ == s for f in fits) for s in sorted({f.status_ for f in fits})}
    print(
        f"  How the Hoki fits ended: {counts}, after {min(f.n_iter_ for f in fits)} to"
        f" {max(f.n_iter_ for f in fits)} iterations"
    )


def summary(runs):
    """{method: {measure: mean}}, ready for JSON."""
    return {m: {k: mean_over_seeds(runs, m, f) for k, f in MEASURES.items()} for m in runs[0]}


def cells(name, runs):
    """{row: {column: cell}} of the stored table of networks."""
    out = {}
    for row, method in ROWS.items():
        eces = [ece(run[method]) for run in runs]
        values = {k: mean_over_seeds(runs, method, m) for k, m in MEASURES.items()}
        out[f"{published.TITLES[name]}, {row}"] = {
            "ECE-15": f"{values['ECE']:.4f}",
            "its range": spread_of(eces, ".4f"),
            "floor": f"{values['floor']:.4f}",
            "ECE-30": f"{mean_over_seeds(runs, method, lambda r: ece(r, 30)):.4f}",
            "log loss": f"{values['log loss']:.4f}",
            "AURC x 1000": f"{1000 * values['AURC']:.2f}",
        }
    return out


def beside(found):
    """{row: {column: cell}} of the stored table of published values."""
    return {
        title: {
            column: cell
            for row, theirs in (("temperature", "TempS"), ("Hoki", "Hoki"))
            for column, cell in (
                (row, found[f"{title}, {row}"]["ECE-15"]),
                (f"{row}, published", f"{published.ece(name, 15)[theirs]:.4f}"),
            )
        }
        for name, title in published.TITLES.items()
        if f"{title}, Hoki" in found
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--networks", nargs="*", choices=networks.NAMES, default=networks.NAMES)
    parser.add_argument("--no-figures", action="store_true")
    options = parser.parse_args()
    summaries, found = {}, {}
    for name in options.networks:
        outputs = networks.load(name)
        runs = [methods.run(outputs, seed) for seed in networks.SEEDS]
        accuracy = np.mean(outputs.logits.argmax(axis=1) == outputs.labels)
        print(
            f"\n{name}: {len(outputs.labels):,} rows, accuracy {accuracy:.4f}; published"
            f" {published.ACCURACY[name]} % (validation, test)"
        )
        for show in (table_1, table_2, table_3, tables_4_to_8, table_9):
            show(name, runs)
        differences(runs)
        endings(runs)
        if hasattr(metrics, "calibration_error_bound"):
            bounds(runs)
        summaries[name] = summary(runs)
        found |= cells(name, runs)
    keep("hoki", "networks", found)
    keep("hoki", "published", beside(found))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "summary.json").write_text(json.dumps(summaries, indent=1), encoding="utf-8")
    if not options.no_figures:
        from benchmarks.papers.hoki import figures

        figures.draw(summaries, RESULTS)


if __name__ == "__main__":
    main()
