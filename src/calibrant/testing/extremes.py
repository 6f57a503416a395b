"""Extreme values, as data: one row of each kind, for every part to answer rightly or to refuse in one clear sentence."""

from typing import Any

import numpy as np

__all__ = ["FORECASTS", "LOGITS", "NO_DATA", "PLAIN", "PROBABILITIES", "REAL_SCORES", "ROWS", "SCORES", "WEIGHTS"]

#: How many rows the cases have: the extreme one is the second.
ROWS = 40
SINGLE, DOUBLE = np.finfo(np.float32), np.finfo(np.float64)

#: One row of logits over K classes, and the dtype it comes in. All have a softmax, so none may be refused.
LOGITS: dict[Any, Any] = {
    "3.4e38 against -3.4e38 in float32": (lambda k: np.r_[3.4e38, -3.4e38, np.zeros(k - 2)], np.float32),
    "3e38 against -3e38 in float64": (lambda k: np.r_[3e38, -3e38, np.zeros(k - 2)], np.float64),
    "a float32 mask": (lambda k: np.r_[1.0, np.full(k - 1, SINGLE.min)], np.float32),
    "a float64 mask": (lambda k: np.r_[1.0, np.full(k - 1, DOUBLE.min)], np.float64),
    "1.79e308 against -1.79e308": (lambda k: np.r_[-1.79e308, np.full(k - 1, 1.79e308)], np.float64),
    "9e14 against -9e14": (lambda k: np.r_[-9e14, np.full(k - 1, 9e14)], np.float64),
    "1e-320": (lambda k: np.r_[1e-320, np.zeros(k - 1)], np.float64),
}
#: n weights.
WEIGHTS: dict[Any, Any] = {
    "that sum to 1": lambda n: np.full(n, 1.0 / n),
    "that sum to 1e12": lambda n: np.full(n, 1e12 / n),
    "all 1e300": lambda n: np.full(n, 1e300),
    "all 1e-300": lambda n: np.full(n, 1e-300),
    "all 1e-31": lambda n: np.full(n, 1e-31),
    "of 1e300 and 1e-300": lambda n: np.where(np.arange(n) % 2, 1e300, 1e-300),
    "of 1 and 1e-320": lambda n: np.where(np.arange(n) % 2, 1.0, 1e-320),
    "of 1 and 1e-13": lambda n: np.where(np.arange(n) % 2, 1.0, 1e-13),
    "with a nan": lambda n: np.r_[np.nan, np.ones(n - 1)],
    "with an inf": lambda n: np.r_[np.inf, np.ones(n - 1)],
}
#: One row of probabilities over K classes.
PROBABILITIES: dict[Any, Any] = {
    "1e-320": lambda k: np.r_[1.0, np.zeros(k - 2), 1e-320],
    "nan": lambda k: np.full(k, np.nan),
    "inf": lambda k: np.r_[np.inf, np.zeros(k - 1)],
}
SCORES: dict[Any, Any] = {"1e-320": 1e-320, "one ulp below 1": 1.0 - 2.0**-53, "nan": np.nan, "inf": np.inf, "-inf": -np.inf}
#: Added for scores that may be any real number.
REAL_SCORES: dict[Any, Any] = {"9e99": 9e99, "2e307": 2e307, "-1.79e308": -1.79e308}
#: One row of (mean, std, y).
FORECASTS: dict[Any, Any] = {
    "a std of 1e-320": (0.0, 1e-320, 1.0),
    "a std of 2e-37": (0.0, 2e-37, 1.0),
    "a std of 9e36": (0.0, 9e36, 1.0),
    "a mean of 9e36": (9e36, 2e-37, -9e36),
    "a std of 1e300": (0.0, 1e300, 1.0),
    "a std of 0": (0.0, 0.0, 0.0),
    "a std of inf": (0.0, np.inf, 0.0),
    "a std of nan": (0.0, np.nan, 0.0),
    "a mean of 1e300": (1e300, 1.0, 0.0),
    "a mean of -1.79e308": (-1.79e308, 1.0, 1.79e308),
    "a mean of nan": (np.nan, 1.0, 0.0),
    "a mean of inf": (np.inf, 1.0, 0.0),
    "an outcome of 1e300": (0.0, 1.0, 1e300),
    "an outcome of nan": (0.0, 1.0, np.nan),
    "an outcome of inf": (0.0, 1.0, np.inf),
}
#: No answer is right where the data are missing.
NO_DATA = ("nan", "inf", "-inf", "with a nan", "with an inf", *(name for name in FORECASTS if name.endswith((" nan", " inf", " of 0"))))
#: What leaves all the digits that an answer needs may not be refused.
PLAIN = (
    *LOGITS, "1e-320", "one ulp below 1", "9e99", "of 1 and 1e-320", "of 1 and 1e-13", "that sum to 1e12",
    "a std of 2e-37", "a std of 9e36", "a mean of 9e36",
)  # fmt: skip
