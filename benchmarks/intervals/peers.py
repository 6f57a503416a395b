"""The same by MAPIE and crepes, in an environment of their own:
``python peers.py cases.npz ends.npz`` with NumPy and the two only.
"""

import logging
import sys
import time
import warnings

import numpy as np
from crepes import ConformalRegressor
from crepes.extras import binning
from mapie.regression import ConformalizedQuantileRegressor, SplitConformalRegressor

LEVELS = (0.5, 0.9, 0.99)


class Said:
    """A fitted regressor that says what it was told: rows are numbers, its predictions are
    looked up.
    """

    def __init__(self, values):
        self.values, self.is_fitted_ = values, True

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.values[np.asarray(X)[:, 0].astype(int)]

    def __sklearn_is_fitted__(self):
        return True


def _split(mean, level, X_cal, y_cal, X_test):
    split = SplitConformalRegressor(mean, confidence_level=level, prefit=True).conformalize(
        X_cal, y_cal
    )
    return split.predict_interval(X_test)[1][:, :, 0].T


def _cqr(parts, level, X_cal, y_cal, X_test, symmetric):
    cqr = ConformalizedQuantileRegressor(parts, confidence_level=level, prefit=True).conformalize(
        X_cal, y_cal
    )
    return cqr.predict_interval(X_test, symmetric_correction=symmetric, allow_infinite_bounds=True)[
        1
    ][:, :, 0].T


def _or_infinite(ask, n):
    """(2, n) ends; infinite where MAPIE refuses for want of rows."""
    try:
        return ask()
    except ValueError as error:
        if "too low" not in str(error):
            raise
        return np.stack([np.full(n, -np.inf), np.full(n, np.inf)])


def with_mapie(held):
    """(method, ends, CPU seconds) of split conformal prediction and of both ways of
    conformalised quantile regression.
    """
    n = len(held["y_cal"])
    X_cal, X_test = np.arange(n)[:, None], np.arange(n, n + len(held["y_test"]))[:, None]
    mean = Said(np.concatenate([held["mean_cal"], held["mean_test"]]))
    start = time.process_time()
    ends = [
        _or_infinite(
            lambda level=level: _split(mean, level, X_cal, held["y_cal"], X_test), len(X_test)
        )
        for level in LEVELS
    ]
    yield "MAPIE split, absolute", np.stack(ends), time.process_time() - start
    values = np.concatenate([held["quantiles_cal"], held["quantiles_test"]])
    for symmetric in (True, False):
        start, ends = time.process_time(), []
        for level, (low, high) in zip(LEVELS, ((2, 4), (1, 5), (0, 6)), strict=True):
            parts = [Said(values[:, k]) for k in (low, high, 3)]
            ends.append(
                _or_infinite(
                    lambda p=parts, q=level, s=symmetric: _cqr(
                        p, q, X_cal, held["y_cal"], X_test, s
                    ),
                    len(X_test),
                )
            )
        yield (
            f"MAPIE CQR{'' if symmetric else ', ends of their own'}",
            np.stack(ends),
            time.process_time() - start,
        )


def with_crepes(held):
    """(method, ends, CPU seconds) of plain, normalised and Mondrian intervals."""
    residuals = held["y_cal"] - held["mean_cal"]
    sigma = {part: held[f"std_{part}"] for part in ("cal", "test")}
    for name in ("plain", "normalised", "Mondrian by std"):
        start = time.process_time()
        fit, ask = {}, {}
        if name != "plain":
            fit, ask = {"sigmas": sigma["cal"]}, {"sigmas": sigma["test"]}
        if name.startswith("Mondrian"):
            count = max(1, min(10, len(residuals) // 100))
            fit["bins"], edges = binning(sigma["cal"], bins=count)
            ask["bins"] = binning(sigma["test"], bins=edges)
        cr = ConformalRegressor().fit(residuals, **fit)
        ends = np.stack(
            [cr.predict_int(held["mean_test"], confidence=level, **ask).T for level in LEVELS]
        )
        yield f"crepes {name}", ends, time.process_time() - start


def main(source, target):
    """Every case of the file, by both libraries."""
    warnings.simplefilter("ignore")
    logging.disable()
    with np.load(source) as file:
        held = {key: file[key] for key in file.files}
    out = {}
    for case in sorted({key.split("|")[0] for key in held}):
        one = {key.split("|")[1]: value for key, value in held.items() if key.split("|")[0] == case}
        for run in (with_mapie, with_crepes):
            for method, ends, seconds in run(one):
                out[f"{case}|{method}|ends"], out[f"{case}|{method}|seconds"] = (
                    ends,
                    np.array(seconds),
                )
    np.savez(target, **out)


if __name__ == "__main__":
    main(*sys.argv[1:])
