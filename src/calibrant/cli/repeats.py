"""Warning for a column of a table whose values fix the outcome, as those of a cluster do."""

from typing import Any

import numpy as np

from calibrant._numerics.clusters import fixed_outcomes
from calibrant.cli.predictions import column_of
from calibrant.errors import CalibrationWarning, warn

__all__ = ["caution_columns"]

#: Share of the rows that must be in groups with fixed outcomes, and the most columns looked at.
MOST_ROWS, COLUMNS = 0.5, 50


def caution_columns(data: Any) -> None:
    """Warn of the first column that holds several rows of each value, whose outcomes hardly ever
    differ.
    """
    record = data.record()
    score, outcome = record.pair(record.default_target)
    for name in list(data.source.content)[:COLUMNS]:
        if name in data.columns or len(values := column_of(data, name)) != len(record):
            continue
        if values.ndim != 1:
            continue
        names, group = np.unique(values.astype(str), return_inverse=True)
        if not 1 < len(names) < len(record):
            continue
        fixed = fixed_outcomes(group, score, outcome)
        if fixed.mean() > MOST_ROWS:
            often = int(np.median(np.bincount(group[fixed])[np.unique(group[fixed])]))
            warn(
                f"the values of {name} repeat about {often:,} times with one outcome: if the rows"
                f" of a value are one case, they prove no more than one; pass --cluster {name}.",
                CalibrationWarning,
            )
            return
