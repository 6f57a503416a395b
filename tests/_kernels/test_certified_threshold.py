import numpy as np
import pytest

from calibrant._kernels.certificates import binomial_p_value
from calibrant._kernels.certified_threshold import Blocks, certified_place, first_count, upper_bound
from calibrant._kernels.intervals import clopper_pearson

RISK = DELTA = 0.1


def made(n=1000, seed=0, digits=None):
    rng = np.random.default_rng(seed)
    score = rng.beta(4, 1, n)
    loss = (rng.random(n) > score).astype(float)
    return Blocks.of(score if digits is None else score.round(digits), loss, np.ones(n))


def by_the_loop(blocks, first, counts, shares):
    """Every block in turn, at the share of its start and of those from which the sequence came
    to it.
    """
    carried, passed, found = 0.0, True, (-1, DELTA)
    starts = [int(np.searchsorted(blocks.covered, count - 1e-9)) for count in counts]
    for place in range(starts[0], len(blocks.covered)):
        for start, share in zip(starts, shares, strict=True):
            if place == start:
                carried, passed = (carried if passed else 0.0) + share, True
        passed = (
            passed
            and float(binomial_p_value(blocks.lost[place], blocks.covered[place], RISK))
            <= carried + 1e-15
        )
        if passed:
            found = place, pytest.approx(carried)
    return found


@pytest.mark.parametrize("digits", [None, 2])
@pytest.mark.parametrize("seed", range(5))
def test_the_fixed_sequence_is_the_loop_over_every_block(seed, digits):
    few, many = made(n=400, seed=seed, digits=digits), made(seed=seed, digits=digits)
    first = first_count(few.n, RISK, DELTA)
    assert certified_place(few, RISK, DELTA, "fixed_sequence", "binomial", first) == by_the_loop(
        few, first, [first], [DELTA]
    )
    counts, shares = [100, 300, 500, 700], [0.5 * DELTA] + [DELTA / 6.0] * 3
    found = certified_place(
        many, RISK, DELTA, "fixed_sequence", "binomial", first_count(1000, RISK, DELTA)
    )
    assert found == by_the_loop(many, 100, counts, shares)


def test_a_later_start_certifies_where_the_surest_rows_are_worse():
    rng = np.random.default_rng(0)
    u = rng.random(3000)
    loss = (rng.random(3000) < np.where(u > 0.88, 0.3, np.where(u > 0.4, 0.01, 0.5))).astype(float)
    blocks = Blocks.of(u, loss, np.ones(3000))
    place, each = certified_place(blocks, RISK, DELTA, "fixed_sequence", "binomial", 300)
    assert 0.3 < blocks.covered[place] / 3000.0 < 0.65
    assert each < 0.5 * DELTA
    assert float(binomial_p_value(blocks.lost[place], blocks.covered[place], RISK)) <= each


def test_the_sequence_begins_by_the_number_of_rows_alone():
    assert first_count(1000, 0.1, 0.1) == 100
    assert first_count(100, 0.05, 0.05) == 59
    proved = first_count(1000, 0.1, 0.1, coverage=0.5)
    assert 500 < proved < 560
    assert first_count(20, 0.5, 0.1, coverage=0.999) == 21


@pytest.mark.parametrize("method", ["sgr", "learn_then_test"])
def test_what_the_others_accept_passes_at_their_share(method):
    blocks = made(seed=1)
    place, each = certified_place(blocks, RISK, DELTA, method, "binomial", 100)
    assert 0.0 < each < DELTA
    assert place > 0
    assert (
        float(clopper_pearson(blocks.lost[place], blocks.covered[place], 1.0 - 2.0 * each)[1])
        <= RISK
    )


@pytest.mark.parametrize("test", ["betting", "hoeffding_bentkus"])
def test_losses_between_0_and_1(test):
    rng = np.random.default_rng(1)
    score = rng.random(2000)
    loss = np.clip(0.4 * (1.0 - score) + 0.05 * rng.standard_normal(2000), 0.0, 1.0)
    blocks = Blocks.of(score, loss, np.ones(2000))
    assert not blocks.binary
    place, _ = certified_place(blocks, RISK, DELTA, "fixed_sequence", test, 200)
    assert (
        0.0
        < blocks.lost[place] / blocks.covered[place]
        < upper_bound(blocks, place, DELTA, test)
        <= RISK + 1e-9
    )


def test_nothing_passes_where_everything_is_wrong():
    blocks = Blocks.of(np.linspace(0, 1, 200), np.ones(200), np.ones(200))
    for method in ("fixed_sequence", "sgr", "learn_then_test"):
        assert certified_place(blocks, RISK, DELTA, method, "binomial", 22)[0] == -1
