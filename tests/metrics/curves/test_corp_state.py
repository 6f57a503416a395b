from functools import reduce
from operator import add

import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError

RNG = np.random.default_rng(0)
P = np.round(RNG.random(400), 2)
Y = (RNG.random(400) < P).astype(int)
WEIGHT = RNG.integers(0, 3, 400)


@pytest.mark.parametrize("target", ["event", "answer"])
def test_parts_merged_are_the_whole(target):
    parts = [
        metrics.corp_state(Y[i], P[i], target=target, sample_weight=WEIGHT[i])
        for i in np.array_split(RNG.permutation(400), 7)
    ]
    for state in (sum(parts), reduce(add, parts[::-1])):
        curve, whole = (
            state.curve(n_draws=0),
            metrics.isotonic_curve(Y, P, target=target, sample_weight=WEIGHT, n_draws=0),
        )
        np.testing.assert_allclose(curve.recalibrated, whole.recalibrated, atol=1e-12)
        np.testing.assert_array_equal([curve.score, curve.n], [whole.score, whole.n])
        for score, of_rows in (
            ("brier", metrics.brier_decomposition),
            ("log_loss", metrics.log_loss_decomposition),
        ):
            found, expected = (
                state.decomposition(score),
                of_rows(Y, P, target=target, sample_weight=WEIGHT),
            )
            assert list(vars(found).values()) == pytest.approx(
                list(vars(expected).values()), abs=1e-12
            )


def test_its_band_is_that_of_rows():
    state, whole = (
        metrics.corp_state(Y, P, target="event"),
        metrics.isotonic_curve(Y, P, target="event", n_draws=400),
    )
    curve = state.curve(n_draws=400)
    assert np.abs(curve.low - whole.low).mean() < 0.02
    assert np.abs(curve.high - whole.high).mean() < 0.02


def test_other_states_do_not_add_up():
    event, answer = (metrics.corp_state(Y, P, target=target) for target in ("event", "answer"))
    with pytest.raises(InputError, match="states must have the same target"):
        event + answer
    with pytest.raises(InputError, match='score must be "brier" or "log_loss"'):
        event.decomposition("spherical")
