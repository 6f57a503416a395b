"""A map learned from thousands of simulated tasks, for two classes and few rows:
``python -m benchmarks.experiments.amortised``.

The map is an exact Bayesian average over 1,800 monotone maps (20 slopes, 15 offsets and 6 shapes of
the log-odds) and the unchanged predictions. Only its prior is learned: a network of 1,576 weights
reads 16 numbers that describe the scores without their labels, and gives the prior of each slope,
offset and shape. Training minimises the relative log loss of the average on new rows of 2,000
simulated tasks (``amortised_tasks``) and of the drawn tables of the other packages: a table is
judged by a prior that saw no table of its package. The likelihood of the rows does the rest, so
that their order does not matter and the influence of the prior falls as rows become more.
"""

import argparse
import time
import warnings
from collections import Counter
from itertools import pairwise

import numpy as np
from benchmarks.arena import cases, predictions, scores
from benchmarks.arena.markup import list_table
from benchmarks.experiments.amortised_map import (
    BATCH,
    N_NEW,
    NATS,
    SMALLEST,
    Amortised,
    numbers,
    prepared,
    trained,
)
from benchmarks.experiments.amortised_tasks import simulated
from benchmarks.small_network import SmallNetwork, adam
from scipy.special import softmax

import calibrant as cb
from calibrant.select import candidates

N_TASKS = 2_000
#: Weight of a table's run in training, relative to a simulated task.
REAL = 3.0
SIZES, SEEDS, FOLDS, MOST_TEST, HARM = (100, 250), 1, 5, 3_000, 1.005
OTHERS = {
    "automatic choice": cb.AutoCalibrator,
    "PretrainedAverage": cb.scalings.PretrainedAverage,
    "ensemble matrix scaling": cb.scalings.EnsembleMatrixScaling,
    "structured matrix scaling": cb.scalings.StructuredMatrixScaling,
    "Platt": lambda: cb.OneVsRest(cb.maps.Platt()),
    "structured vector scaling": cb.scalings.StructuredVectorScaling,
    "beta": lambda: cb.OneVsRest(cb.maps.Beta()),
    "quadratic": lambda: cb.OneVsRest(cb.maps.QuadraticScaling()),
    "spline": lambda: cb.OneVsRest(cb.maps.Spline()),
    "Venn-Abers": lambda: cb.OneVsRest(cb.maps.VennAbers()),
    "centred isotonic": lambda: cb.OneVsRest(cb.maps.CenteredIsotonic()),
    "intra-order-preserving": cb.scalings.IntraOrderPreserving,
    "ensemble temperature": cb.scalings.EnsembleTemperature,
    "temperature": cb.TemperatureScaling,
    "none": cb.scalings.Identity,
}
AUTOMATIC, MAP = "automatic choice", "amortised map"
#: Members of the learned gate, and what a relative harm beyond .3 % costs in its training.
MEMBERS = ("none", MAP, AUTOMATIC, "PretrainedAverage", "ensemble matrix scaling")
PENALTY, FREE, GATE_EPOCHS = 10.0, 0.003, 120


def two_class_runs():
    """Runs of two classes at 100 and 250 rows, with the rows: dictionaries."""
    found = []
    for run in cases.PARTS["tables"](seeds=SEEDS):
        if run.size in SIZES and run.case.name.startswith(("tables-two-", "tables-rare-")):
            P, y = predictions.load(run.case)
            fit, test = predictions.split(run, len(y))
            test = test[:MOST_TEST]
            parts = {"P": P[fit], "y": y[fit], "P_new": P[test], "y_new": y[test]}
            group = run.case.group.partition("-")[0]
            name = run.case.name
            found.append({"name": name, "size": run.size, "package": group, **parts})
    return found


def folds(runs):
    """A fold number for each run; packages stay whole, and folds have about equal numbers."""
    fold, total = {}, [0] * FOLDS
    for package, n in Counter(run["package"] for run in runs).most_common():
        fold[package] = int(np.argmin(total))
        total[fold[package]] += n
    return np.array([fold[run["package"]] for run in runs])


