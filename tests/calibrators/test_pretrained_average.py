"""The pre-trained average: that its network helps on tasks it has not seen, what it is told, and
that training gives its table.
"""

import json
import warnings

import numpy as np
import pytest

import calibrant as cb
from benchmarks import pretrained_average
from calibrant import metrics
from calibrant.calibrators.ensembles import MEMBERS, task_numbers
from calibrant.core.predictions import read

HELD_OUT = pretrained_average.TEST_ROWS


def _task(rng):
    """(record of the rows to fit on, P and y of those to judge by) of a task as the network was
    trained on.
    """
    P, y = pretrained_average.simulated(rng)
    return read(P[:-HELD_OUT], y[:-HELD_OUT]), P[-HELD_OUT:], y[-HELD_OUT:]


def _fit(record):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cb.errors.CalibrationWarning)
        return cb.calibrators.PretrainedAverage().fit_record(record)


def test_on_new_tasks_it_is_better_than_every_member_and_than_their_plain_mean():
    rng, losses = np.random.default_rng(2026), []
    for _ in range(40):
        record, P, y = _task(rng)
        cal = _fit(record)
        parts = [member.predict_proba(P) for member in cal.members_]
        plain = sum(parts) / len(parts)
        losses.append(
            [
                metrics.log_loss(y, Q, classes=range(record.n_classes))
                for Q in (*parts, plain, cal.predict_proba(P))
            ]
        )
    means = np.mean(losses, axis=0)
    assert (means[-1] < means[:-1] * 0.998).all(), means


def test_it_is_the_weighted_sum_of_its_members_and_the_weights_are_those_of_the_table():
    record, P, _ = _task(np.random.default_rng(3))
    cal = _fit(record)
    first, second = json.loads(pretrained_average.TABLE.read_text(encoding="utf-8"))
    hidden = [
        max(
            0.0,
            sum(
                t * row[k]
                for t, row in zip(task_numbers(record, cal.members_), first["weights"], strict=True)
            )
            + first["offsets"][k],
        )
        for k in range(16)
    ]
    raw = [
        sum(h * row[j] for h, row in zip(hidden, second["weights"], strict=True))
        + second["offsets"][j]
        for j in range(5)
    ]
    np.testing.assert_allclose(cal.weights_, np.exp(raw) / np.exp(raw).sum(), rtol=1e-9)
    assert [type(member) for member in cal.members_] == list(MEMBERS)
    expected = sum(
        w * member.predict_proba(P) for w, member in zip(cal.weights_, cal.members_, strict=True)
    )
    np.testing.assert_allclose(cal.predict_proba(P), expected, atol=1e-15)


def test_the_numbers_of_a_task_by_hand():
    P, y, w = (
        np.array([[0.8, 0.2], [0.4, 0.6], [0.9, 0.1], [0.7, 0.3]]),
        [0, 1, 1, 0],
        [1.0, 2.0, 1.0, 4.0],
    )
    record = read(P, y, sample_weight=w)
    tempered = cb.TemperatureScaling().fit(P, y, sample_weight=w)
    told = task_numbers(record, [cb.calibrators.Identity().fit(P, y), tempered, tempered])
    loss = -(np.log(0.8) + 2 * np.log(0.6) + np.log(0.1) + 4 * np.log(0.7)) / 8
    gain = 10 * (metrics.log_loss(y, tempered.predict_proba(P), sample_weight=w) - loss)
    expected = [
        np.log(8) - 6,
        np.log(2) - 1.5,
        np.log(0.5),
        (0.8 + 2 * 0.6 + 0.9 + 4 * 0.7) / 8,
        7 / 8,
        loss,
        gain,
        0.0,
    ]
    np.testing.assert_allclose(told, expected, atol=1e-12)


def test_the_table_holds_261_numbers_of_six_decimals():
    layers = json.loads(pretrained_average.TABLE.read_text(encoding="utf-8"))
    numbers = np.concatenate(
        [np.ravel(layer[key]) for layer in layers for key in ("weights", "offsets")]
    )
    assert len(numbers) == 261
    np.testing.assert_array_equal(numbers, numbers.round(6))


def test_status_is_that_of_a_member_that_did_not_converge_and_too_many_classes_are_refused():
    P = np.array([[0.9, 0.1], [0.2, 0.8]] * 20)
    with pytest.warns(cb.errors.FitWarning):
        cal = cb.calibrators.PretrainedAverage().fit(P, P.argmin(axis=1))
    assert cal.status_ in {m.status_ for m in cal.members_} - {"exact", "converged"}
    with pytest.raises(cb.errors.InputError, match="PretrainedAverage fits K"):
        cb.calibrators.PretrainedAverage().fit(np.full((2, 2001), 1 / 2001), [0, 1])


def test_with_a_hundred_classes_it_leaves_too_much_as_it_is_as_its_notes_say():
    rng = np.random.default_rng(0)
    z = 2.0 * rng.normal(size=(4_000, 100))
    y = (z + rng.gumbel(size=z.shape)).argmax(axis=1)
    fit, new = (
        read(1.5 * z[:1_000], y[:1_000], inputs="logit", classes=range(100)),
        read(1.5 * z[1_000:], inputs="logit", classes=range(100)),
    )
    cal = _fit(fit)
    own, tempered = (
        metrics.log_loss(y[1_000:], one.predict_record(new), classes=range(100))
        for one in (cal, cal.members_[1])
    )
    assert 0.4 < cal.weights_[0] < 0.6
    assert 1.01 < own / tempered < 1.025


@pytest.mark.slow
def test_training_gives_the_table():
    anew, kept = (
        json.loads(text)
        for text in (
            pretrained_average.table(pretrained_average.trained()),
            pretrained_average.TABLE.read_text(encoding="utf-8"),
        )
    )
    for mine, shipped in zip(anew, kept, strict=True):
        for key in ("weights", "offsets"):
            np.testing.assert_allclose(mine[key], shipped[key], atol=1.5e-6)
