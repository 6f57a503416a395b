"""Rows dealt out for several uses, so that none is used twice."""

from collections.abc import Sequence

import numpy as np

from calibrant._kernels.draws import row_codes
from calibrant.errors import InputError
from calibrant.predictions import Predictions

__all__ = ["dealt"]


def dealt(record: Predictions, shares: Sequence[float], random_state: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
    """(rows, how often each counts) of each part of a record with labels, ``shares`` of its rows each, at random.

    Of a record with clusters, whole clusters are dealt out. Weights must be whole numbers: a row of weight 2 is dealt out as two. The order
    of the rows changes nothing. Classes are not dealt out evenly: a part whose classes follow the whole's is no sample of independent rows,
    which exact promises ask for. The draw depends on what the rows hold, beside the seed: with one draw for all data sets of n rows,
    those of a model that says few things would always be dealt out by the ranks of their labels.

    Examples
    --------
    >>> from calibrant.predictions import read
    >>> parts = dealt(read([0.1, 0.2, 0.7, 0.6], [0, 0, 1, 1]), [0.75, 0.25])
    >>> [len(rows) for rows, _ in parts]
    [3, 1]
    """
    # By what rows hold and what was said of their own class, so that the order of the classes changes nothing either.
    own = np.take_along_axis(record.values, record.strata[:, None], axis=1)
    codes = row_codes(record.values) + row_codes(own)
    rng = np.random.default_rng([random_state, int((codes * record.weights.astype(np.uint64)).sum())])
    if record.cluster is None:
        order = np.lexsort((record.strata, codes))
        rows = order if record.weight is None else np.repeat(order, record.weight[order].astype(np.intp))
        place = rng.permutation(len(rows))
    else:
        rows, place = _by_cluster(record, record.cluster, rng)
    ends = np.round(np.cumsum(shares) / np.sum(shares) * (place.max() + 1)).astype(np.intp)
    part = np.searchsorted(ends, place, side="right")
    found = [np.unique(rows[part == k], return_counts=True) for k in range(len(shares))]
    if not all(len(chosen) for chosen, _ in found):
        what = "rows" if record.cluster is None else "clusters"
        raise InputError(f"{place.max() + 1} {what} cannot be dealt out to {len(shares)} uses in shares {list(shares)}; give more of them.")
    return [(chosen, count.astype(np.float64)) for chosen, count in found]


def _by_cluster(record, cluster, rng):
    """(rows as often as they count, the place of each one's cluster); clusters in an order of their rows' own, then shuffled."""
    number = np.unique(cluster, return_inverse=True)[1]
    code = np.zeros(number.max() + 1, dtype=np.uint64)
    own = row_codes(record.values) * (2 * record.strata + 1).astype(np.uint64) * record.weights.astype(np.uint64)
    np.add.at(code, number, own)
    place = np.empty(len(code), dtype=np.intp)
    place[np.argsort(code, kind="stable")] = rng.permutation(len(code))
    rows = np.repeat(np.arange(len(record)), record.weights.astype(np.intp))
    return rows, place[number[rows]]