def as_task(run, seed):
    """A run of a table as a task of the training: its labels are the truth of its new rows."""
    rows = np.random.default_rng(seed).integers(0, len(run["y_new"]), N_NEW)
    p_new, truth = run["P_new"][rows, 1], run["y_new"][rows].astype(float)
    return prepared(run["P"][:, 1], run["y"].astype(float), p_new, truth, REAL)


def share_of(z, n, errors):
    """z^4 / (z^4 + (errors / sqrt(n))^4), 0 without a gain."""
    z = np.clip(z, 0.0, 1e3)
    return z**4 / (z**4 + (errors / n**0.5) ** 4)


def answered(run, prior):
    """Probabilities of the new rows by every method, and the gate's numbers."""
    P, y, n, found, fits = run["P"], run["y"], len(run["y"]), {}, {}
    for name, make in OTHERS.items():
        fits[name] = make().fit(P, y)
        found[name] = fits[name].predict_proba(run["P_new"])[:, 1]
    own, before = Amortised(prior).fit(P, y), candidates.CANDIDATES
    found[MAP] = own.predict_proba(run["P_new"])[:, 1]
    found["half of each"] = 0.5 * (found[MAP] + found[AUTOMATIC])
    more = candidates.Candidate(MAP, lambda: Amortised(prior), 20.0, classes=(2, 2))
    try:
        candidates.CANDIDATES = (*before, more)
        with_it = cb.AutoCalibrator().fit(P, y)
    finally:
        candidates.CANDIDATES = before
    found["automatic choice with the map as a candidate"] = with_it.predict_proba(run["P_new"])[
        :, 1
    ]
    rarest = min(y.sum(), n - y.sum())
    gains = np.clip([fits[AUTOMATIC].gain_in_errors_, own.gain_in_errors_], -5.0, 8.0)
    share = share_of(gains[1], n, 10.0 if rarest >= 10 else 17.0)
    gated = (1.0 - share) * run["P_new"][:, 1] + share * found[MAP]
    found["half of each, the map under its own gate"] = 0.5 * (gated + found[AUTOMATIC])
    run["numbers"] = np.array(
        [*numbers(P[:, 1]), *gains, np.log(rarest + 0.5), np.log(own.share_ + 1e-6)]
    )
    return found


