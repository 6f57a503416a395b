import numpy as np
import pytest

from calibrant._numerics.certificates import (
    Blocks,
    allowed_errors,
    best_place,
    best_start,
    binomial_p_value,
    certified_place,
    fewest_rows,
    ladder,
    rows_needed,
    share_count,
    starts_of,
    upper_bound,
)

RISK = DELTA = 0.1


def made(n=1000, seed=0, digits=None, predicted=False):
    rng = np.random.default_rng(seed)
    score = rng.beta(4, 1, n)
    loss = (rng.random(n) > score).astype(float)
    score = score if digits is None else score.round(digits)
    return Blocks.of(score, loss, np.ones(n), predicted=1.0 - score if predicted else None)


def by_the_loop(blocks, starts):
    """Every block in turn, at the share of its start and of those from which the sequence came
    to it.
    """
    carried, passed, found = 0.0, True, (-1, pytest.approx(DELTA))
    begins = [int(np.searchsorted(blocks.covered, count - 1e-9)) for count, _ in starts]
    for place in range(begins[0], len(blocks.covered)):
        for begin, (_, share) in zip(begins, starts, strict=True):
            if place == begin:
                carried, passed = (carried if passed else 0.0) + share, True
        p_value = float(binomial_p_value(blocks.total_loss[place], blocks.covered[place], RISK))
        passed = passed and p_value <= carried + 1e-15
        if passed:
            found = place, pytest.approx(carried)
    return found


@pytest.mark.parametrize("predicted", [False, True])
@pytest.mark.parametrize("digits", [None, 2])
@pytest.mark.parametrize("seed", range(5))
def test_the_search_is_the_loop_over_every_block(seed, digits, predicted):
    for n in (60, 400, 1000):
        blocks = made(n, seed, digits, predicted)
        starts = starts_of(blocks, RISK, DELTA, "binomial", 1.0)
        assert sum(share for _, share in starts) == pytest.approx(DELTA)
        found = certified_place(blocks, RISK, starts, "binomial")
        assert found == by_the_loop(blocks, starts), n


def test_a_later_start_certifies_where_the_surest_rows_are_worse():
    rng = np.random.default_rng(0)
    u = rng.random(3000)
    loss = (rng.random(3000) < np.where(u > 0.88, 0.3, np.where(u > 0.4, 0.01, 0.5))).astype(float)
    blocks = Blocks.of(u, loss, np.ones(3000))
    starts = starts_of(blocks, RISK, DELTA, "binomial", 1.0)
    place, each = certified_place(blocks, RISK, starts, "binomial")
    assert 0.3 < blocks.covered[place] / 3000.0 < 0.65
    assert each < 0.5 * DELTA
    assert float(binomial_p_value(blocks.total_loss[place], blocks.covered[place], RISK)) <= each


@pytest.mark.parametrize("risk", [0.01, 0.05, 0.1, 0.5])
def test_the_starts_follow_from_the_number_of_rows(risk):
    least = fewest_rows(risk, DELTA)
    assert ladder(float(least), risk, DELTA) == [(float(least), DELTA)]
    assert ladder(float(least - 1), risk, DELTA)[0][0] > least - 1
    before = 1
    for n in np.geomspace(least, 1000 * least, 30).round():
        counts, shares = map(np.array, zip(*ladder(n, risk, DELTA), strict=True))
        assert sum(shares) == pytest.approx(DELTA)
        assert (np.diff(counts) >= 0).all()
        assert (np.diff(shares) < 0).all()
        assert counts[-1] <= n
        assert len(counts) >= before
        before = len(counts)
        for count, share in zip(counts, shares, strict=True):
            # One row less would allow one error less.
            allowed = allowed_errors(int(count), risk, share)
            assert allowed_errors(int(count) - 1, risk, share) == allowed - 1


def test_the_number_that_proves_a_share():
    proved = share_count(1000, 0.1, 0.5)
    assert 500 < proved < 560
    assert share_count(20, 0.1, 0.999) == 21


def test_the_predicted_start_is_where_most_is_accepted():
    rows = np.arange(10.0, 1001.0, 10.0)
    rate = np.where(rows <= 300, 0.3, np.where(rows <= 800, 0.01, 0.6))
    at, gained = best_start(rows, np.cumsum(10.0 * rate), 0.2, 0.05)
    assert 500.0 <= rows[at] <= 800.0
    assert gained > 700.0
    assert best_start(rows, 0.9 * rows, 0.2, 0.05)[1] == 0.0


def test_predictions_move_the_start_and_labels_do_not():
    rng = np.random.default_rng(1)
    score, predicted = rng.random(2000), rng.random(2000)
    loss = (rng.random(2000) < 0.3).astype(float)
    starts = [
        starts_of(
            Blocks.of(score, lost, np.ones(2000), predicted=0.3 * predicted),
            0.2,
            0.05,
            "binomial",
            1.0,
        )
        for lost in (loss, 1.0 - loss)
    ]
    assert starts[0] == starts[1]
    assert len(starts[0]) == 1 + len(ladder(2000.0, 0.2, 0.03))
    assert max(share for _, share in starts[0]) == 0.4 * 0.05
    least = starts_of(made(), RISK, DELTA, "binomial", 500.0)
    assert {count for count, _ in least if count <= 500.0} == {500.0}


def test_the_best_rows_are_those_with_the_least_bound():
    for seed in range(5):
        blocks = made(300, seed)
        bounds = [upper_bound(blocks, k, DELTA, "binomial") for k in range(len(blocks.covered))]
        place, least = best_place(blocks, DELTA, "binomial", 1.0)
        assert least == pytest.approx(min(bounds))
        assert bounds[place] == pytest.approx(least)
    assert blocks.covered[best_place(blocks, DELTA, "binomial", 250.0)[0]] >= 250.0


def test_more_rows_are_needed_for_less_risk():
    blocks = made(80)
    needed = [rows_needed(blocks, risk, DELTA, 1.0) for risk in (0.2, 0.15, 0.1)]
    assert needed == sorted(needed)
    everything = Blocks.of(np.linspace(0, 1, 200), np.ones(200), np.ones(200))
    assert rows_needed(everything, RISK, DELTA, 1.0) == np.inf


@pytest.mark.parametrize("test", ["betting", "hoeffding_bentkus"])
def test_losses_between_0_and_1(test):
    rng = np.random.default_rng(1)
    score = rng.random(2000)
    loss = np.clip(0.4 * (1.0 - score) + 0.05 * rng.standard_normal(2000), 0.0, 1.0)
    blocks = Blocks.of(score, loss, np.ones(2000))
    assert not blocks.binary
    starts = starts_of(blocks, RISK, DELTA, test, 1.0)
    place, _ = certified_place(blocks, RISK, starts, test)
    assert (
        0.0
        < blocks.total_loss[place] / blocks.covered[place]
        < upper_bound(blocks, place, DELTA, test)
        <= RISK + 1e-9
    )


def test_nothing_passes_where_everything_is_wrong():
    blocks = Blocks.of(np.linspace(0, 1, 200), np.ones(200), np.ones(200))
    starts = starts_of(blocks, RISK, DELTA, "binomial", 1.0)
    assert certified_place(blocks, RISK, starts, "binomial") == (-1, pytest.approx(DELTA))
