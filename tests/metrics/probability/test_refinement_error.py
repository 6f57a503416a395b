import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError

RNG = np.random.default_rng(0)
P = RNG.random(400)
Y = (RNG.random(400) < P**2).astype(int)


@pytest.mark.parametrize(
    ("score", "decompose"),
    [("brier", metrics.brier_decomposition), ("log_loss", metrics.log_loss_decomposition)],
)
def test_it_is_uncertainty_less_discrimination(score, decompose):
    parts = decompose(Y, P, target="event")
    got = metrics.refinement_error(Y, P, target="event", score=score)
    assert got == pytest.approx(parts.uncertainty - parts.discrimination, abs=1e-12)
    assert got == pytest.approx(parts.score - parts.miscalibration, abs=1e-12)


def test_recalibration_leaves_it_alone():
    assert metrics.refinement_error(Y, P**3, target="event") == pytest.approx(
        metrics.refinement_error(Y, P, target="event")
    )


def test_refuses_another_score():
    with pytest.raises(InputError, match="score must be"):
        metrics.refinement_error(Y, P, score="crps")
