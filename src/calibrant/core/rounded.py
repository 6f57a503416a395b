"""Format numbers with four decimals, or more for the small errors of a rare event."""

import math

__all__ = ["percent", "rounded"]

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


def percent(value: float | None, digits: int = 1) -> str:
    """Format a share in per cent, with two significant digits for small ones; None is a dash.

    Examples
    --------
    >>> percent(0.304), percent(0.00123), percent(0.0), percent(0.64, 0), percent(None)
    ('30.4 %', '0.12 %', '0.0 %', '64 %', '–')
    """
    if value is None:
        return "–"
    return f"{100.0 * value:.2g} %" if 0.0 < value < 0.01 else f"{100.0 * value:.{digits}f} %"
