"""Kinds of prediction: the protocol of their records, used by metrics, folds, comparisons and
reports, the object that describes a kind, and tables with an entry for each kind.
"""

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar, cast, runtime_checkable

import numpy as np

from calibrant.core.exports import of_kinds
from calibrant.errors import InputError

__all__ = [
    "DOMAINS",
    "Domain",
    "Facet",
    "Record",
    "columns_named",
    "domain_of",
    "domain_of_input",
    "domains",
    "outcomes_apart",
]


@runtime_checkable
class Record(Protocol):
    """Validated rows: predictions and outcomes.

    Rows of weight 0 have been dropped. A record is immutable; derived values may be cached in
    ``derived``.

    Examples
    --------
    >>> from calibrant.core.forecast_record import read_forecast
    >>> from calibrant.core.predictions import read
    >>> isinstance(read([0.2, 0.7], [0, 1]), Record)
    True
    >>> isinstance(read_forecast([0.0], [1.0], [0.3]), Record)
    True
    """

    #: It is a dataclass: use ``dataclasses.replace`` to change weights or clusters.
    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def weight(self) -> np.ndarray | None:
        """(n,) positive, or None where every row counts once."""

    @property
    def weights(self) -> Any:
        """(n,) float64, the weight of each row: 1 where no weights were passed."""

    @property
    def cluster(self) -> np.ndarray | None:
        """(n,) the cluster of each row, or None."""

    @property
    def kept(self) -> np.ndarray | None:
        """(n given,) mask of the input rows that were kept, or None for all."""

    @property
    def mark(self) -> np.ndarray:
        """(n,) a number from the content of each row, by which clusters are numbered."""
        ...

    @property
    def strata(self) -> np.ndarray:
        """(n,) strata of the folds."""
        ...

    @property
    def shares(self) -> np.ndarray | None:
        """The shares of soft labels; None if there are none."""

    @property
    def several(self) -> bool:
        """Whether it has several outputs."""
        ...

    @property
    def derived(self) -> Any:
        """A ``Derived`` cache of values that several metrics of these rows derive."""

    @property
    def calibrator_params(self) -> dict[str, Any]:
        """Arguments of a calibrator to be fitted on these rows."""
        ...

    def __len__(self) -> int: ...

    def take(self, rows: Any) -> Self:
        """Some of the rows: indices, a mask or a slice."""
        ...

    def blocks(self, size: int = ...) -> Iterable[Self]:
        """The rows in slices that fit a cache."""
        ...

    def per_row(self, values: np.ndarray) -> np.ndarray:
        """The entries of the kept rows, from one entry per input row."""
        ...

    def outputs(self) -> Sequence[Self]:
        """One record for each output."""
        ...

    def one_output(self) -> Self:
        """The record itself; raises an error if it has several outputs."""
        ...

    def other_labels(self, other: Any) -> list[np.ndarray]:
        """Possible labels of these rows, (n,) each; none if unknown."""
        ...

    def without_features(self) -> Self:
        """The record without features, for a calibrator that uses none."""
        ...

    def gathered(self, parts: Any, rows: Sequence[np.ndarray]) -> Any:
        """Calibrated predictions, from those of several fits for ``rows[k]`` each, which are in any
        order.
        """

    def recalibrated(self, result: Any, output: str = ...) -> Self:
        """The same rows with a calibrator's predictions."""
        ...

    def agrees_with(self, other: Any) -> bool:
        """Whether both predict the same for all rows, up to rounding."""
        ...


# -- Kinds and their tables ------------------------------------------------------------------------

Part = TypeVar("Part")


