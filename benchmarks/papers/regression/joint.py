"""The four coordinates of a box together: how often 90 % intervals hold all of them, and how wide
they are.

    python -m benchmarks.papers.regression.joint      # a minute of CPU

Coordinates are independent with eight degrees of freedom, as in table 1's simulation, or depend on
each other (correlation 0.8) with three. Half of the calibration rows scale each coordinate's std;
the other half makes the intervals. Means over calibration sets. Width: the mean over rows and
coordinates of the half width over the true std.
"""

import numpy as np
from benchmarks.papers import stored
from benchmarks.papers.regression.data import FACTOR, NOISE, SPREAD
from scipy import stats

import calibrant as cb
from calibrant import regression

LEVEL, TEST, SETS = 0.9, 2_000, 400
ROWS = (100, 1_000)
#: Degrees of freedom and correlation of the errors.
LAWS = {"independent": (8.0, 0.0), "dependent, heavy tails": (3.0, 0.8)}


def boxes(rng, n, df, correlation):
    """(mean, std, y, true std) of n boxes; the std is too small by 1.1 to 1.2, and noisy."""
    true = np.exp(np.sqrt(np.log1p(SPREAD**2) - NOISE**2) * rng.normal(size=(n, 4)))
    normal = np.sqrt(correlation) * rng.normal(size=(n, 1)) + np.sqrt(
        1.0 - correlation
    ) * rng.normal(size=(n, 4))
    # The same chi for all coordinates where they depend on each other.
    chi = rng.chisquare(df, (n, 1 if correlation else 4)) / df
    error = normal / np.sqrt(chi) / stats.t(df).std()
    std = true / FACTOR * np.exp(NOISE**2 + NOISE * rng.normal(size=(n, 4)))
    return np.zeros((n, 4)), std, true * error, true


def alone(level):
    """Intervals of each coordinate at a level."""
    return lambda fit, test: (
        cb.ConformalIntervals().fit(fit[0], fit[2], std=fit[1]).predict(test[0], test[1])
    ).interval(level)


def jointly(fit, test):
    """The public call for boxes."""
    cal = cb.ConformalIntervals(jointly=True).fit(fit[0], fit[2], std=fit[1])
    return cal.predict(test[0], test[1]).interval(LEVEL)


def normal(fit, test):
    """The box of a joint normal forecast, its covariance learned from the same rows."""
    cov = [np.apply_along_axis(np.diag, 1, part[1] ** 2) for part in (fit, test)]
    cal = regression.CovarianceScaling(factors="full").fit((fit[0], cov[0]), fit[2])
    return cal.predict((test[0], cov[1])).box(LEVEL)


METHODS = {
    "each alone, 90 %": alone(LEVEL),
    "each alone, 97.5 % (Bonferroni)": alone(1.0 - (1.0 - LEVEL) / 4.0),
    "joint normal box": normal,
    "jointly": jointly,
}


def measured(law, n_fit):
    """{method: (share of boxes held, width)}, means over calibration sets."""
    runs = {name: [] for name in METHODS}
    for seed in range(SETS):
        rng = np.random.default_rng([seed, n_fit])
        mean, std, y, true = boxes(rng, n_fit + TEST, *law)
        half = n_fit // 2
        scaling = cb.StdScaling().fit(mean[:half], y[:half], std=std[:half])
        std = scaling.predict(mean, std).std
        fit = mean[half:n_fit], std[half:n_fit], y[half:n_fit]
        test = mean[n_fit:], std[n_fit:]
        for name, method in METHODS.items():
            low, high = method(fit, test)
            inside = ((low <= y[n_fit:]) & (y[n_fit:] <= high)).all(axis=1)
            runs[name].append([inside.mean(), np.mean(0.5 * (high - low) / true[n_fit:])])
    return {name: np.mean(each, axis=0) for name, each in runs.items()}


def main():
    """Measure, print and store."""
    found = {name: {} for name in METHODS}
    for law, values in LAWS.items():
        for n_fit in ROWS:
            for name, (share, width) in measured(values, n_fit).items():
                found[name][f"{law}, {n_fit:,} rows"] = f"{share:.3f}, {width:.2f}"
    print(found)
    stored.keep("regression", "joint", found)


if __name__ == "__main__":
    main()
