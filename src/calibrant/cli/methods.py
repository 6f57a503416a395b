"""Calibrators by name: all that calibrant exports and all that extensions register; and maps from
scores that are not probabilities, such as a margin, to the risk of the event.

Calibrators are discovered, so that a new one needs no line here.
"""

import inspect
import re
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import Any, cast

import click
import numpy as np

import calibrant
from calibrant import metrics
from calibrant.calibrators.multiclass import as_calibrator
from calibrant.cli.wording import said, say
from calibrant.core.calibrator import Calibrator, DomainCalibrator
from calibrant.core.domain import Domain, Facet, domains
from calibrant.core.estimators import key_of, offered, registered
from calibrant.core.folds import stratified_folds
from calibrant.core.map import Map
from calibrant.core.predictions import read
from calibrant.core.reading import CLASSIFICATION
from calibrant.core.text_table import abridged
from calibrant.errors import InputError

__all__ = [
    "BY_CLASS",
    "EVERY",
    "EXPLORATORY",
    "GROUP",
    "METHODS",
    "RENAMED",
    "TARGETS",
    "all_named",
    "calibrators_of",
    "fit_scores",
    "import_extensions",
    "make",
    "measured_scores",
    "methods",
    "named",
    "score_methods",
]


GROUP = "calibrant"
DONE = "calibrant.extensions"


def import_extensions() -> None:
    """Import the extensions in order of name, once per run; one that fails is left out, with one
    sentence on standard error.

    Only the command line does so, because a user who installs an extension wants it there;
    ``calibrant.load`` runs no foreign code.
    """
    context = click.get_current_context(silent=True)
    if context is None or context.meta.setdefault(DONE, False):
        return
    context.meta[DONE] = True
    # Imported here, because help and usage errors do not need it.
    from importlib.metadata import entry_points

    for point in sorted(entry_points(group=GROUP)):
        try:
            point.load()
        except Exception as error:
            package = point.dist.name if point.dist is not None else point.module
            say(
                f"Warning: the extension {abridged(point.value)} of the package {abridged(package)}"
                f" is left out: it cannot be imported ({type(error).__name__}: {said(error)});"
                " upgrade or remove that package.",
                err=True,
            )


#: Endings of class names that a method's name omits.
ENDINGS = ("Scaling", "Calibrator", "Calibration")
#: Classes whose names would be confused with those of maps: maps are fitted one-vs-rest, so
#: OneVsRest() is beta, and isotonic is not IROvA-TS.
RENAMED: dict[Any, Any] = {"isotonic-one-vs-rest": "temperature-isotonic", "one-vs-rest": "beta"}
#: Target -> function that makes a calibrator from a map: for the event or each class, or for
#: whether the predicted label is right.
#: Ending of a map's name that asks for a map for each predicted class.
BY_CLASS = "-by-class"
#: Methods that ``by-class`` stands for in a comparison.
EXPLORATORY = (
    "temperature",
    "category-temperature",
    "award-temperature",
    *(f"{name}{BY_CLASS}" for name in ("class-rate", "cumulative-confidence", "kernel-density")),
)


def _of_answer(map: Map) -> calibrant.ConfidenceCalibrator:
    return calibrant.ConfidenceCalibrator(map=map)


def _by_class(map: Map) -> calibrant.ConfidenceCalibrator:
    return calibrant.ConfidenceCalibrator(map=map, per_class=True)


TARGETS: dict[Any, Any] = {
    "event": as_calibrator,
    "classes": as_calibrator,
    "answer": _of_answer,
    BY_CLASS: _by_class,
}


#: Arguments beside the predictions, which --groups and --reference pass.
EVERY = ("X", "reference", "groups")


