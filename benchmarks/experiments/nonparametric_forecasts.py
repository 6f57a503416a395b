"""Kernel-mean recalibration and conformal isotonic distributional regression of forecasts:
``python -m benchmarks.experiments.nonparametric_forecasts``.

Both replace the forecast by a weighted distribution of calibration outcomes. Kernel-mean
recalibration (Jung, Kelen and Benczur, arXiv 2602.13362) weights them by (K + n c I)^-1 k, for a
Gaussian kernel of the Wasserstein distance between forecasts; negative weights are set to 0. A
second version weights the outcomes' normal scores, and so keeps mean and std of the forecast.
Conformal isotonic distributional regression (Allen et al., arXiv 2503.03841) regresses 1{y <= t} on
the mean, decreasing, and averages the two bounds of one more row in a block. Width, ridge and
smoothing are chosen on a third of the calibration rows by the CRPS. They are compared with
``DistributionRecalibration`` on the choosing half of the regression arena, at 50 and 200 rows, by
at most 300 test rows.
"""

import argparse
import itertools
import warnings

import numpy as np
from benchmarks.arena.report import text
from benchmarks.regression_arena import cases, predictions
from scipy import special
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist
from sklearn.isotonic import isotonic_regression

import calibrant as cb
from calibrant import metrics

SCORES = np.linspace(-4.0, 4.0, 61)
LEVELS = special.ndtr(SCORES)
#: Normal scores at which two forecasts are compared, so that their distance is Wasserstein's.
COMPARED = special.ndtri((np.arange(9) + 0.5) / 9.0)
WIDTHS, RIDGES, SMOOTHINGS = (0.3, 1.0, 3.0), (1e-3, 1e-1), (0.2, 0.4)
SIZES, MOST_TEST = (50, 200), 300
MOST_THRESHOLDS = 150
HEADER = ("method", "rows", "runs", "NLL", "lower in", "CRPS", "lower in", "90 %", "lower in")


def quantiles_of(weight, values, smoothing):
    """(m, 61) quantiles of m weighted distributions (m, n) of ``values`` (n,), each smoothed by a
    normal of ``smoothing`` times its spread.
    """
    mean = weight @ values
    width = smoothing * np.sqrt(np.maximum(weight @ values**2 - mean**2, 1e-6))
    out = np.empty((len(weight), len(SCORES)))
    for i in range(len(weight)):
        own = weight[i] > 0.0
        grid = np.linspace(values[own].min() - 6 * width[i], values[own].max() + 6 * width[i], 150)
        steps = special.ndtr((grid[:, None] - values[own]) / width[i]) @ weight[i, own]
        rising = np.maximum.accumulate(steps) + 1e-12 * np.arange(len(grid))
        out[i] = np.interp(LEVELS, rising, grid)
    return np.maximum.accumulate(out + 1e-9 * np.arange(len(SCORES)), axis=1)


class KernelMean:
    """Weights of calibration outcomes by kernel ridge regression on the forecasts."""

    def __init__(self, of_scores=False):
        self.of_scores = of_scores

    def fit(self, forecast, y):
        """Choose width, ridge and smoothing on a third of the rows; then keep all rows."""
        held = np.arange(len(y)) % 3 == 0
        rest, target = forecast.take(~held), y[held]
        tried = {}
        for setting in itertools.product(WIDTHS, RIDGES, SMOOTHINGS):
            said = self._said(rest, y[~held], forecast.take(held), *setting)
            score = metrics.continuous_ranked_probability_score(target, said)
            tried[setting] = float(score)
        self.setting = min(tried, key=lambda setting: tried[setting])
        self.known = forecast, y
        return self

    def predict(self, forecast):
        """Quantile forecasts of new rows."""
        return self._said(*self.known, forecast, *self.setting)

    def _said(self, known, y, new, width, ridge, smoothing):
        here, there = known.at(COMPARED) / 3.0, new.at(COMPARED) / 3.0
        apart = cdist(here, here, "sqeuclidean")
        unit = 2.0 * width**2 * max(np.median(apart), 1e-12)
        solved = cho_factor(np.exp(-apart / unit) + len(y) * ridge * np.eye(len(y)))
        weight = cho_solve(solved, np.exp(-cdist(here, there, "sqeuclidean") / unit)).T
        weight = np.maximum(weight, 0.0) + 1e-9
        weight /= weight.sum(axis=1, keepdims=True)
        values = (y - known.mean) / known.std if self.of_scores else y
        found = quantiles_of(weight, values, smoothing)
        if self.of_scores:
            found = new.mean[:, None] + new.std[:, None] * found
        return cb.QuantileForecast(LEVELS, found)


