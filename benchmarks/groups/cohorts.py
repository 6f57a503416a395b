"""What the automatic choice gains by eight cohorts whose log-odds are shifted, or are not.

``python -m benchmarks.groups --only cohorts --seeds 40`` prints, for each number of rows and spread
of the shifts, the log loss of the model under the true risks, and its change in per cent by the
automatic choice without groups, by that with groups, and by logistic regression on the log-odds and
a dummy for each cohort. The candidates without groups are four fast ones. The prior of the
candidates by group was chosen on other seeds.
"""

import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression

import calibrant as cb
from calibrant.calibrators.candidates import CANDIDATES
from calibrant.errors import CalibrationWarning

__all__ = ["changes", "cohorts", "world"]

COHORTS, NEW_ROWS = 8, 10_000
ROWS, SPREADS = (400, 1_200), (0.0, 0.2, 0.35, 0.6)
FAST = ("temperature scaling", "sigmoid of the log-odds", "beta calibration", "quadratic scaling")


def world(n: int, spread: float, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """(log-odds of the model, cohort, true risk) of n rows; the shifts have this deviation."""
    logit, cohort = rng.normal(-1.7, 1.3, n), rng.integers(0, COHORTS, n)
    shift = rng.normal(size=COHORTS)
    shift = spread * (shift - shift.mean()) / shift.std()
    return logit, cohort, 1.0 / (1.0 + np.exp(-logit - shift[cohort]))


def changes(n: int, spread: float, seed: int) -> np.ndarray:
    """Log losses under the true risks of new rows: the model's, and with the three."""
    rng = np.random.default_rng([48, seed, n])
    logit, cohort, true = world(n + NEW_ROWS, spread, rng)
    y, p = (rng.random(len(true)) < true).astype(int), 1.0 / (1.0 + np.exp(-logit))
    dummies = np.column_stack([logit, np.eye(COHORTS)[cohort]])
    by_group = [c.name for c in CANDIDATES if c.tags.uses_groups and c.name != "boosted trees"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        without = cb.AutoCalibrator(methods=FAST).fit(p[:n], y[:n])
        grouped = cb.AutoCalibrator(methods=[*FAST, *by_group])
        grouped.fit(p[:n], y[:n], groups=cohort[:n])
    regression = LogisticRegression(C=1e4, max_iter=1_000).fit(dummies[:n], y[:n])
    predicted = [
        p[n:],
        without.predict_proba(p[n:])[:, 1],
        grouped.predict_proba(p[n:], groups=cohort[n:])[:, 1],
        np.clip(regression.predict_proba(dummies[n:])[:, 1], 1e-6, 1.0 - 1e-6),
    ]
    t = true[n:]
    return np.array([-np.mean(t * np.log(q) + (1.0 - t) * np.log1p(-q)) for q in predicted])


def cohorts(seeds: int) -> None:
    """Print a line for each number of rows and spread."""
    for n in ROWS:
        for spread in SPREADS:
            losses = np.array([changes(n, spread, seed) for seed in range(seeds)])
            change = 100.0 * (losses[:, 1:] / losses[:, :1] - 1.0)
            error = change.std(axis=0, ddof=1) / seeds**0.5
            told = "  ".join(
                f"{name} {one:+.2f} % (s.e. {e:.2f})"
                for name, one, e in zip(
                    ("without groups", "with groups", "dummies"),
                    change.mean(axis=0),
                    error,
                    strict=True,
                )
            )
            print(
                f"{n:6,d} rows, spread {spread:.2f}: {losses[:, 0].mean():.4f}  {told}", flush=True
            )