def methods(target: str = "classes", given: Collection[str] = ()) -> dict[str, Any]:
    """Return {name: function without arguments that makes the calibrator}.

    A calibrator's name is that of its class in kebab case, without "Scaling" or "Calibrator". A
    map's name stands for OneVsRest with that map, or for the target "answer" for
    ConfidenceCalibrator with it. Calibrators of extensions are named "package:name". Calibrators
    that need arguments (wrappers) are left out, and those that need more than ``given``, of
    ``EVERY``.

    Examples
    --------
    >>> methods()["temperature"]()
    TemperatureScaling()
    >>> methods()["isotonic"]()
    OneVsRest(map=Isotonic())
    >>> methods("answer")["isotonic"]()
    ConfidenceCalibrator(map=Isotonic())
    >>> sorted(set(methods(given=["groups"])) - set(methods()))
    ['group', 'multicalibration']
    """
    found: dict[str, Any] = {}
    for cls in _offered(Calibrator):
        if (
            cls is not calibrant.ConfidenceCalibrator
            and _makes_itself(cls)
            and cls().tags.suits(given)
        ):
            name = _name(cls)
            found[RENAMED.get(name, name)] = cls
    for cls in _offered(Map):
        if _makes_itself(cls):
            found[_name(cls)] = _with_map(cls, TARGETS[target])
    return dict(sorted(found.items()))


def calibrators_of(domain: Domain, given: Collection[str] = ()) -> dict[str, type[Any]]:
    """Return the calibrators of a domain by name.

    Examples
    --------
    >>> from calibrant.core.reading import REGRESSION
    >>> calibrators_of(REGRESSION)["std"]()
    StdScaling()
    """
    found = [cls for cls in _offered(DomainCalibrator) if cls.domain is domain]
    suited = (cls for cls in filter(_makes_itself, found) if cls().tags.suits(given))
    return dict(sorted((_name(cls), cls) for cls in suited))


def score_methods() -> dict[str, Any]:
    """Return the maps of real-valued scores by name, with the option that a map needs for them.

    Examples
    --------
    >>> score_methods()["isotonic"](), score_methods()["platt"]()
    (Isotonic(), Platt(scale='probability'))
    """
    found: dict[str, Any] = {}
    for cls in filter(_makes_itself, _offered(Map)):
        known = inspect.signature(cls).parameters
        options = [
            {},
            *(
                {name: value}
                for name, value in (("scale", "probability"), ("strategy", "mass"))
                if name in known
            ),
        ]
        real = next((one for one in options if cls(**one).tags.domain == "real"), None)
        if real is not None:
            found[_name(cls)] = partial(cls, **real)
    return dict(sorted(found.items()))


#: Methods of --method, for domains that have more than their calibrators.
METHODS: Facet[Callable[[str, Collection[str]], dict[str, Any]]] = Facet("methods")
METHODS.register(CLASSIFICATION, lambda: methods)


def named(domain: Domain, target: str = "classes", given: Collection[str] = ()) -> dict[str, Any]:
    """Return the methods of a domain by name."""
    if domain in METHODS:
        return METHODS[domain](target, given)
    return calibrators_of(domain, given)


def all_named() -> dict[Domain, dict[str, Any]]:
    """Return the methods of every domain that has any, including those of extensions."""
    import_extensions()
    # Listing the calibrators imports the domains of all of them.
    _offered(DomainCalibrator)
    every = {domain: named(domain, given=EVERY) for domain in domains()}
    return {domain: names for domain, names in every.items() if names}


def make(name: str, domain: Domain = CLASSIFICATION, target: str = "classes") -> Any:
    """Make the unfitted calibrator of that name; a map's is made for the target, or for each
    predicted class if the name ends with "-by-class".

    Examples
    --------
    >>> from calibrant.core.reading import REGRESSION
    >>> make("identity"), make("interval", REGRESSION)
    (Identity(), IntervalCalibration())
    >>> make("isotonic-by-class")
    ConfidenceCalibrator(map=Isotonic(), per_class=True)
    """
    base = name.removesuffix(BY_CLASS)
    found = named(domain, target if base == name else BY_CLASS, EVERY)
    if base not in found:
        raise InputError(f"--method must be one of {', '.join(found)}; got {name!r}.")
    made = found[base]()
    if base != name and not isinstance(made, calibrant.ConfidenceCalibrator):
        raise InputError(
            f"--method NAME{BY_CLASS} must name a map, such as isotonic; {base!r} is a calibrator"
            f" of its own; leave {BY_CLASS} out."
        )
    return made


