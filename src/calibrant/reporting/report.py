"""Report in one file for a browser, made by one call.

The modules that measure and write it are imported on first use, because they are a large part of
calibrant that most programs never use.
"""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from calibrant.audits.result import Audit
from calibrant.core.arrays import ArrayLike
from calibrant.core.cards import Card, Shown
from calibrant.core.domain import outcomes_apart
from calibrant.core.estimators import one_blas_thread
from calibrant.core.guarantee import Promised
from calibrant.core.labels import array_of
from calibrant.core.saving import replacing
from calibrant.core.stores import located
from calibrant.errors import InputError
from calibrant.tables.sample import RowSample

if TYPE_CHECKING:
    from calibrant.core.calibrator import Calibrator

__all__ = ["Report", "report", "require_page"]

#: Suffixes of programs that cannot open a page; any other suffix is written as the page.
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
#: Names for the head of every page.
NAMES = ("title", "model", "event", "period", "version")


class Report(Shown):
    """Result of :func:`report`: a dictionary and a page; a notebook shows the page's answer.

    Parameters
    ----------
    summary : Summary, from ``summarise``, or its dictionary

    See Also
    --------
    report : make a report.

    Examples
    --------
    >>> found = report([0, 1, 1, 0, 1, 0], [0.2, 0.7, 0.9, 0.4, 0.4, 0.1], n_splits=2)
    >>> found.to_dict()["verdict"]["model"]
    'calibrated'
    """

    def __init__(self, summary: dict[str, Any]) -> None:
        self._summary = summary if isinstance(summary, dict) else summary.to_dict()

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the page as strings, numbers, lists and dictionaries."""
        return self._summary

    def to_html(self) -> str:
        """Return the page, one complete HTML document without external references."""
        from calibrant.reporting.html import render

        return render(self._summary)

    def to_json(self) -> str:
        """Return the dictionary as JSON."""
        return json.dumps(self._summary, indent=1, allow_nan=False)

    def to_markdown(self) -> str:
        """Return the essential tables as Markdown, for model cards and pull requests."""
        from calibrant.reporting.markdown import as_markdown

        return as_markdown(self._summary)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the page to ``path``, or by suffix .json or .md the other forms, atomically; keep
        an existing file unless ``overwrite``.

        Raises
        ------
        InputError
            When ``path`` has the suffix of another kind of file.
        FileExistsError
            When ``path`` exists and ``overwrite`` is False.
        """
        require_page(path)
        made = {".json": self.to_json, ".md": self.to_markdown}.get(
            located(path).suffix.lower(), self.to_html
        )
        with replacing(path, overwrite=overwrite) as temporary:
            # Bytes of a file's name that are not UTF-8 are written as codes.
            temporary.write_text(made(), encoding="utf-8", errors="backslashreplace", newline="\n")
        return located(path)

    def _card(self, picture: bool = False) -> Card:
        from calibrant.reporting.html import card

        return card(self._summary, picture)

    def _repr_html_(self) -> str:
        return self._card(picture=True).html()


def require_page(path: str | Path) -> None:
    """Raise InputError if no report can be written with the suffix of ``path``."""
    suffix = located(path).suffix.lower()
    if suffix in OTHER_FILES:
        raise InputError(
            f"path must end in .html, .json or .md; got {suffix!r}; write the page, then print or"
            " convert it in a browser."
        )


