"""What a fitted object says of itself, in words: by ``explain()``, and below scikit-learn's diagram in a notebook."""

import html
from collections.abc import Callable
from typing import Any, cast

from calibrant._support.estimators import NotFittedError

__all__ = ["Explained", "account", "explained"]


def explained(fitted: Any) -> str | None:
    """The words of its ``explain()``; None where it has none, or is not fitted yet."""
    explain: Callable[[], str] | None = getattr(fitted, "explain", None)
    try:
        return None if explain is None else explain()
    except NotFittedError:
        return None


def account(fitted: Any) -> str:
    """Its own words, or else its name and how its fit ended."""
    return explained(fitted) or f"{type(fitted).__name__}: {fitted.status_}"


class Explained:
    """Mixin: notebooks show ``explain()`` below scikit-learn's diagram of the estimator."""

    def _repr_html_inner(self) -> str:
        return cast(Any, super())._repr_html_inner() + _paragraph(self)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """What a notebook is given: text, and where diagrams are shown HTML."""
        bundle = cast(Any, super())._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] += _paragraph(self)
        return bundle


def _paragraph(fitted):
    words = explained(fitted)
    return f'<p style="white-space: pre-line">{html.escape(words)}</p>' if words else ""