def _offered(base: type[Any]) -> list[type[Any]]:
    import_extensions()
    return [*offered(base), *(c for c in registered(base) if not inspect.isabstract(c))]


def _makes_itself(cls: type[Any]) -> bool:
    parameters = inspect.signature(cls).parameters.values()
    return all(
        p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters
    )


def _with_map(cls: type[Any], wrapped: Callable[..., Any]) -> Callable[..., Any]:
    return lambda: wrapped(cls())


def _name(cls: type[Any]) -> str:
    """Return a class's name in kebab case; one of an extension is "package:name", so the two cannot
    collide.
    """
    package, _, name = key_of(cls).rpartition(":")
    return f"{package}:{_kebab(name)}" if package else _kebab(name)


def _kebab(name: str) -> str:
    for ending in ENDINGS:
        name = name.removesuffix(ending) or name
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


#: Number of rows from which the default map of a score is isotonic; below it is a sigmoid.
MANY_ROWS = 1000
N_SPLITS = 5


def fit_scores(data: Any, method: str | None) -> Map:
    """Fit the map of the method on all scores of the file."""
    return _map(data, method).fit_checked(*_rows(data))


def _map(data: Any, method: str | None):
    known = score_methods()
    if method is not None and method not in known:
        raise click.UsageError(
            f"--method {method} does not take scores outside [0, 1]; with --inputs score choose"
            f" from: {', '.join(known)}"
        )
    return known[method or ("centered-isotonic" if len(data.values) >= MANY_ROWS else "platt")]()


def _rows(data: Any):
    """Return (score, outcome as 0 or 1, weight) of the rows with positive weight."""
    record = read(
        data.values, data.labels, inputs="logit", classes=data.classes, sample_weight=data.weight
    )
    return (
        data.values[slice(None) if record.kept is None else record.kept].astype(np.float64),
        (record.labels == 1) * 1.0,
        record.weight,
    )


def measured_scores(
    data: Any, method: str | None, loaded: Map | None, test: Any = None
) -> tuple[Any, str]:
    """Return (the file to measure, with risks for scores; a note on their map and the score's
    AUROC).

    The risks come from a saved map (``loaded``), from a map fitted on the file for the rows of
    ``test``, or else from out-of-fold maps.
    """
    if loaded is not None:
        measured, risk, how, used = data, loaded.predict(data.values), "as it was saved", loaded
    elif test is not None:
        used = fit_scores(data, method)
        measured, risk, how = test, used.predict(test.values), "fitted on the other file"
    else:
        used, (score, happened, weight) = _map(data, method), _rows(data)
        measured, risk, how = data, np.full(len(data.values), 0.5), f"{N_SPLITS}-fold out of fold"
        own = np.flatnonzero(data.weight) if data.weight is not None else np.arange(len(score))
        folds = stratified_folds(happened, N_SPLITS)
        for k in range(N_SPLITS):
            fold = folds == k
            fitted = _map(data, method).fit_checked(
                score[~fold], happened[~fold], None if weight is None else weight[~fold]
            )
            risk[own[fold]] = fitted.predict(score[fold])
    from scipy import stats  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

    order = cast(Any, stats).rankdata(measured.values) / len(measured.values)
    ranks = read(
        order, measured.labels, classes=measured.classes, sample_weight=measured.weight
    ).as_pair("event")
    auroc = metrics.confidence_auroc.of(ranks)
    label = used.tags.label or type(used).__name__
    said = (
        f"{measured.names[0] if measured.names else 'the values'} is a score: the numbers are for"
        f" its risks by {label}, {how}; the score itself has "
    )
    return replace(measured, values=risk, inputs="probability"), f"{said}an AUROC of {auroc:.4f}."
