"""A small thread pool for blocks of rows, and its limit.

Blocks have a fixed size and their results come back in order, so sums over them do not depend on
the number of threads.
"""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from threading import Lock
from typing import Any

__all__ = ["get_threads", "map_ahead", "map_blocks", "row_blocks", "set_threads", "threads"]

MAX_DEFAULT_THREADS = 4
_lock = Lock()
_state: dict = {"limit": None, "pool": None, "size": 0}


def get_threads() -> int:
    """Return the number of threads that calibrant may use.

    The last :func:`set_threads`, else the environment variable CALIBRANT_THREADS, else the number
    of cores available, at most 4. In a browser's Python (Emscripten), which cannot start threads,
    it is always 1.

    Returns
    -------
    int, at least 1

    See Also
    --------
    set_threads, threads : change the limit.

    Examples
    --------
    >>> get_threads() >= 1
    True
    """
    if sys.platform == "emscripten":
        return 1
    if _state["limit"] is not None:
        return _state["limit"]
    setting = os.environ.get("CALIBRANT_THREADS", "")
    if setting.isdigit() and int(setting) > 0:
        return int(setting)
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return min(cores, MAX_DEFAULT_THREADS)


def set_threads(n: int | None) -> None:
    """Limit calibrant's threads; None restores CALIBRANT_THREADS or the default.

    Results do not depend on it. While calibrant fits, predicts many rows or computes a metric,
    NumPy's BLAS has one thread, and afterwards as many as before: with ``set_threads(1)`` calibrant
    uses one core. Models that calibrant only wraps keep their threads.

    Parameters
    ----------
    n : int >= 1, or None

    Raises
    ------
    ValueError
        When n is not a whole number of at least 1.

    See Also
    --------
    threads : limits one block only.
    get_threads : returns the current limit.

    Examples
    --------
    >>> set_threads(1)
    >>> get_threads()
    1
    >>> set_threads(None)
    """
    if n is not None and (isinstance(n, bool) or int(n) != n or n < 1):
        raise ValueError(
            f"n must be a whole number of at least 1, or None; got {n!r}; pass set_threads(1) for"
            " no threads."
        )
    _state["limit"] = None if n is None else int(n)


@contextmanager
def threads(n: int | None) -> Iterator[Any]:
    """Limit calibrant's threads inside a ``with`` block; see :func:`set_threads`.

    Parameters
    ----------
    n : int >= 1, or None

    See Also
    --------
    set_threads : sets the limit permanently.

    Examples
    --------
    >>> with threads(1):
    ...     get_threads()
    1
    """
    before = _state["limit"]
    set_threads(n)
    try:
        yield
    finally:
        _state["limit"] = before


def row_blocks(n_rows: int, rows_per_block: int) -> list[slice]:
    """Slices of at most ``rows_per_block`` rows, in order."""
    return [
        slice(start, min(start + rows_per_block, n_rows))
        for start in range(0, n_rows, rows_per_block)
    ]


def map_blocks(function: Callable[[Any], Any], blocks: Sequence[Any]) -> list[Any]:
    """``[function(block) for block in blocks]``, over the thread pool where there is more than
    one block and thread.
    """
    n = min(get_threads(), len(blocks))
    if n <= 1:
        return [function(block) for block in blocks]
    # Each thread takes a run of neighbouring blocks: one hand-over per thread, not per block.
    bounds = [round(i * len(blocks) / n) for i in range(n + 1)]
    runs = [blocks[a:b] for a, b in pairwise(bounds)]
    parts = _pool(n).map(lambda run: [function(block) for block in run], runs)
    return [result for part in parts for result in part]


def map_ahead(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
    """``map(function, items)`` in order, over the thread pool, with one item per thread at a time:
    for streams of items.
    """
    n = get_threads()
    if n <= 1:
        yield from map(function, items)
        return
    waiting = deque()
    for item in items:
        waiting.append(_pool(n).submit(function, item))
        if len(waiting) > n:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _pool(n: int) -> Any:
    with _lock:
        if _state["pool"] is None or _state["size"] < n:
            if _state["pool"] is not None:
                _state["pool"].shutdown(wait=False)
            _state["pool"], _state["size"] = (
                ThreadPoolExecutor(n, thread_name_prefix="calibrant"),
                n,
            )
        return _state["pool"]


def _forget_pool():
    """A forked child has the parent's pool object but not its threads."""
    _state["pool"], _state["size"] = None, 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
