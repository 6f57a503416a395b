"""Mixtures over rates of forgetting by their own log loss, and running means in bins."""

import numpy as np

from calibrant._numerics.online_isotonic import Cells
from calibrant._numerics.online_logistic import Design, State, log_likelihood

__all__ = [
    "SHARED",
    "begin_mixture",
    "block_size",
    "forecast_of",
    "learn_batch",
    "learn_block",
    "read_block",
]


#: After a block of B rows, n in all, members share B / (n + this) of the weight equally.
SHARED = 256.0
#: Keeps logarithms of weights finite.
TINY = 1e-300


def block_size(n: int) -> int:
    """Rows of the block that begins after n rows: up to 64, and up to 256 far from the start."""
    return max(1, min(64, n // 8), min(256, n // 512))


def begin_mixture(count: int, n_bins: int) -> State:
    """Equal weights of rates, and empty bins."""
    sizes = {"rows_learnt": 1, "batches": 1, "bin_rows": n_bins, "bin_hits": n_bins}
    empty = {name: np.zeros(size) for name, size in sizes.items()}
    return empty | {"log_weight": np.full(count, -np.log(count))}


def learn_block(
    state: State, rows: Design | Cells, rule: str | None, wanted: bool
) -> tuple[State, np.ndarray]:
    """The state after a whole block, and the probabilities (k, B) before each row if wanted (else
    the outcomes).
    """
    new, path, likelihood = rows.learnt(state)
    out = rows.y
    if wanted or rule is not None:
        out, bins = _mixed(state, rows, path, likelihood, rule)
        new |= bins
    new["rows_learnt"] = state["rows_learnt"] + likelihood.shape[1]
    share = likelihood.shape[1] / float((new["rows_learnt"] + SHARED)[0])
    return new | {"log_weight": _shared(state, likelihood.sum(axis=1), share)}, out


def _shared(state: State, gained: np.ndarray, share: float) -> np.ndarray:
    """Logarithms of the weights (J,) after log-likelihoods, of which all but the start share some.

    A run of luck must not bring the start back once it has lost.
    """
    learns = np.isfinite(state["rate"])
    weight = (1.0 - share) * _weights(state["log_weight"] + gained) + share * learns / learns.sum()
    return np.log(np.maximum(weight, TINY))


def learn_batch(
    state: State, kind: type[Design] | type[Cells], x: np.ndarray, y: np.ndarray, most: int
) -> tuple[State, np.ndarray]:
    """The state after a batch of rows (m, b), (k, b) that were all predicted before it, and their
    probabilities (k, b).

    The members' losses are those of what they predicted, and count 1 / ``most`` each, b <= most:
    by Hoelder's inequality the losses of the mixture exceed those of a member by at most ``most``
    times the logarithm of its weight, whatever the rows.
    """
    rows = kind(x, y)
    theta = kind(x[:, :0], y[:, :0]).ahead(state)[0]
    each = rows.forecast(theta[:, :, None])
    weight = _weights(state["log_weight"])
    q = np.add.accumulate(weight[:, None, None] * each, axis=0)[-1]
    gained = log_likelihood(each, y).sum(axis=1) / most
    new, i = state, 0
    while i < x.shape[1]:
        size = block_size(int(new["rows_learnt"][0]))
        part = kind(x[:, i : i + size].copy(), y[:, i : i + size].copy())
        new = part.learnt(new)[0]
        new["rows_learnt"] = new["rows_learnt"] + part.x.shape[1]
        i += size
    batches = state["batches"] + 1.0
    share = 1.0 / float((batches + SHARED)[0])
    return new | {"batches": batches, "log_weight": _shared(state, gained, share)}, q


def read_block(state: State, rows: Design | Cells, rule: str | None) -> tuple[State, np.ndarray]:
    """Parameters ("theta"), weights ("weight") and bins after some rows of a block, and the
    probabilities (k, B) before each row.
    """
    theta, path, likelihood = rows.ahead(state)
    out, bins = _mixed(state, rows, path, likelihood, rule)
    weight = _weights(state["log_weight"] + likelihood.sum(axis=1))
    return {"theta": theta, "weight": weight} | bins, out


def forecast_of(rows: Design | Cells, now: State, rule: str | None) -> np.ndarray:
    """Probabilities (k, B) of rows by the parameters, weights and bins of :func:`read_block`."""
    each = now["weight"][:, None, None] * rows.forecast(now["theta"][:, :, None])
    q = np.add.accumulate(each, axis=0)[-1]
    if rule is None:
        return q
    place = _bin_of(q, len(now["bin_rows"]))
    return _in_bin(q, now["bin_hits"][place], now["bin_rows"][place], rule)


def _weights(log_weight: np.ndarray) -> np.ndarray:
    """Weights that sum to 1 over the first axis."""
    weight = np.exp(log_weight - log_weight.max(axis=0))
    return weight / weight.sum(axis=0)


def _mixed(
    state: State, rows: Design | Cells, path: np.ndarray, likelihood: np.ndarray, rule: str | None
) -> tuple[np.ndarray, State]:
    """Probabilities (k, B) before each row, and the bins after the last."""
    before = np.add.accumulate(likelihood, axis=1) - likelihood
    weight = _weights(state["log_weight"][:, None] + before)
    q = (weight[:, None] * rows.forecast(path)).sum(axis=0)
    if rule is None:
        return q, {}
    place, m = _bin_of(q[0], len(state["bin_rows"])), np.arange(len(state["bin_rows"]))[:, None]
    member, each = (m == place).astype(np.float64), np.arange(len(place))
    hits, count = (
        np.add.accumulate(np.column_stack([state[name], new]), axis=1)
        for name, new in (("bin_hits", member * rows.y), ("bin_rows", member))
    )
    out = _in_bin(q[0], hits[place, each], count[place, each], rule)
    return out[None], {"bin_hits": hits[:, -1], "bin_rows": count[:, -1]}


def _bin_of(q: np.ndarray, n_bins: int) -> np.ndarray:
    return np.minimum((q * n_bins).astype(np.intp), n_bins - 1)


def _in_bin(q: np.ndarray, hits: np.ndarray, rows: np.ndarray, rule: str) -> np.ndarray:
    """Probability from the outcomes of earlier rows in the bin of q: by "brier" their mean, or q
    before the first; by "log_loss" (hits + 1/2) / (rows + 1).
    """
    if rule == "log_loss":
        return (hits + 0.5) / (rows + 1.0)
    return np.where(rows > 0.0, hits / np.maximum(rows, 1.0), q)
