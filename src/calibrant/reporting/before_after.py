"""Rows before and after calibration, which is out of fold, held out, or in sample."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from calibrant.calibrators.temperature import Identity
from calibrant.core.estimators import seeded
from calibrant.core.folds import cross_fit, fit_clone
from calibrant.core.model_outputs import is_fitted
from calibrant.errors import InputError
from calibrant.regression.scaling import ForecastIdentity

__all__ = ["Compared", "compare", "final"]


@dataclass(frozen=True)
class Compared:
    """Measured rows before and after (None: no calibration), as records of predictions or of
    forecasts.

    ``evaluation`` is "none", "out-of-fold", "held-out" or "in-sample"; ``calibration`` holds the
    rows of the fit, if they are others; ``whole`` is the same for all classes, if the records are
    of one event. ``fold_fits`` describes the out-of-fold predictions, as in
    :class:`~calibrant.core.folds.OutOfFold`; ``fitted`` is the calibrator on all rows where these
    come from its fit.
    """

    before: Any
    after: Any
    calibrator: Any
    evaluation: str
    n_fit: float | None = None
    n_splits: int | None = None
    calibration: Any = None
    whole: "Compared | None" = None
    fold_fits: str | None = None
    fitted: Any = None

    @property
    def shown(self) -> Any:
        """Rows to search for miscalibration: those after calibration, unless they are in-sample."""
        return self.before if self.after is None or self.evaluation == "in-sample" else self.after

    def both(self, make: Callable[[Any], Any]) -> dict[str, Any]:
        """Return {"before": ``make(before)``, "after": ``make(after)``, or None}."""
        return {
            "before": make(self.before),
            "after": None if self.after is None else make(self.after),
        }

    def seen_as(self, view: Callable[[Any], Any]) -> "Compared":
        """Return the same with ``view`` applied to every record."""
        before, after, calibration = (
            None if one is None else view(one)
            for one in (self.before, self.after, self.calibration)
        )
        return replace(self, before=before, after=after, calibration=calibration, whole=self)

    def outputs(self) -> list["Compared"]:
        """Return one for each output of forecasts, or itself for classes."""
        each = (self.before, self.after, self.calibration)
        parts = [
            [None] * len(self.before.outputs()) if record is None else record.outputs()
            for record in each
        ]
        return [
            replace(self, before=a, after=b, calibration=c) for a, b, c in zip(*parts, strict=True)
        ]


@seeded
def compare(
    record: Any,
    calibrator: Any,
    *,
    test: Any = None,
    n_splits: int | None = None,
    in_sample: bool | None = None,
    random_state: int = 0,
    progress: Callable[..., Any] | None = None,
) -> Compared:
    """Calibrate the rows of ``record`` (or of ``test``) with the least optimistic evaluation that
    the arguments allow.

    Parameters
    ----------
    record : Predictions with labels, or ForecastRecord with outcomes
    calibrator : Calibrator or RegressionCalibrator
        Unfitted: out of fold, or fitted on all of ``record`` and measured on ``test``. Fitted:
        applied as it is.
    test : record like the first, optional
    n_splits, random_state, progress
        As in :func:`calibrant.core.folds.cross_fit`.
    in_sample : bool, optional
        Whether a fitted calibrator was fitted on these rows. Default: found by fitting it again and
        comparing.

    Returns
    -------
    Compared

    Raises
    ------
    InputError
        For a fitted calibrator with ``test``.

    Examples
    --------
    >>> from calibrant.core.predictions import read
    >>> from calibrant.calibrators.temperature import TemperatureScaling
    >>> found = compare(
    ...     read([0.1, 0.8, 0.3, 0.6, 0.7] * 8, [0, 1, 1, 0, 1] * 8),
    ...     TemperatureScaling(),
    ...     n_splits=2,
    ... )
    >>> found.evaluation, found.after.probabilities.shape
    ('out-of-fold', (40, 2))
    """
    if isinstance(calibrator, Identity | ForecastIdentity):
        return Compared(record if test is None else test, None, calibrator, "none")
    if test is not None:
        if is_fitted(calibrator):
            raise InputError(
                "calibrator is fitted already, so test= has nothing to hold out from; pass the"
                " test rows alone."
            )
        fitted = fit_clone(calibrator, record)
        return Compared(
            test,
            _applied(fitted, test),
            fitted,
            "held-out",
            n_fit=float(record.weights.sum()),
            calibration=record,
        )
    if not is_fitted(calibrator):
        found = cross_fit(
            calibrator, record, n_splits=n_splits, random_state=random_state, progress=progress
        )
        return Compared(
            record,
            record.recalibrated(found.result, calibrator.tags.output),
            calibrator,
            "out-of-fold",
            n_splits=int(found.folds.max()) + 1,
            fold_fits=found.fold_fits,
            fitted=found.fitted,
        )
    after = _applied(calibrator, record)
    seen = _fitted_on(calibrator, record, after) if in_sample is None else in_sample
    return Compared(record, after, calibrator, "in-sample" if seen else "held-out")


def _applied(fitted: Any, record: Any) -> Any:
    seen = record if fitted.tags.uses_features else record.without_features()
    return record.recalibrated(fitted.predict_record(seen), fitted.tags.output)


def _fitted_on(calibrator: Any, record: Any, after: Any) -> bool:
    """Return whether a fit on these rows reproduces the calibrator, which was then fitted
    on them.
    """
    if calibrator.tags.needs_reference and record.reference is None:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = _applied(fit_clone(calibrator, record), record)
    return again.agrees_with(after) and not record.agrees_with(after)


def final(found: Any, record: Any) -> Any:
    """Return the calibrator to use: itself if it is fitted, otherwise fitted on all rows; None
    without calibration.
    """
    if found.after is None:
        return None
    if found.fitted is not None:
        return found.fitted
    if is_fitted(found.calibrator):
        return found.calibrator
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the folds have warned already
        return fit_clone(found.calibrator, record)
