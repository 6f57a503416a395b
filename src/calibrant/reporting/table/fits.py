"""Calibrators of the rows of a table: one for each fold, that has not seen it, and one for all."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant.folds.model_outputs import is_fitted
from calibrant.folds.out_of_fold import fit_clone
from calibrant.predictions import Predictions
from calibrant.reporting.table.sample import FOLDS

__all__ = ["TableFits"]


@dataclass(frozen=True)
class TableFits:
    """The calibrator as given, those by fold (all the same one where it was fitted before), the one to use, and how rows are measured."""

    calibrator: Any
    by_fold: list[Any]
    final: Any
    evaluation: str

    @classmethod
    def of(cls, calibrator: Any, record: Predictions, fold: np.ndarray, progress: Callable[..., Any] | None = None) -> "TableFits":
        """Fitted on rows of a record, or on cells that stand for more, each with its fold."""
        if is_fitted(calibrator):
            return cls(calibrator, [calibrator] * FOLDS, calibrator, "held-out")
        made: list[Any] = []
        for k in range(FOLDS):
            made.append(fit_clone(calibrator, record.take(fold != k)))
            if progress is not None:
                progress(k)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the same was said of the folds
            return cls(calibrator, made, cls.last(calibrator, record), "out-of-fold")

    @staticmethod
    def last(calibrator: Any, record: Predictions) -> Any:
        """The calibrator fitted on all of the rows."""
        return fit_clone(calibrator, record)

    @property
    def n_splits(self) -> int | None:
        """How many folds, of rows measured out of fold."""
        return FOLDS if self.evaluation == "out-of-fold" else None

    def after(self, record: Predictions, fold: np.ndarray) -> Predictions:
        """The same rows calibrated, each by the fit that has not seen its fold."""
        if self.evaluation == "held-out":
            return record.recalibrated(self.final.predict_record(record), self.final.tags.output)
        result = np.empty(record.values.shape)
        for k, one in enumerate(self.by_fold):
            own = np.flatnonzero(fold == k)
            if len(own):
                result[own] = one.predict_record(record.take(own))
        return record.recalibrated(result, self.calibrator.tags.output)
