"""scikit-learn's bases, with types.

scikit-learn ships no types, and under a base of unknown type a checker lets every misspelt name pass.
"""

from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    Estimator = TypeVar("Estimator")

    def clone(estimator: Estimator, *, safe: bool = True) -> Estimator:
        """An unfitted copy with the same parameters."""
        ...

    class NotFittedError(ValueError, AttributeError):
        """What an estimator raises that is used before it is fitted."""

    class BaseEstimator:
        """An object whose constructor's parameters are its attributes of the same names."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """The constructor's parameters, and with ``deep`` those of the parts, named ``part__parameter``."""
            ...

        def set_params(self, **params: Any) -> Self:
            """Set parameters by name, those of the parts too."""
            ...

        def __sklearn_tags__(self) -> Any: ...

    class ClassifierMixin:
        """What makes an estimator a classifier."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """The accuracy."""
            ...

        def __sklearn_tags__(self) -> Any: ...

    class RegressorMixin:
        """What makes an estimator a regressor."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """The coefficient of determination."""
            ...

        def __sklearn_tags__(self) -> Any: ...

    class MetaEstimatorMixin:
        """What holds another estimator."""

    class TransformerMixin:
        """What makes an estimator a transformer."""

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
            """``fit``, then ``transform`` of the same rows."""
            ...

        def __sklearn_tags__(self) -> Any: ...

else:
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin, TransformerMixin, clone
    from sklearn.exceptions import NotFittedError

__all__ = ["BaseEstimator", "ClassifierMixin", "MetaEstimatorMixin", "NotFittedError", "RegressorMixin", "TransformerMixin", "clone"]
