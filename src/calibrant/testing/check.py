"""A check of an object, and the comparisons that checks share."""

import hashlib
import math
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from calibrant.core.arrays import ArrayLike
from calibrant.core.extras import import_extra
from calibrant.core.guarantee import Guarantee
from calibrant.core.saving import load
from calibrant.errors import CalibrationWarning, InputError

__all__ = [
    "LAYOUTS",
    "Case",
    "Check",
    "Outcome",
    "bind",
    "check_guarantee",
    "digest",
    "laid_out",
    "parameters",
    "refuses_unfitted",
    "require_good",
    "run_all",
    "same_bits",
    "same_rows",
    "saved_copies",
    "seeded",
    "settle",
    "show_near",
    "splits",
]

#: Largest allowed difference of two results that differ only in the order of summation or by an
#: optimiser's stopping rule.
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Check:
    """Named check bound to an object; calling it raises AssertionError if the contract is broken.

    Attributes
    ----------
    name : str
    subject : the object under test.
    reason : str or None
        The reason why the object declares an exception from this check.
    """

    name: str
    function: Callable[[Any], None]
    subject: Any
    reason: str | None = None

    def __call__(self) -> None:
        """Run the check; any warning that is not a CalibrationWarning fails it."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", CalibrationWarning)
            self.function(self.subject)


def bind(
    functions: Iterable[Callable[..., Any]], subject: Any, exceptions: Mapping[str, str]
) -> Iterator[Check]:
    """Turn functions into checks of ``subject``, with its declared exceptions."""
    functions = list(functions)
    names = [f.__name__.removeprefix("check_") for f in functions]
    unknown = set(exceptions) - set(names)
    if unknown:
        raise InputError(
            f"exceptions of {subject!r} must name checks that apply to it; got {sorted(unknown)};"
            f" it has {sorted(names)}."
        )
    for name, function in zip(names, functions, strict=True):
        yield Check(name, function, subject, exceptions.get(name))


def run_all(checks: Iterable[Check]) -> None:
    """Run checks, at least one.

    A check declared as an exception must fail, so that no exception outlives its reason.
    """
    for check in _some(checks):
        try:
            check()
        except Exception as error:
            if check.reason is None:
                raise AssertionError(
                    f"{check.subject!r} breaks the contract {check.name!r}: {error}"
                ) from error
        else:
            if check.reason is not None:
                raise AssertionError(
                    f"{check.subject!r} passes {check.name!r}; remove the declared exception"
                    f" ({check.reason})."
                )


def _some(checks: Any) -> Any:
    checks = list(checks)
    if not checks:
        raise AssertionError(
            "no check was given, so nothing would be tested; pass the checks of an object."
        )
    return checks


def parameters(checks: Iterable[Check]) -> list[Any]:
    """Turn checks into pytest parameters with readable names.

    Declared exceptions become strict expected failures.
    """
    pytest = import_extra("pytest", "the contract suite as pytest parameters", "test")
    return [
        pytest.param(
            check,
            id=f"{' '.join(repr(check.subject).split())}-{check.name}",
            marks=(
                [] if check.reason is None else pytest.mark.xfail(reason=check.reason, strict=True)
            ),
        )
        for check in _some(checks)
    ]


def refuses_unfitted(unfitted: Any, call: Any, method: str) -> None:
    """Check that a method raises NotFittedError, with the class and the remedy in its message."""
    try:
        call()
    except NotFittedError as error:
        said = str(error)
    else:
        raise AssertionError(f"{method} before fit must raise NotFittedError")
    assert type(unfitted).__name__ in said, (
        f"{method} before fit must name {type(unfitted).__name__} in its error; got {said!r}"
    )
    assert "call fit" in said, f"{method} before fit must tell the user to call fit; got {said!r}"


def seeded(estimator: Any) -> Any:
    """Set ``random_state`` to 0 if the estimator has one that is None, and return the estimator."""
    if estimator.get_params(deep=False).get("random_state", 0) is None:
        estimator.set_params(random_state=0)
    return estimator


def digest(*values: Any) -> str:
    """A hash of the bits of arrays; values may also be None or tuples."""
    out = hashlib.sha256()
    for value in values:
        if isinstance(value, tuple | list):
            out.update(digest(*value).encode())
        elif value is not None:
            array = np.asarray(value)
            out.update(
                f"{array.dtype}{array.shape}".encode() + np.ascontiguousarray(array).tobytes()
            )
    return out.hexdigest()


def same_bits(a: np.ndarray, b: np.ndarray, what: str) -> None:
    """Check that two arrays are equal bit by bit."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape, f"{what}: shapes {a.shape} and {b.shape}"
    assert digest(a) == digest(b), (
        f"{what}: differs by up to {np.abs(np.subtract(a, b, dtype=np.float64)).max()}"
    )


