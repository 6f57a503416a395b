"""Format numbers with four decimals, or more for the small errors of a rare event."""

import math

__all__ = ["rounded"]

#: Smaller numbers are rounding errors of sums.
LEAST = 1e-7


def rounded(value: float | None, sign: str = "") -> str:
    """Format a value with four decimals, or as many as show two digits; None is a dash.

    Examples
    --------
    >>> (
    ...     rounded(0.5),
    ...     rounded(0.00204),
    ...     rounded(0.0000213),
    ...     rounded(-0.0000213, "+"),
    ...     rounded(1e-17),
    ...     rounded(None),
    ... )
    ('0.5000', '0.0020', '0.000021', '-0.000021', '0.0000', '–')
    """
    if value is None:
        return "–"
    few = not LEAST <= abs(value) < 1e-3
    return f"{value:{sign}.{4 if few else 1 - math.floor(math.log10(abs(value)))}f}"