def gate(runs, seed=0):
    """Function of the numbers (n, 20) that gives the members' weights, trained on ``runs``."""
    rng, X = np.random.default_rng(seed), np.array([run["numbers"] for run in runs])
    centre, spread = X.mean(axis=0), X.std(axis=0) + 1e-3

    def inputs(X):
        return np.clip((X - centre) / spread, -3.0, 3.0)

    network = SmallNetwork((X.shape[1], 12, len(MEMBERS)), rng)
    network.weights[-1] *= 0.1
    step = adam(network.parameters, rate=2e-3)

    def derivative(outputs, rows):
        out = np.empty_like(outputs)
        for j, i in enumerate(rows):
            weight, told, y = softmax(outputs[j]), runs[i]["told"], runs[i]["y_new"]
            own = np.clip(np.where(y == 1, told, 1.0 - told), SMALLEST, 1.0)
            mean = weight @ own
            nothing, now = (-np.log(q).mean() + NATS for q in (own[0], mean))
            slope = -(own / mean).mean(axis=1)
            cost = 1.0 / now + PENALTY * (now / nothing - 1.0 > FREE) / nothing
            out[j] = cost * weight * (slope - weight @ slope)
        return out

    for _ in range(GATE_EPOCHS):
        for rows in np.array_split(rng.permutation(len(X)), max(1, len(X) // BATCH)):
            step(network.gradients(inputs(X)[rows], lambda o, rows=rows: derivative(o, rows)))
            for weight in network.weights:
                weight *= 1.0 - 1e-3
    return lambda X: softmax(network(inputs(X)), axis=1)


def judged(runs, priors, fold):
    """Adds to each run the log losses of all methods."""
    for run, k in zip(runs, fold, strict=True):
        found = answered(run, priors[k])
        run["told"] = np.array([found[name] for name in MEMBERS])
        run["losses"] = {name: _loss(q, run["y_new"]) for name, q in found.items()}
    for k in range(FOLDS):
        weights = gate([run for run, f in zip(runs, fold, strict=True) if f != k])
        for run, f in zip(runs, fold, strict=True):
            if f == k:
                q = weights(run["numbers"][None])[0] @ run["told"]
                run["losses"]["learned gate of five members"] = _loss(q, run["y_new"])


def _loss(q, y):
    return float(scores.log_losses(np.column_stack([1.0 - q, q]), y).mean())


HEADER = (
    "rows",
    "method",
    "mean log loss",
    "relative to none",
    "relative to the automatic choice (± standard error over tables)",
    "win rate over the others",
    "lower than the automatic choice in",
    "harm",
)


def rows_of(runs):
    """Cells of the table: a row for each size and method."""
    cells = []
    for size in SIZES:
        own = [run for run in runs if run["size"] == size]
        table = {m: np.array([run["losses"][m] for run in own]) for m in own[0]["losses"]}
        name = np.array([run["name"].partition("+")[0] for run in own])
        for method in [m for m in table if m not in OTHERS] + list(OTHERS)[:5]:
            loss, auto, none = table[method], table[AUTOMATIC], table["none"]
            ratio = np.log((loss + NATS) / (auto + NATS))
            means = np.array([ratio[name == each].mean() for each in np.unique(name)])
            others = np.array([table[m] for m in OTHERS if m != method])
            wins = (loss < others).mean() + 0.5 * (loss == others).mean()
            cells.append(
                (
                    str(size),
                    method,
                    f"{loss.mean():.4f}",
                    f"{100 * np.expm1(np.log((loss + NATS) / (none + NATS)).mean()):+.1f} %",
                    f"{100 * means.mean():+.1f} ± {100 * means.std() / len(means) ** 0.5:.1f} %",
                    f"{wins:.3f}",
                    f"{100 * (loss < auto).mean():.0f} %",
                    f"{100 * (loss > HARM * none).mean():.1f} %",
                )
            )
    return cells


SLICES = (
    "slice, 100 rows",
    "runs",
    "mean log loss: map",
    "half of each",
    "automatic choice",
    "map lower than the automatic choice in",
    "harm: map",
    "half of each",
    "automatic choice",
)
RATES = (0.0, 0.02, 0.05, 0.1, 0.25, 0.5)


def slices_of(runs):
    """Cells of a second table: runs of 100 rows by the share of the rarer class and by model."""
    own = [run for run in runs if run["size"] == SIZES[0]]
    model = np.array([run["name"].partition("+")[2] for run in own])
    rate = np.array([min(run["y_new"].mean(), 1.0 - run["y_new"].mean()) for run in own])
    parts = [
        (f"rarer class {100 * low:g} to {100 * high:g} %", (rate > low) & (rate <= high))
        for low, high in pairwise(RATES)
    ]
    parts += [(name, model == name) for name in np.unique(model)]
    names = (MAP, "half of each", AUTOMATIC, "none")
    loss = np.array([[run["losses"][name] for run in own] for name in names])
    cells = []
    for title, rows in parts:
        part = loss[:, rows]
        lower = f"{100 * (part[0] < part[2]).mean():.0f} %"
        harm = [f"{100 * (part[j] > HARM * part[3]).mean():.0f} %" for j in range(3)]
        means = [f"{value:.4f}" for value in part[:3].mean(axis=1)]
        cells.append((title, str(rows.sum()), *means, lower, *harm))
    return cells


def main():
    warnings.simplefilter("ignore")
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    start, rng, runs = time.process_time(), np.random.default_rng(1), two_class_runs()
    tasks = [simulated(rng, int(np.exp(rng.uniform(4.1, 5.6))), N_NEW) for _ in range(N_TASKS)]
    tasks = [prepared(t.p, t.y, t.p_new, t.truth) for t in tasks]
    real, fold = [as_task(run, k) for k, run in enumerate(runs)], folds(runs)
    priors = [
        trained([*tasks, *(real[i] for i in np.flatnonzero(fold != k))]) for k in range(FOLDS)
    ]
    print(f"{len(runs)} runs; five trainings: {time.process_time() - start:.0f} CPU s", flush=True)
    judged(runs, priors, fold)
    for table in ([HEADER, *rows_of(runs)], [SLICES, *slices_of(runs)]):
        print("\n".join(list_table(table)))


if __name__ == "__main__":
    main()
