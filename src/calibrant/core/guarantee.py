"""Guarantees of sets, intervals and rules, with their assumptions and numbers of rows, and the
records of equal-length arrays in which results are kept, drawn and converted to JSON values.
"""

import math
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal, Self, cast

import numpy as np

from calibrant.core.cards import PROMISED, Card, Tile
from calibrant.core.extras import import_extra

__all__ = ["Brief", "Guarantee", "Known", "Promised", "Record", "Result", "plain", "thin"]


class Brief:
    """Base of dataclasses whose repr names a long array or list by its length.

    Examples
    --------
    >>> from calibrant.metrics import decision_curve
    >>> repr(decision_curve([0, 1], [0.2, 0.7]))[:45]
    'DecisionCurve(threshold=<100>, net_benefit=<1'
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__repr__ = cls.__repr__  # else a dataclass would make one that writes out all

    def __repr__(self) -> str:
        shown = [one for one in fields(cast(Any, self)) if one.repr]
        parts = [f"{one.name}={_brief(getattr(self, one.name))}" for one in shown]
        return f"{type(self).__name__}({', '.join(parts)})"


def _brief(value: Any) -> str:
    """Return the repr of a value, or of an array or list of more than FEW its size."""
    if not isinstance(value, np.ndarray | list | tuple | dict):
        return repr(value)
    found = cast(Any, value)
    size = getattr(found, "shape", (len(found),))
    return repr(found) if math.prod(size) <= FEW else f"<{' × '.join(map(str, size))}>"


#: Longer arrays and lists are named by their length.
FEW = 8


@dataclass(frozen=True)
class Record(Brief):
    """Base of curve records: named columns of one length."""

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns as lists, ready for JSON."""
        return {f.name: getattr(self, f.name).tolist() for f in fields(self)}

    def thinned(self, most: int) -> Self:
        """At most about ``most`` evenly spaced rows, including the first and the last."""
        rows = thin(len(getattr(self, fields(self)[0].name)), most)
        return replace(self, **{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    def frame(self) -> Any:
        """The columns as a pandas data frame."""
        pandas = import_extra("pandas", "a data frame of a curve", "frames")
        return pandas.DataFrame({f.name: getattr(self, f.name) for f in fields(self)})


def thin(count: int, most: int) -> np.ndarray:
    """At most about ``most`` evenly spaced positions of ``count`` rows, including the first and the
    last.
    """
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


class Known(Brief):
    """Base of results with optional numbers: a dictionary omits those that are None."""

    def to_dict(self) -> dict[str, Any]:
        """The numbers that are not None."""
        return {name: value for name, value in vars(self).items() if value is not None}


class Result(Brief):
    """Base of results that are a dictionary of their fields."""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: nan and infinity become None."""
        return plain(vars(self))


def plain(value: Any) -> Any:
    """Dataclasses as dictionaries, arrays as lists, NumPy's numbers as Python's, nan and infinity
    as None, others (times) as text.

    A dataclass with ``to_dict`` uses it; a trailing underscore in the name of a field, as in
    ``class_``, is removed.

    Examples
    --------
    >>> plain(
    ...     {"n": np.int64(2), "ece": np.array([0.5, np.nan]), "when": np.datetime64("2026-01-31")}
    ... )
    {'n': 2, 'ece': [0.5, None], 'when': '2026-01-31'}
    """
    if is_dataclass(value) and not isinstance(value, type):
        known = getattr(value, "to_dict", lambda: vars(cast(object, value)))()
        return {k.removesuffix("_"): plain(v) for k, v in cast(dict[str, Any], known).items()}
    found: Any = value
    if isinstance(found, dict):
        return {k: plain(v) for k, v in cast(dict[str, Any], found).items()}
    if isinstance(found, list | tuple | np.ndarray):
        return [plain(v) for v in cast(list[Any], found)]
    if isinstance(found, np.number | np.bool_):
        return plain(cast(Any, found).item())
    if isinstance(found, float) and not math.isfinite(found):
        return None
    return found if found is None or isinstance(found, bool | int | float | str) else str(found)


# -- Guarantees ------------------------------------------------------------------------------------

#: The probability space of each kind of guarantee, in words.
DRAWS = {
    "marginal": "on average over calibration sets and new rows",
    "pac": "over calibration sets, for all new rows together",
    "long run": "as the average of any sequence",
    "asymptotic": "as rows grow in number",
}


@dataclass(frozen=True)
class Guarantee(Result):
    """A guarantee in full; guarantees of different kinds must not be compared.

    Attributes
    ----------
    guarantee : {"marginal", "pac", "long run", "asymptotic"}
        "marginal": the expectation over calibration set and new row obeys the bound. "pac": with
        probability at least ``confidence`` over calibration sets, all new rows together obey it.
        "long run": every sequence's average does. "asymptotic": only in the limit.
    quantity : str
        What is bounded, for example "coverage" or "error rate among accepted rows".
    least, most : float or None
        The bounds of the quantity; None for no bound.
    over : str
        The rows that the guarantee averages over or holds for, for example "new rows" or "new rows
        of each class".
    assumes : str
        The assumption, for example "new rows are exchangeable with the calibration rows".
    n : float
        The number of rows (or clusters) behind the guarantee, without rows that something else was
        fitted on.
    unit : {"rows", "clusters"}
    confidence : float or None
        Confidence of a "pac" guarantee.
    method : str
        The theorem or bound, by its usual name.

    See Also
    --------
    ConformalIntervals : intervals with a guarantee.

    Notes
    -----
    Read ``assumes`` before relying on it: no guarantee survives a change of the
    population. ``calibrant.testing.check_guarantee`` tests a guarantee by simulation.
    """

    guarantee: Literal["marginal", "pac", "long run", "asymptotic"]
    quantity: str
    over: str
    assumes: str
    n: float
    least: float | None = None
    most: float | None = None
    unit: Literal["rows", "clusters"] = "rows"
    confidence: float | None = None
    method: str = ""

    def __str__(self) -> str:
        ends = {"at least": self.least, "at most": self.most}
        bound = " and ".join(f"{word} {end:.4g}" for word, end in ends.items() if end is not None)
        sure = "" if self.confidence is None else f"with probability {self.confidence:g} "
        return (
            f"{self.quantity} {bound} for {self.over}, {sure}{DRAWS[self.guarantee]}"
            f" ({self.guarantee}; {self.method or 'no name'}; {self.n:,.0f} {self.unit}), if"
            f" {self.assumes}"
        )


class Promised:
    """Mixin of rules with ``guarantees_`` or ``guarantee_``: notebooks and ``print`` show the
    promises of a fitted rule.
    """

    def promises(self) -> list[Guarantee]:
        """Return the guarantees of the fitted rule."""
        rule: Any = self
        return getattr(rule, "guarantees_", None) or [rule.guarantee_]

    def card(self) -> Card | None:
        """Return the promise in short; None before the fit."""
        try:
            promises = self.promises()
        except AttributeError:  # also NotFittedError
            return None
        evidence = getattr(self, "certificate_", None)
        return Card(
            " ".join(map(_sentence, promises)) if evidence is None else str(evidence),
            " ".join(repr(self).split()),
            PROMISED[promises[0].guarantee],
            "good",
            f"Use it only if {promises[0].assumes}.",
            tiles=[_tile(one) for one in promises],
        )

    def _repr_html_inner(self) -> str:
        card = self.card()
        return cast(Any, super())._repr_html_inner() if card is None else card.html()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Text for notebooks, and HTML if diagrams are shown."""
        bundle = cast(Any, super())._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle

    def __str__(self) -> str:
        card = self.card()
        return repr(self) if card is None else card.text()


def _bounds(one: Guarantee) -> str:
    ends = {"at least": one.least, "at most": one.most}
    return " and ".join(f"{word} {100.0 * end:.4g} %" for word, end in ends.items() if end)


def _sentence(one: Guarantee) -> str:
    sure = "" if one.confidence is None else f"with probability {one.confidence:g} "
    what = one.quantity[0].upper() + one.quantity[1:]
    return f"{what}: {_bounds(one)} for {one.over}, {sure}{DRAWS[one.guarantee]}."


def _tile(one: Guarantee) -> Tile:
    return Tile(one.quantity, _bounds(one), f"from {one.n:,.0f} {one.unit} ({one.method})")
