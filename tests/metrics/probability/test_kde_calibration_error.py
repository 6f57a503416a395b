import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError

kde = metrics.kde_calibration_error
RNG = np.random.default_rng(0)
P = RNG.beta(2, 2, 500)
Y = (RNG.random(500) < P**2).astype(int)


def direct(norm):
    """Kernel sums written out, with reflection at both ends."""
    width = P[Y == 1].std() * (2 * len(P)) ** -0.2
    z = (np.arange(3000) + 0.5) / 3000

    def density(points):
        kernel = sum(
            np.maximum(1 - ((z[:, None] - c) / width) ** 2, 0) ** 3
            for c in (points, -points, 2 - points)
        )
        return 35 / 32 * kernel.sum(axis=1) / width

    f, right = density(P) / len(P), density(P[Y == 1]) / len(P)
    return np.mean(f * np.abs(z - np.divide(right, f, out=z.copy(), where=f > 0)) ** norm) ** (
        1 / norm
    )


@pytest.mark.parametrize("norm", [1, 2])
def test_equals_the_kernel_sums_written_out(norm):
    assert kde(Y, P, target="event", norm=norm) == pytest.approx(direct(norm), abs=2e-4)


def test_scores_without_spread_have_the_plain_gap():
    assert kde([1, 0, 0, 0], [0.5] * 4, target="event") == pytest.approx(0.25)
    assert kde([1, 0, 0, 0], [0.5] * 4, target="event", norm=2) == pytest.approx(0.25)


def test_refuses_another_norm():
    with pytest.raises(InputError, match="norm must be"):
        kde(Y, P, norm=3)
