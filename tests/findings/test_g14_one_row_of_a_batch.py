"""A row alone, in a batch, at the end of a chunk and in any memory order has the same bits
(G14).
"""

import numpy as np
import pytest

import calibrant as cb


def _votes(n, n_classes, n_votes, seed=0):
    """(n, K) shares of votes, whose sums round by the order of addition, and labels."""
    rng = np.random.default_rng(seed)
    true = rng.dirichlet(np.full(n_classes, 0.4), n)
    labels = np.array([rng.choice(n_classes, p=p) for p in true])
    return np.array([rng.multinomial(n_votes, p) for p in true]) / n_votes, labels


@pytest.mark.parametrize(
    "calibrator",
    [cb.OneVsRest(map=cb.Isotonic(smooth_ends=False)), cb.ConfidenceCalibrator(map=cb.Isotonic())],
)
@pytest.mark.parametrize("n_votes", [20, 100])
def test_votes_of_one_row_get_the_probabilities_of_the_batch(calibrator, n_votes):
    P, y = _votes(400, 10, n_votes)
    fitted = calibrator.fit(P, y)
    alone = np.vstack([fitted.predict_proba(P[[i]]) for i in range(0, 400, 4)])
    assert np.abs(alone - fitted.predict_proba(P)[::4]).max() == 0.0


def test_the_last_row_of_a_chunk_is_like_the_others():
    P, y = _votes(400, 20, 100)
    fitted = cb.OneVsRest(map=cb.Isotonic(smooth_ends=False)).fit(P, y)
    # Records are worked on in chunks of 131,072 entries: the last of these holds one row.
    rows = 131_072 // 20
    for i in range(20):
        tall = np.vstack([np.tile(P[:1], (rows, 1)), P[[i]]])
        assert fitted.predict_proba(tall)[-1].tolist() == fitted.predict_proba(P)[i].tolist()


@pytest.mark.parametrize(
    "calibrator",
    [
        cb.TemperatureScaling(inputs="logit"),
        cb.calibrators.MatrixScaling(inputs="logit"),
        cb.calibrators.VectorScaling(inputs="logit"),
    ],
)
def test_the_memory_order_changes_no_bit(calibrator):
    rng = np.random.default_rng(1)
    z = 3.0 * rng.normal(size=(60, 10))
    y = (0.4 * z + rng.gumbel(size=z.shape)).argmax(axis=1)
    fitted = calibrator.fit(z, y)
    whole = fitted.predict_proba(z)
    wide = np.zeros((120, 20))
    wide[::2, ::2] = z
    for other in (np.asfortranarray(z), wide[::2, ::2], z[::-1, ::-1].copy()[::-1, ::-1]):
        assert np.abs(fitted.predict_proba(other) - whole).max() == 0.0


def test_quantile_forecasts_of_one_row_have_the_moments_of_the_batch():
    rng = np.random.default_rng(2)
    values = np.sort(rng.normal(size=(40, 5)), axis=1)
    levels = [0.05, 0.25, 0.5, 0.75, 0.95]
    whole = cb.QuantileForecast(levels, values)
    alone = [cb.QuantileForecast(levels, values[[i]]) for i in range(40)]
    assert [float(one.mean[0]) for one in alone] == whole.mean.tolist()
    assert [float(one.std[0]) for one in alone] == whole.std.tolist()