@dataclass(frozen=True, eq=False)
class Domain:
    """A kind of prediction.

    Attributes
    ----------
    name : its name in results, files and options
    predictions : the name of its predictions in errors
    record : the type of its records, a :class:`~calibrant.core.domain.Record`
    read : (metrics, y_true, P, **options) -> record: the validating function. Its keywords, from
        std, sample_weight, classes, inputs and check_values, are the options of its metrics.
    takes : (P, std) -> whether this input is certainly of this kind
    strata : whether folds are stratified by its outcomes
    seen_labels : whether a row could have had another label, which widens its intervals
    columns : (record) -> [(name, labels (n,))], the groups that its rows name themselves, or none;
        None unless predictions may hold outcomes and groups, and be passed alone
    paired : ({name: predictions}, y_true, sample_weight, labelled=True) -> {name: record} with the
        rows of the first in its order, those that are ``labelled`` in all or every one; None where
        the rows have no names, and are paired by their order
    parts : {what: "module:name"}, entries of tables by kind, imported at their first use
    """

    name: str
    predictions: str
    record: type[Record]
    read: Callable[..., Record]
    takes: Callable[[Any, Any], bool]
    strata: bool = False
    seen_labels: bool = False
    columns: Callable[[Any], list[tuple[str | None, Any]]] | None = None
    paired: Callable[..., Mapping[str, Any]] | None = None
    parts: Mapping[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        DOMAINS[self.name] = self

    @cached_property
    def options(self) -> frozenset[str]:
        """The keywords of ``read``."""
        return frozenset(signature(self.read).parameters)


#: Those that have been imported, by name; the first is the default for an ambiguous input.
DOMAINS: dict[str, Domain] = {}


def domains() -> list[Domain]:
    """Every domain, those that were not imported before, too."""
    of_kinds("domain")
    return [*DOMAINS.values()]


def domain_of(record: Any) -> Domain:
    """The domain of a record."""
    return next(one for one in DOMAINS.values() if isinstance(record, one.record))


def domain_of_input(P: Any, std: Any = None, calibrator: Any = None) -> Domain:
    """The domain of predictions: the one that recognises them; else that of the calibrator, its
    class or the first of several; or else the first.
    """
    # An array of numbers is of no kind but those of core, which are always there.
    known = DOMAINS.values() if isinstance(P, np.ndarray) else domains()
    found = next((one for one in known if one.takes(P, std)), None)
    if found is not None:
        return found
    if isinstance(calibrator, dict):
        calibrator = [*cast(dict[str, Any], calibrator).values()]
    if isinstance(calibrator, list | tuple) and calibrator:
        calibrator = cast(list[Any], calibrator)[0]
    return getattr(cast(Any, calibrator), "domain", next(iter(DOMAINS.values())))


def outcomes_apart(y: Any, P: Any) -> tuple[Any, Any]:
    """(None, predictions) where predictions that hold their outcomes are passed alone, or several
    by name; otherwise the arguments.
    """
    one = next(iter(cast(Any, y).values()), None) if isinstance(y, Mapping) else y
    known = domains() if P is None else ()
    alone = any(own.columns is not None and own.takes(one, None) for own in known)
    return (None, cast(Any, y)) if alone else (cast(Any, y), P)


def columns_named(record: Any) -> list[tuple[str | None, Any]]:
    """(name, labels (n,)) of the groups that a record's rows name themselves."""
    own = domain_of(record).columns
    return [] if own is None else own(record)


class Facet(Generic[Part]):
    """Table with one entry for each domain, created at its first use: registered here, or named in
    the ``parts`` of the domain.

    Parameters
    ----------
    what : str
        The name of the entry, for the error if a domain has none.

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
        """Register ``make()`` as the entry of a domain."""
        self._makers[domain] = make

    def __getitem__(self, domain: Domain) -> Part:
        if domain not in self:
            raise InputError(
                f"{domain.predictions} have no {self.what}; register one for their domain."
            )
        if domain not in self._made:
            module, _, name = domain.parts.get(self.what, "").partition(":")
            make = self._makers.get(domain)
            self._made[domain] = make() if make else getattr(importlib.import_module(module), name)
        return self._made[domain]

    def __iter__(self) -> Iterator[Domain]:
        return (domain for domain in domains() if domain in self)

    def __contains__(self, domain: Domain) -> bool:
        return domain in self._makers or self.what in domain.parts
