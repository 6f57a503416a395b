"""The calibrator that is meant where one is wanted: the default for None, one-vs-rest for a map. The only place that decides it."""

from collections.abc import Callable
from typing import Any

from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.kinds import require_calibrator
from calibrant.contracts.map import Map
from calibrant.errors import InputError
from calibrant.wrap.one_vs_rest import OneVsRest

__all__ = ["as_calibrator"]


def as_calibrator(given: Any, *, default: Callable[[], Calibrator] | None = None, fitted: bool = False) -> Calibrator:
    """The calibrator of class probabilities that is meant.

    Parameters
    ----------
    given : Calibrator, Map, class of one of them, or None
        A calibrator stands for itself and None for ``default()``. A map stands for ``OneVsRest(map)``: with two classes one map of the
        probability of the event, with more one for each class. The confidence of the answer is asked for by
        ``ConfidenceCalibrator(map=map)``.
    default : function of no arguments that makes a calibrator, optional
        Without it, None is refused.
    fitted : bool, default False
        Whether a fitted calibrator would be used as it is; a fitted map, which does not say what it was fitted to, is then refused.

    Returns
    -------
    Calibrator

    Raises
    ------
    InputError
        For anything else: a name, a calibrator of forecasts, a signal.

    Examples
    --------
    >>> from calibrant.maps.isotonic import Isotonic
    >>> as_calibrator(Isotonic())
    OneVsRest(map=Isotonic())
    """
    given = default if given is None else given
    one = (
        given()
        if (given is default and default is not None) or (isinstance(given, type) and issubclass(given, Calibrator | Map))
        else given
    )
    if not isinstance(one, Map):
        return require_calibrator(one, or_map=True)
    if fitted and hasattr(one, "n_fit_"):
        name = type(one).__name__
        raise InputError(
            f"calibrator is a fitted {name}, a map, which does not say what it was fitted to; "
            f"pass a fitted calibrator, such as OneVsRest({name}()).fit(P, y), or the map unfitted."
        )
    return OneVsRest(one)
