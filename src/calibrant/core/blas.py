"""One thread for BLAS in calibrant's own calls.

Between two products the threads of BLAS wait in a loop. The many small products of a fit, or one
sum over 10,000 rows, so cost the CPU time of all cores for the work of one, and take longer too.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from inspect import isfunction
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from calibrant.core.extras import import_extra
from calibrant.core.options import seeded
from calibrant.errors import MissingDependencyError

__all__ = ["FEW_NUMBERS", "limit_fits", "on_one_blas_thread", "one_blas_thread"]

Given = ParamSpec("Given")
Found = TypeVar("Found")

#: BLAS uses one thread by itself for the products of so few numbers.
FEW_NUMBERS = 32
#: The methods that fit, and those that search stored points, under any of their names.
FITS = frozenset(
    {
        "add",
        "each",
        "fit",
        "fit_checked",
        "fit_groups",
        "fit_out_of_fold",
        "fit_record",
        "latent",
        "nearest",
        "partial_fit",
        "score",
        "score_record",
    }
)
_turn = Lock()
_state: dict = {"controller": None}


@contextmanager
def one_blas_thread(numbers: float = float("inf")) -> Iterator[Any]:
    """Limit BLAS to one thread inside the block; do nothing for up to FEW_NUMBERS ``numbers``, as
    of one row to predict.

    The limit applies to the whole process, and ends as it was before; nested blocks, in this thread
    or another, change nothing.
    """
    if numbers <= FEW_NUMBERS or not _turn.acquire(blocking=False):
        yield
        return
    try:
        with _limiter():
            yield
    finally:
        _turn.release()


def _limiter() -> Any:
    """threadpoolctl's limit on the libraries loaded by the first call; nothing where they have one
    thread, or without threadpoolctl, which scikit-learn brings.
    """
    if _state["controller"] is None:
        try:
            every = import_extra("threadpoolctl", "limiting BLAS threads", "all")
        except MissingDependencyError:
            return nullcontext()
        _state["controller"] = every.ThreadpoolController().select(user_api="blas")
    libraries = _state["controller"]
    if all(library.num_threads == 1 for library in libraries.lib_controllers):
        return nullcontext()
    return libraries.limit(limits=1)


def on_one_blas_thread(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Decorator of a function whose calls run inside :func:`one_blas_thread`."""

    @wraps(function)
    def limited(*args: Given.args, **kwargs: Given.kwargs) -> Found:
        with one_blas_thread():
            return function(*args, **kwargs)

    return limited


def limit_fits(cls: type) -> None:
    """Put a class's own methods of the names in FITS on one thread, and check the seed of their
    object before, so that none can forget it.
    """
    for name in FITS & vars(cls).keys():
        if isfunction(vars(cls)[name]):
            setattr(cls, name, seeded(on_one_blas_thread(vars(cls)[name])))
