import numpy as np

from calibrant._kernels.thresholds import decision_loss


def test_it_is_the_largest_over_all_kinks():
    rng = np.random.default_rng(0)
    for _ in range(20):
        forecast, share, weight = np.sort(rng.random(6)), rng.random(6), rng.uniform(0.5, 3.0, 6)
        kinks = np.unique(
            np.concatenate(
                [np.linspace(0, 1, 20_001), forecast - 1e-9, forecast + 1e-9, share - 1e-9]
            )
        )[:, None]
        between = (np.minimum(forecast, share) <= kinks) & (kinks < np.maximum(forecast, share))
        loss = (
            (weight * np.abs(share - kinks) * between).sum(axis=1)
            / np.maximum(kinks[:, 0], 1 - kinks[:, 0])
            / weight.sum()
        )
        np.testing.assert_allclose(decision_loss(forecast, share, weight), loss.max(), atol=1e-6)


def test_by_hand():
    """Said .5, came .8: at the kink .5 the loss is .3 of a payoff of .5."""
    np.testing.assert_allclose(
        decision_loss(np.array([0.5]), np.array([0.8]), np.array([7.0])), 0.6
    )
    np.testing.assert_allclose(decision_loss(np.array([0.2]), np.array([0.8]), np.ones(1)), 0.75)
    assert decision_loss(np.array([0.3]), np.array([0.3]), np.ones(1)) == 0.0
