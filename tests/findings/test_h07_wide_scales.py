"""H7: scores of 2 to 256 levels (0 to 20, 0 to 100) are calibrated, each under its own type."""

import numpy as np
import pytest

import calibrant as cb


def rows_of(n_levels, n, seed, question="q", kind="score"):
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        centre = rng.uniform(0, n_levels - 1)
        z = -0.5 * ((np.arange(n_levels) - centre) / (0.1 * n_levels + 0.5)) ** 2
        p, sharp = (np.exp(k * z) / np.exp(k * z).sum() for k in (1.0, 4.0))
        probs = {str(k): float(v) for k, v in enumerate(sharp)}
        label = int(rng.choice(n_levels, p=p))
        rows.append({"id": i, "question": question, "type": kind, "probs": probs, "label": label})
    return rows


@pytest.mark.parametrize("n_levels", [2, 15, 16, 21, 32, 101, 256])
def test_scales_of_any_width(n_levels):
    log, new = (cb.read_questions(rows_of(n_levels, 150, seed)) for seed in (0, 1))
    assert (log.kind == 2).all()
    calibrator = cb.QuestionCalibrator().fit(log)
    assert [name[2] for name in calibrator.maps_["score"].leaves.names] == [n_levels]
    loss = cb.questions.question_log_loss
    assert loss(None, calibrator.predict(new)) < loss(None, new)


def test_scales_of_two_widths_keep_their_types():
    log = [*rows_of(5, 60, 0, "a", "score"), *rows_of(21, 60, 1, "a", "rating")]
    log += rows_of(16, 60, 2, "b", "grade")
    names = cb.QuestionCalibrator().fit(cb.read_questions(log)).maps_["score"].leaves.names
    assert set(names) == {("a", "score", 5), ("a", "rating", 21), ("b", "grade", 16)}


def test_many_numbers_are_levels_where_the_log_is_ordered():
    probs = {str(k): 1.0 / 32 for k in range(32)}
    record = cb.read_questions([{"probs": probs, "label": 31}], ordered=True)
    assert record.kind.tolist() == [2]
    assert record.right.tolist() == [31]
