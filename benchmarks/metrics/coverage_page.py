"""The page docs/guide/metric_coverage.rst from the rows of benchmarks/metrics/coverage.py."""

import csv
import math

from benchmarks.metrics.coverage_settings import LATTICE

HEAD = """
Coverage of the metrics' intervals
==================================

This page simulates how often each metric's 95 % interval (``metric.interval``) holds a known true
value in hard cases: sharp, constant, rare, perfect and miscalibrated models, heavy tails, few rows
(``python -m benchmarks.metrics.coverage``). The intervals were chosen on one set of simulations
(seed 1) and evaluated here on another (seed 2027), on which none was chosen; a row with another
seed was run again after its interval had failed. ± is a standard error of the simulation; *missed*
are the shares of intervals entirely below and entirely above the truth. *Before* is the plain
percentile bootstrap of the same samples (100 resamples; of up to 100 samples where sums make it
cheap, of up to 20 elsewhere), with its coverage and its width. Widths are medians. Where fewer
*runs* had a value than were drawn, the rest had none (no event, for example), and coverage refers
to those that had: an interval that is right over all samples need not be right among these.

Every interval holds the value of the metric, has a positive width, and is one-sided if the
parameter lies on its bound. An error of 0 is always covered, so coverage above 97 % is necessary
there, and for outcomes with few values. Log loss and other unbounded metrics are covered in these
models, not in all. The coverage of ``full_ece`` and ``cdl`` depends on the share of the rows in
each cell or score.

`Hard distributions`_ has clustered, weighted, tied, skewed and heavy-tailed rows, and cases where
an interval still falls short: read it before trusting an interval on such data.
``python -m benchmarks.metrics.coverage --hard --page`` writes that table.
"""
HARD, HARD_COLUMNS = (
    "Hard distributions",
    ("table", "law", "should be", "before (527bd88)", "now", "samples at most"),
)
COLUMNS = (
    "metric",
    "model",
    "n",
    "truth",
    "coverage",
    "±",
    "missed",
    "width",
    "before",
    "width before",
    "runs",
    "seed",
)
#: Shares of few rows: their intervals move in steps.
SHARES = (
    "accuracy",
    "coverage",
    "coverage_at_risk",
    "size_stratified_coverage",
    "net_benefit",
    "standardised_net_benefit",
    "lift",
)
LEAST, MOST = 0.93, 0.97


def page(rows, metrics, before="", hard=({}, {})):
    """The text of the page from the rows, the newest of each setting, the metrics by key, and what
    the hard tables found (now, before).

    What the page ``before`` tells of metrics, or hard tables, that have no row here stays.
    """
    kept, order, new = _told(before), list(metrics), {row["metric"] for row in rows}

    def table(title, found):
        stays = [
            cells for cells in kept.get(title, []) if cells[0] in metrics and cells[0] not in new
        ]
        return _section(
            title,
            COLUMNS,
            sorted([*stays, *map(_cells, found)], key=lambda cells: order.index(cells[0])),
        )

    latest = {(row["metric"], row["model"], row["n"]): row for row in rows}
    rows = sorted(latest.values(), key=lambda row: list(metrics).index(row["metric"]))
    low = [
        row
        for row in rows
        if row["coverage"] < LEAST - 2.0 * math.sqrt(LEAST * (1.0 - LEAST) / row["repeats"])
    ]
    high = [
        row
        for row in rows
        if _interior(row, metrics[row["metric"]]) and row["coverage"] > MOST + 2.0 * _error(row)
    ]
    lines = [
        HEAD.strip(),
        "",
        *_section("What each interval estimates", ("metric", "estimand"), _estimands(metrics)),
    ]
    lines += table(f"Below {100 * LEAST:g} % by more than two standard errors", low)
    lines += table(
        f"Above {100 * MOST:g} % by more than two standard errors, inside the range and off a lattice",
        high,
    )
    stays = [cells for cells in kept.get(HARD, [])[1:] if cells[0] not in hard[0]]
    lines += _section(
        HARD, HARD_COLUMNS, sorted([*stays, *_hard_cells(*hard)], key=lambda cells: cells[0])
    )
    lines += table("Simulations", rows)
    return "\n".join(lines).rstrip() + "\n"


def _hard_cells(now, before):
    for name, found in now.items():
        for law, (value, wanted, repeats) in found.items():
            was = before.get(name, {}).get(law)
            yield (
                name,
                law,
                wanted,
                "" if was is None else f"{was[0]:.3f}",
                f"{value:.3f}",
                f"{repeats}",
            )


def _told(text):
    """{heading: its rows of cells} of a page."""
    lines, found = text.splitlines(), {}
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if below and not below.strip("-"):
            heading = found.setdefault(line, [])
        elif line.startswith('   "') and found:
            heading.append(tuple(next(csv.reader([line.strip()], skipinitialspace=True))))
    return found


def _error(row):
    return math.sqrt(MOST * (1.0 - MOST) / row["repeats"])


def _interior(row, metric):
    """Whether the truth is inside the metric's range and the outcomes are no lattice."""
    if row["model"] in LATTICE or row["metric"] in SHARES or row["truth"] != row["truth"]:
        return False
    least, most = metric.range
    far = 1e-3 * max(abs(row["truth"]), row["width"])
    return row["truth"] - least > far and most - row["truth"] > far


def _estimands(metrics):
    return ((key, metrics[key].estimand) for key in sorted(metrics))


def _cells(row):
    beside = row.get("bootstrap")
    return (
        row["metric"],
        row["model"],
        f"{row['n']:,}",
        "of each sample" if row["truth"] != row["truth"] else f"{row['truth']:.4g}",
        f"{100 * row['coverage']:.1f} %",
        f"{100 * row['error']:.1f}",
        f"{100 * row['too low']:.1f}, {100 * row['too high']:.1f}",
        f"{row['width']:.3g}",
        "" if beside is None else f"{100 * beside:.0f} %",
        "" if beside is None else f"{row['bootstrap width']:.3g}",
        (
            f"{row['repeats']}"
            if row["repeats"] == row["drawn"]
            else f"{row['repeats']} of {row['drawn']}"
        ),
        str(row["seed"]),
    )


def _section(title, columns, rows):
    """A heading and a table of one line a row, or "None." where there is none."""
    lines = [
        "   " + ", ".join('"' + cell.replace('"', '""') + '"' for cell in cells) for cells in rows
    ]
    head = ["   " + ", ".join(f'"{cell}"' for cell in columns)]
    body = [".. csv-table::", "   :header-rows: 1", "", *head, *lines] if lines else ["None."]
    return [title, "-" * len(title), "", *body, ""]
