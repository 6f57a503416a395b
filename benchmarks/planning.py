"""Planning and validation beside published numbers and beside the truth:
``python -m benchmarks.planning``.

Printed: rows for a validation beside what pmvalsampsize prints; planned standard errors beside
those of simulated studies; the error of the apparent, corrected and .632+ values of models beside
their truth on 200,000 fresh rows, and how often the intervals hold it; what the closed test
chooses; and how often the interval for a new site holds that site. ``--part`` picks one,
``--repeats`` sets how often each world is drawn.
"""

import argparse
import warnings
from collections.abc import Callable

import numpy as np
from scipy import special
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import calibrant as cb
from calibrant._numerics.logistic import slope_and_intercept
from calibrant.metrics.validation import MEASURED, measure

FRESH, ROWS, FEATURES = 200_000, 200, 8
EFFECTS = np.array([0.8, -0.6, 0.5, 0.4, 0.0, 0.0, 0.0, 0.0])
MODELS = {
    "logistic": LogisticRegression(C=1e4, solver="newton-cholesky"),
    "ridge": LogisticRegression(C=0.05, solver="newton-cholesky"),
    "forest": RandomForestClassifier(30, min_samples_leaf=5, random_state=0),
}
#: What the log-odds of the events are, by those of the prediction.
UPDATES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "calibrated": lambda odds: odds,
    "shifted by -0.8": lambda odds: odds - 0.8,
    "twice too bold": lambda odds: 0.5 * odds,
    "bent": lambda odds: odds - 0.25 * odds**2,
}


def published(repeats: int) -> None:
    """Rows beside those that the package prints."""
    drawn = np.random.RandomState(123456).normal(-5.0, 2.5, 1_000_000)
    given = {"prevalence": 0.018, "auroc": 0.8, "oe_width": 1.0}
    cases = {
        "valves, its own draws": (
            {**given, "risks": special.expit(drawn), "rounding": "pmvalsampsize"},
            [905, 4544, 4252],
        ),
        "valves, its beta law": (
            {**given, "beta": (0.5, 0.5), "rounding": "pmvalsampsize"},
            [905, 1644, 4252],
        ),
        "valves, integrated": ({**given, "normal": (-5, 2.5)}, [905, 4544, 4252]),
    }
    for name, (options, theirs) in cases.items():
        print(
            f"{name:24} here"
            f" {[criterion.rows for criterion in cb.metrics.validation_size(**options).criteria]},"
            f" printed {theirs}"
        )


def simulated(repeats: int) -> None:
    """Planned standard errors of the slope beside those of fits."""
    rng = np.random.default_rng(0)
    for mean, spread, line in (
        (-5.0, 2.5, (0.0, 1.0)),
        (-2.0, 1.0, (0.3, 0.8)),
        (0.5, 0.7, (0.0, 1.2)),
    ):
        law = {"normal": (mean, spread), "intercept": line[0], "slope": line[1]}
        planned, found = (
            cb.metrics.validation_size(**law, oe_width=None, auroc_width=None).driver,
            [],
        )
        for _ in range(repeats):
            odds = rng.normal(mean, spread, planned.rows)
            hit = (rng.random(planned.rows) < special.expit(line[0] + line[1] * odds)).astype(float)
            found.append(slope_and_intercept(special.expit(odds), hit, np.ones(planned.rows))[0][0])
        seen = np.std(found, ddof=1)
        print(
            f"{law}: {planned.rows:,} rows, planned {planned.standard_error:.4f}, simulated"
            f" {seen:.4f} +- {seen / (2 * repeats) ** 0.5:.4f}"
        )


def optimism(repeats: int) -> None:
    """Errors of three estimates, and coverage, for each model and metric."""
    for name, model in MODELS.items():
        rng, errors, held = np.random.default_rng(1), [], []
        fresh, happened = _rows(rng, FRESH)
        for world in range(repeats):
            X, y = _rows(rng, ROWS)
            found = cb.metrics.validate(
                model, X, y, n_resamples=40, n_outer=30, n_inner=3, random_state=world
            ).metrics
            truth = measure(
                model.fit(X, y).predict_proba(fresh)[:, 1], happened.astype(float), np.ones(FRESH)
            )
            errors.append(
                [
                    (one.apparent - t, one.corrected - t, one.corrected_632 - t)
                    for one, t in zip(found, truth, strict=True)
                ]
            )
            held.append(
                [
                    (one.low <= t <= one.high, one.low_632 <= t <= one.high_632)
                    for one, t in zip(found, truth, strict=True)
                ]
            )
        mean, error, share = (
            np.nanmean(errors, axis=0),
            np.nanstd(errors, axis=0, ddof=1) / repeats**0.5,
            np.mean(held, axis=0),
        )
        for j, metric in enumerate(MEASURED):
            said = ", ".join(
                f"{how} {mean[j, k]:+.4f}"
                for k, how in enumerate(("apparent", "corrected", ".632+"))
            )
            print(
                f"{name:9} {metric.name:24} error: {said} (+- {error[j, 1]:.4f}); intervals hold"
                f" {share[j, 0]:.1%}, {share[j, 1]:.1%}"
            )


def closed(repeats: int) -> None:
    """How often the closed test chooses what."""
    for rows in (200, 1000):
        for name, truth in UPDATES.items():
            rng, counts = (
                np.random.default_rng(2),
                dict.fromkeys(("nothing", "intercept", "intercept and slope", "flexible"), 0),
            )
            for _ in range(5 * repeats):
                odds = rng.normal(-1.0, 1.3, rows)
                hit = (rng.random(rows) < special.expit(truth(odds))).astype(int)
                counts[cb.calibrators.ClosedTest().fit(special.expit(odds), hit).chosen_] += 1
            print(
                f"{rows:5} rows, {name:16}"
                f" {', '.join(f'{what} {n / (5 * repeats):.1%}' for what, n in counts.items())}"
            )


def sites(repeats: int) -> None:
    """How often the interval for a new site holds it, beside that of all rows together."""
    for count, spread in ((5, 0.3), (10, 0.3), (10, 0.0)):
        rng, new, mean, together = np.random.default_rng(3), 0, 0, 0
        for _ in range(5 * repeats):
            factor, site, risk = (
                np.exp(rng.normal(0, spread, count + 1)),
                np.repeat(np.arange(count), 400),
                rng.uniform(0.02, 0.3, count * 400),
            )
            y = (rng.random(count * 400) < np.minimum(risk * factor[site], 1.0)).astype(int)
            found = cb.metrics.over_sites(cb.metrics.observed_expected_ratio, y, risk, site).pooled
            whole = cb.metrics.observed_expected_ratio.interval(y, risk)
            new += found.prediction_low <= factor[count] <= found.prediction_high
            mean += found.low <= 1.0 <= found.high
            together += whole.low <= factor[count] <= whole.high
        said = ", ".join(
            f"{what} {n / (5 * repeats):.1%}"
            for what, n in (
                ("new site", new),
                ("mean", mean),
                ("all rows for a new site", together),
            )
        )
        print(f"{count:3} sites that differ by {spread}: {said}")


def _rows(rng: np.random.Generator, n: int):
    X = rng.normal(size=(n, FEATURES))
    return X, (rng.random(n) < special.expit(X @ EFFECTS - 0.5)).astype(int)


PARTS = {one.__name__: one for one in (published, simulated, optimism, closed, sites)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m benchmarks.planning", description=__doc__)
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--repeats", type=int, default=100)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, part in PARTS.items():
        if options.part in (None, name):
            print(f"-- {name}: {part.__doc__}")
            part(options.repeats)
