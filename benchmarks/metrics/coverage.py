"""How often each metric's 95 % interval holds the true value where that is hard, and how wide it is: simulated against a known truth.

    python -m benchmarks.metrics.coverage                                # all metrics and settings: the page docs/guide/metric_coverage.rst
    python -m benchmarks.metrics.coverage --only log_loss --repeats 1000 --models sharp "rare event"
    python -m benchmarks.metrics.coverage --json old.json                # in a checkout of another commit; then here --before old.json

The intervals were chosen on seed 1, and are judged on seed 7. The truth is the metric on very many rows, every label counted by its true
probability; of forecasts, on a million outcomes. A value that is nan (no event at all, say) is left out, and so is its interval.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np

from calibrant import metrics
from calibrant._kernels.bootstrap import percentile_limits, resample_weights
from calibrant.contracts.reading import read_for
from calibrant.contracts.sum_metric import SumMetric
from calibrant.errors import CalibrationWarning, InputError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "metric_coverage.rst"
SIZES = (50, 200)
JUDGED_ON = 7


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def two(p, true=None):
    """Probabilities of two classes, as said and true."""
    true = p if true is None else true
    return np.column_stack([1.0 - p, p]), np.column_stack([1.0 - true, true])


def sharp(n, rng):
    """Finding F16: half the rows 1 - 10^U(-3, -1), half 10^U(-3, -1)."""
    low = 10.0 ** rng.uniform(-3.0, -1.0, n)
    return two(np.where(rng.random(n) < 0.5, low, 1.0 - low))


def of_logits(scale, stretch):
    def draw(n, rng):
        z = scale * rng.normal(size=n)
        return two(sigmoid(stretch * z), sigmoid(z))

    return draw


def dirichlet(n_classes, mass):
    return lambda n, rng: (rng.dirichlet(np.full(n_classes, mass), n),) * 2


#: Name -> draw(n, rng): (what the model says, what is true), (n, K) each.
MODELS = {
    "sharp": sharp,
    "constant .97": lambda n, rng: two(np.full(n, 0.97)),
    "constant .999": lambda n, rng: two(np.full(n, 0.999)),
    "rare event": lambda n, rng: two(0.02 * rng.beta(2.0, 2.0, n)),
    "perfect": lambda n, rng: two((rng.random(n) < 0.5).astype(float)),
    "sure, 2 % wrong": lambda n, rng: two(np.full(n, 0.9999), np.full(n, 0.98)),
    "overconfident": of_logits(1.5, 2.0),
    "underconfident": of_logits(1.5, 0.5),
    "calibrated": of_logits(1.5, 1.0),
    "Dirichlet, K = 3": dirichlet(3, 1.0),
    "Dirichlet, K = 100": dirichlet(100, 0.1),
}


def normal(n, rng):
    std = rng.gamma(4.0, 0.25, n)
    return std, std * rng.normal(size=n)


#: Name -> draw(n, rng): (std, error), (n,) each.
FORECASTS = {
    "normal": normal,
    "std too small": lambda n, rng: (lambda s, e: (0.6 * s, e))(*normal(n, rng)),
    "heavy tails": lambda n, rng: (np.ones(n), rng.standard_t(4.0, n) / np.sqrt(2.0)),
    "one std": lambda n, rng: (np.ones(n), rng.normal(size=n)),
}
#: Metrics whose interval is simulated or resampled: how many repeats for each 100, and on which models.
SOME = ("sharp", "constant .97", "calibrated", "overconfident", "Dirichlet, K = 3")
COSTLY = {
    "ece": 30, "rmsce": 30, "event_ece": 30, "classwise_ece": 15, "debiased_ece": 30, "ace": 30, "mce": 15, "ks_error": 10,
    "mmce": 10, "sweep_ece": 8, "kde_ece": 5, "smooth_ece": 5, "ici": 5, "e50": 5, "e90": 5, "aurc": 15, "excess_aurc": 15,
    "coverage_at_risk": 15, "refinement_error": 8, "skce": 50, "ence": 30, "uce": 30, "qce": 20, "interval_calibration_error": 20,
    "confidence_spread": 20, "atb": 10, "cutoff_error": 10, "cdl": 10, "scdl": 10, "u_calibration_error": 10,
    "full_ece": 10, "per_label_ece": 10, "coverage_width_criterion": 10, "marpd": 10, "median_absolute_error": 20,
    "miscalibration_area": 10,
    "rms_interval_calibration_error": 10, "size_stratified_coverage": 10, "width_dependence": 10,
}  # fmt: skip
#: Whose truth is not that of this simulation: its estimand depends on the number of rows.
LEFT_OUT = ("variational_error",)


def chosen():
    """Every metric of the public list, once each, by its key."""
    found = {}
    for name in metrics.__all__:
        metric = getattr(metrics, name)
        if hasattr(metric, "interval_of") and metric.key not in LEFT_OUT:
            found.setdefault(metric.key, metric)
    return found


def labels(true, rng):
    return (rng.random((len(true), 1)) > np.cumsum(true, axis=1)[:, :-1]).sum(axis=1)


def drawn(metric, model, n, rng):
    """Arguments of the metric: (y, P), or (y, mean, std)."""
    if metric.task == "regression":
        std, error = FORECASTS[model](n, rng)
        return error, np.zeros(n), std
    P, true = MODELS[model](n, rng)
    return labels(true, rng), P


def true_value(metric, model):
    rng = np.random.default_rng(99)
    if metric.task == "regression":
        return metric(*drawn(metric, model, 1_000_000, rng))
    P, true = MODELS[model](2, rng)
    rows = 2000 if metric.key == "skce" else 300_000 // P.shape[1]
    P, true = MODELS[model](rows, rng)
    if metric.key == "skce":
        return true_kernel_error(P, true, metric, rng)
    K = P.shape[1]
    weight = true.ravel()
    return metric(np.tile(np.arange(K), rows), np.repeat(P, K, axis=0), sample_weight=weight)


def true_kernel_error(P, true, metric, rng):
    """Of independent rows with expected gaps truth - P."""
    from calibrant._kernels.calibration_kernel import kernel_row_sums, median_distance

    gaps, n = true - P, len(P)
    sums, _ = kernel_row_sums(P, gaps, np.ones(n), median_distance(P, np.ones(n)))
    return float((sums.sum() - (gaps * gaps).sum()) / (n * (n - 1)))


def percentile_width(metric, given, n_resamples=200):
    """Width of the plain percentile bootstrap's interval, where sums make it cheap."""
    if not isinstance(metric, SumMetric):
        return float("nan")
    record = read_for([metric], *given[:2], given[2] if len(given) > 2 else None, None, None, "probability").one_output()
    totals = metric.group_totals_of(record, np.arange(len(record)), len(record))
    rng = np.random.default_rng(0)
    draws = np.stack([resample_weights(np.ones(len(totals)), rng) for _ in range(n_resamples)]) @ totals
    with np.errstate(all="ignore"):
        return float(np.diff(percentile_limits(metric.finalise(draws), 0.95))[0])


