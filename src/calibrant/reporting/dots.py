"""Groups as dots with intervals, one line each, on one scale."""

from typing import Any

__all__ = ["dots", "gap_words"]

#: Size of a line's drawing, and its margins at both ends.
WIDTH, MARGIN = 240.0, 8.0
#: Longest interval drawn whole, in largest gaps; a longer one is cut at the edge.
LONGEST = 2.5


def dots(**lists: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the lists of groups to draw, each group with places on one scale (pixels) and what is
    off in words, and ``half``, the gap at the right edge.

    A group is {"group": name, "n", "before", "after"}, with a gap or None at the last two. The
    first two lists set the scale; a longer interval of the others is cut at the edge.
    """
    rows = [row for some in list(lists.values())[:2] for row in some]
    found = [row[when] for row in rows for when in ("before", "after") if row[when] is not None]
    ends = [abs(one[name]) for one in found for name in ("low", "high")]
    gaps = [abs(one["gap"]) for one in found]
    half = min(max(ends, default=1.0), LONGEST * max(gaps, default=1.0)) or 1.0

    def at(value: float) -> float:
        x = WIDTH / 2 + (WIDTH / 2 - MARGIN) * value / half
        return round(min(max(x, 1.0), WIDTH - 1.0), 1)

    def placed(row: dict[str, Any]) -> dict[str, Any]:
        last = row["before"] if row["after"] is None else row["after"]
        return {
            **row,
            "last": last,
            "places": {
                when: {name: at(row[when][name]) for name in ("gap", "low", "high")}
                for when in ("before", "after")
                if row[when] is not None
            },
            "words": gap_words(last),
        }

    return {"half": half, **{name: [*map(placed, some)] for name, some in lists.items()}}


def gap_words(one: dict[str, Any]) -> str:
    """Return what a group's gap says: "too high", "too low", "right" or "too few rows"."""
    if one["outcome"] == "off":
        return "too high" if one["gap"] > 0.0 else "too low"
    return "right" if one["outcome"] == "holds" else "too few rows"
