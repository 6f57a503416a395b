"""Every kind of prediction at every door: it works, or one sentence says what the kind lacks."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import calibrant as cb
from calibrant.audits.audit import AUDITED
from calibrant.core.domain import Domain, domains
from calibrant.core.saving import load
from calibrant.errors import InputError
from calibrant.metrics.several import CHOSEN_BY
from calibrant.monitoring import Lock
from calibrant.reporting.measure import TABLES
from calibrant.reporting.versions import MOVES
from calibrant.testing import every_calibrator
from calibrant.testing.data import MADE
from calibrant.testing.runs import fitted

KINDS = {one.name: one for one in domains() if one in CHOSEN_BY and one in MADE}


def rows(kind: Domain) -> tuple[Any, Any, Any]:
    """A problem, the predictions and the outcomes as users pass them."""
    data = MADE[kind].ordinary(CHOSEN_BY[kind].score)[-1]
    return data, data.said if len(data.said) > 1 else data.said[0], data.y


def calibrator(kind: Domain) -> Any:
    return next(one for one in every_calibrator() if one.domain is kind)


def report(kind: Domain, **options: Any) -> Any:
    _, P, y = rows(kind)
    std = P[1] if isinstance(P, tuple) else None
    P = P if std is None else P[0]
    return cb.report(y, P, std, calibrator=calibrator(kind), n_splits=2, n_resamples=50, **options)


def of_models(kind: Domain, **options: Any) -> Any:
    _, P, y = rows(kind)
    return cb.report(y, {"a": P, "b": P}, n_resamples=50, **options)


def audit(kind: Domain) -> Any:
    _, P, y = rows(kind)
    P, std = P if isinstance(P, tuple) else (P, None)
    return cb.audit(
        y, P, std=std, groups=["a", "b", "c", "d"] * (len(y) // 4) + ["a"] * (len(y) % 4)
    )


def lock(kind: Domain, folder: Any) -> Any:
    data, P, y = rows(kind)
    P, std = P if isinstance(P, tuple) else (P, None)
    made = Lock.of(fitted(calibrator(kind), data), model="v1").write(folder / "lock.json")
    return cb.monitoring.read_lock(made).check(P, y, std=std)


def monitor(kind: Domain, target: str | None) -> Any:
    _, P, y = rows(kind)
    P, std = P if isinstance(P, tuple) else (P, None)
    return cb.monitoring.CalibrationMonitor(target=target).update(P, y, std=std).advice()


#: Door -> (the table that a kind registers for it, or None where one sentence may refuse it; call).
DOORS: dict[str, tuple[Any, Callable[[Domain, Any], Any]]] = {
    "report": (TABLES, lambda kind, folder: report(kind).to_dict()["verdict"]["state"]),
    "report of models": (TABLES, lambda kind, folder: of_models(kind).to_html()),
    "report, later rows": (None, lambda kind, folder: report(kind, new=rows(kind)[1]).to_html()),
    "report of models, later rows": (
        None,
        lambda kind, folder: of_models(kind, new=dict.fromkeys("ab", rows(kind)[1])).to_html(),
    ),
    "compare": (
        CHOSEN_BY,
        lambda kind, folder: cb.compare(rows(kind)[2], dict.fromkeys("ab", rows(kind)[1])).rows,
    ),
    "versions": (MOVES, lambda kind, folder: cb.compare_versions(*[rows(kind)[1]] * 2).advice),
    "versions with labels": (
        MOVES,
        lambda kind, folder: cb.compare_versions(*[rows(kind)[1]] * 2, rows(kind)[2]).advice,
    ),
    "lock": (CHOSEN_BY, lock),
    "audit": (AUDITED, lambda kind, folder: str(audit(kind))),
    "monitor": (None, lambda kind, folder: str(monitor(kind, None))),
    "monitor of answers": (None, lambda kind, folder: str(monitor(kind, "answer"))),
    "monitor of forecasts": (None, lambda kind, folder: str(monitor(kind, "forecast"))),
    "saved": (
        CHOSEN_BY,
        lambda kind, folder: (
            load(
                fitted(calibrator(kind), rows(kind)[0]).save(folder / "a.calibrant")
            ).predict_record
        ),
    ),
}


def test_every_table_of_a_door_is_tried_with_every_kind():
    assert {"classification", "regression"} <= {*KINDS}
    assert {one.name for one in TABLES if one in MADE} <= {*KINDS}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_works_at_a_door_or_one_sentence_says_what_it_lacks(kind, door, tmp_path):
    registered, call = DOORS[door]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            assert call(KINDS[kind], tmp_path)
            return
        except InputError as error:
            text = str(error)
    assert registered is None or KINDS[kind] not in registered, text
    assert text.endswith("."), text
    assert ";" in text, text
    assert "\n" not in text, text