def simulate(metric, model, n, repeats, seed=JUDGED_ON, known=None, **options):
    """One row of the table; coverage is among the repeats in which the metric has a value."""
    known = true_value(metric, model) if known is None else known
    found, widths = [], []
    for r in range(repeats):
        given = drawn(metric, model, n, np.random.default_rng([seed, r, n]))
        try:
            got = metric.interval(*given, random_state=r, **options)
        except InputError:
            continue
        value = got.value if got.plain is None else got.plain
        if np.isnan(value):
            continue
        found.append((got.low, got.high, got.low <= value <= got.high))
        if len(widths) < 20 and repeats >= 20:
            widths.append(percentile_width(metric, given))
    if not found:
        return None
    low, high, holds = np.array(found, dtype=float).T
    slack = 1e-6 * max(abs(known), 1e-3)
    below, above = np.mean(high < known - slack), np.mean(low > known + slack)
    covered = 1.0 - below - above
    return {
        "metric": metric.key, "model": model, "n": n, "repeats": len(found), "truth": float(known), "coverage": float(covered),
        "error": float(np.sqrt(max(covered * (1.0 - covered), 0.0475 / 4) / len(found))), "too low": float(below), "too high": float(above),
        "width": float(np.median(high - low)), "bootstrap": float(np.nanmean(widths)) if np.isfinite(widths).any() else float("nan"),
        "holds": float(holds.mean()), "no width": float(np.mean(high <= low)),
    }  # fmt: skip


def table(keys, sizes, repeats, models=None, seed=JUDGED_ON):
    """All rows, printed as they come."""
    start = time.process_time()
    for key, metric in chosen().items():
        if keys and key not in keys:
            continue
        share = COSTLY.get(key, 100)
        names = FORECASTS if metric.task == "regression" else SOME if share < 100 and not models else MODELS
        for model in (name for name in names if not models or name in models):
            if getattr(metric, "binary_only", False) and "Dirichlet" in model:
                continue
            known = true_value(metric, model)
            if not np.isfinite(known):
                continue
            for n in sizes:
                options = {} if share == 100 else {"n_resamples": 200}
                row = simulate(metric, model, n, max(repeats * share // 100, 2), seed, known, **options)
                if row is not None:
                    yield row
                    print({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
        print(f"{time.process_time() - start:.0f} CPU s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", help="keys of metrics")
    parser.add_argument("--models", nargs="+")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--repeats", type=int, default=200, help="of intervals in closed form; of others a share")
    parser.add_argument("--seed", type=int, default=JUDGED_ON)
    parser.add_argument("--json", type=Path, help="keep the rows here, and leave the page")
    parser.add_argument("--rows", type=Path, help="make the page of rows that were kept, and simulate nothing")
    parser.add_argument("--before", type=Path, help="rows of another commit, to stand beside")
    given = parser.parse_args()
    warnings.simplefilter("ignore", CalibrationWarning)
    if given.rows:
        rows = json.loads(given.rows.read_text(encoding="utf-8"))
    else:
        rows = list(table(given.only, given.sizes, given.repeats, given.models, given.seed))
    if given.json:
        given.json.write_text(json.dumps(rows), encoding="utf-8")
    elif not (given.only or given.models):
        from benchmarks.metrics.coverage_page import page

        before = json.loads(given.before.read_text(encoding="utf-8")) if given.before else []
        PAGE.write_text(page(rows, before, chosen()), encoding="utf-8")


if __name__ == "__main__":
    main()