def show_near(
    a: ArrayLike,
    b: float | np.ndarray,
    what: str,
    tolerance: float = TOLERANCE,
    *,
    relative: bool = False,
) -> None:
    """Check that two arrays agree within an absolute tolerance, or one relative to 1 + |b|."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape, f"{what}: shapes {a.shape} and {b.shape}"
    assert np.isfinite([a, b]).all(), f"{what}: some values are not finite"
    scale = 1.0 + np.abs(b) if relative else 1.0
    worst = float((np.abs(a - b) / scale).max()) if a.size else 0.0
    assert worst <= tolerance, f"{what}: differs by {worst:.3g}, more than {tolerance:g}"


def saved_copies(fitted: Any) -> Iterator[tuple[str, Any]]:
    """Copies of the object, one saved to a file and loaded, and one pickled and unpickled."""
    with tempfile.TemporaryDirectory() as folder:
        yield "save and load", load(fitted.save(Path(folder) / "object.calibrant"))
    yield "pickle", pickle.loads(pickle.dumps(fitted))


#: Number of rows predicted alone, and number of rows in a short slice.
ALONE, SHORT = 8, 7


def splits(n: int) -> list[list[slice]]:
    """Return parts of n rows: single rows, halves with the last row apart, and short slices."""
    single = [slice(i, i + 1) for i in np.unique(np.linspace(0, n - 1, ALONE).astype(int)).tolist()]
    short = [slice(i, min(i + SHORT, n)) for i in range(0, min(n, 3 * SHORT), SHORT)]
    halves = [slice(0, n // 2), slice(n // 2, n - 1), slice(n - 1, n)]
    return [single, [part for part in halves if part.stop > part.start], short]


def _spread(values: np.ndarray) -> np.ndarray:
    """Every other row and column of a larger array."""
    wide = np.zeros(tuple(2 * size for size in values.shape), values.dtype)
    every_other = tuple(slice(None, None, 2) for _ in values.shape)
    wide[every_other] = values
    return wide[every_other]


def _reversed(values: np.ndarray) -> np.ndarray:
    """Rows and columns with negative steps."""
    back = tuple(slice(None, None, -1) for _ in values.shape)
    return values[back].copy()[back]


#: Name -> function that returns the same numbers in another memory order.
LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "strides of a larger array": _spread,
    "negative strides": _reversed,
}


def laid_out(held: dict[str, Any], layout: Callable[[np.ndarray], np.ndarray]) -> dict[str, Any]:
    """Return the arguments with every numeric array to predict on in another memory order."""
    return {
        name: layout(value) if name.endswith("_test") and _is_numbers(value) else value
        for name, value in held.items()
    }


def _is_numbers(value: np.ndarray) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def same_rows(a: np.ndarray, b: np.ndarray, what: str, tolerance: float = 0.0) -> None:
    """Check that two outputs have the same bits.

    With a declared tolerance, they must agree within it and have the same argmax.
    """
    if not tolerance:
        same_bits(a, b, what)
        return
    show_near(a, b, what, tolerance)
    if a.ndim == 2:
        assert (a.argmax(axis=1) == b.argmax(axis=1)).all(), (
            f"{what}: another class has the largest probability"
        )


#: A longer error message does not count as one clear sentence.
LONGEST = 600


@dataclass(frozen=True)
class Case:
    """A call of one component with one unusual input.

    Attributes
    ----------
    family : str
        The family of inputs, such as "logits" or "containers".
    name : str
    argument : str
        The argument that an error must name; "" for any.
    call : callable without arguments
        Passes the input to the component and returns the result.
    right : callable of the result
        Raises AssertionError if the result is wrong.
    answered : bool
        Whether a result is allowed: False if data are missing or contradictory.
    refused : bool
        Whether a clear error is allowed: False if the input is complete.
    """

    family: str
    name: str
    argument: str
    call: Callable[[], Any]
    right: Callable[[Any], None]
    answered: bool = True
    refused: bool = True


@dataclass(frozen=True)
class Outcome:
    """Outcome of a case: "right", "clear error", "wrong" or "obscure".

    "wrong" is a wrong result, or one that is not allowed; "obscure" is any other error.
    """

    kind: str
    detail: str = ""

    @property
    def good(self) -> bool:
        """Whether the outcome is a right result or a clear error."""
        return self.kind in ("right", "clear error")


def settle(case: Case) -> Outcome:
    """Run a case; any warning that is not a CalibrationWarning counts as an obscure error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", CalibrationWarning)
            answer = case.call()
    except InputError as error:
        return _refused(case, str(error))
    except Exception as error:
        return Outcome("obscure", f"{type(error).__name__}: {error}")
    if not case.answered:
        return Outcome("wrong", "returned a result, although data are missing or contradictory")
    try:
        case.right(answer)
    except AssertionError as error:
        return Outcome("wrong", str(error))
    return Outcome("right")


