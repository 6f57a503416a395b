"""Measurements of ``evaluate`` and ``report``, on one path for tables of any kind and size."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from calibrant import metrics
from calibrant.cli.choosing import (
    chosen,
    fold_progress,
    in_stored_unit,
    of_scores,
    reported,
    require_reference,
    saved,
)
from calibrant.cli.options import Columns
from calibrant.cli.tables import progress
from calibrant.cli.wording import say
from calibrant.core.groups import WeightKind, clustered
from calibrant.core.labels import SoftLabels
from calibrant.core.text_table import few, shown
from calibrant.reporting.compared_scores import Measure, score_table
from calibrant.reporting.drift import read_times
from calibrant.reporting.report import Report
from calibrant.reporting.table.report import TableReport
from calibrant.tables.paths import title_of
from calibrant.tables.readers import (
    column_of,
    columns_of,
    features_of,
    large_table,
    names_in_option,
    read_any,
)
from calibrant.tables.training import training_of

__all__ = ["Asked", "large_fit", "measured"]


@dataclass(frozen=True)
class Asked:
    """Options of a measurement; ``default`` is the calibrator if neither --method nor --calibrator
    names one, and ``page`` whether sections are wanted that only a page shows.
    """

    columns: Columns
    method: str | None = None
    calibrator: Path | None = None
    target: str | None = None
    bins: int | None = None
    cluster: str | None = None
    weight_kind: WeightKind = "frequency"
    test: Path | None = None
    test_label: str | None = None
    test_weight: str | None = None
    title: str | None = None
    time: str | None = None
    groups: str | None = None
    features: str | None = None
    reference: Path | None = None
    cost_false_positive: float | None = None
    cost_false_negative: float | None = None
    default: Any = None
    page: bool = True

    @property
    def costs(self) -> dict[str, float | None]:
        """Both costs, as ``report`` takes them; empty if neither was passed."""
        found = {
            "cost_false_positive": self.cost_false_positive,
            "cost_false_negative": self.cost_false_negative,
        }
        return found if any(cost is not None for cost in found.values()) else {}

    @property
    def of_rows(self) -> bool:
        """Whether the options need rows in memory, because sums over them do not suffice."""
        return any(
            (
                self.test,
                self.time,
                self.groups,
                self.features,
                self.reference,
                self.cluster,
                self.costs,
                self.weight_kind == "sampling",
                "," in (self.method or ""),
            )
        )


def measured(file: Path, asked: Asked) -> Any:
    """Compute the report on a table."""
    if asked.test is not None and asked.calibrator is not None:
        raise click.UsageError(
            "--test and --calibrator exclude each other; pass the test file as FILE."
        )
    if len(asked.costs) and None in asked.costs.values():
        raise click.UsageError(
            "--cost-false-positive and --cost-false-negative need each other; pass both."
        )
    if asked.test is None and (asked.test_label or asked.test_weight):
        raise click.UsageError(
            "--test-label and --test-weight name columns of --test TABLE; pass it, or leave them"
            " out."
        )
    loaded = saved(asked.calibrator, asked.method)
    asked = replace(asked, columns=in_stored_unit(loaded, asked.columns))
    if not asked.of_rows:
        options = {
            "default": asked.default,
            "target": asked.target,
            "n_bins": asked.bins,
            "title": shown(asked.title or title_of(file)),
        }
        found = _large_report(file, asked.columns, asked.method, loaded, **options)
        if found is not None:
            return found
    return _of_rows(file, asked, loaded)


def _of_rows(file: Path, asked: Asked, loaded: Any) -> Any:
    """Compute the report on rows in memory."""
    own = None if asked.test is not None else asked.cluster
    prefer, check = getattr(loaded, "inputs", None), partial(_check_beside, asked)
    data = read_any(
        file, asked.columns, cluster=own, prefer=prefer, check=None if asked.test else check
    )
    if isinstance(data.labels, SoftLabels) and asked.default is not None:
        return _of_shares(data, asked)
    held_out = None
    if asked.test is not None:
        held_out = read_any(
            asked.test,
            _columns_of_test(asked, data),
            cluster=asked.cluster,
            prefer=data.inputs,
            check=check,
        )
    rows, said = (data, None) if held_out is None else (held_out, held_out.source.said)
    options = {
        "times": column_of(rows, asked.time),
        "features": None
        if asked.features is None or asked.reference is not None
        else columns_of(rows, asked.features, "--features"),
        "cluster": column_of(rows, asked.cluster),
        "weight_kind": asked.weight_kind,
        "title": shown(asked.title or title_of(rows.path)),
        "page": asked.page,
        **asked.costs,
    }
    others = (asked.cluster, asked.time, *(asked.groups or "").split(","))
    known = getattr(loaded, "feature_names_", None)
    features, training = training_of(
        data, asked.columns, asked.reference, asked.features, known, others
    )
    options |= training
    scored = of_scores(data, asked.method, loaded, held_out)
    if scored:
        fitted, data, held_out = [scored[0]], scored[1], None
    else:
        names = [None] if asked.method is None else asked.method.split(",")
        fitted = [
            chosen(
                name,
                loaded,
                data,
                default=asked.default,
                target=asked.target,
                groups=asked.groups,
                reference=asked.reference,
            )
            for name in names
        ]
    if asked.default is not None and not any(one.tags.needs_reference for one in fitted):
        require_reference(asked.features, asked.reference, fitted[0])
    uses_groups = any(one.tags.takes_groups for one in fitted)
    by_groups = asked.groups is not None and held_out is not None and uses_groups
    options["groups"] = (
        None
        if asked.groups is None
        else columns_of(data if by_groups else rows, asked.groups, "--groups")
    )
    speaks = [one for one in fitted if one.tags.output == "confidence"]
    options["target"] = data.asked(asked.target, (speaks or fitted)[0])
    with fold_progress(fitted) as step:
        test = _test(held_out, data, asked.groups if by_groups else None, features)
        return reported(
            data,
            fitted[0] if len(fitted) == 1 else fitted,
            test=test,
            said_of_test=said,
            n_bins=asked.bins,
            progress=step,
            **options,
        )


def _check_beside(asked: Asked, data: Any, record: Any) -> None:
    """Refuse rows whose time or features cannot be used."""
    read_times(column_of(data, asked.time), "auto", record)
    if asked.features is not None and asked.reference is not None:
        features_of(data.source, names_in_option(data.source, asked.features))


def _of_shares(data: Any, asked: Asked) -> Report:
    """Measure predictions by shares of raters, with the scores that take them."""
    if given := [
        name
        for name in ("method", "calibrator", "test", "reference", "features")
        if getattr(asked, name)
    ]:
        raise click.UsageError(
            f"--{given[0]} needs one label a row, and {data.path.name} has shares of raters; leave"
            " it out, or `fit` a calibrator, `apply` it to new rows and measure those."
        )
    target, record = data.asked(asked.target), data.record(soft=True)
    measured, error = [metrics.brier_score], metrics.expected_calibration_error
    if target not in ("answer", "classes"):
        P, s = (np.column_stack([1.0 - one, one]) for one in record.pair(target))
        record = replace(record, values=P, kind="probability", shares=s, classes=np.arange(2))
        measured = [metrics.event_brier_score, metrics.observed_expected_ratio]
        error = metrics.positive_class_calibration_error
    rows = clustered(record, column_of(data, asked.cluster), asked.weight_kind)
    measured = [metrics.log_loss, *measured, error.with_options(n_bins=asked.bins or 15)]
    scores = score_table(rows, None, [Measure(one, 1000) for one in measured])
    return Report(
        {
            "data": {
                "n": len(record),
                "n_classes": record.n_classes,
                "clusters": asked.cluster and len(np.unique(rows.cluster)),
            },
            "calibrator": {"name": "none", "evaluation": "none"},
            "metrics": [asdict(one) for one in scores],
            "cautions": [],
            "by_class": None,
            "verdict": {
                "state": "not judged",
                "sentence": f"The labels, {few(data.outcome or ['of the file'])}, are shares of"
                " raters, which no test takes.",
                "action": "Fit a calibrator with `calibrant fit`, and measure it on new rows.",
            },
        }
    )


def _columns_of_test(asked: Asked, data: Any) -> Columns:
    """Return the names of the columns of --test. Where labels or weights are files, those of TABLE
    are not those of --test.
    """
    assert asked.test is not None
    own = {"label": asked.test_label, "weight": asked.test_weight}
    apart = asked.test.suffix.lower() == ".npy"
    for what, name in own.items():
        given = getattr(asked.columns, what)
        if apart and name is None and (given is not None or what == "label"):
            raise click.UsageError(
                f"--test {asked.test} holds no {what}s, and those of TABLE belong to other rows;"
                f" name the file of its {what}s with --test-{what}."
            )
        if not apart and data.source.kind != "npy":
            own[what] = name or given
    return replace(asked.columns, task=data.domain.name, label_option="--test-label", **own)


def _test(test: Any, data: Any, groups: str | None, features: list[str] | None) -> Any:
    """Return a report's argument ``test`` for a file, with groups and features if they are used."""
    if test is None:
        return None
    more = [] if groups is None else [columns_of(test, groups, "--groups")]
    if features is not None:
        more = [*(more or [None]), features_of(test.source, features)]
    return test.labels, test.said_like(data), test.weight, *more


