import numpy as np
import pytest

import calibrant as cb
from calibrant.decisions.certificates import EDGES
from calibrant.errors import InputError


def made(n, seed=0):
    rng = np.random.default_rng(seed)
    score = rng.beta(4, 1, n)
    return score, (rng.random(n) > score).astype(int)


def test_parts_add_up_to_the_whole():
    score, wrong = made(5000)
    whole = cb.decisions.ErrorCounts().add(score, wrong)
    parts = sum(cb.decisions.ErrorCounts().add(score[i::3], wrong[i::3]) for i in range(3))
    assert (whole.counts == parts.counts).all()
    assert whole.n == 5000.0
    weight = np.arange(5000) % 3
    twice = cb.decisions.ErrorCounts().add(score, wrong, sample_weight=weight)
    rows = np.repeat(np.arange(5000), weight)
    assert (twice.counts == cb.decisions.ErrorCounts().add(score[rows], wrong[rows]).counts).all()


def test_the_threshold_is_that_of_the_rows_but_for_a_cell():
    score, wrong = made(100_000)
    exact = cb.SelectiveClassifier(0.1, 0.9).fit_scores(score, wrong)
    counted = cb.SelectiveClassifier(0.1, 0.9).fit_counts(
        cb.decisions.ErrorCounts().add(score, wrong)
    )
    assert counted.threshold_ == pytest.approx(exact.threshold_, abs=1e-3)
    assert abs(counted.certificate_.share - exact.certificate_.share) < 5e-3
    # What it says of the rows is what its threshold does to them.
    accepted = counted.accept_scores(score)
    assert (accepted.sum(), wrong[accepted].sum()) == (counted.accepted_, counted.errors_)


def test_no_cell_holds_more_than_a_ten_thousandth_of_a_smooth_law():
    for law in (lambda p: p**4, lambda p: p, lambda p: p**40):
        assert np.diff(law(EDGES)).max() < 1e-4
    ends = cb.decisions.ErrorCounts().add([0.0, 1.0, 1e-12, 1.0 - 1e-12], [0, 0, 0, 0])
    assert ends.n == 4.0


def test_it_is_saved_and_empty_counts_are_refused(tmp_path):
    counts = cb.decisions.ErrorCounts().add([0.9, 0.2], [0, 1])
    again = cb.load(counts.save(tmp_path / "counts.calibrant"))
    assert (again.counts == counts.counts).all()
    with pytest.raises(InputError, match="must hold rows"):
        cb.decisions.ErrorCounts().rows()
    with pytest.raises(InputError, match="in \\[0, 1\\]"):
        cb.decisions.ErrorCounts().add([2.0], [0])
