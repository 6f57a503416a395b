"""Sentences of refusals to certify: the best evidence, why it was not enough, and what would be."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from calibrant._numerics.certificates import (
    Blocks,
    Start,
    Test,
    allowed_errors,
    best_place,
    certified_place,
    fewest_rows,
    rows_needed,
    starts_of,
)
from calibrant._numerics.intervals import clopper_pearson
from calibrant.core.text_table import percent

__all__ = ["Search", "too_few", "uncertified", "unrecalled"]

#: Risks that are tried for the least that these rows certify: two digits each.
RISKS = np.concatenate([np.arange(10, 100) / 10.0**digits for digits in (4, 3, 2)])


@dataclass(frozen=True)
class Search:
    """A search for a threshold that certified none: its rows, starts, and what was to be proved."""

    blocks: Blocks
    starts: list[Start]
    #: Fewest rows that may be accepted.
    least: float
    risk: float
    confidence: float
    delta: float
    test: Test
    unit: Literal["rows", "clusters"] = "rows"


def too_few(
    n: float,
    least: int,
    risk: float,
    confidence: float,
    unit: str = "rows",
    advice: str = "pass more, or allow more risk",
) -> str:
    """Return the message for too few rows, even if none of them were an error."""
    return (
        f"a risk of {risk:g} at a confidence of {confidence:g} needs at least {least:,} {unit}"
        f" without an error; got {n:,.0f}; {advice}."
    )


def uncertified(search: Search) -> str:
    """Return the message for a search without a result, all from its numbers."""
    blocks, unit = search.blocks, search.unit
    fewest = fewest_rows(search.risk, search.delta)
    if search.least > blocks.n:
        return (
            f"no share of accepted {unit} can be certified: {blocks.n:,.0f} {unit} prove a share of"
            f" {search.delta ** (1.0 / blocks.n):.3g} at most; lower accepted_share, or pass more."
        )
    place, proved = best_place(blocks, search.delta, search.test, search.least)
    lost, count = float(blocks.lost[place]), float(blocks.covered[place])
    advice = _advice(search, place)
    if blocks.n < fewest:
        return too_few(blocks.n, fewest, search.risk, search.confidence, unit, advice)
    rows = f"all {count:,.0f} {unit}" if count == blocks.n else f"the {count:,.0f} of highest score"
    wrong = f"{lost:,.0f} wrong {unit}" if blocks.binary else f"a summed loss of {lost:,.4g}"
    best = f"{rows} hold {wrong} ({percent(lost / count)})"
    return (
        f"no threshold can be certified at a risk of {search.risk:g} and a confidence of"
        f" {search.confidence:g}: {best}, which {_untested(search, place, proved)};"
        f" {advice}."
    )


def _untested(search: Search, place: int, proved: float) -> str:
    """Say what the best rows prove, and why that was not tested."""
    if proved > search.risk:
        return f"is the best evidence and proves a risk of {proved:.2g}"
    would = f"would prove a risk of {proved:.2g}, but only if they had been chosen beforehand"
    count = float(search.blocks.covered[place])
    before = [start for start in search.starts if start[0] <= count]
    if not before:
        return f"{would}: the tests begin at {search.starts[0][0]:,.0f} {search.unit}"
    begin, share = before[-1]
    at = int(np.searchsorted(search.blocks.covered, begin - 1e-9))
    tested, lost = float(search.blocks.covered[at]), float(search.blocks.lost[at])
    most = allowed_errors(int(tested), search.risk, share)
    return (
        f"{would}: the test that leads there begins at {tested:,.0f} {search.unit}, which may hold"
        f" {most} wrong ones at its share of the failure probability ({share:.2g}) and hold"
        f" {lost:,.4g}"
    )


def _advice(search: Search, place: int) -> str:
    blocks, unit = search.blocks, search.unit
    allow = _allowed(search)
    needed = rows_needed(blocks, search.risk, search.delta, search.least)
    if math.isfinite(needed):
        digit = 10.0 ** (math.floor(math.log10(needed)) - 1)
        rows = digit * math.ceil(needed / digit)
        return f"pass about {rows:,.0f} {unit} like these, or {allow}"
    least = clopper_pearson(blocks.lost[place], blocks.covered[place], search.confidence)[0]
    rate = blocks.lost / blocks.covered
    if least > search.risk and (rate > search.risk).all():
        return (
            f"more {unit} would not help, because no part of them is better than that; {allow}, or"
            " find a more discriminating score"
        )
    return (
        f"these {unit} do not show whether more would help; {allow}, or find a more discriminating"
        " score"
    )


def _allowed(search: Search) -> str:
    """Name the least risk that these rows certify, of two digits."""

    def certified(risk: float) -> bool:
        starts = starts_of(search.blocks, risk, search.delta, search.test, search.least)
        return certified_place(search.blocks, risk, starts, search.test)[0] >= 0

    low, high = int(np.searchsorted(RISKS, search.risk, side="right")), len(RISKS) - 1
    if low > high or not certified(float(RISKS[high])):
        return "allow more risk"
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if certified(float(RISKS[middle])) else (middle + 1, high)
    return f"allow a risk of {RISKS[high]:g}"


def unrecalled(recall: float, risk: float, hits: float, events: float, needed: float) -> str:
    """Return the message for alerts that keep the risk and hold too few of the events."""
    return (
        f"a recall of {recall:g} cannot be certified beside a risk of {risk:g}: the rows that may"
        f" be flagged hold {hits:,.0f} of {events:,.0f} events, and a proof needs {needed:,.0f};"
        " lower recall, or allow more risk."
    )
