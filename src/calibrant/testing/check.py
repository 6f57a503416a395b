"""One check of one object, and the comparisons that checks share."""

import hashlib
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError

from calibrant._support.extras import import_extra
from calibrant._support.saving import load
from calibrant.errors import CalibrationWarning, InputError

__all__ = ["Check", "bind", "digest", "parameters", "refuses_unfitted", "run_all", "same_bits", "saved_copies", "seeded", "show_near"]

#: How near two results must be that differ only in the order of summation or by an optimiser's stopping rule.
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Check:
    """A named check bound to an object; calling it raises AssertionError when the contract is broken.

    Attributes
    ----------
    name : str
    subject : the object under test.
    reason : str or None
        Why the object is excepted from this check, where it declares so.
    """

    name: str
    function: Callable[[Any], None]
    subject: Any
    reason: str | None = None

    def __call__(self) -> None:
        """Run it: our own warnings are no failure, any other warning is."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", CalibrationWarning)
            self.function(self.subject)


def bind(functions: Iterable[Callable], subject: Any, exceptions: Mapping[str, str]) -> Iterator[Check]:
    """The functions as checks of ``subject``, with its declared exceptions."""
    functions = list(functions)
    names = [f.__name__.removeprefix("check_") for f in functions]
    unknown = set(exceptions) - set(names)
    if unknown:
        raise InputError(f"exceptions of {subject!r} must name checks that apply to it; got {sorted(unknown)}; it has {sorted(names)}.")
    for name, function in zip(names, functions, strict=True):
        yield Check(name, function, subject, exceptions.get(name))


def run_all(checks: Iterable[Check]) -> None:
    """Run checks, at least one; one declared as an exception must fail, so that no exception outlives its reason."""
    for check in _some(checks):
        try:
            check()
        except Exception as error:
            if check.reason is None:
                raise AssertionError(f"{check.subject!r} breaks the contract {check.name!r}: {error}") from error
        else:
            if check.reason is not None:
                raise AssertionError(f"{check.subject!r} passes {check.name!r}; remove the declared exception ({check.reason}).")


def _some(checks):
    checks = list(checks)
    if not checks:
        raise AssertionError("no check applies, and a suite that runs nothing proves nothing; pass the checks of an object.")
    return checks


def parameters(checks: Iterable[Check]) -> list[Any]:
    """The checks as pytest parameters with readable names; declared exceptions become strict expected failures."""
    pytest = import_extra("pytest", "the contract suite as pytest parameters", "test")
    return [
        pytest.param(
            check,
            id=f"{' '.join(repr(check.subject).split())}-{check.name}",
            marks=[] if check.reason is None else pytest.mark.xfail(reason=check.reason, strict=True),
        )
        for check in _some(checks)
    ]


def refuses_unfitted(unfitted: Any, call: Any, method: str) -> None:
    """The call of a method raises NotFittedError, and says which class it is and what to do."""
    try:
        call()
    except NotFittedError as error:
        said = str(error)
    else:
        raise AssertionError(f"{method} before fit must raise NotFittedError")
    assert type(unfitted).__name__ in said, f"{method} before fit must name {type(unfitted).__name__}; it says {said!r}"
    assert "call fit" in said, f"{method} before fit must say what to do, call fit; it says {said!r}"


def seeded(estimator: Any) -> Any:
    """The estimator itself, with ``random_state`` set to 0 where it has one and it is None."""
    if estimator.get_params(deep=False).get("random_state", 0) is None:
        estimator.set_params(random_state=0)
    return estimator


def digest(*values: Any) -> str:
    """A hash of arrays, bit by bit; None and tuples allowed."""
    out = hashlib.sha256()
    for value in values:
        if isinstance(value, tuple | list):
            out.update(digest(*value).encode())
        elif value is not None:
            array = np.asarray(value)
            out.update(f"{array.dtype}{array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    return out.hexdigest()


def same_bits(a: np.ndarray, b: np.ndarray, what: str) -> None:
    """The two arrays are equal bit by bit."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape, f"{what}: shapes {a.shape} and {b.shape}"
    assert digest(a) == digest(b), f"{what}: differs by up to {np.abs(np.subtract(a, b, dtype=np.float64)).max()}"


def show_near(a: ArrayLike, b: float | np.ndarray, what: str, tolerance: float = TOLERANCE, *, relative: bool = False) -> None:
    """The two arrays agree within an absolute tolerance, or within one relative to 1 + the size of ``b``."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape, f"{what}: shapes {a.shape} and {b.shape}"
    assert np.isfinite([a, b]).all(), f"{what}: not finite"
    scale = 1.0 + np.abs(b) if relative else 1.0
    worst = float((np.abs(a - b) / scale).max()) if a.size else 0.0
    assert worst <= tolerance, f"{what}: differs by {worst:.3g}, more than {tolerance:g}"


def saved_copies(fitted: Any) -> Iterator[tuple[str, Any]]:
    """The object after a round trip through our own file and through pickle."""
    with tempfile.TemporaryDirectory() as folder:
        yield "save and load", load(fitted.save(Path(folder) / "object.calibrant"))
    yield "pickle", pickle.loads(pickle.dumps(fitted))
