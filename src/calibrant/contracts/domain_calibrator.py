"""What calibrators of every kind of prediction share: they learn from a record, and say what its
rows should have said.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from calibrant._support.estimators import BaseEstimator, Exampled, Explained
from calibrant._support.saving import Saved
from calibrant.contracts.domain import Domain
from calibrant.contracts.tags import Tags

__all__ = ["DomainCalibrator"]


class DomainCalibrator(Exampled, Explained, Saved, BaseEstimator, ABC):
    """Base of the calibrators of a domain.

    Its doors, ``fit`` and ``predict``, read what users give into a record of the domain. A
    constructor only stores; what ``fit_record`` learns is stored in attributes that end in ``_``,
    ``status_`` among them.

    See Also
    --------
    Calibrator, RegressionCalibrator : those of classes and of forecasts.
    """

    domain: ClassVar[Domain]
    tags: ClassVar[Tags] = Tags()
    status_: str
    #: Names of the columns of groups, where those of the fit had names.
    group_names_: list[str] | None = None

    @abstractmethod
    def fit_record(self, record: Any) -> Self:
        """``fit`` on a record that has been read already."""

    @abstractmethod
    def predict_record(self, record: Any) -> Any:
        """What ``recalibrated`` of the record takes, for the rows of a record."""
