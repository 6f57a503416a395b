"""Candidates by name, and within a budget."""

from collections.abc import Sequence
from typing import Any

from calibrant.errors import InputError

__all__ = ["affordable", "names_of"]


def affordable(candidates: Sequence[Any], max_cost: float | None = None) -> list[Any]:
    """Cheapest first, without the dearest while the costs sum to more than ``max_cost``; the cheapest always stays."""
    kept = sorted(candidates, key=lambda c: c.cost)
    while max_cost is not None and len(kept) > 1 and sum(c.cost for c in kept) > max_cost:
        kept.pop()
    return kept


def names_of(methods: str | Sequence[str], candidates: Sequence[Any]) -> set[str] | None:
    """The candidates named, checked; None where ``methods`` is "auto"."""
    if isinstance(methods, str) and methods == "auto":
        return None
    known = [c.name for c in candidates]
    unknown = sorted(set(methods) - set(known))
    if unknown:
        raise InputError(f'methods must be "auto" or names among {known}; got {unknown}.')
    return set(methods)
