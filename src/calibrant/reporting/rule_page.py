"""Summary and page of a fitted rule or of sets: its promises, for whom and from how many rows."""

from typing import Any

from calibrant.core.cards import Tile
from calibrant.core.guarantee import Promised, plain
from calibrant.errors import InputError
from calibrant.reporting.markdown import head
from calibrant.reporting.summary import SCHEMA, About, Verdict

__all__ = ["FILTERS", "context", "summarise_rule", "tiles"]

FILTERS: dict[Any, Any] = {}
#: Fitted thresholds that a rule may have, and what they separate.
THRESHOLDS = {
    "threshold_": "Accepted: scores above",
    "high_": "Event: scores above",
    "low_": "No event: scores up to",
}


def summarise_rule(
    rule: Promised, *, title: str | None = None, **named: str | None
) -> dict[str, Any]:
    """Return the content of a rule's page as a dictionary.

    Parameters
    ----------
    rule : fitted rule with guarantees, such as SelectiveClassifier or ConformalSets
    title : str, optional
    **named
        ``model``, ``event``, ``period`` and ``version``, as for :func:`calibrant.report`.

    Raises
    ------
    InputError
        When the rule is not fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.decisions import SelectiveClassifier
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(2000)
    >>> rule = SelectiveClassifier(0.2).fit(p, rng.random(2000) < p)
    >>> summarise_rule(rule)["verdict"]["state"]
    'certified'
    """
    card = rule.card()
    if card is None:
        raise InputError(
            f"a report needs a fitted rule; got {type(rule).__name__} before its fit; call fit."
        )
    promises = rule.promises()
    return plain(
        {
            "schema": SCHEMA,
            "task": "rule",
            "target": "rule",
            "title": title or card.title,
            "level": promises[0].confidence,
            "about": About.of(None, named),
            "data": {"n": promises[0].n, "clusters": None, "weighted": False},
            "verdict": Verdict(card.badge.lower(), card.sentence, card.action, "", "none"),
            "cautions": [],
            "tiles": [
                *(
                    Tile(label, f"{getattr(rule, name):.4g}")
                    for name, label in THRESHOLDS.items()
                    if hasattr(rule, name)
                ),
                *card.tiles,
            ],
            "promises": [f"{one}." for one in promises],
            "call": [f"rule = cb.{card.title}.fit(P, y)", 'cb.report(rule).save("rule.html")'],
        }
    )


def context(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the head, the tiles, and the promises in full."""
    bands = ("answer.html", "promised.html")
    return {**head(summary), "bands": bands, "main": None, "tiles": tiles(summary)}


def tiles(summary: dict[str, Any]) -> list[Tile]:
    """Return the bounds that are promised, as tiles."""
    return [Tile(**one) for one in summary["tiles"]]
