"""Separation on data that took no part in its development: is it better there than the score?

    python -m benchmarks.papers.geometric.unseen    # about four CPU minutes; resumed

The data were chosen by a rule before any result was seen: every file of stage2/ that has raw
``features`` and an integer ``label``, five tables. The model is the random forest of the other
tables, the rows are split 60/20/20 at random, five times. Columns are scaled by the index, as by
default. The table gives means with the range over splits; the last column is the mean difference of
the log loss to isotonic regression on the top label with its paired 95 % t interval. The splits
share rows, so the interval is a guide.
"""

import numpy as np
from benchmarks.papers import stored
from benchmarks.papers.geometric import data, page, tables
from scipy import stats

__all__ = ["COLUMNS", "METHODS", "main", "rows"]

SHUFFLES = 5
#: Name in the table -> name of the run.
METHODS = {
    "uncalibrated": "uncalibrated",
    "isotonic, top label": "isotonic, top label",
    "beta, top label": "beta",
    "separation, isotonic": "fast l2, paper",
    "combined": "fast l2, combined",
}
BASE = "isotonic, top label"
FORMS = {"ECE": ".2f", "NLL": ".4f", "Brier": ".2f", "AURC": ".1f"}
COLUMNS = (
    *("data", "method", "ECE-15", "log loss", "Brier score", "AURC"),
    "log loss less isotonic's",
)


def rows(name, records):
    """The rows of one data set, from the records of its shuffles."""
    out, values = [], page.averages(records)
    for k, (title, method) in enumerate(METHODS.items()):
        of = values[method]
        cells = [
            f"{of[m].mean():{form}} ({stored.spread(of[m], form)})" for m, form in FORMS.items()
        ]
        out.append([name if k == 0 else "", title, *cells, gap(of["NLL"] - values[BASE]["NLL"])])
    return out


def gap(differences):
    """A mean difference with its 95 % t interval; nothing for the base itself."""
    if not differences.any():
        return ""
    n = len(differences)
    half = stats.t.ppf(0.975, n - 1) * differences.std(ddof=1) / np.sqrt(n)
    return f"{differences.mean():+.4f} ∓ {half:.4f}"


def main():
    """Run what is missing, and store the table."""
    names = ["--data", *data.UNSEEN, "--models", "rf", "--shuffles", str(SHUFFLES)]
    found = tables.run(tables.parsed(names))
    body = []
    for key, records in found.items():
        page.show(key, records)
        body += rows(key.split(" rf ")[0], records)
    stored.write("geometric", "unseen", [list(COLUMNS), *body])


if __name__ == "__main__":
    main()
