"""Decisions with a promise: answers accepted, and sets or intervals that hold the truth."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.journeys.outcomes import Outcome
from benchmarks.journeys.product import calibrant, columns_of, option, read_csv, write_csv
from benchmarks.journeys.truth import accepted_error, covered_intervals, covered_sets
from benchmarks.journeys.worlds import Rows, World
from scipy import stats

import calibrant as cb
from calibrant.errors import InputError

__all__ = ["decide", "sets"]

ERROR, CERTAINTY, LEVEL = 0.1, 0.95, 0.9
#: Where so many answers could be accepted at half the error, with so many rows, a refusal is wrong.
WORTH, ROWS = 0.4, 400


def decide(world: World, seed: int, quick: bool) -> Iterator[Outcome]:
    """Answers are accepted by a certified threshold; the first repeat asks the command, too."""
    if world.kind == "forecasts" or world.name == "weighted by design":
        return
    rows, fresh = world.rows(seed), world.fresh(seed)
    rule, refused, error = cb.SelectiveClassifier(ERROR, CERTAINTY), "", 0.0
    try:
        rule.fit(rows.said, rows.outcome, cluster=rows.clusters)
        error = accepted_error(fresh.truth, fresh.said, rule.accept(fresh.said))
    except InputError as refusal:
        refused = str(refusal)
    if world.n >= ROWS and rows.clusters is None and _possible(fresh):
        yield Outcome("refuses what can be certified", "false alarm", bool(refused), 0.05, refused)
    detail = f"of the accepted answers {error:.3f} are wrong, {ERROR} promised"
    yield Outcome("errors accepted", "wrong advice", error > ERROR, 1.0 - CERTAINTY, detail)
    if seed == 0 and not refused:
        yield _command_accepts(rows, rule)


def _possible(fresh: Rows) -> bool:
    """Whether a threshold accepts a good share of the rows at half the error allowed."""
    both = [p if p.ndim == 2 else np.column_stack([1.0 - p, p]) for p in (fresh.truth, fresh.said)]
    order = np.argsort(-both[1].max(axis=1))
    wrong = 1.0 - both[0][np.arange(len(order)), both[1].argmax(axis=1)]
    error = wrong[order].cumsum() / np.arange(1, len(order) + 1)
    return bool((error[int(WORTH * len(order)) :] < ERROR / 2.0).any())


def _command_accepts(rows: Rows, rule: Any) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        more = {} if rows.clusters is None else {"cluster": rows.clusters}
        log = write_csv(here / "log.csv", columns_of(rows, **more))
        stated = (option("decide", "error"), ERROR, option("decide", "certainty"), CERTAINTY)
        clusters = () if rows.clusters is None else ("--cluster", "cluster")
        calibrant("decide", log, *stated, *clusters, "-o", here / "rule.calibrant")
        calibrant("apply", here / "rule.calibrant", log, "-o", here / "out.csv")
        accepted = np.array(read_csv(here / "out.csv")["accept"]) == "True"
    differ = int((accepted != rule.accept(rows.said)).sum())
    detail = f"{differ} rows are decided otherwise by the command"
    return Outcome("decide and apply", "doors disagree", differ > 0, 0.0, detail)


def sets(world: World, seed: int, quick: bool) -> Iterator[Outcome]:
    """Sets, or intervals, at 90 %: their coverage by the truth, beside its law over repeats."""
    rows, fresh = world.rows(seed), world.fresh(seed)
    if world.name == "weighted by design":
        return
    if world.kind == "forecasts":
        fitted = cb.ConformalIntervals(levels=(LEVEL,)).fit(tuple(rows.said.T), rows.outcome)
        interval = fitted.predict(*fresh.said.T).interval(LEVEL)
        yield _coverage("intervals", covered_intervals(fresh.truth, *interval), world.n)
        return
    rule = cb.ConformalSets(level=LEVEL).fit(rows.said, rows.outcome, cluster=rows.clusters)
    held = covered_sets(fresh.truth, rule.predict_set(fresh.said))
    yield _coverage("sets", float(held.mean()), int(rule.guarantee_.n))
    own = cb.ConformalSets(level=LEVEL, calibrator=cb.TemperatureScaling())
    own.fit(rows.said, rows.outcome, cluster=rows.clusters)
    held = covered_sets(fresh.truth, own.predict_set(fresh.said))
    yield _coverage("sets after a calibrator", float(held.mean()), int(own.guarantee_.n))
    if rows.groups is not None and not world.unseen:
        yield from _by_group(rows, fresh)


def _by_group(rows: Rows, fresh: Rows) -> Iterator[Outcome]:
    rule = cb.ConformalSets(level=LEVEL, by="groups")
    rule.fit(rows.said, rows.outcome, groups=rows.groups)
    held = covered_sets(fresh.truth, rule.predict_set(fresh.said, groups=fresh.groups))
    for group in np.unique(fresh.groups):
        n = int((rows.groups == group).sum())
        if n >= 50:
            yield _coverage("sets by group", float(held[fresh.groups == group].mean()), n)


def _coverage(question: str, covered: float, n: int) -> Outcome:
    """Under the promise the coverage of a calibration set of n rows is beta distributed."""
    k = int(np.ceil((n + 1) * LEVEL))
    least = float(stats.beta.ppf(0.05, k, max(n + 1 - k, 1)))
    detail = f"covers {covered:.4f}; {least:.4f} is undercut by one calibration set in 20"
    return Outcome(question, "wrong advice", covered < least, 0.05, detail)
