"""Squared error and variance in bins of equal weight by standard deviation."""

import numpy as np

from calibrant._kernels.bins import equal_mass_groups, grouped_sums

__all__ = ["chi_square_draws", "enough_bins", "normalised_gap", "spread_bins"]


def spread_bins(std, squared_error, weight, n_bins):
    """(group (n,), mass (G,), mean variance (G,), mean squared error (G,)); tied std are never split, so G <= n_bins."""
    group = equal_mass_groups(std, n_bins, weight)
    mass, variance, error = grouped_sums(group, group.max() + 1, [std * std, squared_error], weight).T
    return group, mass, variance / mass, error / mass


def normalised_gap(variance, error):
    """ENCE: the mean over the last axis of |root variance - root error| / root variance."""
    return np.mean(np.abs(1.0 - np.sqrt(error / variance)), axis=-1)


def enough_bins(n_bins: int, total: float) -> int:
    """As many bins as asked for, with at least thirty rows each on average, and at least one."""
    return max(1, min(n_bins, int(total // 30)))


def chi_square_draws(group, part, weight, n_groups, n_draws, rng):
    """Draws (n_draws, G) of sum(part * chi2) by group, where a row of weight w has a chi-square of w degrees of freedom.

    ``part`` is the row's share of its group. Groups of more than 2,000 rows use the gamma distribution of the same mean and variance.
    """
    mean = np.bincount(group, weights=part * weight, minlength=n_groups)
    variance = np.bincount(group, weights=2.0 * part * part * weight, minlength=n_groups)
    count = np.bincount(group, minlength=n_groups)
    scale = variance / mean
    out = rng.gamma(mean / scale, scale, (n_draws, n_groups))
    for g in np.flatnonzero(count <= 2_000):
        rows = group == g
        draws = rng.chisquare(weight[rows], (n_draws, int(count[g]))) if (weight[rows] != 1.0).any() else None
        draws = np.square(rng.standard_normal((n_draws, int(count[g])))) if draws is None else draws
        out[:, g] = draws @ part[rows]
    return out
