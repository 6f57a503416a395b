import numpy as np

from calibrant.monitoring.importance import Columns, fitted_in_folds, log_odds_of, separators


def test_each_row_is_scored_by_the_fit_without_its_fold():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(200, 2))
    Z[100:, 0] += 1.0
    new = np.repeat([0.0, 1.0], 100)
    for model in separators(Columns.of(Z, "X"), 0):
        fits, odds = fitted_in_folds(model, Z, new, 4, 0)
        assert len(fits) == 4
        every = np.array([log_odds_of(fit, Z) for fit in fits])
        assert np.isfinite(odds).all()
        assert np.abs(every - odds).min(axis=0).max() < 1e-9
        assert odds[100:].mean() > odds[:100].mean()
