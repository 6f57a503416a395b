"""Support of every estimator: its base, the registry of the classes that may be saved and loaded,
checks of options, the trial of a loaded object on synthetic rows, and one thread for BLAS in
calibrant's own calls.

A broken state fails at load, not at predict. Between two products the threads of BLAS wait in a
loop: the many small products of a fit, or one sum over 10,000 rows, so cost the CPU time of all
cores for the work of one, and take longer too.
"""

import importlib
import inspect
import math
import re
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from copy import copy, deepcopy
from functools import cache, singledispatch, wraps
from inspect import isfunction
from numbers import Integral, Real
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Self, TypeVar, cast

import numpy as np

from calibrant.core.cards import Card
from calibrant.core.exports import classes
from calibrant.core.extras import import_extra
from calibrant.errors import MOST_COUNT, InputError, MissingDependencyError

__all__ = [
    "FEW_NUMBERS",
    "BaseEstimator",
    "Exampled",
    "Explained",
    "Listed",
    "account",
    "class_named",
    "clone",
    "explained",
    "key_of",
    "limit_fits",
    "offered",
    "on_one_blas_thread",
    "one_blas_thread",
    "one_openmp_thread",
    "own",
    "parameters_of",
    "register",
    "registered",
    "require_count",
    "require_matrix_size",
    "require_not_negative",
    "require_option",
    "require_seed",
    "require_valid",
    "seeded",
    "trial",
    "trial_options",
    "trial_rows",
    "with_few_draws",
]


Estimator = TypeVar("Estimator")
#: Members of scikit-learn's base that are lent when asked for: private ones, and those of routing.
LENT = re.compile(r"_(?!_)|get_metadata_routing$|set_\w+_request$")


