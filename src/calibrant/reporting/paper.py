"""Publication figure made by one call: the main drawing of a report."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from calibrant.calibrators.temperature import Identity
from calibrant.core.arrays import ArrayLike
from calibrant.core.labels import by_text
from calibrant.displays.calibration import CalibrationDrawing
from calibrant.displays.paper import PaperFigure
from calibrant.errors import InputError
from calibrant.reporting.report import Report, report

__all__ = ["figure"]


def figure(
    y: ArrayLike | Report,
    P: Any = None,
    std: ArrayLike | None = None,
    *,
    width: float = 89.0,
    path: str | Path | None = None,
    **options: Any,
) -> PaperFigure:
    """Draw the calibration of a model for a paper: the main drawing of its report.

    Parameters
    ----------
    y : Report, or (n,) true labels or outcomes
        A report shows the model before and after its calibration.
    P : (n, K), or (n,) for binary, or a forecast
        Predictions to draw as they are, unless a ``calibrator`` is passed. A dictionary
        {name: predictions} draws several models on the same axes.
    std : (n,), optional
        Standard deviations of normal forecasts with means P.
    width : float, default 89
        In millimetres: 89 is one column of most journals, 183 two.
    path : str or Path, optional
        Write the figure there as PDF, SVG or PNG, as its suffix says. An existing file is kept;
        ``save(path, overwrite=True)`` replaces it.
    **options
        Those of :func:`report`, such as ``calibrator``, ``classes``, ``target``, ``sample_weight``.

    Returns
    -------
    PaperFigure
        ``.save("fig1.pdf")``; ``.figure_`` is the Matplotlib figure.

    Raises
    ------
    InputError
        When the predictions or an option are invalid, or the models predict different things.

    See Also
    --------
    report : all numbers, as a page.
    displays.ReliabilityDisplay : draws on axes of your own.

    Notes
    -----
    Text has 7 points and its fonts are embedded in a PDF; in an SVG, letters are shapes. For error
    bars it draws the root mean squared error over the root mean predicted variance, of the first
    output.

    Examples
    --------
    >>> y, p = [0, 1, 1, 0, 1, 0], [0.2, 0.7, 0.9, 0.4, 0.4, 0.1]
    >>> figure(y, p).figure_.axes[0].child_axes[0].get_xlabel()
    'Predicted risk'
    """
    if not width > 0.0:
        raise InputError(f"width must be above 0 millimetres; got {width!r}.")
    if isinstance(y, Report):
        drawing = _of_summary(y.to_dict())
    elif isinstance(P, Mapping):
        drawing = _together(
            {name: _drawn(y, one, std, options) for name, one in by_text(P, "P").items()}
        )
    else:
        drawing = _drawn(y, P, std, options)
    made = PaperFigure(drawing, width)
    if path is not None:
        made.save(path)
    return made


def _drawn(y: Any, P: Any, std: Any, options: dict[str, Any]) -> Any:
    usual = {"calibrator": Identity(), "n_resamples": 0}
    return _of_summary(report(y, P, std, **{**usual, **options}).to_dict())


def _of_summary(summary: dict[str, Any]) -> Any:
    from calibrant.reporting.html import PAGES

    return PAGES[summary["target"]].main_display(summary)


def _together(drawings: dict[str, Any]) -> Any:
    """Return the last curve of each drawing on the same axes."""
    from calibrant.reporting.figures import Overlaid

    kinds = {(type(one), getattr(one, "target", None)) for one in drawings.values()}
    if len(kinds) != 1:
        raise InputError(
            f"P must hold predictions of one kind; got {len(kinds)} kinds; draw each by itself."
        )
    first, *_ = drawings.values()
    if isinstance(first, Overlaid):
        return Overlaid({name: one.last for name, one in drawings.items()})
    scales = {one.scale for one in drawings.values()}
    return CalibrationDrawing(
        {"": {name: one.last for name, one in drawings.items()}},
        target=first.target,
        scale=first.scale if len(scales) == 1 else "linear",
        rate=first.rate,
    )
