"""Tests of lock files: bound to a version, and checked on another one."""

import json

import numpy as np
import pytest

import calibrant as cb
from calibrant.decisions import NeymanPearsonClassifier
from calibrant.errors import InputError, SavedFileError
from calibrant.monitoring import Lock, read_lock
from calibrant.monitoring.promises import read_rows


def classes(n, seed, bend=1.0):
    """(P, y) of two classes; the log-odds of P are those of y, times ``bend``."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(0.0, 2.0, n)
    p = 1.0 / (1.0 + np.exp(-odds))
    return 1.0 / (1.0 + np.exp(-bend * odds)), (rng.random(n) < p).astype(int)


def series(n, seed, spread=1.0):
    rng = np.random.default_rng(seed)
    mean, std = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    return mean, std, mean + spread * std * rng.normal(size=n)


def fitted_ones():
    P, y = classes(2000, 0)
    mean, std, came = series(2000, 0)
    return {
        "selective": (cb.SelectiveClassifier(0.1).fit(P, y), "classes"),
        "scores": (
            cb.SelectiveClassifier(0.2).fit_scores(np.abs(P - 0.5), (P > 0.5) != y),
            "scores",
        ),
        "rates": (NeymanPearsonClassifier(0.1, 0.1).fit(P, y), "classes"),
        "sets": (cb.ConformalSets(level=0.9).fit(P, y), "classes"),
        "intervals": (cb.ConformalIntervals().fit(mean, came, std=std), "numbers"),
        "calibrator": (cb.TemperatureScaling().fit(P, y), "classes"),
        "bars": (cb.StdScaling().fit(mean, came, std=std), "numbers"),
    }


def rows_of(kind, good, seed=1, n=3000):
    if kind == "numbers":
        mean, std, came = series(n, seed, 1.0 if good else 2.0)
        return {"P": mean, "y": came, "std": std}
    P, y = classes(n, seed)
    y = y if good else np.where(np.random.default_rng(9).random(n) < 0.6, y, 1 - y)
    return {"P": P, "y": y} if kind == "classes" else {"P": np.abs(P - 0.5), "y": (P > 0.5) == y}


@pytest.mark.parametrize("name", list(fitted_ones()))
def test_every_rule_and_calibrator_holds_on_a_like_version_and_breaks_on_a_worse_one(
    tmp_path, name
):
    fitted, kind = fitted_ones()[name]
    lock = read_lock(Lock.of(fitted, model="v1").write(tmp_path / "lock.json"))
    assert type(lock.use("v1")) is type(fitted)
    good = lock.check(**rows_of(kind, True, n=12000))
    assert {one.state for one in good} <= {"holds", "cannot tell"}
    assert {one.state for one in lock.check(**rows_of(kind, False))} == {"broken"}
    (few, *_) = lock.check(**rows_of(kind, True, n=12))
    assert few.state == "cannot tell"
    assert few.labels_needed > 12
    assert str(few).startswith(repr(few.name))
    if name in ("sets", "intervals", "calibrator"):
        assert good[0].state == "holds"
    with pytest.raises(InputError, match=r"model \['v1'\] of the lock; got \['v2'\]"):
        lock.use("v2")
    with pytest.raises(InputError, match="got no version"):
        lock.use()
    with pytest.raises(InputError, match="needs the lock of a rule whose rows name the version"):
        lock.decide([0.5])
    assert lock.use("v2", any_model=True) is lock.fitted


def test_the_hash_is_that_of_the_calibration_rows_and_a_version_must_be_named():
    P, y = classes(300, 0)
    rule = cb.TemperatureScaling().fit(P, y)
    first, again, other = (
        Lock.of(rule, model="v1", rows=read_rows(rule, P, y)).digest,
        Lock.of(rule, model="v1", rows=read_rows(rule, P.copy(), y)).digest,
        Lock.of(rule, model="v1", rows=read_rows(rule, P, 1 - y)).digest,
    )
    assert first == again != other
    with pytest.raises(InputError, match='pass model="v1"'):
        Lock.of(rule)


@pytest.mark.parametrize("version", [0, -1, "b", 1.5])
def test_a_version_is_numbered_from_one(version):
    rng = np.random.default_rng(0)
    p = rng.beta(9.0, 1.0, 500)
    y = (rng.random(500) < p).astype(int)
    lock = Lock.of(cb.SelectiveClassifier(risk=0.3).fit(p, y), model="v1")
    with pytest.raises(InputError, match="version must be a whole number"):
        lock.check(p, y, version=version)


def test_a_lock_holds_only_what_it_can_check(tmp_path):
    rng = np.random.default_rng(0)
    p = rng.random(300)
    y = (rng.random(300) < p).astype(int)
    for other in (cb.Platt().fit(p, y), cb.AdaptiveIntervals().fit(np.zeros(300), p), "rule"):
        with pytest.raises(InputError, match="must be a fitted rule or calibrator"):
            Lock.of(other, model="v1")
    path = Lock.of(cb.OneVsRest(cb.Platt()).fit(p, y), model="v1").write(tmp_path / "a.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    for change, words in (({"models": "v1"}, "not a lock file"), ({"object": "AAAA"}, "a.json")):
        path.write_text(json.dumps(content | change), encoding="utf-8")
        with pytest.raises(SavedFileError, match=words):
            read_lock(path)
