"""A model is swapped: the old threshold breaks, or holds, and the person is told before its use."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError
from calibrant.monitoring import Lock, read_lock

RISK = 0.1


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


class World:
    """Answers with a known chance of being right; version 2 says more than it knows, mostly about
    night shots, and version 3 differs from version 1 by a little noise.
    """

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.night = rng.random(n) < 0.3
        self.odds = rng.normal(0.0, 2.5, n)
        self.y = (rng.random(n) < sigmoid(self.odds)).astype(int)
        more = np.where(self.night, 4.0, 1.5)
        self.said = {
            "v1": sigmoid(self.odds),
            "v2": sigmoid(more * self.odds + rng.normal(0.0, 1.0, n)),
            "v3": sigmoid(self.odds + rng.normal(0.0, 0.05, n)),
        }

    def wrong(self, rule, version):
        """The share of wrong answers among those that the rule accepts."""
        p = self.said[version]
        used = rule.accept(p)
        return ((p > 0.5) != self.y)[used].mean()


@pytest.fixture(scope="module")
def lock(tmp_path_factory):
    old = World(3000, 0)
    rule = cb.SelectiveClassifier(RISK).fit(old.said["v1"], old.y)
    path = tmp_path_factory.mktemp("locks") / "rule.lock.json"
    return read_lock(Lock.of(rule, model="v1").write(path))


def test_thresholds_that_break_are_refused_and_said_to_be_broken(lock):
    new, future = World(1500, 1), World(200_000, 2)
    # Used as it is, the old threshold would let through twice the promised errors.
    assert future.wrong(lock.fitted, "v2") > 1.4 * RISK
    with pytest.raises(InputError, match="check the new version"):
        lock.use("v2")
    # Before any label: it moved, most at night, and the rule would accept far more.
    night = {"time": np.where(new.night, "night", "day")}
    blind = cb.compare_versions(new.said["v1"], new.said["v2"], rule=lock, groups=night)
    assert blind.advice == "cannot tell"
    more = next(one for one in blind.moved if one.name == "accepted rows")
    assert more.low > 0.03
    # With as many labels as it asks for, the answer is clear.
    some = [int(y) if i < max(600, blind.labels_needed) else None for i, y in enumerate(new.y)]
    found = cb.compare_versions(new.said["v1"], new.said["v2"], some, rule=lock, groups=night)
    assert found.advice == "re-certify"
    assert "Certify the rule on labels of the new version" in " ".join(repr(found).split())
    assert found.comparison.rows[0].meaning == "worse"
    assert "time night" in {one.group for one in found.worse}
    # Certified again on labels of version 2, the promise is kept.
    more = World(6000, 9)
    again = cb.SelectiveClassifier(RISK).fit(more.said["v2"], more.y)
    assert future.wrong(again, "v2") <= RISK


def test_a_like_version_is_kept_and_the_promise_holds(lock):
    future, states = World(200_000, 3), []
    assert future.wrong(lock.fitted, "v3") <= RISK
    for seed in range(4, 8):
        new = World(4000, seed)
        states.append(cb.compare_versions(new.said["v1"], new.said["v3"], new.y, rule=lock).advice)
    assert set(states) <= {"keep", "cannot tell"}


def test_a_calibrator_of_the_old_version_is_told_to_be_fitted_again():
    old, new, future = World(3000, 10), World(1500, 11), World(100_000, 12)
    calibrator = cb.TemperatureScaling().fit(old.said["v1"], old.y)
    lock = Lock.of(calibrator, model="v1")
    found = cb.compare_versions(new.said["v1"], new.said["v2"], new.y, calibrator=lock)
    assert found.advice == "re-fit"
    (check,) = found.checks
    again = cb.TemperatureScaling().fit(new.said["v2"], new.y)
    lost, kept = (
        cb.metrics.log_loss(future.y, one.predict_proba(future.said["v2"]))
        for one in (calibrator, again)
    )
    # The gain is as said.
    assert check.gain_low <= (lost - kept) / lost <= check.gain_high
    like = cb.compare_versions(new.said["v1"], new.said["v3"], new.y, calibrator=lock)
    assert like.advice == "keep"
