"""The page docs/guide/metric_coverage.rst from the rows of benchmarks/metrics/coverage.py."""

HEAD = """
Coverage of the intervals
=========================

How often each metric's 95 % interval (``metric.interval``) holds the true value where that is hard, simulated against a known truth by
``python -m benchmarks.metrics.coverage``: sharp, constant, rare, perfect and miscalibrated models, few rows. The intervals were chosen on
one set of simulations (seed 1) and judged here on another (seed 7), which RMSE, MAE, CRPS, NLL, pinball loss, sharpness and width had
seen. ± is a standard error of the simulation; *missed* are the shares of intervals wholly below and wholly above the truth;
*bootstrap* is the mean width of the plain percentile bootstrap's interval, where sums
make it cheap; *before* is the coverage of commit 5d473fa. Every interval holds the number that the metric gives, and is one-sided where
the parameter sits on its bound: an error of 0 is covered from 0 up, so that coverage above 97 % is as it must be there, and for outcomes
that take few values. Log loss has no bound: its coverage is that of these models, not of any.
A metric without a row below has not been simulated for this page.

"""
COLUMNS = ("metric", "model", "n", "truth", "coverage", "±", "missed", "width", "bootstrap", "before", "repeats")


def page(rows, before, metrics):
    """The text of the page; ``before`` are rows of another commit, ``metrics`` the metrics by key."""
    old = {(row["metric"], row["model"], row["n"]): row["coverage"] for row in before}
    lines = [
        HEAD.strip(),
        "",
        "What each interval is of",
        "------------------------",
        "",
        *_table(("metric", "estimand"), _estimands(metrics)),
    ]
    lines += ["", "Simulations", "-----------", "", *_table(COLUMNS, (_cells(row, old) for row in rows))]
    return "\n".join(lines) + "\n"


def _estimands(metrics):
    return ((key, metrics[key].estimand) for key in sorted(metrics))


def _cells(row, old):
    was = old.get((row["metric"], row["model"], row["n"]))
    return (
        row["metric"], row["model"], f"{row['n']:,}", f"{row['truth']:.4g}", f"{100 * row['coverage']:.1f} %", f"{100 * row['error']:.1f}",
        f"{100 * row['too low']:.1f}, {100 * row['too high']:.1f}", f"{row['width']:.3g}",
        "" if row["bootstrap"] != row["bootstrap"] else f"{row['bootstrap']:.3g}", "" if was is None else f"{100 * was:.1f} %",
        str(row["repeats"]),
    )  # fmt: skip


def _table(columns, rows):
    """A directive of one line a row."""
    lines = [".. csv-table::", "   :header-rows: 1", ""]
    return lines + ["   " + ", ".join(f'"{cell}"' for cell in cells) for cells in (columns, *rows)]
