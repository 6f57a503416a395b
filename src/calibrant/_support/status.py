"""Saying aloud that an optimiser did not end as it should."""

from calibrant.errors import FitWarning, warn

__all__ = ["warn_unless_converged"]


def warn_unless_converged(name: str, status: str, gradient: float, advice: str) -> None:
    """FitWarning with the status, the gradient left over and what to do; nothing for "converged"."""
    if status != "converged":
        warn(f"{name} ended {status} with a gradient of {gradient:.1e}; {advice}.", FitWarning)
