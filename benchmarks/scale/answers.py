"""The same sums by other libraries: ``python -m benchmarks.scale.answers NAME FILE [OUTPUT]``.

Each prints its numbers as JSON. They read only the columns of the risk, the label and the slice.
"""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["ANSWERS"]

BINS = 15
#: The recalibration that ``apply`` of Polars writes.
SLOPE, OFFSET = 0.7, -0.1
LOSSES = (
    "count(*) AS n, sum(risk) AS s, sum(label)::DOUBLE AS y,"
    " -sum(ln(CASE WHEN label = 1 THEN risk ELSE 1 - risk END)) AS ll,"
    " sum(power(risk - label, 2)) AS b"
)
SQL = f"""
WITH cells AS (SELECT {{by}} least(floor(risk * {BINS}), {BINS - 1}) AS bin, {LOSSES}
               FROM '{{file}}' GROUP BY ALL)
SELECT {{by}} sum(ll) / sum(n) AS log_loss, sum(b) / sum(n) AS brier_score,
       sum(abs(s - y)) / sum(n) AS ece FROM cells {{end}}
"""


def sklearn(file: str) -> dict[str, Any]:
    """Read with pandas, and compute losses, AUROC and the calibration error."""
    import numpy as np
    from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

    frame = _pandas(file)
    p, y = frame["risk"].to_numpy(), frame["label"].to_numpy()
    at = np.minimum((p * BINS).astype(int), BINS - 1)
    gaps = np.bincount(at, weights=p - y, minlength=BINS)
    return {
        "log_loss": log_loss(y, p),
        "brier_score": brier_score_loss(y, p),
        "ece": np.abs(gaps).sum() / len(y),
        "auroc": roc_auc_score(y, p),
    }


def _pandas(file):
    import pandas as pd

    columns = ["risk", "label"]
    return (
        pd.read_csv(file, usecols=columns)
        if file.endswith(".csv")
        else pd.read_parquet(file, columns=columns)
    )


def duckdb(file: str) -> dict[str, Any]:
    """Compute losses and the calibration error by a query of DuckDB."""
    return dict(zip(("log_loss", "brier_score", "ece"), _sql(file, "", "")[0], strict=True))


def duckdb_slices(file: str) -> dict[str, Any]:
    """Compute the numbers of each slice by a query of DuckDB."""
    rows = _sql(file, "slice,", "GROUP BY slice ORDER BY slice")
    return _of_slices([row[1:] for row in rows])


def _sql(file, by, end):
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    return connection.sql(SQL.format(file=file, by=by, end=end)).fetchall()


def polars(file: str) -> dict[str, Any]:
    """Compute losses and the calibration error by a query of Polars."""
    return _polars(file, []).collect(engine="streaming").to_dicts()[0]


def polars_slices(file: str) -> dict[str, Any]:
    """Compute the numbers of each slice by a query of Polars."""
    frame = _polars(file, ["slice"]).sort("slice").collect(engine="streaming")
    return _of_slices(frame.select("log_loss", "brier_score", "ece").rows())


def _polars(file, by):
    import polars as pl

    p, y = pl.col("risk"), pl.col("label")
    loss = -pl.when(y == 1).then(p).otherwise(1.0 - p).log()
    cells = (
        _scan(file)
        .group_by(*by, (p * BINS).floor().clip(0, BINS - 1).alias("bin"))
        .agg(
            pl.len().alias("n"),
            (p - y).sum().abs().alias("gap"),
            loss.sum().alias("ll"),
            ((p - y) ** 2).sum().alias("b"),
        )
    )
    n = pl.col("n").sum()
    sums = {"log_loss": "ll", "brier_score": "b", "ece": "gap"}
    made = [(pl.col(column).sum() / n).alias(name) for name, column in sums.items()]
    return cells.group_by(*by).agg(made) if by else cells.select(made)


def _scan(file):
    import polars as pl

    return pl.scan_csv(file) if file.endswith(".csv") else pl.scan_parquet(file)


def calibrant_slices(file: str) -> dict[str, Any]:
    """Compute the numbers of each slice by this package."""
    import numpy as np

    import calibrant as cb

    found = cb.evaluate(file, probabilities="risk", label="label", by="slice").columns()
    names = ("event_log_loss", "log_loss"), ("event_brier_score", "brier_score"), ("event_ece",)
    columns = [next(found[name] for name in one if name in found) for one in names]
    order = np.argsort(found["slice"])
    return _of_slices(np.stack(columns, axis=1)[order].tolist())


def _of_slices(rows):
    """The number of slices, the mean of each number over them, and the first slice."""
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    names = ("log_loss", "brier_score", "ece")
    first = dict(zip([f"first_{name}" for name in names], rows[0], strict=True))
    return {"slices": len(rows), **dict(zip(names, means, strict=True)), **first}


def sklearn_fit(file: str) -> dict[str, Any]:
    """Read with pandas, and fit a logistic regression on the log-odds."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    frame = _pandas(file)
    p = frame["risk"].to_numpy()
    model = LogisticRegression(C=np.inf).fit(np.log(p / (1.0 - p))[:, None], frame["label"])
    return {"slope": model.coef_[0, 0], "offset": model.intercept_[0]}


def polars_apply(file: str, output: str) -> dict[str, Any]:
    """Write the table with its risk recalibrated."""
    import polars as pl

    z = (pl.col("risk") / (1.0 - pl.col("risk"))).log()
    made = _scan(file).with_columns((1.0 / (1.0 + (-(SLOPE * z + OFFSET)).exp())).alias("risk"))
    (made.sink_csv if output.endswith(".csv") else made.sink_parquet)(output)
    return {"bytes": Path(output).stat().st_size}


ANSWERS: Mapping[str, Callable[..., dict[str, Any]]] = {
    one.__name__: one
    for one in (
        *(sklearn, duckdb, polars, duckdb_slices, polars_slices, calibrant_slices),
        *(sklearn_fit, polars_apply),
    )
}

if __name__ == "__main__":
    print(json.dumps(ANSWERS[sys.argv[1]](*sys.argv[2:])))