class ConformalIsotonic:
    """Isotonic regression of every event y <= t on the mean, with one more row in each block."""

    def fit(self, forecast, y):
        """Keep the blocks of at most 150 thresholds."""
        order = np.argsort(forecast.mean, kind="stable")
        self.mean, y = forecast.mean[order], y[order]
        thresholds = np.unique(np.quantile(y, (np.arange(MOST_THRESHOLDS) + 0.5) / MOST_THRESHOLDS))
        self.thresholds, self.reach = thresholds, y.std() / np.sqrt(len(y))
        self.levels = np.stack([self._one((y <= t).astype(float)) for t in thresholds], axis=1)
        return self

    def _one(self, event):
        fitted = isotonic_regression(event, increasing=False)
        block = np.cumsum(np.append(True, np.diff(fitted) != 0.0)) - 1
        size = np.bincount(block)[block]
        return (size * fitted + 0.5) / (size + 1.0)

    def predict(self, forecast):
        """Quantile forecasts of new rows, linear between the blocks of their neighbours."""
        levels = np.stack(
            [np.interp(forecast.mean, self.mean, column) for column in self.levels.T], axis=1
        )
        levels = np.maximum.accumulate(levels, axis=1) + 1e-9 * np.arange(len(self.thresholds))
        scores = special.ndtri(np.clip(levels, 1e-6, 1.0 - 1e-6))
        found = np.array([np.interp(SCORES, row, self.thresholds) for row in scores])
        spread = np.maximum(found[:, -1] - found[:, 0], self.reach)[:, None]
        return cb.QuantileForecast(LEVELS, found + 1e-2 * spread * SCORES)


METHODS = {
    "kernel-mean recalibration": KernelMean,
    "kernel-mean recalibration of scores": lambda: KernelMean(of_scores=True),
    "conformal isotonic distributional regression": ConformalIsotonic,
}


def scored(fitted, test):
    """NLL, CRPS and interval score of a fitted method on a run's test rows."""
    forecast = fitted.predict(test.forecast())
    low, high = forecast.interval(0.9)
    outside = np.maximum(low - test.y, 0.0) + np.maximum(test.y - high, 0.0)
    density = np.maximum(forecast.log_density(test.y), -np.log(1e12))
    crps = metrics.continuous_ranked_probability_score(test.y, forecast)
    return -density.mean(), float(crps), (high - low + 20.0 * outside).mean()


def main():
    """Print every method against ``DistributionRecalibration``, by rows to calibrate on."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    found = {}
    for run in cases.runs_of("choose"):
        if run.size not in SIZES:
            continue
        fit, test = predictions.load(run)
        test = test.first(MOST_TEST)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, make in {"parts": cb.regression.DistributionRecalibration, **METHODS}.items():
                fitted = make().fit(fit.forecast(), fit.y)
                found.setdefault((name, run.size), []).append(scored(fitted, test))
    rows = []
    for (name, size), scores in found.items():
        if name == "parts":
            continue
        ours, rival = np.array(scores), np.array(found["parts", size])
        lower = [f"{100 * np.mean(ours[:, k] < rival[:, k]):.0f} %" for k in range(3)]
        change = [f"{np.mean(ours[:, 0] - rival[:, 0]):+.3f}"]
        change += [f"{100 * (np.mean(ours[:, k] / rival[:, k]) - 1):+.1f} %" for k in (1, 2)]
        cells = [cell for pair in zip(change, lower, strict=True) for cell in pair]
        rows.append((name, f"{size:,}", str(len(ours)), *cells))
    print(text(rows, HEADER))


if __name__ == "__main__":
    main()