def report(
    y: ArrayLike | Audit | Promised | RowSample,
    P: ArrayLike | None = None,
    std: ArrayLike | None = None,
    *,
    calibrator: "Sequence[Any] | Calibrator | None" = None,
    **options: Any,
) -> Report:
    """Measure predictions before and after calibration, and make a page of the results.

    Parameters
    ----------
    y : (n,) true labels; for forecasts of a number, (n,) or (n, d) outcomes; or, without any of the
        other arrays, the result of :func:`calibrant.audit`, whose page is on every group, a fitted
        rule with a promise, such as :class:`SelectiveClassifier`, a log of answers from
        ``read_questions``, whose groups are its types and questions, or the rows drawn by
        :func:`calibrant.tables.sample` from a table of any size, with their weights
    P : (n, K), or (n,) for binary; {name: predictions} of several models, which are compared as by
        :func:`calibrant.compare`; or a forecast: the means with ``std``, a Forecast, a frozen
        scipy distribution
    std : (n,) or (n, d), optional
        Standard deviations of normal forecasts with means P; the report is then about error bars.
        It is so too if P is a forecast or ``calibrator`` one of forecasts, which also allows a pair
        (mean, std).
    calibrator : Calibrator, Map or regression calibrator, optional
        Unfitted, a class or None (the default calibrator): out-of-fold calibration. Fitted:
        applied without a new fit; pass rows it has not seen. ``Identity()``: no calibration. A list
        or {name: calibrator}: all are compared, overall and in each predicted class. A map is
        fitted one-vs-rest (:class:`OneVsRest`), which with two classes calibrates the event.
    **options
        Those of :class:`~calibrant.reporting.options.ReportOptions`: of the rows ``groups``,
        ``features``, ``times``, ``cluster``, ``sample_weight`` and their like, other rows by
        ``test`` and ``new``, what to ask by ``target``, ``margin`` and costs, how to measure by
        ``level`` and ``n_resamples``, and names by ``title`` and ``model``.

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
        For an unknown option; the message lists the known ones.

    See Also
    --------
    evaluate : measure a table of any size, without a page.
    metrics.compute : compute several metrics at once.

    Notes
    -----
    Read the report before using any calibration. Numbers measured on rows that the calibrator was
    fitted on are labelled as such and do not enter the verdict.

    Examples
    --------
    >>> found = report([0, 1, 1, 0, 1, 0], [0.2, 0.7, 0.9, 0.4, 0.4, 0.1], n_splits=2)
    >>> found.to_dict()["data"]["n_classes"]
    2
    >>> from calibrant.calibrators.temperature import Identity
    >>> report([0.3, -2.0, 1.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], calibrator=Identity()).to_dict()[
    ...     "task"
    ... ]
    'regression'
    """
    from calibrant.reporting.audit_page import summarise_audit
    from calibrant.reporting.models import summarise_models
    from calibrant.reporting.rule_page import summarise_rule
    from calibrant.reporting.summarise import summarise
    from calibrant.reporting.summary import call_of

    if isinstance(y, RowSample):
        title = f"Report of {len(y):,} sampled rows that stand for {y.weight.sum():,.0f}"
        weights = {"sample_weight": y.weight, "weight_kind": "sampling", "classes": y.classes}
        options = weights | {"title": title} | options
        y, P = array_of(y.classes)[y.labels], y.probabilities
    if isinstance(y, Audit):
        _require_known(options, summarise_audit, calibrator)
        return Report(summarise_audit(y, **options))
    if isinstance(y, Promised):
        _require_known(options, summarise_rule, calibrator)
        return Report(summarise_rule(y, **options))
    y, P = outcomes_apart(y, P)
    if not isinstance(P, Mapping):
        with one_blas_thread():
            return Report(summarise(y, P, std, calibrator=calibrator, **options))
    _require_known(options, summarise_models, calibrator)
    with one_blas_thread():
        models = summarise_models(y, cast(Any, P), **options)
    return Report(replace(models, call=call_of(("y", "P"), None, options)))


def _require_known(options: dict[str, Any], summarise: Callable[..., Any], calibrator: Any) -> None:
    """Refuse options that a page without calibration does not have; several models have no name of
    one.
    """
    from calibrant.reporting.options import refuse_unknown

    if calibrator is not None:
        raise InputError(
            "calibrator must be None with several models, an audit or a rule, of which nothing is"
            " calibrated; leave it out, or report on one model."
        )
    named = inspect.signature(summarise).parameters
    known = [name for name, one in named.items() if one.kind is one.KEYWORD_ONLY]
    names = [name for name in NAMES if name != "model" or "P" not in named]
    refuse_unknown(options, list(dict.fromkeys([*known, *names])))
