"""The report's advice, and the repair of groups, beside what is so."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from benchmarks.journeys.outcomes import Outcome
from benchmarks.journeys.product import ADVICE, of_design
from benchmarks.journeys.truth import MATERIAL_LOSS, expected_loss, expected_score, group_gaps
from benchmarks.journeys.truth import is_off as off_by_much
from benchmarks.journeys.worlds import Rows, World

import calibrant as cb

__all__ = ["group_repair", "report_advice"]

#: Harm below a thousandth of the loss is none; gaps of groups matter from 2 points on.
HARM, GROUP_GAP = 1e-3, 0.02
#: A repair must not cost more than this share of the log loss.
COST = 5e-3


def report_advice(world: World, seed: int, quick: bool) -> Iterator[Outcome]:
    """A report is made with a simple calibrator and with the default one, and is believed."""
    if world.unseen or world.name == "drifting":
        return
    rows, fresh = world.rows(seed), world.fresh(seed)
    if world.kind == "forecasts":
        calibrators: list[Any] = [cb.StdScaling()]
    else:
        calibrators = [cb.TemperatureScaling()] + ([] if quick else [cb.AutoCalibrator()])
    for calibrator in calibrators:
        found = _report(world, rows, calibrator).to_dict()["verdict"]
        before, after = _losses(world, rows, fresh, calibrator)
        yield from _judged(world, found, type(calibrator).__name__, before, after)


def _report(world: World, rows: Rows, calibrator: Any) -> Any:
    options = {"cluster": rows.clusters, "groups": rows.groups}
    given = {name: value for name, value in options.items() if value is not None}
    given |= of_design(rows.weights)
    if world.kind == "forecasts":
        mean, std = rows.said.T
        return cb.report(rows.outcome, mean, std, calibrator=calibrator, n_resamples=100)
    return cb.report(rows.outcome, rows.said, calibrator=calibrator, n_resamples=100, **given)


def _losses(world: World, rows: Rows, fresh: Rows, calibrator: Any) -> tuple[float, float]:
    """The expected loss of rows to come, as they are and after calibration on the person's rows."""
    if world.kind == "forecasts":
        fitted = calibrator.fit(tuple(rows.said.T), rows.outcome)
        made = fitted.predict(*fresh.said.T)
        before = expected_score(fresh.truth, *fresh.said.T)
        return before, expected_score(fresh.truth, np.asarray(made.mean), np.asarray(made.std))
    fitted = calibrator.fit(rows.said, rows.outcome, sample_weight=rows.weights)
    after = fitted.predict_proba(fresh.said)
    after = after[:, 1] if fresh.said.ndim == 1 else after
    return expected_loss(fresh.truth, fresh.said), expected_loss(fresh.truth, after)


def _judged(
    world: World,
    verdict: dict[str, Any],
    name: str,
    before: float,
    after: float,
) -> Iterator[Outcome]:
    state = verdict.get("state")
    advice = ADVICE[state or verdict["calibration"]]
    fine = (
        state in ("use as they are", "fine as it is") if state else verdict["model"] == "calibrated"
    )
    unsure = state in ("too few rows", "too few rows to say")
    change, detail = after - before, f"{verdict['sentence']} Truly {before:.4f} to {after:.4f}."
    harms, helps = change > HARM * abs(before), change < -MATERIAL_LOSS * abs(before)
    wrong = advice == "use it" and (harms or world.suspect)
    regret = (after if advice == "use it" else before) - min(before, after)
    regret = 0.0 if advice == "check" else regret
    yield Outcome(f"advice on {name}", "wrong advice", wrong, 0.025, detail, regret)
    if helps and not world.suspect:
        missed = advice != "use it"
        yield Outcome(f"help of {name}", "missed help", missed, 0.05, detail)
    if world.calibrated:
        alarm = not fine and not unsure
        yield Outcome(f"the model, beside {name}", "false alarm", alarm, 0.05, detail)
    elif off_by_much(world):
        yield Outcome(f"the model, beside {name}", "false comfort", fine, 0.05, detail)


def group_repair(world: World, seed: int, quick: bool) -> Iterator[Outcome]:
    """Groups are audited, and set right by the default repair; quick runs leave out the pool."""
    rows, fresh = world.rows(seed), world.fresh(seed)
    if rows.groups is None or world.kind != "event":
        return
    yield from _audited(rows, fresh)
    fitted = cb.GroupCalibrator().fit(
        rows.said,
        rows.outcome,
        groups=rows.groups,
        sample_weight=rows.weights,
    )
    repaired = fitted.predict_proba(fresh.said, groups=fresh.groups)[:, 1]
    loss = expected_loss(fresh.truth, repaired)
    rivals = {"nothing": fresh.said}
    if not quick:
        whole = cb.AutoCalibrator().fit(rows.said, rows.outcome, sample_weight=rows.weights)
        rivals["the automatic choice"] = whole.predict_proba(fresh.said)[:, 1]
    for name, said in rivals.items():
        other = expected_loss(fresh.truth, said)
        detail = f"expected log loss {loss:.4f} by groups, {other:.4f} by {name}"
        worse = loss > (1.0 + COST) * other
        yield Outcome(f"no worse than {name}", "wrong advice", worse, 0.05, detail)
    yield from _explained(world, fitted, fresh)
    if world.unseen:
        new = fresh.groups == "unseen"
        gap = float((repaired - fresh.truth)[new].mean())
        detail = f"mean risk {gap:+.3f} off"
        yield Outcome("a group not seen", "wrong advice", abs(gap) > GROUP_GAP, 0.05, detail)


def _audited(rows: Rows, fresh: Rows) -> Iterator[Outcome]:
    """The audit of what was said: groups without a gap are not off, groups that hold have none."""
    found = cb.audit(rows.outcome, rows.said, rows.groups, **of_design(rows.weights)).frame()
    gaps = group_gaps(fresh, fresh.said)
    outcomes = dict(zip(found["group"], found["outcome"], strict=True))
    none = [g for g in outcomes if abs(gaps.get(g, 1.0)) < 5e-3]
    large = [g for g in outcomes if abs(gaps.get(g, 0.0)) > 0.05]
    if none:
        off = any(outcomes[g] == "off" for g in none)
        yield Outcome(
            "groups called off", "false alarm", off, 0.05, f"{outcomes}, true gaps {gaps}"
        )
    if large:
        held = any(outcomes[g] == "holds" for g in large)
        yield Outcome("groups that hold", "false comfort", held, 0.05, f"{outcomes}, {gaps}")


def _explained(world: World, fitted: Any, fresh: Rows) -> Iterator[Outcome]:
    """What is said of the differences between groups."""
    differ = bool(fitted.offsets_.used)
    if world.groups_differ:
        yield Outcome("groups differ", "false comfort", not differ, 0.05, fitted.explain())
    else:
        yield Outcome("groups differ", "false alarm", differ, 0.05, fitted.explain())
