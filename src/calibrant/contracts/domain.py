"""A kind of prediction is an object: what it is, and what each folder has for it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Any, Generic, TypeVar, cast

from calibrant.contracts.record import Record
from calibrant.errors import InputError

__all__ = ["DOMAINS", "Domain", "Facet", "domain_of", "domain_of_input"]

Part = TypeVar("Part")


@dataclass(frozen=True, eq=False)
class Domain:
    """A kind of prediction.

    Attributes
    ----------
    name : its name in results, files and options
    predictions : what errors call its predictions
    record : the type of the rows read, a :class:`~calibrant.contracts.record.Record`
    read : (metrics, y_true, P, **options) -> record: the door. Its keywords, among std,
        sample_weight, classes, inputs and check_values, are the options that a metric has.
    takes : (P, std) -> whether this input is surely of this kind
    strata : whether folds keep the shares of its outcomes in balance
    seen_labels : whether another label of a row seen could have come, which widens its intervals
    """

    name: str
    predictions: str
    record: type[Record]
    read: Callable[..., Record]
    takes: Callable[[Any, Any], bool]
    strata: bool = False
    seen_labels: bool = False

    def __post_init__(self) -> None:
        DOMAINS[self.name] = self

    @cached_property
    def options(self) -> frozenset[str]:
        """The keywords of the door."""
        return frozenset(signature(self.read).parameters)


#: By name; the first is the one of an input that none is sure of.
DOMAINS: dict[str, Domain] = {}


def domain_of(record: Any) -> Domain:
    """The domain of a record."""
    return next(one for one in DOMAINS.values() if isinstance(record, one.record))


def domain_of_input(P: Any, std: Any = None, calibrator: Any = None) -> Domain:
    """The domain of what is given as predictions: the one that is sure of it; else that of the
    calibrator, its class or the first of several; or else the first.
    """
    found = next((one for one in DOMAINS.values() if one.takes(P, std)), None)
    if found is not None:
        return found
    if isinstance(calibrator, dict):
        calibrator = [*cast(dict[str, Any], calibrator).values()]
    if isinstance(calibrator, list | tuple) and calibrator:
        calibrator = cast(list[Any], calibrator)[0]
    return getattr(cast(Any, calibrator), "domain", next(iter(DOMAINS.values())))


class Facet(Generic[Part]):
    """What a folder has for each domain: made when it is first asked for.

    Parameters
    ----------
    what : str
        What it is, for the error where a domain has none.

    Examples
    --------
    >>> units = Facet("unit")
    >>> here = next(iter(DOMAINS.values()))
    >>> units.register(here, lambda: "probability")
    >>> units[here]
    'probability'
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self._makers: dict[Domain, Callable[[], Part]] = {}
        self._made: dict[Domain, Part] = {}

    def register(self, domain: Domain, make: Callable[[], Part]) -> None:
        """Have ``make()`` as the part for a domain."""
        self._makers[domain] = make

    def __getitem__(self, domain: Domain) -> Part:
        if domain not in self._made:
            if domain not in self._makers:
                raise InputError(
                    f"{domain.predictions} have no {self.what}; register one for their domain."
                )
            self._made[domain] = self._makers[domain]()
        return self._made[domain]

    def __iter__(self) -> Iterator[Domain]:
        return iter(self._makers)

    def __contains__(self, domain: Domain) -> bool:
        return domain in self._makers
