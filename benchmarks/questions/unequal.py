"""Unequal items and weights, related to errors: how often promises about rows or items break.

Each law has items of different numbers of rows, or rows of different weights, whose rate of errors
differs with these. A promise is broken if the true share of errors among the rows (or items) that a
rule uses is above it. "At the limit" are laws whose true share is just above the promise at every
threshold, so that every certificate is an error.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from benchmarks.questions.table import goal, line

from calibrant.core.groups import Groups
from calibrant.questions import QuestionCascade, QuestionRules, Questions
from calibrant.questions.record import KINDS

__all__ = ["LAWS", "Draw", "broken_or_refused", "true_share", "unequal"]

#: Promised share of errors, its confidence, labelled items of a log, and items for the true share.
RISK, CONFIDENCE, ITEMS, NEW = 0.12, 0.9, 300, 400_000
#: Lower end of the confidences.
LOWEST = 0.86


class Draw(NamedTuple):
    """Rows of a log: their items (n,), confidences, true rates of errors, errors and weights."""

    item: np.ndarray
    score: np.ndarray
    rate: np.ndarray
    wrong: np.ndarray
    weight: np.ndarray


def _rows(
    rng: np.random.Generator, size: np.ndarray, rate: np.ndarray, shared: float, weight: Any = 1.0
) -> Draw:
    """Rows of items with some sizes and rates of errors, which a share of the items has in all of
    its rows at once; the confidences say little about errors.
    """
    item = np.repeat(np.arange(len(size)), size)
    rate = np.broadcast_to(rate, len(size))[item]
    alike = (rng.random(len(size)) < shared)[item]
    drawn = np.where(alike, rng.random(len(size))[item], rng.random(len(item)))
    score = rng.uniform(LOWEST, 1.0, len(item))
    mass = np.broadcast_to(np.asarray(weight, float), len(size))[item]
    return Draw(item, score, rate, drawn < rate, mass)


def _long_items(n: int, rng: np.random.Generator) -> Draw:
    size = np.where(rng.random(n) < 0.5, 12, 1)
    return _rows(rng, size, np.where(size > 1, 0.18, 0.01), 0.3)


def _long_items_at_the_limit(n: int, rng: np.random.Generator) -> Draw:
    size = np.where(rng.random(n) < 0.5, 12, 1)
    return _rows(rng, size, np.where(size > 1, 0.1209, 0.1209), 0.5)


def _geometric_items(n: int, rng: np.random.Generator) -> Draw:
    size = np.minimum(rng.geometric(0.25, n), 20)
    return _rows(rng, size, 0.0195 * size, 1.0)


def _short_items(n: int, rng: np.random.Generator) -> Draw:
    size = np.where(rng.random(n) < 0.5, 12, 1)
    return _rows(rng, size, np.where(size > 1, 0.03, 0.3), 0.3)


def _two_weights(n: int, rng: np.random.Generator) -> Draw:
    weight = np.where(rng.random(n) < 0.5, 10.0, 1.0)
    return _rows(rng, np.ones(n, int), np.where(weight > 1.0, 0.3, 0.01), 0.0, weight)


def _importance(n: int, rng: np.random.Generator) -> Draw:
    weight = np.exp(rng.normal(0.0, 0.8, n)).clip(0.0, 8.0)
    return _rows(rng, np.ones(n, int), np.minimum(0.055 * weight, 0.6), 0.0, weight)


def _importance_at_the_limit(n: int, rng: np.random.Generator) -> Draw:
    weight = np.exp(rng.normal(0.0, 0.8, n)).clip(0.0, 8.0)
    return _rows(rng, np.ones(n, int), np.full(n, 0.1209), 0.0, weight)


def _easy(n: int, rng: np.random.Generator) -> Draw:
    return _rows(rng, 1 + rng.integers(0, 5, n), np.full(n, 0.04), 0.3)


#: Laws by name.
LAWS: dict[str, Callable[[int, np.random.Generator], Draw]] = {
    "12 rows .18, 1 row .01": _long_items,
    "12 rows and 1 row, at the limit": _long_items_at_the_limit,
    "geometric, more wrong if longer": _geometric_items,
    "12 rows .03, 1 row .3": _short_items,
    "weights 10 (.3) and 1 (.01)": _two_weights,
    "importance, rising errors": _importance,
    "importance, at the limit": _importance_at_the_limit,
    "1 to 5 rows, .04": _easy,
}
#: Laws of single rows, for which items and rows are the same.
WEIGHTED = ("weights 10 (.3) and 1 (.01)", "importance, rising errors", "importance, at the limit")


def _log(draw: Draw, alone: bool = False) -> Questions:
    """The record of a draw, with options "a" (right) and "b"; ``alone`` gives each row a question
    of its own, by which it is paired.
    """
    n = len(draw.item)
    one, rows = _names(np.zeros(n, np.intp), ["q"]), _names(np.arange(n), range(n))
    return Questions(
        *(np.column_stack([draw.score, 1.0 - draw.score]).ravel(), 2 * np.arange(n + 1)),
        *(_names(np.tile([0, 1], n), ["a", "b"]), np.full(n, KINDS.index("choice"), np.int8)),
        *(rows if alone else one, one, _names(draw.item, range(n)), one),
        draw.wrong.astype(np.intp),
        weight=draw.weight,
        cluster=draw.item.astype(np.intp),
    )


def _names(index: np.ndarray, names: Any) -> Groups:
    return Groups(np.array(list(map(str, names)), dtype=object), index)


@lru_cache
def true_share(law: str, over: str) -> float:
    """The share of errors among rows (by weight) or items, the same above every threshold."""
    draw = LAWS[law](NEW, np.random.default_rng(0))
    mass = draw.weight / (np.bincount(draw.item)[draw.item] if over == "items" else 1.0)
    return float(mass @ draw.rate / mass.sum())


def broken_or_refused(law: str, unit: str, over: str, seed: int) -> tuple[bool, bool]:
    """(whether the promise of one drawn log is broken, whether nothing was certified)."""
    rng, truth = np.random.default_rng(seed), true_share(law, over)
    draw, options = LAWS[law](ITEMS, rng), {} if over == "rows" else {"over": over}
    if unit == "cascade":
        small = _log(draw, alone=True)
        right = np.arange(2) == draw.wrong[:, None]
        large = replace(small, probability=np.where(right, 0.99, 0.01).ravel())
        cascade = QuestionCascade(RISK, CONFIDENCE, **options).fit(small, large)
        used = min(max((1.0 - cascade.threshold_) / (1.0 - LOWEST), 0.0), 1.0)
        return truth * used > RISK, used == 0.0
    other = _log(LAWS[law](100, rng))
    other = replace(other, right=np.full(len(other), -1))
    rules: Any = QuestionRules(
        *(RISK, CONFIDENCE), unit=unit, when_uncertain="answer_none", **options
    )
    threshold = rules.fit(_log(draw), other=other).thresholds_["q"]
    used = threshold < math.inf
    return used and truth > RISK, not used


#: What is promised, of rows or items, in the table.
PROMISES = (("log", "rows"), ("cascade", "rows"), ("log", "items"))


def unequal(repeats: int) -> None:
    """Print how often promises about rows and about items break, for each law."""
    line("law, unit, over", ("true share", "broken", "refused"))
    worst, chance = 0.0, math.sqrt(0.1 * 0.9 / repeats)
    for law in LAWS:
        for unit, over in PROMISES[: 2 if law in WEIGHTED else 3]:
            found = [broken_or_refused(law, unit, over, seed) for seed in range(repeats)]
            broken, refused = np.mean(found, axis=0).tolist()
            worst = max(worst, broken)
            line(f"{law}, {unit}, {over}", [true_share(law, over), broken, refused])
    words = f"a promise of {CONFIDENCE:g} is broken in at most .1 of {repeats:,} draws, and chance"
    goal(words, f"at most {worst:.3f}", worst <= 0.1 + 3.0 * chance)
