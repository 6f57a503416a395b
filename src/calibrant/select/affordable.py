"""Candidates within a budget."""

from collections.abc import Sequence
from typing import Any

__all__ = ["affordable"]


def affordable(candidates: Sequence[Any], max_cost: float | None = None) -> list[Any]:
    """Cheapest first, without the dearest while the costs sum to more than ``max_cost``; the cheapest always stays."""
    kept = sorted(candidates, key=lambda c: c.cost)
    while max_cost is not None and len(kept) > 1 and sum(c.cost for c in kept) > max_cost:
        kept.pop()
    return kept
