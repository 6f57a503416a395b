"""Running a kernel's optimiser with the linear algebra library on one thread.

The solvers call many small matrix products. Threads of the library that wait for each other then cost more than they bring, ten times
more where other processes share the cores; the blocks of rows have a thread pool of their own.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from threading import Lock
from typing import Any

import numpy as np

from calibrant._kernels.newton import minimise, minimise_near
from calibrant._support.extras import import_extra
from calibrant.errors import MissingDependencyError

__all__ = ["one_blas_thread", "solve"]

_turn = Lock()
_state: dict = {"controller": None}


def solve(
    objective: Callable[..., Any], start: np.ndarray, memory: dict[str, Any] | None = None, tolerance: float = 1e-8
) -> tuple[np.ndarray, str, float]:  # fmt: skip
    """:func:`calibrant._kernels.newton.minimise` on one thread of linear algebra; with a memory, near the end of the last search."""
    with one_blas_thread():
        return minimise(objective, start, tolerance) if memory is None else minimise_near(objective, start, memory, tolerance)


@contextmanager
def one_blas_thread() -> Iterator[Any]:
    """Limit BLAS to one thread inside the block.

    The limit is the whole process's: inside another such block, of this thread or another, nothing is changed.
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
    """threadpoolctl's limit on the libraries loaded by the first call; nothing without threadpoolctl, which scikit-learn brings."""
    if _state["controller"] is None:
        try:
            _state["controller"] = import_extra("threadpoolctl", "limiting BLAS threads", "all").ThreadpoolController()
        except MissingDependencyError:
            return nullcontext()
    return _state["controller"].limit(limits=1, user_api="blas")
