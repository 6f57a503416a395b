"""Why nothing can be certified, and how many rows it would take: one sentence each."""

import math

from calibrant._kernels.binomial_tail import rows_for_rate

__all__ = ["too_few", "uncertified"]


def too_few(n: float, least: int, risk: float, confidence: float, unit: str = "rows") -> str:
    """Where not even rows without an error would do."""
    return (
        f"a risk of {risk:g} at a confidence of {confidence:g} takes {least:,} {unit} without an error at the least; got {n:,.0f}; give it "
        "more, or allow more risk."
    )


def uncertified(lost: float, count: float, n: float, risk: float, confidence: float, delta: float, unit: str = "rows") -> str:
    """Where the ``count`` of n rows of highest score lose too much for a proof that fails with probability ``delta``."""
    said = f"no threshold can be certified at a risk of {risk:g} and a confidence of {confidence:g}"
    seen = f"of the {count:,.0f} {unit} of highest score {lost:,.4g} are wrong ({100.0 * lost / count:.2g} %)"
    needed = rows_for_rate(lost / count, risk, delta) * n / count
    if not math.isfinite(needed):
        return f"{said}: {seen}, which more {unit} do not change; allow more risk, or find a score that tells better."
    return f"{said}: {seen}; about {max(math.ceil(needed), n + 1):,.0f} {unit} like these would be needed; or allow more risk."
