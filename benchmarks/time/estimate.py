"""Accuracy, AUROC and log loss on new rows without labels, beside NannyML's CBPE and PAPE.

CBPE: isotonic regression of the labels, fitted on the reference itself; the metric's expectation by
these chances, without ties. PAPE: the same with weights of an out-of-fold classifier of the inputs.
Settings of the library's estimate were chosen on four other simulated laws and on every second
shift here; the others judge. "Oracle" knows the true risks: its error is the noise of the labels.
"""

import time
from typing import Any

import numpy as np
from benchmarks.questions.table import goal, line
from benchmarks.time.moved_rows import Case, Moved, cases
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict

import calibrant as cb

__all__ = ["run"]

METRICS = ("accuracy", "event_auroc", "log_loss")
METHODS = ("ours", "ours, no X", "CBPE", "PAPE")
SMALLEST = 1e-15


def by_chances(chance: np.ndarray, q: np.ndarray) -> dict[str, float]:
    """The metrics of predictions ``q`` by the chances of their labels, as NannyML writes them."""
    q = np.clip(q, SMALLEST, 1.0 - SMALLEST)
    order = np.argsort(-q)
    right, wrong = (np.append(0.0, np.cumsum(c[order])) for c in (chance, 1.0 - chance))
    area = np.trapezoid(right / right[-1], wrong / wrong[-1])
    loss = -(chance * np.log(q) + (1.0 - chance) * np.log1p(-q))
    accuracy = np.where(q > 0.5, chance, 1.0 - chance)
    return {
        "accuracy": float(accuracy.mean()),
        "event_auroc": float(area),
        "log_loss": float(loss.mean()),
    }


def true_metrics(y: np.ndarray, q: np.ndarray) -> dict[str, float]:
    """The metrics by the labels."""
    found = by_chances(y.astype(float), q)
    return {**found, "event_auroc": float(roc_auc_score(y, q))}


def _weights(rows: Moved) -> np.ndarray:
    """Out-of-fold density ratios of boosted trees with their defaults."""
    Z = np.concatenate([rows.X, rows.X_new])
    new = np.arange(len(Z)) >= len(rows.X)
    model: Any = HistGradientBoostingClassifier(random_state=0)
    odds = cross_val_predict(model, Z, new, method="predict_proba", cv=5)[: len(rows.X), 1]
    odds = np.clip(odds, 1e-6, 1.0 - 1e-6)
    return odds / (1.0 - odds) * len(rows.X) / len(rows.X_new)


def _peer(rows: Moved, weight: np.ndarray | None) -> dict[str, float]:
    fit = IsotonicRegression(out_of_bounds="clip").fit(rows.p, rows.y, sample_weight=weight)
    return by_chances(fit.predict(rows.p_new), rows.p_new)


def _estimates(rows: Moved, metric: str) -> dict[str, Any]:
    given = {"reference": (rows.p, rows.y), "metric": metric}
    return {
        "ours": cb.estimate_performance(rows.p_new, X=(rows.X, rows.X_new), **given),
        "ours, no X": cb.estimate_performance(rows.p_new, **given),
    }


def measured(case: Case, repeats: int) -> dict[str, dict[str, np.ndarray]]:
    """Metric -> errors (repeats,) of each method, and whether our interval held the truth."""
    out: dict[str, dict[str, list[float]]] = {metric: {} for metric in METRICS}
    for seed in range(repeats):
        rows = case.draw(np.random.default_rng(seed))
        peers = {"CBPE": _peer(rows, None), "PAPE": _peer(rows, _weights(rows))}
        if rows.truth is not None:
            peers["oracle"] = by_chances(rows.truth, rows.p_new)
        for metric, true in true_metrics(rows.y_new, rows.p_new).items():
            found = _estimates(rows, metric)
            ours = found["ours"]
            errors = {name: one.value - true for name, one in found.items()}
            errors |= {name: one[metric] - true for name, one in peers.items()}
            errors["inside"] = float(ours.low <= true <= ours.high)
            errors["holds"] = float(ours.state == "holds")
            for name, value in errors.items():
                out[metric].setdefault(name, []).append(value)
    return {m: {name: np.array(v) for name, v in one.items()} for m, one in out.items()}


def run(repeats: int) -> None:
    """Print the mean absolute errors of each shift, and the goals."""
    start = time.perf_counter()
    found = {case: measured(case, repeats) for case in cases()}
    for metric in METRICS:
        print(f"\n{metric}: mean absolute error in points, {repeats} draws of each shift")
        line("shift", [*METHODS, "oracle", "inside", "holds"])
        for case, by_metric in found.items():
            one = by_metric[metric]
            errors = [f"{100 * np.abs(one[name]).mean():.2f}" for name in METHODS]
            oracle = f"{100 * np.abs(one['oracle']).mean():.2f}" if "oracle" in one else ""
            shares = [f"{one[name].mean():.2f}" for name in ("inside", "holds")]
            line(f"{case.name}, {case.kind}", [*errors, oracle, *shares])
        _compare(metric, [one[metric] for one in list(found.values())[1::2]])
    for kind in ("simulated", "tilted", "natural"):
        own = [one[m] for case, one in found.items() if case.kind == kind for m in METRICS]
        sure = np.concatenate([one["inside"][one["holds"] == 1.0] for one in own])
        held = float(sure.mean()) if len(sure) else np.nan
        said = f'95 % intervals hold the realised value where the state "holds", {kind}'
        if kind == "natural":
            print(f"  {said}: {held:.3f} of {len(sure)} (no goal: the relation changes too)")
        else:
            goal(f"{said}, at least .93", f"{held:.3f} of {len(sure)}", held >= 0.93)
    print(f"{time.perf_counter() - start:.0f} s")


def _compare(metric: str, found: list[dict[str, np.ndarray]]) -> None:
    """Paired ratios of the mean absolute errors over the shifts that judge."""
    size = {name: np.array([np.abs(one[name]).mean() for one in found]) for name in METHODS}
    for peer in ("CBPE", "PAPE"):
        ratio = np.log(size["ours"] / size[peer])
        error = ratio.std(ddof=1) / np.sqrt(len(ratio))
        goal(
            f"{metric}: error below that of {peer} (geometric mean over {len(ratio)} shifts)",
            f"{np.exp(ratio.mean()):.2f} times, 95 % {np.exp(ratio.mean() - 2.0 * error):.2f} to"
            f" {np.exp(ratio.mean() + 2.0 * error):.2f}; better in {np.sum(ratio < 0.0)}",
            ratio.mean() < 0.0,
        )
