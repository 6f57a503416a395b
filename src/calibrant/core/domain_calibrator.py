"""Base of calibrators of every kind of prediction: they learn from a record and recalibrate its
rows.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, Self, TypeVar, cast

from calibrant.core.domain import Domain
from calibrant.core.estimators import BaseEstimator, Exampled, Explained, Listed
from calibrant.core.saving import Saved
from calibrant.core.tags import Tags
from calibrant.errors import InputError

__all__ = ["DomainCalibrator", "of_predictions"]

Fit = TypeVar("Fit", bound=Callable[..., Any])


def of_predictions(fit: Fit) -> Fit:
    """Decorate ``fit``, so that a model or a third argument is refused in one sentence."""

    @wraps(fit)
    def checked(self: Any, *arguments: Any, **options: Any) -> Any:
        of_model = bool(arguments) and hasattr(arguments[0], "predict")
        if of_model or len(arguments) > 2:
            raise InputError(
                f"{type(self).__name__}.fit takes predictions and outcomes, and other arguments by"
                f" name; got {', '.join(type(one).__name__ for one in arguments)}; "
                + (
                    "pass the model's predictions of held-out rows, or use CalibratedClassifier."
                    if of_model
                    else "name the others."
                )
            )
        return fit(self, *arguments, **options)

    return cast(Fit, checked)


class DomainCalibrator(Exampled, Listed, Explained, Saved, BaseEstimator, ABC):
    """Base of the calibrators of a domain.

    ``fit`` and ``predict`` validate their input into a record of the domain. A constructor only
    stores its arguments; ``fit_record`` stores learned parameters in attributes that end in ``_``,
    including ``status_``.

    See Also
    --------
    Calibrator, RegressionCalibrator : those of classes and of forecasts.
    """

    domain: ClassVar[Domain]
    tags: ClassVar[Tags] = Tags()
    status_: str
    #: Names of the columns of groups, if they had names in the fit.
    group_names_: list[str] | None = None
    #: Names of the features, if they had names in the fit.
    feature_names_: list[str] | None = None

    @abstractmethod
    def fit_record(self, record: Any) -> Self:
        """Fit on a record."""

    def fit_out_of_fold(self, record: Any) -> Any:
        """Fit on a record, and return the predictions of its rows out of the folds of this fit,
        with the rows' folds (n,) and the origin of the predictions; None without such folds.
        """
        return None

    @abstractmethod
    def predict_record(self, record: Any) -> Any:
        """Predictions for the rows of a record, in the form that its ``recalibrated`` takes."""
