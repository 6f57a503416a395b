"""How often each metric's 95 % interval holds the true value where that is hard, and how wide it
is: simulated against a known truth.

    python -m benchmarks.metrics.coverage --rows kept.jsonl  # all metrics and settings; run again,
    it goes on where it stopped
    python -m benchmarks.metrics.coverage --rows kept.jsonl --page  # what is kept onto the page
    docs/guide/metric_coverage.rst
    python -m benchmarks.metrics.coverage --only log_loss --repeats 1000 --models sharp "rare event"
    python -m benchmarks.metrics.coverage --hard --page  # laws that do not flatter
    (benchmarks/hard), before and after

The intervals were chosen on seed 1, and are judged on seed 2027, which nothing was chosen on
(--again runs a metric over, on another seed, that failed there). Beside each stands the percentile
bootstrap of the same samples, which is what the library had before. The truth is the metric on very
many rows, every label counted by its true probability; of forecasts, on a million outcomes. A value
that is nan (no event at all, say) is left out, and so is its interval.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from benchmarks.metrics.coverage_settings import FORECASTS, MODELS, chosen, drawn, true_value

from calibrant._numerics.bootstrap import percentile_limits, resample_weights
from calibrant.core.metric_kinds import MeanMetric, SumMetric
from calibrant.core.reading import read_for
from calibrant.errors import CalibrationWarning, InputError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "metric_coverage.rst"
#: Tables of benchmarks.hard that ``--hard`` prints.
HARD = ("intervals", "separated", "forecasts", "classes", "weights", "clusters")
SIZES = (50, 200)
JUDGED_ON = 2027
#: Resamples of the percentile bootstrap beside it, and of how many samples where sums make it cheap
#: and where they do not.
RESAMPLES, BOOTSTRAPPED, BOOTSTRAPPED_ROWS = 100, 100, 20
#: Metrics whose interval is simulated or resampled: how many repeats for each 200, and on which
#: models; those of few, of 50 rows only.
SOME = ("sharp", "constant .97", "calibrated", "overconfident", "Dirichlet, K = 3")
COSTLY = {
    "ece": 100,
    "rmsce": 60,
    "event_ece": 60,
    "classwise_ece": 60,
    "debiased_ece": 60,
    "ace": 100,
    "mce": 60,
    "per_label_ece": 100,
    "full_ece": 60,
    "ence": 100,
    "uce": 100,
    "qce": 100,
    "interval_calibration_error": 100,
    "miscalibration_area": 100,
    "rms_interval_calibration_error": 100,
    "ks_error": 60,
    "mmce": 40,
    "cdl": 40,
    "smooth_ece": 20,
    "ici": 20,
    "e50": 20,
    "e90": 20,
    "coverage_at_risk": 60,
    "refinement_error": 30,
    "median_absolute_error": 100,
    "width_dependence": 60,
}
FEW = 40


def percentile(metric, given, n_resamples, random_state):
    """(low, high) of the plain percentile bootstrap; quick where sums make it so."""
    if not isinstance(metric, SumMetric):
        got = metric.interval(
            *given, method="bootstrap", n_resamples=n_resamples, random_state=random_state
        )
        return got.low, got.high
    record = read_for(
        [metric], *given[:2], given[2] if len(given) > 2 else None, None, None, "probability"
    ).one_output()
    totals = metric.group_totals_of(record, np.arange(len(record)), len(record))
    rng = np.random.default_rng(random_state)
    draws = (
        np.stack([resample_weights(np.ones(len(totals)), rng) for _ in range(n_resamples)]) @ totals
    )
    with np.errstate(all="ignore"):
        return percentile_limits(metric.finalise(draws), 0.95)


def simulate(metric, model, n, repeats, seed=JUDGED_ON, known=None, bootstrapped=0, **options):
    """One row of the table; coverage is among the repeats in which the metric has a value."""
    known = true_value(metric, model) if known is None else known
    found, beside = [], []
    for r in range(repeats):
        given = drawn(metric, model, n, np.random.default_rng([seed, r, n]))
        try:
            got = metric.interval(*given, random_state=r, **options)
        except InputError:
            continue
        value = got.value if got.plain is None else got.plain
        if np.isnan(value):
            continue
        truth = known(*given) if callable(known) else known
        found.append((got.low - truth, got.high - truth, got.low <= value <= got.high))
        if r < bootstrapped:
            beside.append(np.subtract(percentile(metric, given, RESAMPLES, r), truth))
    if not found:
        return None
    low, high, holds = np.array(found, dtype=float).T
    truth = float("nan") if callable(known) else float(known)
    slack = 1e-6 * max(abs(truth), 1e-3) if truth == truth else 1e-9
    covered = _covered(low, high, slack)
    row = {
        "metric": metric.key,
        "model": model,
        "n": n,
        "drawn": repeats,
        "repeats": len(found),
        "truth": truth,
        "coverage": covered,
        "error": float(np.sqrt(max(covered * (1.0 - covered), 0.0475 / 4) / len(found))),
        "too low": float(np.mean(high < -slack)),
        "too high": float(np.mean(low > slack)),
        "width": float(np.median(high - low)),
        "holds": float(holds.mean()),
        "no width": float(np.mean(high <= low)),
    }
    if beside:
        low, high = np.array(beside).T
        known_ends = np.isfinite(low) & np.isfinite(high)
        if known_ends.any():
            low, high = low[known_ends], high[known_ends]
            row |= {
                "bootstrap": _covered(low, high, slack),
                "bootstrap width": float(np.median(high - low)),
                "bootstraps": len(low),
            }
    return row | {"seed": seed}


def _covered(low, high, slack):
    return float(np.mean((low <= slack) & (high >= -slack)))


def settings(keys, sizes, repeats, models):
    """(metric, model, rows, repeats, of how many the bootstrap) of every row of the table."""
    for key, metric in chosen().items():
        if keys and key not in keys:
            continue
        share = COSTLY.get(key, 200)
        for model in (
            FORECASTS
            if metric.domain.name == "regression"
            else SOME
            if share < 200 and not models
            else MODELS
        ):
            if (models and model not in models) or (
                getattr(metric, "binary_only", False) and "Dirichlet" in model
            ):
                continue
            bounded = isinstance(metric, MeanMetric) and np.isfinite(metric.range).all()
            for n in (
                (20, *sizes) if bounded and sizes == SIZES else sizes[:1] if share < FEW else sizes
            ):
                quick = isinstance(metric, SumMetric)
                yield (
                    metric,
                    model,
                    n,
                    max(repeats * share // 200, 2),
                    BOOTSTRAPPED if quick else BOOTSTRAPPED_ROWS,
                )


def table(rows, keys, sizes, repeats, models=None, seed=JUDGED_ON, keep=None):
    """All rows but those there already, kept as they come."""
    start, done, known = (
        time.process_time(),
        {(row["metric"], row["model"], row["n"]) for row in rows},
        {},
    )
    for metric, model, n, times, bootstrapped in settings(keys, sizes, repeats, models):
        if (metric.key, model, n) in done:
            continue
        if (metric.key, model) not in known:
            known = {(metric.key, model): true_value(metric, model)}
        truth = known[metric.key, model]
        if not callable(truth) and not np.isfinite(truth):
            continue
        options = {"n_resamples": 200} if metric.key in COSTLY else {}
        row = simulate(metric, model, n, times, seed, truth, bootstrapped, **options)
        if row is not None:
            rows.append(row)
            print(
                {k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()},
                f"{time.process_time() - start:.0f} CPU s",
                flush=True,
            )
            if keep:
                with keep.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", help="keys of metrics")
    parser.add_argument("--models", nargs="+")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument(
        "--repeats", type=int, default=200, help="of intervals in closed form; of others a share"
    )
    parser.add_argument("--seed", type=int, default=JUDGED_ON)
    parser.add_argument(
        "--rows",
        type=Path,
        help="a file of rows, one a line: those there are not simulated again, new ones are added",
    )
    parser.add_argument(
        "--again", action="store_true", help="simulate what is kept too; the page shows the newest"
    )
    parser.add_argument(
        "--page",
        action="store_true",
        help="put the rows that are kept onto the page, where those of other metrics stay",
    )
    given = parser.parse_args()
    warnings.simplefilter("ignore", CalibrationWarning)
    rows = (
        [json.loads(line) for line in given.rows.read_text(encoding="utf-8").splitlines()]
        if given.rows and given.rows.exists()
        else []
    )
    if given.page:
        from benchmarks.metrics.coverage_page import page

        PAGE.write_text(
            page(rows, chosen(), PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""),
            encoding="utf-8",
        )
    else:
        table(
            [] if given.again else rows,
            given.only,
            tuple(given.sizes),
            given.repeats,
            given.models,
            given.seed,
            given.rows,
        )


def hard_page(now, before):
    """Put what the tables of ``benchmarks.hard`` found onto the page."""
    from benchmarks.metrics.coverage_page import page

    PAGE.write_text(
        page([], chosen(), PAGE.read_text(encoding="utf-8"), (now, before)), encoding="utf-8"
    )


if __name__ == "__main__":
    if "--hard" in sys.argv:
        from benchmarks.hard.tables import main as hard

        sys.exit(hard(sys.argv[1:], HARD, hard_page))
    main()
