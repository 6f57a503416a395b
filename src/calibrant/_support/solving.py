"""Newton's method from tempered scores, and the warning where it did not converge."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from threading import Lock
from typing import Any

import numpy as np

from calibrant._kernels.multinomial import DENSE_MATRIX
from calibrant._kernels.newton import minimise, minimise_near
from calibrant._kernels.softmax import SINGLE_ENTRIES, log_softmax, log_softmax_mixed
from calibrant._support.extras import import_extra
from calibrant.errors import FitWarning, MissingDependencyError, warn
from calibrant.predictions import Predictions

__all__ = [
    "one_blas_thread",
    "scores_at",
    "solve",
    "tempered_scores",
    "tempering",
    "tolerance_for",
    "warn_unless_converged",
]

_turn = Lock()
_state: dict = {"controller": None}


def solve(
    objective: Callable[..., Any],
    start: np.ndarray,
    memory: dict[str, Any] | None = None,
    tolerance: float = 1e-8,
) -> tuple[np.ndarray, str, float]:
    """:func:`calibrant._kernels.newton.minimise` on one thread of linear algebra; with a memory,
    near the end of the last search.
    """
    with one_blas_thread():
        return (
            minimise(objective, start, tolerance)
            if memory is None
            else minimise_near(objective, start, memory, tolerance)
        )


@contextmanager
def one_blas_thread() -> Iterator[Any]:
    """Limit BLAS to one thread inside the block.

    The limit is the whole process's: inside another such block, of this thread or another, nothing
    is changed.
    """
    if not _turn.acquire(blocking=False):
        yield
        return
    try:
        with _limiter():
            yield
    finally:
        _turn.release()


def _limiter():
    """threadpoolctl's limit on the libraries loaded by the first call; nothing without
    threadpoolctl, which scikit-learn brings.
    """
    if _state["controller"] is None:
        try:
            _state["controller"] = import_extra(
                "threadpoolctl", "limiting BLAS threads", "all"
            ).ThreadpoolController()
        except MissingDependencyError:
            return nullcontext()
    return _state["controller"].limit(limits=1, user_api="blas")


def warn_unless_converged(name: str, status: str, gradient: float, advice: str) -> None:
    """FitWarning with the status, the gradient left over and what to do; nothing for
    "converged".
    """
    if status != "converged":
        warn(f"{name} ended {status} with a gradient of {gradient:.1e}; {advice}.", FitWarning)


def tempering(record: Predictions, smooth: bool) -> tuple[float, float]:
    """(temperature, mixing) of a fit on the record: mixing is 1 / (n + 1), none where it is not
    ``smooth``.
    """
    beta, _ = record.inverse_temperature
    return 1.0 / beta, 1.0 / (float(record.weights.sum()) + 1.0) if smooth else 0.0


def scores_at(record: Predictions, temperature: float, mixing: float) -> np.ndarray:
    """z (n, K) = log((1 - mixing) softmax(logits / T) + mixing / K) of the rows of any record."""
    logits = record.logits * (1.0 / temperature)
    return log_softmax_mixed(logits, mixing) if mixing else log_softmax(logits)


def tempered_scores(record: Predictions) -> tuple[np.ndarray, float, float]:
    """(z, temperature, mixing) of the rows of a fit: z (n, K) = log((1 - mixing) softmax(logits /
    T) + mixing / K), mixing = 1 / (n + 1).

    Found once for all fits on the record where these share a memory, and then in float32 where the
    classes are many: a choice that is still open compares losses to five digits, and products take
    half the time.
    """
    beta, _ = record.inverse_temperature
    mixing = 1.0 / (float(record.weights.sum()) + 1.0)
    if "tempered" in record.derived:
        return record.derived["tempered"], 1.0 / beta, mixing
    z = log_softmax_mixed(record.logits, mixing, beta)
    if record.memory is not None and not record.memory.get("exact"):
        if record.n_classes * (record.n_classes + 1) > DENSE_MATRIX:
            z = z.astype(np.float32, copy=False)
        if z.size < SINGLE_ENTRIES:
            record.derived["tempered"] = z
    return z, 1.0 / beta, mixing


def tolerance_for(z: np.ndarray) -> float:
    """The largest entry of a gradient that ends a search on such scores: what their rounding
    lets one see.
    """
    return 1e-6 if z.dtype == np.float32 else 1e-8
