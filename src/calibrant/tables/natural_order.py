"""Order of names with numbers in them."""

import re
from typing import Any

__all__ = ["natural_order"]


def natural_order(name: Any) -> tuple[Any, ...]:
    """Key that sorts names of files and versions by the numbers in them.

    Examples
    --------
    >>> sorted(["day10.csv", "day2.csv", "day1.csv"], key=natural_order)
    ['day1.csv', 'day2.csv', 'day10.csv']
    """
    parts = re.split("([0-9]+)", str(name))
    return [int(part) if i % 2 else part for i, part in enumerate(parts)], str(name)
