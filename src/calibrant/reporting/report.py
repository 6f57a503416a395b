"""The report: made in one call, looked at in a browser, kept in one file.

What measures and writes it is imported when one is made, for it is a large part of calibrant that
most programs never use.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from calibrant._support.files import replacing
from calibrant.errors import InputError

if TYPE_CHECKING:
    from calibrant.contracts.calibrator import Calibrator

__all__ = ["Report", "report", "require_page"]

#: Suffixes that say a page would be opened by a program that cannot read it; any other is taken for
#: the page.
OTHER_FILES = (
    ".pdf",
    ".doc",
    ".docx",
    ".odt",
    ".rtf",
    ".tex",
    ".xlsx",
    ".csv",
    ".parquet",
    ".png",
    ".svg",
    ".jpg",
    ".ipynb",
    ".zip",
)


class Report:
    """What :func:`report` found: a dictionary, and a page to look at.

    Parameters
    ----------
    summary : Summary, from ``summarise``, or its dictionary

    See Also
    --------
    report : makes one.

    Examples
    --------
    >>> found = report([0, 1, 1, 0, 1, 0], [0.2, 0.7, 0.9, 0.4, 0.4, 0.1], n_splits=2)
    >>> found.to_dict()["verdict"]["model"]
    'calibrated'
    """

    def __init__(self, summary: dict[str, Any]) -> None:
        self._summary = summary if isinstance(summary, dict) else summary.to_dict()

    def to_dict(self) -> dict[str, Any]:
        """Everything the page says, as strings, numbers, lists and dictionaries."""
        return self._summary

    def to_html(self) -> str:
        """The page, one complete HTML document without outside references."""
        from calibrant.reporting.html import render

        return render(self._summary)

    def to_json(self) -> str:
        """The dictionary as JSON."""
        return json.dumps(self._summary, indent=1, allow_nan=False)

    def to_markdown(self) -> str:
        """The essential tables as Markdown, for model cards and pull requests."""
        from calibrant.reporting.markdown import as_markdown

        return as_markdown(self._summary)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write it to ``path`` (atomic; an existing file is kept unless ``overwrite``): the page,
        or by suffix .json or .md the others.

        Raises
        ------
        InputError
            When ``path`` has the suffix of another kind of file.
        FileExistsError
            When ``path`` exists and ``overwrite`` is False.
        """
        require_page(path)
        made = {".json": self.to_json, ".md": self.to_markdown}.get(
            Path(path).suffix.lower(), self.to_html
        )
        with replacing(path, overwrite=overwrite) as temporary:
            # Names that are no text (bytes of a file's name that are no UTF-8) are written by their
            # codes.
            temporary.write_text(made(), encoding="utf-8", errors="backslashreplace", newline="\n")
        return Path(path)

    def __repr__(self) -> str:
        return f"<Report: {self._summary['verdict']['sentence']}>"


def require_page(path: str | Path) -> None:
    """Raise InputError where the suffix of ``path`` is of a file that no report is written as."""
    suffix = Path(path).suffix.lower()
    if suffix in OTHER_FILES:
        raise InputError(
            f"path must end in .html, .json or .md; got {suffix!r}; write the page, and print or"
            " convert it from a browser."
        )


def report(
    y: ArrayLike,
    P: ArrayLike,
    std: ArrayLike | None = None,
    *,
    calibrator: "Sequence[Any] | Calibrator | None" = None,
    **options: Any,
) -> Report:
    """Measure predictions before and after calibration, and make a page that shows it.

    Parameters
    ----------
    y : (n,) true labels; for forecasts of a number, (n,) or (n, d) outcomes
    P : (n, K), or (n,) for binary; or a forecast: the means with ``std``, a Forecast, a frozen
        scipy distribution
    std : (n,) or (n, d), optional
        Given, P holds the means of normal forecasts, and the report is about error bars; so it is
        where P is a forecast or ``calibrator`` one of forecasts, which also allows a pair (mean,
        std).
    calibrator : Calibrator, Map or regression calibrator, optional
        Unfitted, a class or None (the default calibrator): 5-fold out-of-fold calibration. Fitted:
        applied as it is; pass rows it has not seen. ``Identity()``: the predictions as they are. A
        list or {name: calibrator}: all are compared. A map goes one-vs-rest (:class:`OneVsRest`),
        which with two classes calibrates the event.
    **options
        ``test=(y_test, P_test)``, ``inputs``, ``classes``, ``sample_weight``, ``X``, ``reference``,
        ``groups``, ``features``, ``cluster``, ``weight_kind``, ``times``, ``every``, ``n_splits``,
        ``in_sample``, ``n_bins``, ``level``, ``n_resamples``, ``random_state``, ``title``; see
        :func:`calibrant.reporting.summarise.summarise`.

    Returns
    -------
    Report
        ``.save("report.html")`` (or .json, .md), ``.to_dict()``, ``.to_html()``, ``.to_json()``,
        ``.to_markdown()``.

    Raises
    ------
    InputError
        When the predictions cannot be read or the arguments contradict each other.
    TypeError
        For an option that is none; the message names those there are.

    See Also
    --------
    evaluate : the numbers alone, for a table of any size.
    metrics.compute : several metrics at once.

    Notes
    -----
    Look at it before using any calibration. Numbers measured on rows the calibrator was fitted on
    are labelled so and drive no verdict.

    Examples
    --------
    >>> found = report([0, 1, 1, 0, 1, 0], [0.2, 0.7, 0.9, 0.4, 0.4, 0.1], n_splits=2)
    >>> found.to_dict()["data"]["n_classes"]
    2
    >>> from calibrant.scalings.constant import Identity
    >>> report([0.3, -2.0, 1.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], calibrator=Identity()).to_dict()[
    ...     "task"
    ... ]
    'regression'
    """
    from calibrant.reporting.summarise import summarise

    return Report(summarise(y, P, std, calibrator=calibrator, **options))
