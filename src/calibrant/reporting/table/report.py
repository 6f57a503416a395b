"""The report on a table too large for memory: one pass over its rows before calibration, and one
after it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from calibrant._numerics.bins import LOGIT_CELLS, REACH
from calibrant.calibrators.multiclass import OneVsRest
from calibrant.calibrators.temperature import Identity
from calibrant.core.labels import class_array
from calibrant.core.predictions import Predictions
from calibrant.reporting.calibrate import Compared, choice, resolve, shown_name
from calibrant.reporting.classification import CLASSIFICATION, SCORES
from calibrant.reporting.measure import measure
from calibrant.reporting.options import Settings
from calibrant.reporting.report import Report
from calibrant.reporting.summarise import part_of, summary_of, with_code
from calibrant.reporting.summary import About, Method, Summary
from calibrant.reporting.table.sums import (
    PARTS,
    RiskCells,
    RiskPairs,
    TableFits,
    TableSample,
    TableSums,
    fold_of,
    rate_of,
    seen_of,
    table_scores,
)
from calibrant.tables.apply import TableRows

__all__ = ["TableReport"]


@dataclass(frozen=True)
class Pass:
    """Results of a pass: sums or cells, a sample of the rows, and totals of the differences
    after - before.
    """

    sums: Any
    sample: TableSample
    paired: dict[str, np.ndarray]

    def plus(self, other: "Pass") -> "Pass":
        """Those of both."""
        paired = {key: total + other.paired[key] for key, total in self.paired.items()}
        return Pass(self.sums.plus(other.sums), self.sample.plus(other.sample), paired)


@dataclass(frozen=True)
class TableReport:
    """Settings of a report on a table.

    Two classes: all rows are merged by outcome and cell of the risk, before and after calibration,
    and the report is that of the merged rows, with their weights. More: scores, errors, curves and
    tables are of sums over all rows; what these do not give is of a seeded sample of rows. Folds
    are dealt out by the place of each row, whatever the engine and the number of threads.

    Parameters
    ----------
    rows : TableRows
    count : int
        Rows of the table.
    classes : (K,) labels in column order
    calibrator : as for :func:`calibrant.report`
        Fitted: applied as it is. A map, on two classes, is fitted on the cells; any other
        calibrator on the sample.
    target : "event", "answer" or "classes"
    n_bins, level, n_resamples, random_state, title : as for :func:`calibrant.report`
    progress : callable, optional
        Called with the number of rows read, in each pass.
    """

    rows: TableRows
    count: int
    classes: Any
    calibrator: Any = None
    target: Any = None
    n_bins: int = 15
    level: float = 0.95
    n_resamples: int = 1000
    random_state: int = 0
    title: str = "Calibration report"
    progress: Callable[[int], Any] | None = None

    @property
    def passes(self) -> int:
        """Number of passes over the table."""
        return 1 if isinstance(self._calibrator, Identity) else 2

    def shown_by(self, progress: Callable[[int], Any]) -> "TableReport":
        """The same, with ``progress``."""
        return replace(self, progress=progress)

    def made(self) -> Report:
        """The report."""
        return Report((self._of_two() if len(self.classes) == 2 else self._of_several()).to_dict())

    def fitted(self) -> tuple[Any, str]:
        """(the calibrator fitted, what it was fitted on)."""
        first = self._first()
        return TableFits.last(self._calibrator, self._fit_rows(first)[0]), self._fitted_on(first)

    @cached_property
    def _calibrator(self) -> Any:
        return resolve(self.calibrator)

    @property
    def _settings(self) -> Settings:
        return Settings(self.n_bins, self.level, self.n_resamples, self.random_state)

    def _first(self) -> Pass:
        """The pass over the rows as they are."""
        rate = rate_of(self.count, len(self.classes))

        def work(record: Predictions, number: np.ndarray) -> Pass:
            if len(self.classes) == 2:
                sums = RiskCells.of(record, number, self.n_bins)
            else:
                sums = TableSums.of(record, _part(number), self.n_bins, SCORES)[0]
            return Pass(sums, TableSample.of(record, number, rate), {})

        found = self.rows.fold(work, self.progress)
        return replace(
            found, sample=found.sample.named(class_array(self.classes, len(self.classes)))
        )

    def _fit_rows(self, first: Pass) -> tuple[Predictions, np.ndarray]:
        """(record, fold of each row) that calibrators are fitted on."""
        if self._from_cells:
            record, fold = first.sums.record()
            return replace(record, classes=first.sample.record.classes), fold
        return first.sample.record, first.sample.fold

    @property
    def _from_cells(self) -> bool:
        return len(self.classes) == 2 and isinstance(self._calibrator, OneVsRest)

    def _fitted_on(self, first: Pass) -> str:
        rows = f"{first.sums.rows:,} rows"
        return (
            f"{rows} in cells"
            if self._from_cells
            else f"a seeded sample of {len(first.sample.record):,} of {rows}"
        )

    def _fits(self, first: Pass) -> TableFits | None:
        return (
            None
            if isinstance(self._calibrator, Identity)
            else TableFits.of(self._calibrator, *self._fit_rows(first))
        )

    def _of_two(self) -> Summary:
        first = self._first()
        fits, used = self._fits(first), None
        record = replace(first.sums.record()[0], classes=first.sample.record.classes)
        found = Compared(record, None, self._calibrator, "none")
        if fits is not None:
            pairs = self.rows.fold(partial(self._paired, fits), self.progress)
            record, after = (
                replace(one, classes=record.classes)
                for one in pairs.records(fits.calibrator.tags.output)
            )
            found, used = (
                Compared(
                    record,
                    after,
                    fits.calibrator,
                    fits.evaluation,
                    n_splits=fits.n_splits,
                    folds=pairs.fold if fits.n_splits else None,
                ),
                fits.final,
            )
        target = first.sample.record.classes.tolist()[1] if self.target == "event" else self.target
        made = summary_of(CLASSIFICATION, {"": found}, record, [None], target, self._settings, used)
        by = (
            "outcome, risk and fold"
            if fits is None
            else f"outcome{', fold' if fits.n_splits else ''} and risk, before and after"
            " calibration"
        )
        cells = (
            f"merged in {len(record):,} cells of the {by}, no wider than"
            f" {2 * REACH / LOGIT_CELLS:.4f} in log-odds"
        )
        moved = (
            f"which moves a mean loss by less than 0.00001 where risks are within {REACH:.0f} of 0"
            " in log-odds"
        )
        said = f"its rows are {cells}, {moved}; rows of a cell count as ties"
        return self._told(made, first, fits, said)

    def _of_several(self) -> Summary:
        first, level = self._first(), self.level
        sample, fits = first.sample.record, self._fits(first)
        after, found, seen = (
            None,
            Compared(sample, None, self._calibrator, "none"),
            seen_of(first.sums, sample, level),
        )
        seen = Compared(seen, None, self._calibrator, "none")
        paired: dict[str, np.ndarray] = {}
        if fits is not None:
            second = self.rows.fold(partial(self._calibrated, fits), self.progress)
            after, paired, own = second.sums, second.paired, fits.after(sample, first.sample.fold)
            found = Compared(sample, own, fits.calibrator, fits.evaluation, n_splits=fits.n_splits)
            seen = replace(found, before=seen.before, after=seen_of(after, own, level))
        pairs = seen.before.counts.pairs, None if after is None else seen.after.counts.pairs
        measures = CLASSIFICATION.measures(sample, self.n_bins, self.n_resamples)
        rows = sample, found.after, None if found.n_splits is None else first.sample.fold
        scores = table_scores(
            measures, first.sums, after, pairs, paired, rows, level, self.random_state
        )
        used = None if fits is None else fits.final
        measured = measure(CLASSIFICATION, found, scores, None, self._settings, used, seen)
        part = part_of(CLASSIFICATION, measured, found)
        chosen = choice(used, sample, fitted=found.fitted_by_user)
        made = Summary(
            CLASSIFICATION.domain.name,
            self.target,
            self.title,
            level,
            About.of(sample, {}),
            CLASSIFICATION.data(sample, [None]),
            Method.of(found, ""),
            with_code(part.verdict, chosen),
            measured.cautions,
            [part],
            chosen,
            [],
        )
        said = (
            "scores, calibration errors, curves and confusions are of all rows; what ranks takes"
            " rows of a cell for ties; changes of rankings, signals, promises and the calibrator's"
            f" own curves are of a seeded sample of {len(sample):,} rows"
        )
        return self._told(made, first, fits, said)

    def _paired(self, fits: TableFits, record: Predictions, number: np.ndarray) -> RiskPairs:
        """The second pass of two classes: the rows before and after calibration."""
        fold = fold_of(number)
        return RiskPairs.of(
            record, fits.after(record, fold), self.n_bins, fold if fits.n_splits else 0
        )

    def _calibrated(self, fits: TableFits, record: Predictions, number: np.ndarray) -> Pass:
        """The second pass: sums of the rows after calibration, and of what it changed."""
        part = _part(number)
        _, before = TableSums.of(record, part, self.n_bins, SCORES)
        sums, after = TableSums.of(fits.after(record, fold_of(number)), part, self.n_bins, SCORES)
        weight, moved = record.weights, {key: after[key] - loss for key, loss in before.items()}
        paired = {
            key: np.array([weight.sum(), weight @ each, weight @ (each * each)])
            for key, each in moved.items()
        }
        return Pass(sums, TableSample([], []), paired)

    def _told(self, made: Summary, first: Pass, fits: TableFits | None, said: str) -> Summary:
        """With the true numbers of rows, and what was done otherwise than in memory."""
        weighted = first.sample.record.weight is not None
        quality: Any = made.parts[0].measured.quality
        how = (
            f"; {shown_name(fits.calibrator)} was fitted on {self._fitted_on(first)}"
            if fits and fits.evaluation == "out-of-fold"
            else ""
        )
        word = (
            f"The table was read in parts, as it is large: {said}{how}. Copies among the rows were"
            " not looked for."
        )
        if fits is not None and fits.evaluation == "held-out":
            word += (
                " Nor was whether the calibrator was fitted on these very rows: then the numbers"
                " after calibration are too good."
            )
        data = {
            **made.data,
            "n": quality.n,
            "rows": first.sums.rows,
            "weighted": weighted,
            "read": word,
        }
        return replace(made, title=self.title, data=data, cautions=[*made.cautions, word])


def _part(number: np.ndarray) -> np.ndarray:
    """The random part of each row; folds are the rest of another division."""
    return (number // np.uint64(1 << 16) % np.uint64(PARTS)).astype(np.intp)