class BaseEstimator:
    """An object whose constructor's parameters are its attributes of the same names: an estimator
    of scikit-learn by its protocols, without loading scikit-learn.

    What only scikit-learn asks for (tags, diagrams, the routing of metadata) is lent by its own
    base when it asks.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's parameters, and with ``deep`` those of its components, as
        ``part__parameter``.
        """
        values: dict[str, Any] = {}
        for name in sorted(parameters_of(type(self))):
            value = values[name] = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                values |= {f"{name}__{inner}": v for inner, v in value.get_params().items()}
        return values

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, including those of components."""
        names = sorted(parameters_of(type(self)))
        # A component may itself be set, and comes before its own parameters.
        for key, value in sorted(params.items(), key=lambda item: item[0].count("__")):
            name, _, inner = key.partition("__")
            if name not in names:
                raise InputError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(names)}."
                )
            if inner:
                getattr(self, name).set_params(**{inner: value})
            else:
                setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        parameters = parameters_of(type(self))
        changed = [
            f"{name}={shown}"
            for name, value in self.get_params(deep=False).items()
            if (shown := repr(value)) != repr(parameters[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_clone__(self) -> Self:
        """An unfitted copy with the same parameters."""
        values = self.get_params(deep=False)
        parameters = {name: clone(value, safe=False) for name, value in values.items()}
        copy = type(self)(**parameters)
        for name, value in copy.get_params(deep=False).items():
            if value is not parameters[name]:
                raise RuntimeError(
                    f"{type(self).__name__} cannot be cloned, because its constructor changes"
                    f" {name}; store it as it comes, and check it in fit."
                )
        if "_metadata_request" in vars(self):
            vars(copy)["_metadata_request"] = deepcopy(vars(self)["_metadata_request"])
        return copy

    def __sklearn_tags__(self) -> Any:
        return self._lent("__sklearn_tags__")()

    @property
    def _repr_html_(self) -> Callable[[], str]:
        return self._lent("_repr_html_")

    def _repr_html_inner(self) -> str:
        return self._lent("_repr_html_inner")()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return self._lent("_repr_mimebundle_")(**options)

    def _lent(self, name: str) -> Any:
        """The member of this name that scikit-learn's base would have, bound to this object."""
        twin = _twin(type(self))
        for each in twin.__mro__:
            if name in vars(each):
                member = vars(each)[name]
                return member.__get__(self, twin) if hasattr(member, "__get__") else member
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    if not TYPE_CHECKING:  # a checker would take every misspelt name for a member

        def __getattr__(self, name: str) -> Any:
            # Only scikit-learn asks for its own members, so it is loaded then.
            if LENT.match(name) and "sklearn.base" in sys.modules:
                return self._lent(name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


@cache
def parameters_of(cls: type) -> Mapping[str, inspect.Parameter]:
    """The parameters of a class's constructor, by name."""
    return {
        name: parameter
        for name, parameter in inspect.signature(cls).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD
    }


@cache
def _twin(cls: type) -> type:
    """A class of scikit-learn's own base with the public methods of ``cls``, whose arguments are
    the metadata that it asks for.
    """
    base = importlib.import_module("sklearn.base")
    members = {name: v for each in reversed(cls.__mro__) for name, v in vars(each).items()}
    shared = {
        name: member
        for name, member in members.items()
        if (isfunction(member) and (name == "__init__" or not name.startswith("_")))
        or "__metadata_request__" in name
    }
    return type(cls.__name__, (base.BaseEstimator,), shared)


def clone(estimator: Estimator, *, safe: bool = True) -> Estimator:
    """An unfitted copy with the same parameters, as by scikit-learn's ``clone``; with
    ``safe=False`` a deep copy of what is no estimator.
    """
    value: Any = estimator
    if isinstance(value, BaseEstimator):
        return cast(Any, value).__sklearn_clone__()
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(clone(each, safe=safe) for each in cast(Iterable[Any], value))
    if type(value) is dict:
        items = cast(dict[Any, Any], value).items()
        return cast(Any, {key: clone(each, safe=safe) for key, each in items})
    if not safe and (isinstance(value, type) or not hasattr(value, "get_params")):
        return deepcopy(estimator)
    return importlib.import_module("sklearn.base").clone(value, safe=safe)


def explained(fitted: Any) -> str | None:
    """The text of ``explain()``; None where there is none, or before the fit."""
    explain: Callable[[], str] | None = getattr(fitted, "explain", None)
    try:
        return None if explain is None else explain()
    except AttributeError as error:
        # By its name, because a part of others raises scikit-learn's.
        if type(error).__name__ == "NotFittedError":
            return None
        raise


def account(fitted: Any) -> str:
    """The text of ``explain()``, or else the name and the status of the fit."""
    return explained(fitted) or f"{type(fitted).__name__}: {fitted.status_}"


class Explained:
    """Mixin: notebooks show a card, by default ``explain()``, below scikit-learn's diagram of the
    estimator.
    """

    def _repr_html_inner(self) -> str:
        return cast(Any, super())._repr_html_inner() + self._card_html()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Text for notebooks, and HTML if diagrams are shown."""
        bundle = cast(Any, super())._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] += self._card_html()
        return bundle

    def _card(self) -> Card | None:
        """Card below the diagram; None before the fit."""
        words = explained(self)
        return Card(words, type(self).__name__) if words else None

    def _card_html(self) -> str:
        card = self._card()
        return "" if card is None else card.html()


class Exampled:
    """Mixin: examples for the contract suite, declared after the bases, as in
    ``class Mine(Map, examples=[{"monotone": True}])``.
    """

    #: Options of each mode with its own code, in addition to the defaults.
    examples: ClassVar[Sequence[Mapping[str, Any]]] = ()

    def __init_subclass__(
        cls, *, examples: Sequence[Mapping[str, Any]] | None = None, **more: Any
    ) -> None:
        super().__init_subclass__(**more)
        cls.examples = cls.examples if examples is None else examples

    @classmethod
    def _examples(cls) -> list[Any]:
        """Instances for the contract suite: one for each mode with its own code."""
        return [cls(), *(cls(**options) for options in cls.examples)]


class Listed:
    """Mixin: how lists of methods show a class, declared after the bases, as in
    ``class Mine(Map, family="sigmoids", use="A sigmoid; few rows", common=True)``.
    """

    #: The heading under which a question's methods are listed.
    family: ClassVar[str] = "other"
    #: What it does and when to use it, on one line.
    use: ClassVar[str] = ""
    #: Whether a short list names it.
    common: ClassVar[bool] = False

    def __init_subclass__(
        cls, *, family: str | None = None, use: str = "", common: bool = False, **more: Any
    ) -> None:
        super().__init_subclass__(**more)
        cls.family = cls.family if family is None else family
        cls.use, cls.common = use, common


# -- Classes that may be saved ---------------------------------------------------------------------

Class = TypeVar("Class", bound=type)
Part = TypeVar("Part")

_BY_KEY: dict[str, type] = {}
#: Classes that are saved but not exported by a stub.
INSIDE = {
    "CellScores": "calibrant.decisions.cells",
    "ConditionalScores": "calibrant.decisions.conditional_sets",
    "FrameCheckpoint": "calibrant.tables.evaluate",
    "GroupState": "calibrant.tables.state",
    "RowSample": "calibrant.tables.sample",
    "ScoreCounts": "calibrant.decisions.cells",
    "ScoreLimits": "calibrant.monitoring.score_limits",
    "ScoreSketch": "calibrant.tables.sketch",
    "SetRule": "calibrant.decisions.set_rows",
}


def key_of(cls: type) -> str:
    """The name under which instances are saved: the class name for ours, "package:Class" for
    others.
    """
    package = cls.__module__.split(".")[0]
    return cls.__name__ if package == "calibrant" else f"{package}:{cls.__name__}"


def own(cls: type) -> None:
    """Enter a class if it is calibrant's; others are entered by :func:`register` alone."""
    if cls.__module__.split(".")[0] == "calibrant":
        _BY_KEY[cls.__name__] = cls


def register(cls: Class) -> Class:
    """Register your own calibrator, map, signal or other part: it becomes savable, and the contract
    suite and the command line find it.

    Parameters
    ----------
    cls : a subclass of Calibrator, Map, Signal or RegressionCalibrator
        Saved under "package:Class", by the name of its top package.

    Returns
    -------
    The class itself, so that this works as a decorator.

    Raises
    ------
    InputError
        When the class cannot be saved, or another class has its name.

    See Also
    --------
    load : reads saved objects of registered classes.
    Calibrator, Map, Signal, RegressionCalibrator : the templates of parts.

    Notes
    -----
    ``load`` imports no other packages, so that no file decides which code runs: import the package
    that registers the class before loading its files. A package may name its module under the entry
    point group "calibrant"; the command line imports those.

    Examples
    --------
    >>> import calibrant as cb
    >>> @cb.core.register
    ... class Halfway(cb.core.Calibrator):
    ...     def _fit(self, record):
    ...         self.rate_ = record.one_hot.mean(axis=0)
    ...
    ...     def _predict_proba(self, record):
    ...         return 0.5 * record.probabilities + 0.5 * self.rate_
    >>> cal = Halfway().fit([[0.9, 0.1], [0.4, 0.6]], [0, 1])
    >>> cal.predict_proba([[0.9, 0.1]]).tolist()
    [[0.7, 0.3]]
    """
    if not (isinstance(cast(object, cls), type) and hasattr(cls, "save") and hasattr(cls, "tags")):
        raise InputError(
            "register takes a subclass of Calibrator, Map, Signal or RegressionCalibrator; got"
            f" {cls!r}."
        )
    key = key_of(cls)
    other = _BY_KEY.get(key, cls)
    # Running a cell or a module again redefines the same class.
    if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
        raise InputError(
            f"{key} is registered already, for {other.__module__}.{other.__qualname__}; rename one"
            " of the two classes."
        )
    _BY_KEY[key] = cls
    return cls


def registered(base: type) -> list[type]:
    """The registered subclasses of ``base`` from other packages, by name."""
    return [
        cls
        for key, cls in sorted(_BY_KEY.items())
        if ":" in key and issubclass(cls, base) and cls is not base
    ]


def offered(base: type[Part]) -> list[type[Part]]:
    """Every exported class of calibrant that is a ``base``, by name.

    Examples
    --------
    >>> from calibrant.core import Map
    >>> [cls.__name__ for cls in offered(Map)][:2]
    ['BayesianBinning', 'Beta']
    """
    found = (getattr(importlib.import_module(module), name) for name, module in classes().items())
    kinds = [
        cls for cls in found if isinstance(cls, type) and issubclass(cls, base) and cls is not base
    ]
    return [cls for cls in kinds if not inspect.isabstract(cls)]


def class_named(key: str) -> type | None:
    """The class saved under a key; ours are imported if necessary; None where there is none."""
    if key not in _BY_KEY:
        where = INSIDE.get(key) or classes().get(key)
        if where is not None:
            importlib.import_module(where)
    return _BY_KEY.get(key)


Given = ParamSpec("Given")
# -- Options ---------------------------------------------------------------------------------------

Result = TypeVar("Result")

#: Above it one step of a matrix fit takes minutes, and its penalty removes almost everything off
#: the diagonal.
MOST_MATRIX_CLASSES = 2_000


def require_count(
    name: str, value: object, least: int = 1, *, most: int = MOST_COUNT, usual: int | None = None
) -> None:
    """Raise InputError unless ``value`` is an integer from ``least`` to ``most``."""
    if isinstance(value, bool) or not (isinstance(value, Integral) and least <= int(value) <= most):
        small = most == MOST_COUNT and not (isinstance(value, Integral) and int(value) > most)
        rule = f"of at least {least}" if small else f"from {least} to {most:,}"
        hint = "" if usual is None else f"; {usual} is usual"
        raise InputError(f"{name} must be a whole number {rule}; got {value!r}{hint}.")


def require_seed(name: str, value: object) -> None:
    """Raise InputError unless ``value`` is a seed of NumPy's generators."""
    require_count(name, value, 0, most=2**32 - 1, usual=0)


def seeded(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Decorator of a function with a ``random_state``, or of a method of an object with one, that
    checks it before anything is computed; None and generators are left to the function.
    """

    @wraps(function)
    def checked(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        # Of a method, the first argument is its object; a data frame's columns are not looked at.
        stored = getattr(args[0], "__dict__", {}).get("random_state") if args else None
        value = kwargs.get("random_state", stored)
        if not isinstance(value, np.random.Generator | np.random.RandomState | None):
            require_seed("random_state", value)
        return function(*args, **kwargs)

    return checked


def require_option(name: str, value: object, options: Iterable[object]) -> None:
    """Raise InputError unless ``value`` is one of these options."""
    known = list(options)
    # An array compares item by item, so that the search itself would fail.
    if not (isinstance(value, str | Real | np.generic | None) and value in known):
        *most, last = (f'"{one}"' if isinstance(one, str) else str(one) for one in known)
        rule = f"{', '.join(most)} or {last}" if most else last
        raise InputError(f"{name} must be {rule}; got {value!r}.")


def require_not_negative(name: str, value: bool | float | str) -> None:
    """Raise InputError unless ``value`` is a finite number of at least 0."""
    if (
        isinstance(value, bool)
        or not isinstance(value, Real)
        or not math.isfinite(value)
        or float(value) < 0
    ):
        raise InputError(
            f"{name} must be a finite number of at least 0; got {value!r}; use 0 for no penalty."
        )


def require_matrix_size(method: str, n_classes: int) -> None:
    """Raise InputError if a full matrix over the classes would be too large to fit."""
    if n_classes > MOST_MATRIX_CLASSES:
        raise InputError(
            f"{method} fits K * K numbers and takes at most {MOST_MATRIX_CLASSES:,} classes; got"
            f" {n_classes:,}; use StructuredVectorScaling, which hardly differs there."
        )


# -- The trial of a loaded object ------------------------------------------------------------------

#: Rows of a trial: one for each class up to this many, so that the state of each class is used.
MOST_CLASSES = 64
#: Random draws of a trial: a forged number of draws could take any time.
MOST_DRAWS = 100


@singledispatch
def trial(fitted: Any) -> None:
    """Run a fitted object once; raises if its state is broken. Templates register their trial;
    other objects have none.
    """


def with_few_draws(fitted: Any) -> Any:
    """Return the object, or a copy with fewer draws if it declares many."""
    draws = getattr(fitted, "n_draws", None)
    if not isinstance(draws, int) or draws <= MOST_DRAWS:
        return fitted
    out = copy(fitted)
    out.n_draws = MOST_DRAWS
    return out


def trial_rows(n_classes: int, inputs: str, slow: bool = False) -> np.ndarray:
    """(m, K) probabilities (or logits): each class likely once, one row of equal ones, one
    certain.
    """
    few = min(n_classes, 2 if slow else MOST_CLASSES)
    rows = np.full((few + 2, n_classes), 0.3 / n_classes)
    rows[np.arange(few), np.arange(few)] += 0.7
    rows[-2], rows[-1] = 1.0 / n_classes, np.arange(n_classes) == n_classes - 1
    return rows if inputs == "probability" else np.log(np.maximum(rows, 1e-9))


def trial_options(fitted: Any, n: int) -> dict[str, np.ndarray]:
    """``X`` for an object that uses features: (n, d) zeros if its stored points have d features;
    else none.
    """
    if not fitted.tags.uses_features:
        return {}
    held = [
        getattr(fitted, f"{name}_") for name in ("signal", "signals") if hasattr(fitted, name)
    ] or fitted
    signal = next((part for part in _parts(held) if hasattr(part, "index_")), None)
    if signal is None or signal.features is not None:
        return {}
    return {"X": np.zeros((n, signal.index_.points_.n_features))}


def _parts(value: Any) -> Any:
    """The object, and all objects in its attributes, lists and dicts."""
    if isinstance(value, list | tuple | dict):
        for each in cast(Iterable[Any], value.values() if isinstance(value, dict) else value):
            yield from _parts(each)
    elif hasattr(value, "__dict__"):
        yield value
        yield from _parts(vars(value))


def require_valid(
    values: np.ndarray, shape: tuple[int, ...], low: float = -np.inf, high: float = np.inf
) -> None:
    """ValueError unless the values are finite numbers of this shape within the limits."""
    values = np.asarray(values)
    if (
        values.shape != shape
        or values.dtype.kind != "f"
        or not np.isfinite(values).all()
        or (values < low).any()
        or (values > high).any()
    ):
        raise ValueError(
            f"it gives {values.dtype} of shape {values.shape} for {shape}, or numbers out of range"
        )


# -- One thread for BLAS ---------------------------------------------------------------------------

Found = TypeVar("Found")

#: BLAS uses one thread by itself for the products of so few numbers.
FEW_NUMBERS = 32
#: Trees of up to so many rows grow on one thread.
FEW_ROWS = 20_000
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
_state: dict[str, Any] = {"controller": None}


@contextmanager
def one_blas_thread(numbers: float = float("inf")) -> Generator[None, None, None]:
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
        importlib.import_module("scipy.special")  # SciPy's BLAS is one of the libraries
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


@contextmanager
def one_openmp_thread(rows: int) -> Generator[None, None, None]:
    """Limit OpenMP, which trees of scikit-learn use, to one thread for up to FEW_ROWS ``rows``.

    Its threads wait in a loop for each other at every node. For few rows this takes longer than the
    work, and fifty times as long where another process uses a core.
    """
    if rows > FEW_ROWS:
        yield
        return
    every = import_extra("threadpoolctl", "limiting threads", "all")
    with every.threadpool_limits(1, user_api="openmp"):
        yield


def limit_fits(cls: type) -> None:
    """Put a class's own methods of the names in FITS on one thread, and check the seed of their
    object before, so that none can forget it.
    """
    for name in FITS & vars(cls).keys():
        if isfunction(vars(cls)[name]):
            setattr(cls, name, seeded(on_one_blas_thread(vars(cls)[name])))