def _refused(case: Case, text: str) -> Outcome:
    """Judge an error: a clear one is one sentence that names the argument.

    After a semicolon it states what was seen or what to do.
    """
    if "\n" in text or len(text) > LONGEST or case.argument not in text or ";" not in text:
        return Outcome(
            "obscure", f"not one clear sentence about {case.argument or 'the input'}: {text}"
        )
    return Outcome("clear error", text) if case.refused else Outcome("wrong", f"refused: {text}")


def require_good(cases: Iterable[Case]) -> None:
    """Check that every case ends in a right result or a clear error, and name those that do not."""
    outcomes = [(case, settle(case)) for case in cases]
    if not outcomes:
        raise AssertionError("no case was run; pass at least one")
    bad = [
        f"{case.name}: {outcome.kind}, {outcome.detail}"
        for case, outcome in outcomes
        if not outcome.good
    ]
    if bad:
        raise AssertionError(f"{len(bad)} of {len(outcomes)} cases: {'; '.join(bad)}")


#: Number of simulation standard errors by which the runs may deviate from a guarantee.
MARGIN = 3.0


def check_guarantee(guarantee: Guarantee, realised: ArrayLike) -> None:
    """Check that independent runs keep a guarantee, within three simulation standard errors.

    Parameters
    ----------
    guarantee : Guarantee
    realised : (runs,) the guaranteed quantity in each run, on its population or on many new rows.
        Each run draws a calibration set of its own.

    Raises
    ------
    AssertionError
        If the mean of the runs violates the guarantee; for a "pac" guarantee, if too many runs
        exceed the bound.

    See Also
    --------
    core.Guarantee : the guarantee that is checked.

    Examples
    --------
    >>> from calibrant.core import Guarantee
    >>> said = Guarantee(
    ...     "marginal", "coverage", "new rows", "rows are exchangeable", n=99, least=0.9
    ... )
    >>> check_guarantee(said, [0.89, 0.92, 0.9, 0.91])
    """
    values = np.asarray(realised, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2 or not np.isfinite(values).all():
        raise AssertionError(
            f"realised must hold one finite number per run, of at least 2 runs; got {realised!r}."
        )
    if guarantee.guarantee == "pac":
        _few_broken(guarantee, values)
        return
    slack = MARGIN * float(values.std(ddof=1)) / math.sqrt(len(values))
    low, high = guarantee.least, guarantee.most
    mean = float(values.mean())
    if (low is not None and mean < low - slack) or (high is not None and mean > high + slack):
        raise AssertionError(
            f"guaranteed: {guarantee}; the mean of {len(values)} runs is {mean:.4f} (margin"
            f" {slack:.4f})."
        )


def _few_broken(guarantee: Guarantee, values: np.ndarray) -> None:
    low = -np.inf if guarantee.least is None else guarantee.least
    high = np.inf if guarantee.most is None else guarantee.most
    # A quantity that equals its bound up to rounding does not violate it.
    broken = float(np.mean((values < low - 1e-12) | (values > high + 1e-12)))
    allowed = 1.0 - guarantee.confidence
    limit = allowed + MARGIN * math.sqrt(allowed * (1.0 - allowed) / len(values))
    if broken > limit:
        raise AssertionError(
            f"guaranteed: {guarantee}; violated in a share of {broken:.4f} of {len(values)} runs,"
            f" more than {limit:.4f}."
        )
