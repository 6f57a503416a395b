"""A promise says all of itself, and its check catches broken ones."""

import json
from dataclasses import replace

import numpy as np
import pytest

from calibrant.core import Guarantee
from calibrant.testing import check_guarantee

MARGINAL = Guarantee(
    "marginal",
    "coverage",
    "new rows",
    "rows are exchangeable",
    n=19,
    least=0.9,
    most=0.95,
    method="split conformal",
)
PAC = Guarantee(
    "pac",
    "error rate",
    "accepted rows",
    "rows are independent",
    n=500,
    most=0.05,
    confidence=0.9,
    unit="clusters",
)


def test_a_promise_names_bound_draw_assumption_and_number():
    assert (
        str(MARGINAL)
        == "coverage at least 0.9 and at most 0.95 for new rows, on average over calibration sets"
        " and new rows (marginal; split conformal; 19 rows), if rows are exchangeable"
    )
    assert "with probability 0.9 over calibration sets" in str(PAC)
    assert "500 clusters" in str(PAC)
    assert json.loads(json.dumps(PAC.to_dict()))["confidence"] == 0.9


def test_split_conformal_ranks_keep_their_promise_and_one_rank_less_does_not():
    rng = np.random.default_rng(0)
    held = rng.beta(18, 2, 4000)  # the law of coverage given 19 rows, rank 18
    check_guarantee(replace(MARGINAL, most=0.9 + 1 / 20), held)
    with pytest.raises(AssertionError, match="mean of"):
        check_guarantee(MARGINAL, rng.beta(17, 3, 4000))
    with pytest.raises(AssertionError, match="mean of"):
        check_guarantee(MARGINAL, rng.beta(19.9, 0.1, 4000))


def test_a_pac_promise_is_judged_by_the_share_of_broken_runs():
    rng = np.random.default_rng(1)
    broken = lambda share: np.where(rng.uniform(size=5000) < share, 0.06, 0.05)  # noqa: E731
    check_guarantee(PAC, broken(0.1))
    with pytest.raises(AssertionError, match="violated in"):
        check_guarantee(PAC, broken(0.13))


def test_runs_that_cannot_judge_are_refused():
    for bad in ([0.9], [0.9, np.nan], 0.9):
        with pytest.raises(AssertionError, match="realised must hold"):
            check_guarantee(MARGINAL, bad)
