"""Promises about rows and items of the benchmark's laws, in few draws; all in many."""

import numpy as np
import pytest
from benchmarks.questions.unequal import LAWS, PROMISES, WEIGHTED, broken_or_refused, true_share


def at_most(repeats: int) -> float:
    return 0.1 + 3.0 * np.sqrt(0.09 / repeats)


@pytest.mark.parametrize("law", LAWS)
def test_promises_about_rows_hold_for_unequal_items_and_weights(law):
    broken = [broken_or_refused(law, "cascade", "rows", seed)[0] for seed in range(6)]
    assert np.mean(broken) <= at_most(6)


def test_laws_are_above_the_promise_for_rows_or_for_items():
    above = [law for law in LAWS if true_share(law, "rows") > 0.12]
    assert len(above) == 6
    assert true_share("12 rows .03, 1 row .3", "items") > 0.12


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("unit", "over"), PROMISES)
def test_promises_hold_in_many_draws(law, unit, over):
    if over == "items" and law in WEIGHTED:
        pytest.skip("single rows are items")
    broken = [broken_or_refused(law, unit, over, seed)[0] for seed in range(150)]
    assert np.mean(broken) <= at_most(150)
