"""A month without labels: is the person told about a fall, and never comforted falsely?"""

import numpy as np
import pandas as pd

import calibrant as cb

MONTHS = 8
UNSEEN = "A change of the labels given the inputs cannot be seen without labels."


def month(seed, rows, web):
    """Customers of two channels; the model knows little about those of the web."""
    rng = np.random.default_rng(seed)
    channel = np.where(rng.random(rows) < web, "web", "branch")
    X = pd.DataFrame({"income": rng.normal(size=rows), "channel": channel})
    slope = np.where(channel == "web", 0.4, 2.5)
    y = (rng.random(rows) < 1.0 / (1.0 + np.exp(-slope * X["income"]))).astype(int)
    return X, y, 1.0 / (1.0 + np.exp(-2.0 * X["income"].to_numpy()))


def estimated(seed, web, rows=1000):
    X, y, p = month([seed, 0], rows, 0.2)
    X_new, late, q = month([seed, 1], rows, web)
    found = cb.estimate_performance(q, reference=(p, y), X=(X, X_new), random_state=seed)
    return found, np.mean((q > 0.5) == late), (X_new, late, q)


def test_she_is_told_of_a_fall_how_large_it_is_and_which_column_moved():
    held = 0
    for seed in range(MONTHS):
        found, true, _ = estimated(seed, 0.7)
        assert found.state == "holds"
        assert found.change_high < -0.03
        assert found.changed[0] == "channel"
        assert UNSEEN in str(found)
        held += found.low <= true <= found.high
    assert held >= MONTHS - 2


def test_she_is_not_alarmed_by_a_month_like_the_others():
    falls = 0
    for seed in range(MONTHS):
        found, _, _ = estimated(seed, 0.2, rows=800)
        assert found.state == "holds"
        falls += found.change_high < 0.0
    assert falls <= 2


def test_a_turned_relation_is_not_called_fine():
    """The estimate cannot know; it says so, and the labels of a few rows do."""
    for seed in range(3):
        found, _, (_, late, q) = estimated(seed, 0.2)
        turned = np.where(np.random.default_rng([seed, 2]).random(len(late)) < 0.3, 1 - late, late)
        assert np.mean((q > 0.5) == turned) < found.low
        assert str(found).endswith(UNSEEN)
        assert found.note == UNSEEN
        assert "fine" not in str(found)
        monitor = cb.monitoring.CalibrationMonitor().update(q[:600], turned[:600])
        assert monitor.alarm_


def test_in_a_new_region_the_answer_is_that_it_cannot_tell():
    X, y, p = month([0, 0], 1500, 0.2)
    X_new, _, _ = month([0, 1], 800, 0.2)
    far = X_new.assign(income=X_new["income"] + 6.0)
    q = 1.0 / (1.0 + np.exp(-2.0 * far["income"].to_numpy()))
    found = cb.estimate_performance(q, reference=(p, y), X=(X, far))
    assert found.state == "cannot tell"
    assert "Cannot tell: " in str(found)
    assert any("unlike any old row" in reason for reason in found.reasons)
