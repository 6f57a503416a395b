"""scikit-learn's bases, with types.

scikit-learn has no types, and below an untyped base a type checker accepts every misspelt name.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

from calibrant.core.card import Card

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "Exampled",
    "Explained",
    "Listed",
    "MetaEstimatorMixin",
    "NotFittedError",
    "RegressorMixin",
    "TransformerMixin",
    "account",
    "clone",
    "explained",
]

if TYPE_CHECKING:
    Estimator = TypeVar("Estimator")

    def clone(estimator: Estimator, *, safe: bool = True) -> Estimator:
        """An unfitted copy with the same parameters."""
        ...

    class NotFittedError(ValueError, AttributeError):
        """Error of an estimator that is used before it is fitted."""

    class BaseEstimator:
        """An object whose constructor's parameters are its attributes of the same names."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """The constructor's parameters, and with ``deep`` those of its components, as
            ``part__parameter``.
            """
            ...

        def set_params(self, **params: Any) -> Self:
            """Set parameters by name, including those of components."""
            ...

        def __sklearn_tags__(self) -> Any: ...

    class ClassifierMixin:
        """Mixin of classifiers."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """The accuracy."""
            ...

        def __sklearn_tags__(self) -> Any: ...

    class RegressorMixin:
        """Mixin of regressors."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """The coefficient of determination."""
            ...

        def __sklearn_tags__(self) -> Any: ...

    class MetaEstimatorMixin:
        """Mixin of estimators that wrap another."""

    class TransformerMixin:
        """Mixin of transformers."""

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
            """``fit``, then ``transform`` of the same rows."""
            ...

        def __sklearn_tags__(self) -> Any: ...

else:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        MetaEstimatorMixin,
        RegressorMixin,
        TransformerMixin,
        clone,
    )
    from sklearn.exceptions import NotFittedError


def explained(fitted: Any) -> str | None:
    """The text of ``explain()``; None where there is none, or before the fit."""
    explain: Callable[[], str] | None = getattr(fitted, "explain", None)
    try:
        return None if explain is None else explain()
    except NotFittedError:
        return None


def account(fitted: Any) -> str:
    """The text of ``explain()``, or else the name and the status of the fit."""
    return explained(fitted) or f"{type(fitted).__name__}: {fitted.status_}"


class Explained:
    """Mixin: notebooks show a card, by default ``explain()``, below scikit-learn's diagram of the
    estimator.
    """

    def _repr_html_inner(self) -> str:
        return cast(Any, super())._repr_html_inner() + self._card_html()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Text for notebooks, and HTML if diagrams are shown."""
        bundle = cast(Any, super())._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] += self._card_html()
        return bundle

    def _card(self) -> Card | None:
        """Card below the diagram; None before the fit."""
        words = explained(self)
        return Card(words, type(self).__name__) if words else None

    def _card_html(self) -> str:
        card = self._card()
        return "" if card is None else card.html()


class Exampled:
    """Mixin: examples for the contract suite, declared after the bases, as in
    ``class Mine(Map, examples=[{"monotone": True}])``.
    """

    #: Options of each mode with its own code, in addition to the defaults.
    examples: ClassVar[Sequence[Mapping[str, Any]]] = ()

    def __init_subclass__(
        cls, *, examples: Sequence[Mapping[str, Any]] | None = None, **more: Any
    ) -> None:
        super().__init_subclass__(**more)
        cls.examples = cls.examples if examples is None else examples

    @classmethod
    def _examples(cls) -> list[Any]:
        """Instances for the contract suite: one for each mode with its own code."""
        return [cls(), *(cls(**options) for options in cls.examples)]


class Listed:
    """Mixin: how lists of methods show a class, declared after the bases, as in
    ``class Mine(Map, family="sigmoids", use="A sigmoid; few rows", common=True)``.
    """

    #: The heading under which a question's methods are listed.
    family: ClassVar[str] = "other"
    #: What it does and when to use it, on one line.
    use: ClassVar[str] = ""
    #: Whether a short list names it.
    common: ClassVar[bool] = False

    def __init_subclass__(
        cls, *, family: str | None = None, use: str = "", common: bool = False, **more: Any
    ) -> None:
        super().__init_subclass__(**more)
        cls.family = cls.family if family is None else family
        cls.use, cls.common = use, common
