"""The monitor of a stream, and the comparison of two models."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.journeys.outcomes import Outcome
from benchmarks.journeys.product import calibrant, columns_of, of_design, write_csv
from benchmarks.journeys.truth import expected_loss, is_off
from benchmarks.journeys.worlds import Rows, World, logistic, logit

import calibrant as cb

__all__ = ["comparison", "monitor"]

BATCHES, A_BATCH = 40, 100
#: A difference in expected log loss that is none.
TIE = 1e-4


def monitor(world: World, seed: int, quick: bool) -> Iterator[Outcome]:
    """Forty days of a hundred rows are watched."""
    if world.kind != "event" or world.suspect or world.name == "clustered":
        return
    rows = world.draw(BATCHES * A_BATCH, seed)
    watch, day = (
        cb.monitoring.CalibrationMonitor(target="event"),
        np.arange(BATCHES * A_BATCH) // A_BATCH,
    )
    dates = np.datetime64("2026-01-01") + day
    for j in range(BATCHES):
        now = day == j
        watch.update(rows.said[now], rows.outcome[now], time=str(dates[now][0]))
    alarm, when = watch.alarm_, str(watch.alarm_time_)
    detail = f"alarm {alarm}, at {when}"
    if world.calibrated:
        yield Outcome("a stream without drift", "false alarm", alarm, 0.05, detail)
    elif world.name == "drifting":
        early = alarm and when < str(np.datetime64("2026-01-01") + BATCHES // 2)
        yield Outcome("before the drift", "false alarm", early, 0.05, detail)
        yield Outcome("a drift of 1 in log-odds", "false comfort", not alarm, 0.05, detail)
    elif is_off(world) and world.name != "bent":
        yield Outcome("a stream that is off", "false comfort", not alarm, 0.05, detail)
    if seed == 0 and world.name in ("calibrated", "drifting", "ordinary"):
        yield _command_watches(rows, dates, alarm, when)


def _command_watches(rows: Rows, dates: np.ndarray, alarm: bool, when: str) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        stamped = {"day": dates.astype(str)}
        log = write_csv(Path(folder) / "log.csv", columns_of(rows, **stamped))
        said = json.loads(calibrant("monitor", log, "--time", "day", "--json"))["overall"]
    same = bool(said["alarm"]) == alarm and (not alarm or str(said["alarm_time"])[:10] == when)
    detail = f"Python: {alarm}, {when}; the command: {said['alarm']}, {said['alarm_time']}"
    return Outcome("the command's alarm", "doors disagree", not same, 0.0, detail)


def comparison(world: World, seed: int, quick: bool) -> Iterator[Outcome]:
    """Two models are compared: one sharper than is honest, and one as good as the other."""
    if world.kind != "event":
        return
    rows, fresh = world.rows(seed), world.fresh(seed)
    pairs = {
        "what was said and a sharper one": _sharper,
        "true risks and a sharper one": _sharper_than_true,
        "two that are as good": _twins,
    }
    for question, make in pairs.items():
        first, second = make(rows, seed)
        gain = np.subtract(*[expected_loss(fresh.truth, p) for p in make(fresh, seed + 9)])
        compared = cb.metrics.compare(
            rows.outcome,
            {"a": first, "b": second},
            cluster=rows.clusters,
            **of_design(rows.weights),
        )
        found = next(row for row in compared.rows if row.metric == "log_loss")
        detail = f"{found.meaning} by {found.difference:.4f}; truly by {-gain:.4f}"
        if make is _twins:
            called = found.meaning in ("better", "worse")
            yield Outcome(question, "false alarm", called, 0.05, detail)
        elif abs(gain) > TIE:
            wrong = found.meaning == ("worse" if gain > 0 else "better")
            yield Outcome(question, "wrong advice", wrong, 0.025, detail)
        if seed == 0 and make is _sharper:
            yield _command_compares(rows, first, second, found)


def _sharper(rows: Rows, seed: int) -> tuple[np.ndarray, np.ndarray]:
    return rows.said, logistic(1.5 * logit(rows.said))


def _sharper_than_true(rows: Rows, seed: int) -> tuple[np.ndarray, np.ndarray]:
    return rows.honest, logistic(1.5 * logit(rows.honest))


def _twins(rows: Rows, seed: int) -> tuple[np.ndarray, np.ndarray]:
    z, rng = logit(rows.honest), np.random.default_rng([seed, 31])
    return logistic(z + rng.normal(0.0, 0.5, len(z))), logistic(z + rng.normal(0.0, 0.5, len(z)))


def _command_compares(rows: Rows, first: np.ndarray, second: np.ndarray, found: Any) -> Outcome:
    columns = {"label": rows.outcome, "a": first, "b": second}
    more = ()
    for name, values in (("cluster", rows.clusters), ("weight", rows.weights)):
        if values is not None:
            columns[name] = values
            more += (f"--{name}", name)
    if "weight_kind" in of_design(rows.weights):
        more += ("--weight-kind", "sampling")
    with tempfile.TemporaryDirectory() as folder:
        log = write_csv(Path(folder) / "log.csv", columns)
        pair = ("--risk", "a", "--risk", "b", "--metric", "log_loss", "--json")
        said = json.loads(calibrant("compare", log, *pair, *more))
    row = next(one for one in _all_rows(said) if one.get("metric") == "log_loss")
    same = np.allclose([row["difference"], row["low"]], [found.difference, found.low], atol=1e-12)
    detail = f"the command says {row['difference']}, Python {found.difference}"
    return Outcome("the command's comparison", "doors disagree", not same, 0.0, detail)


def _all_rows(said: dict[str, Any]) -> list[dict[str, Any]]:
    return next(v for v in said.values() if isinstance(v, list) and v and isinstance(v[0], dict))
