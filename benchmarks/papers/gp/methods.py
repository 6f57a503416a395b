"""The methods of the tables, by their published names; each takes (P, y, P_test) and gives {row
name: calibrated test rows}.
"""

import time
import warnings

import numpy as np
from benchmarks.papers.gp.protocol import lift_zeros
from scipy.special import softmax
from scipy.stats import norm

import calibrant as cb
from calibrant.errors import SparseDataWarning


def _one_vs_rest(map_):
    def run(P, y, P_test):
        return cb.OneVsRest(map_).fit(P, y).predict_proba(P_test)

    return run


def _temperature(P, y, P_test):
    """On the probabilities as if they were logits, as the authors did for all but CNNs."""
    return cb.TemperatureScaling(inputs="logit").fit(P, y).predict_proba(P_test)


def _log_temperature(P, y, P_test):
    """On the logarithms of the probabilities, as a user of the library has it."""
    return cb.TemperatureScaling().fit(P, y).predict_proba(P_test)


def _gaussian_process(P, y, P_test):
    """Inputs as the authors gave them; four predictions from one fit.

    The authors drew anew for every row, which spreads equal scores over neighbouring bins; the
    library's draws are the same for all rows.
    """
    cal = cb.calibrators.GaussianProcessCalibration().fit(lift_zeros(P), y)
    P_test = lift_zeros(P_test)
    return {
        "GPcalib": _drawn_per_row(cal, P_test),
        "GP, same draws": cal.predict_proba(P_test),
        "GPcalib_approx": cal.set_params(expectation="mean").predict_proba(P_test),
        "GP, taylor": cal.set_params(expectation="taylor").predict_proba(P_test),
    }


def _gaussian_process_full(P, y, P_test):
    """The whole K x K block of a row's latent covariance, in the bound and in the prediction:
    the paper's equation 7.
    """
    cal = cb.calibrators.GaussianProcessCalibration(covariance="full").fit(lift_zeros(P), y)
    P_test = lift_zeros(P_test)
    modes = {"same draws": "monte_carlo", "mean": "mean", "taylor": "taylor"}
    return {
        f"GP full, {name}": cal.set_params(expectation=mode).predict_proba(P_test)
        for name, mode in modes.items()
    }


def _drawn_per_row(cal, P, n_draws=100, step=1000):
    """Mean softmax over draws of the latent function, independent for every component of every
    row.
    """
    rng, out = np.random.default_rng(1), []
    for i in range(0, len(P), step):
        part = P[i : i + step]
        latent = cal.latent(part.ravel())
        mean, deviation = (
            a.reshape(part.shape)
            for a in (latent.mean, (latent.high - latent.mean) / norm.ppf(0.975))
        )
        out.append(
            softmax(mean + deviation * rng.standard_normal((n_draws, *part.shape)), axis=2).mean(
                axis=0
            )
        )
    return np.concatenate(out)


def _gaussian_process_default(P, y, P_test):
    """Exact zeros as the library reads them."""
    return cb.calibrators.GaussianProcessCalibration().fit(P, y).predict_proba(P_test)


def _gaussian_process_monotone(covariance):
    def run(P, y, P_test):
        return (
            cb.calibrators.GaussianProcessCalibration(monotone=True, covariance=covariance)
            .fit(P, y)
            .predict_proba(P_test)
        )

    return run


#: How to run -> the rows it fills.
METHODS = {
    "gp": (_gaussian_process, ("GPcalib", "GP, same draws", "GPcalib_approx", "GP, taylor")),
    "uncalibrated": (lambda P, y, P_test: P_test, ("Uncal",)),
    "temperature": (_temperature, ("Temp",)),
    "temperature-log": (_log_temperature, ("Temp, log P",)),
    "platt": (_one_vs_rest(cb.Platt(scale="probability", smoothing=False)), ("Platt",)),
    "isotonic": (_one_vs_rest(cb.Isotonic()), ("Isotonic",)),
    "beta": (_one_vs_rest(cb.calibrators.Beta()), ("Beta",)),
    "bbq": (_one_vs_rest(cb.calibrators.BayesianBinning()), ("BBQ",)),
    "gp-default": (_gaussian_process_default, ("GP, calibrant's zeros",)),
    "gp-monotone": (_gaussian_process_monotone("diagonal"), ("GP, monotone",)),
    "gp-full": (
        _gaussian_process_full,
        ("GP full, same draws", "GP full, mean", "GP full, taylor"),
    ),
    "gp-full-monotone": (_gaussian_process_monotone("full"), ("GP full, monotone",)),
}


def run(name, P, y, P_test):
    """({row name: calibrated test rows}, CPU seconds)."""
    function, rows = METHODS[name]
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SparseDataWarning)
        out = function(P, y, P_test)
    return (out if isinstance(out, dict) else {rows[0]: out}), time.process_time() - start
