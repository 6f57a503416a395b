"""What the reports of a task have of their own; the skeleton that they share is in
``summarise``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from calibrant.contracts.domain import Domain
from calibrant.reporting.miscalibration import Miscalibration

__all__ = ["Asked", "Decisions", "Task"]


@dataclass(frozen=True)
class Decisions:
    """What the user says of the decisions made on risks: thresholds looked at, and what a wrong
    alarm and a missed event cost.
    """

    thresholds: Any = None
    cost_false_positive: float | None = None
    cost_false_negative: float | None = None


@dataclass(frozen=True)
class Asked:
    """What the user asks of a report: the groups (with their columns), features (cut) and times
    of the rows, how to measure, the margin.
    """

    groups: Any
    columns: Any
    features: Any
    times: Any
    n_bins: int
    level: float
    n_resamples: int
    random_state: int
    decisions: Decisions
    margin: float | None = None

    @property
    def dated(self) -> bool:
        """Whether the rows are of several times."""
        return self.times is not None and len(self.times.starts) > 1


@dataclass(frozen=True)
class Task:
    """The table of a task.

    Attributes
    ----------
    domain : whose report it is
    n_bins : of the reliability curve, by default
    resamples_all : whether every alternative gets the intervals of a bootstrap, or only the one
        chosen
    read : (y, P, std, first calibrator, **options) -> (record, names of the outputs); its keywords
        are options of a report
    read_test : (test, record) -> record
    data : (record, names) -> facts of the header
    measures : (record, n_bins, n_resamples) -> the metrics of the table
    seen : (record, asked) -> what the four that follow are told of the rows, before, after and
        calibrated on: states that add up
    quality : (seen, calibration) -> what the rows are like
    cautions : (seen, quality) -> sentences
    chance : (seen, asked) -> what perfect predictions would show
    vetoes : (seen, quality) -> the cautions that forbid any advice
    against : (seen, groups, margin, whether after calibration, seed) -> Miscalibration
    verdict : ({key: Score}, chance, quality, method's name, evaluation, Evidence) -> Verdict
    overall : {name of the output: its Verdict} -> Verdict
    sums : (record, index, count) -> (count, c) mergeable sums by group of rows; the first column is
        the weight
    gaps : (sums, level, worth of the rows from a level) -> one record for each group: rows, gap,
        low, high
        and more; all intervals hold together
    question : (target, record, calibrators) -> the question answered, of what is asked for
    audited : what an audit of its groups is asked, "answer" or "forecast"
    said : record -> ((n,) probability said, (n,) whether it happened), to be watched over time
    target : "answer" or "event": whose probability that is
    sections : (seen before and after, asked, calibrator to use) -> record of what only this task
        shows
    """

    domain: Domain
    n_bins: int
    resamples_all: bool
    read: Callable[..., Any]
    read_test: Callable[..., Any]
    data: Callable[..., Any]
    measures: Callable[..., Any]
    seen: Callable[..., Any]
    quality: Callable[..., Any]
    cautions: Callable[..., Any]
    chance: Callable[..., Any]
    vetoes: Callable[..., list[str]]
    against: Callable[..., Miscalibration]
    verdict: Callable[..., Any]
    overall: Callable[..., Any]
    sums: Callable[..., Any]
    gaps: Callable[..., Any]
    said: Callable[..., Any]
    sections: Callable[..., Any]
    question: Callable[..., Any]
    audited: str = "answer"
    target: str = "answer"
