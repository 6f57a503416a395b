"""Calibrators and their names, from the ``calibrator`` argument of a report."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from calibrant.calibrators.auto import default_calibrator
from calibrant.calibrators.multiclass import as_calibrator
from calibrant.calibrators.temperature import Identity
from calibrant.core.domain import Domain, Facet
from calibrant.core.kinds import require_any_calibrator, require_regression_calibrator
from calibrant.core.labels import by_text
from calibrant.core.model_outputs import is_fitted
from calibrant.core.reading import CLASSIFICATION, REGRESSION
from calibrant.errors import InputError
from calibrant.questions.automatic import AutoQuestionCalibrator
from calibrant.questions.domain import QUESTIONS
from calibrant.regression.auto_regression import default_regression_calibrator

__all__ = ["RESOLVE", "adopted", "groups_of", "resolve", "several", "shown_name"]


def shown_name(calibrator: Any) -> str:
    """Return the name in tables and sentences: the label in its tags.

    Examples
    --------
    >>> from calibrant.calibrators.confidence import ConfidenceCalibrator
    >>> from calibrant.calibrators.maps.binning import HistogramBinning
    >>> shown_name(ConfidenceCalibrator(map=HistogramBinning()))
    'confidence by histogram binning'
    """
    return calibrator.tags.label or type(calibrator).__name__


def resolve(calibrator: Any, domain: Domain = CLASSIFICATION) -> Any:
    """Return the calibrator: the default of the domain for None, an instance of a class,
    one-vs-rest for a map; ``Identity()`` for no calibration.
    """
    return RESOLVE[domain](calibrator)


def _of_classes(calibrator: Any) -> Any:
    return as_calibrator(calibrator, default=default_calibrator, fitted=True)


def adopted(
    calibrator: Any,
    default: Callable[[], Any],
    require: Callable[[Any], Any] = require_any_calibrator,
) -> Any:
    """Return the calibrator itself, ``default()`` for None, or an instance of a class; ``require``
    refuses other domains.
    """
    calibrator = default() if calibrator is None else calibrator
    calibrator = calibrator() if isinstance(calibrator, type) else calibrator
    return calibrator if isinstance(calibrator, Identity) else require(calibrator)


def _of_numbers(calibrator: Any) -> Any:
    return adopted(calibrator, default_regression_calibrator, require_regression_calibrator)


RESOLVE: Facet[Any] = Facet("calibrators")
RESOLVE.register(CLASSIFICATION, lambda: _of_classes)
RESOLVE.register(REGRESSION, lambda: _of_numbers)
RESOLVE.register(QUESTIONS, lambda: partial(adopted, default=AutoQuestionCalibrator))


def several(calibrator: Any, domain: Domain = CLASSIFICATION) -> dict[str, Any] | None:
    """Return {name: calibrator} for a list, tuple or dictionary of them, each resolved; None for a
    single one.
    """
    if isinstance(calibrator, Mapping):
        named = by_text(calibrator, "calibrator")
        named = {name: resolve(value, domain) for name, value in named.items()}
    elif isinstance(calibrator, list | tuple):
        named = {}
        for value in calibrator:
            made = resolve(value, domain)
            name = shown_name(made)
            named[name if name not in named else f"{name} ({len(named) + 1})"] = made
    else:
        return None
    if not named:
        raise InputError(
            "calibrator must name at least one calibrator; got none; leave it out for the default."
        )
    return named


def groups_of(groups: Any, test: tuple[Any, ...] | None, named: dict[str, Any]) -> tuple[Any, ...]:
    """Return (groups of the rows fitted on, where a calibrator takes them, those measured)."""
    uses = next(
        (name or type(one).__name__ for name, one in named.items() if one.tags.uses_groups), None
    )
    own = test[3] if isinstance(test, tuple | list) and len(test) > 3 else None
    measured = groups if own is None else own
    if uses is not None and test is not None and measured is groups:
        raise InputError(
            f"{uses} uses groups, those of y, P and those of test; got one; pass test=(y_test,"
            " P_test, weight_test, groups_test)."
        )
    # A fitted choice, and one whose rows have no groups of their own, goes without.
    takes = any(one.tags.takes_groups and not is_fitted(one) for one in named.values())
    fits = uses is not None or (takes and (test is None or measured is not groups))
    return groups if fits else None, measured
