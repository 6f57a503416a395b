"""Calibrators by name: all that calibrant exports and all that others registered, discovered, so
that a new one needs no line here.
"""

import inspect
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import click

import calibrant
from calibrant._support.registry import key_of, offered, registered
from calibrant.cli.wording import abridged, said, say
from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.domain import DOMAINS, Domain, Facet
from calibrant.contracts.domain_calibrator import DomainCalibrator
from calibrant.contracts.map import Map
from calibrant.contracts.reading import CLASSIFICATION
from calibrant.errors import InputError
from calibrant.wrap.one_vs_rest import as_calibrator

__all__ = [
    "GROUP",
    "METHODS",
    "RENAMED",
    "TARGETS",
    "all_named",
    "calibrators_of",
    "import_extensions",
    "make",
    "methods",
    "named",
    "score_methods",
]

GROUP = "calibrant"
DONE = "calibrant.extensions"


def import_extensions() -> None:
    """Import them, by name, once a run of the command; one that cannot be imported is left out,
    with one sentence on standard error.

    Only the command line does so: whoever installs a package beside calibrant wants it there, while
    ``calibrant.load`` runs nobody's code.
    """
    context = click.get_current_context(silent=True)
    if context is None or context.meta.setdefault(DONE, False):
        return
    context.meta[DONE] = True
    # Imported here, as help and wrong usage do without it.
    from importlib.metadata import entry_points

    for point in sorted(entry_points(group=GROUP)):
        try:
            point.load()
        except Exception as error:
            package = point.dist.name if point.dist is not None else point.module
            say(
                f"Warning: the extension {abridged(point.value)} of the package {abridged(package)}"
                f" is left out, as it cannot be imported ({type(error).__name__}: {said(error)});"
                " upgrade or remove that package.",
                err=True,
            )


#: Ends of class names that say nothing beside the others.
ENDINGS = ("Scaling", "Calibrator", "Calibration")
#: Names that would say twice what a map's name says: a map goes one-vs-rest, so OneVsRest() is
#: beta, and isotonic is not IROvA-TS.
RENAMED: dict[Any, Any] = {"isotonic-one-vs-rest": "temperature-isotonic", "one-vs-rest": "beta"}
#: What a map is fitted to, by the question asked of it: the event or each class, or whether the
#: model's own answer is right.
TARGETS: dict[Any, Any] = {
    "event": as_calibrator,
    "classes": as_calibrator,
    "answer": lambda map: calibrant.ConfidenceCalibrator(map=map),
}


def methods(target: str = "classes", groups: bool = False) -> dict[str, Any]:
    """Name to a function of no arguments that makes the calibrator.

    A calibrator's name is its class's in kebab case, without "Scaling" or "Calibrator". A map's is
    its own and stands for OneVsRest with that map, on two classes the event's; for the target
    "answer", ConfidenceCalibrator with it. What others registered has its package before the name,
    "package:name". Those that cannot be made without arguments (wrappers) or need a reference set
    are left out, and without ``groups`` those that are for rows with groups.

    Examples
    --------
    >>> methods()["temperature"]()
    TemperatureScaling()
    >>> methods()["isotonic"]()
    OneVsRest(map=Isotonic())
    >>> methods("answer")["isotonic"]()
    ConfidenceCalibrator(map=Isotonic())
    >>> sorted(set(methods(groups=True)) - set(methods()))
    ['group', 'multicalibration']
    """
    found = {}
    for cls in _offered(Calibrator):
        if (
            cls is not calibrant.ConfidenceCalibrator
            and _makes_itself(cls)
            and cls().tags.suits(["groups"] if groups else [])
        ):
            name = _name(cls)
            found[RENAMED.get(name, name)] = cls
    for cls in _offered(Map):
        if _makes_itself(cls):
            found[_name(cls)] = _with_map(cls, TARGETS[target])
    return dict(sorted(found.items()))


def calibrators_of(domain: Domain, groups: bool = False) -> dict[str, type[Any]]:
    """The calibrators of a domain by name.

    Examples
    --------
    >>> calibrators_of(REGRESSION)["std"]()
    StdScaling()
    """
    found = [cls for cls in _offered(DomainCalibrator) if cls.domain is domain]
    given = ["groups"] if groups else []
    suited = (cls for cls in filter(_makes_itself, found) if cls().tags.suits(given))
    return dict(sorted((_name(cls), cls) for cls in suited))


def score_methods() -> dict[str, Any]:
    """The same for maps of a score of any size, with the option that makes one take it.

    Examples
    --------
    >>> score_methods()["isotonic"](), score_methods()["platt"]()
    (Isotonic(), Platt(scale='probability'))
    """
    found = {}
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


#: What --method names, of domains where that is more than their calibrators.
METHODS: Facet[Callable[[str, bool], dict[str, Any]]] = Facet("methods")
METHODS.register(CLASSIFICATION, lambda: methods)


def named(domain: Domain, target: str = "classes", groups: bool = False) -> dict[str, Any]:
    """The methods of a domain by name."""
    if domain in METHODS:
        return METHODS[domain](target, groups)
    return calibrators_of(domain, groups)


def all_named() -> dict[Domain, dict[str, Any]]:
    """Those of every domain that has any, of extensions too."""
    import_extensions()
    # In a list of its own: naming methods may import a further domain.
    every = {domain: named(domain, groups=True) for domain in list(DOMAINS.values())}
    return {domain: names for domain, names in every.items() if names}


def make(name: str, domain: Domain = CLASSIFICATION, target: str = "classes") -> Any:
    """The calibrator of that name, unfitted; a map's for the target.

    Examples
    --------
    >>> make("identity"), make("interval", REGRESSION)
    (Identity(), IntervalCalibration())
    """
    found = named(domain, target, groups=True)
    if name not in found:
        raise InputError(f"--method must be one of {', '.join(found)}; got {name!r}.")
    return found[name]()


def _offered(base):
    import_extensions()
    return [*offered(base), *(c for c in registered(base) if not inspect.isabstract(c))]


def _makes_itself(cls):
    parameters = inspect.signature(cls).parameters.values()
    return all(
        p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters
    )


def _with_map(cls, wrapped):
    return lambda: wrapped(cls())


def _name(cls):
    """Of ours the class's name in kebab case; of others "package:name", which is never one of
    ours.
    """
    package, _, name = key_of(cls).rpartition(":")
    return f"{package}:{_kebab(name)}" if package else _kebab(name)


def _kebab(name):
    for ending in ENDINGS:
        name = name.removesuffix(ending) or name
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()