def _large_report(
    path: Path,
    columns: Columns,
    method: str | None,
    loaded: Any,
    *,
    default: Any = None,
    target: str | None,
    **options: Any,
) -> Any:
    """Compute the report on a file read in parts; return None if it is not large, or sums do not
    suffice.
    """

    def asks(data: Any) -> tuple[Any, Any]:
        calibrator = chosen(method, loaded, data, default=default, target=target)
        return calibrator, data.asked(target, calibrator)

    with _summed(path, columns, getattr(loaded, "inputs", None), asks, options) as table:
        return None if table is None else table.made()


def large_fit(
    path: Path, columns: Columns, method: str | None, target: str | None, check: Callable[..., Any]
) -> Any:
    """Fit on a file read in parts and return (the calibrator, a description of the rows), or None
    as ``measured`` does. ``check`` validates the target.
    """

    def asks(data: Any) -> tuple[Any, Any]:
        check(target, method, data)
        return chosen(method, None, data, target=target), None

    with _summed(path, columns, None, asks, {}) as table:
        if table is None:
            return None
        fitted, rows = table.fitted()
        layout = table.rows.layout
        if len(layout.values) == 1:
            fitted.risk_column_ = (layout.values[0], layout.inputs)
        return fitted, rows


@contextmanager
def _summed(
    path: Path,
    columns: Columns,
    prefer: str | None,
    asks: Callable[[Any], tuple[Any, Any]],
    options: dict[str, Any],
) -> Iterator[TableReport | None]:
    """Yield the report of the table, with a progress bar for its passes; ``asks`` returns the
    calibrator and the resolved target of the first rows.
    """
    with large_table(path, columns, prefer, progress) as table:
        calibrator, question = (None, None) if table is None else asks(table.data)
        summed = None if table is None else table.summed(calibrator, question)
        if table is None or summed is None:
            yield None
            return
        rows, classes, target = summed
        named = {name: value for name, value in options.items() if value is not None}
        report = TableReport(rows, table.count, classes, calibrator, target, **named)
        say(
            f"{path} has {report.count:,} rows: it is read in parts, and sums are added up.",
            err=True,
        )
        with progress("rows", report.count * report.passes, amounts=True) as step:
            yield report.shown_by(step)
