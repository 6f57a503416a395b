"""Intervals and tests where the spread says little of the errors: G8, G10 and G11, and laws of
our own.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from benchmarks.hard.draws import Line, asked, counted_by_truth, holds, share, sharp, sigmoid

import calibrant as cb

__all__ = ["classes", "forecasts", "intervals", "separated", "weights"]


def weights(repeats: int) -> Iterator[Line]:
    """Inverse-probability weights of 860 rows that are worth about 330."""
    many = np.sort(sigmoid(np.random.default_rng(1).normal(0.0, 1.3, 1_000_000)))
    loss = -float((many * np.log(many) + (1.0 - many) * np.log1p(-many)).mean())
    ranked = float(many @ np.cumsum(1.0 - many) / (many.sum() * (1.0 - many).sum()))
    truths = {
        "log_loss": loss,
        "event_brier_score": float((many * (1.0 - many)).mean()),
        "event_auroc": ranked,
        "calibration_slope": 1.0,
        "observed_expected_ratio": 1.0,
        "calibration_bias": 0.0,
    }
    for key, truth in truths.items():
        metric = getattr(cb.metrics, key)
        yield (
            f"{key}: interval holds",
            share(lambda seed, m=metric, t=truth: holds(m, t, _weighted(seed)), repeats),
            ".95",
        )
    test = cb.metrics.spiegelhalter_test
    yield (
        "spiegelhalter_test: rejects",
        share(lambda seed: asked(test, _weighted(seed)).p_value < 0.05, repeats),
        "at most .05",
    )
    for scale, name in ((1.0, "of mean 1"), (1_000.0, "of a population")):
        off = share(lambda seed, s=scale: _off_by_weights(s, seed), max(repeats // 2, 1))
        yield f"audit of six groups, weights {name}: a group is off", off, "at most .05"


def _weighted(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    p, w = sigmoid(rng.normal(0.0, 1.3, 860)), np.exp(rng.normal(0.0, 1.0, 860))
    y = (rng.random(860) < p).astype(int)
    kind = (
        {"weight_kind": "sampling"}
        if "weight_kind" in inspect.signature(cb.metrics.compare).parameters
        else {}
    )
    return {"y": y, "p": p, "sample_weight": w / w.mean(), **kind}


def _off_by_weights(scale: float, seed: int) -> bool:
    given = _weighted(seed)
    given["sample_weight"] = scale * given["sample_weight"]
    groups = np.random.default_rng([seed, 6]).integers(0, 6, len(given["y"])).astype(str)
    return bool(asked(cb.audit, given, groups=groups, n_draws=200).off)


def intervals(repeats: int) -> Iterator[Line]:
    """Sure rows that may fail, long tails, standard deviations that say nothing, risks near 0
    and 1.
    """
    for n in (50, 100, 300):
        yield (
            f"calibration_bias, sure rows fail, n = {n}: holds",
            share(lambda seed, n=n: _sure_rows(n, seed), repeats),
            ".95",
        )
    laws = {
        "root_mean_squared_error, long tails": (
            _long_tails,
            float(np.exp(1.3**2)),
            cb.metrics.root_mean_squared_error,
        ),
        "negative_log_likelihood, std says nothing": (
            _no_std,
            float(0.5 * np.log(2.0 * np.pi) + 1.5 * np.exp(2.0 * 0.49)),
            cb.metrics.negative_log_likelihood,
        ),
    }
    for name, (draw, truth, metric) in laws.items():
        for n in (60, 200):
            held = share(
                lambda seed, d=draw, t=truth, m=metric, n=n: _covers(m, t, *d(n, seed)), repeats
            )
            yield f"{name}, n = {n}: holds", held, ".95"
    for n in (40, 200):
        yield (
            f"spiegelhalter_test, sure risks, n = {n}: rejects",
            share(lambda seed, n=n: _sure_risks(n, seed), repeats),
            "at most .05",
        )
    yield from _of_events(repeats)


def _sure_rows(n: int, seed: int) -> bool:
    rng = np.random.default_rng(seed)
    high = rng.random(n) < 0.1
    y = (rng.random(n) < np.where(high, 0.9, 0.003)).astype(int)
    found = cb.metrics.calibration_bias.interval(y, np.where(high, 0.97, 0.001))
    return found.low <= 0.9 * (0.001 - 0.003) + 0.1 * (0.97 - 0.9) <= found.high


def _long_tails(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=n) * np.exp(rng.normal(0.0, 1.3, n)), np.ones(n)


def _no_std(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_t(3.0, n), np.exp(rng.normal(0.0, 0.7, n))


def _covers(metric: Any, truth: float, errors: np.ndarray, std: np.ndarray) -> bool:
    found = metric.interval(errors, np.zeros(len(errors)), std)
    return found.low <= truth <= found.high


def _sure_risks(n: int, seed: int) -> bool:
    rng = np.random.default_rng(seed)
    p = rng.choice([0.0035, 0.9965], n)
    return cb.metrics.spiegelhalter_test((rng.random(n) < p).astype(int), p).p_value < 0.05


def _of_events(repeats: int) -> Iterator[Line]:
    """O/E beside the width that its estimand needs, lift at its share, a crossing near the top,
    one class.
    """
    wide = [_oe(seed) for seed in range(repeats)]
    yield (
        "observed_expected_ratio, sharp risks, n = 200: holds",
        float(np.mean([one[0] for one in wide])),
        ".95",
    )
    yield (
        "the same: its width over that of 1.96 standard errors",
        float(np.median([one[1] for one in wide])),
        "1",
    )
    for given in ("risks", "nothing"):
        found = [_oe(seed, given) for seed in range(repeats)]
        said = f'observed_expected_ratio, given="{given}"'
        yield f"{said}: holds", float(np.mean([one[0] for one in found])), ".95"
        yield f"{said}: its width over the same", float(np.median([one[1] for one in found])), "1"
    many = np.sort(sigmoid(np.random.default_rng(1).normal(-1.0, 1.3, 1_000_000)))
    lifted = float(many[-100_000:].mean() / many.mean())
    for n in (100, 500):
        yield (
            f"lift at a share of .1, n = {n}: holds",
            share(lambda seed, n=n: _lift(n, lifted, seed), repeats),
            ".95",
        )
    for n in (100, 500):
        held = share(lambda seed, n=n: _lift_at_a_jump(n, seed), repeats)
        yield f"lift, a tenth of the rows surely has the event, n = {n}: holds", held, ".95"
    for n in (300, 1_000):
        held = share(lambda seed, n=n: _crossing(n, seed), repeats)
        yield f"decision_threshold where the risk reaches .95, n = {n}: holds", held, ".95"
    yield "d2_of_classes, one class and weights: limits below -1e6", share(_one_class, repeats), "0"


def _oe(seed: int, given: str = "rate") -> tuple[bool, float]:
    rng = np.random.default_rng(seed)
    p = sigmoid(sharp(rng, 200))
    metric = cb.metrics.observed_expected_ratio
    # Before 0.2 there was one interval.
    options = {"given": given} if hasattr(metric, "given") else {}
    found = metric.interval((rng.random(200) < p).astype(int), p, **options)
    needed = 2.0 * 1.96 * np.sqrt((p * (1.0 - p)).sum()) / p.sum()
    return bool(found.low <= 1.0 <= found.high), float((found.high - found.low) / needed)


def _lift(n: int, truth: float, seed: int) -> bool:
    rng = np.random.default_rng(seed)
    p = sigmoid(rng.normal(-1.0, 1.3, n))
    return holds(cb.metrics.lift, truth, {"y": (rng.random(n) < p).astype(int), "p": p})


def _lift_at_a_jump(n: int, seed: int) -> bool:
    rng = np.random.default_rng(seed)
    p = np.where(rng.random(n) < 0.1, 1.0, 0.01)
    return holds(cb.metrics.lift, 1.0 / 0.109, {"y": (rng.random(n) < p).astype(int), "p": p})


def _crossing(n: int, seed: int) -> bool:
    """Risks are 1.5 times too bold, so .95 is reached where 19 ** 1.5 to 1 is said."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0.5, 1.5, n)
    y = (rng.random(n) < sigmoid(z)).astype(int)
    costs = {"cost_false_positive": 19.0, "cost_false_negative": 1.0}
    found = cb.decisions.decision_threshold(
        y, sigmoid(1.5 * z), calibrator=cb.calibrators.Identity(), n_splits=2, **costs
    )
    return bool(found.low <= sigmoid(1.5 * np.log(19.0)) <= found.high)


def _one_class(seed: int) -> bool:
    rng = np.random.default_rng(seed)
    P, w = rng.dirichlet(np.ones(3), 40), np.exp(rng.normal(0.0, 1.0, 40))
    try:
        return bool(
            cb.metrics.d2_of_classes.interval(np.zeros(40, int), P, sample_weight=w).low < -1e6
        )
    except ValueError:
        return False


def separated(repeats: int) -> Iterator[Line]:
    """20 rows without the event, all below 20 rows with it."""
    found = [_separated(seed) for seed in range(repeats)]
    yield (
        "calibration_slope of separated samples: finite lower limit",
        float(np.mean([one[0] for one in found])),
        "1",
    )
    yield (
        "event_auroc of separated samples: lower limit at least .8",
        float(np.mean([one[1] for one in found])),
        "1",
    )


def _separated(seed: int) -> tuple[bool, bool]:
    rng = np.random.default_rng(seed)
    p, y = np.r_[rng.uniform(0.05, 0.45, 20), rng.uniform(0.55, 0.95, 20)], np.repeat([0, 1], 20)
    try:
        slope = cb.metrics.calibration_slope.interval(y, p).low
    except ValueError:
        slope = float("nan")
    return bool(np.isfinite(slope)), cb.metrics.event_auroc.interval(y, p).low >= 0.8


#: Law -> draw(rng, n) of (errors, std): the mean is 0.
ERRORS: dict[str, Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]] = {
    "std unrelated to errors": lambda rng, n: (rng.normal(size=n), np.exp(rng.normal(0.0, 0.7, n))),
    "Student's t of 3 degrees": lambda rng, n: (rng.standard_t(3.0, n) / np.sqrt(3.0), np.ones(n)),
    "skewed errors": lambda rng, n: _scaled(rng.exponential(1.0, n) - 1.0, rng.gamma(4.0, 0.25, n)),
    "std rounded to .5": lambda rng, n: _rounded(rng.normal(size=n), rng.gamma(4.0, 0.25, n)),
}
FORECAST_METRICS = (
    "expected_normalized_calibration_error",
    "uncertainty_calibration_error",
    "negative_log_likelihood",
    "root_mean_squared_error",
    "continuous_ranked_probability_score",
    "interval_coverage",
)


def _scaled(error: np.ndarray, std: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return error * std, std


def _rounded(error: np.ndarray, std: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return error * std, np.maximum(np.round(2.0 * std) / 2.0, 0.5)


#: Metrics over bins: one for each so many rows, ten at most; their intervals are of the error in as
#: many.
BINNED, ROWS_OF_A_BIN, MOST_BINS = FORECAST_METRICS[:2], 30, 10


def forecasts(repeats: int) -> Iterator[Line]:
    """Forecasts whose standard deviations, tails, skewness or ties are not those of a normal
    law.
    """
    for key in FORECAST_METRICS:
        metric = getattr(cb.metrics, key)
        for name, draw in ERRORS.items():
            errors, std = draw(np.random.default_rng(99), 1_000_000)
            for n in (60, 200):
                of = (
                    replace(metric, n_bins=min(n // ROWS_OF_A_BIN, MOST_BINS))
                    if key in BINNED
                    else metric
                )
                truth = float(of(errors, np.zeros(len(errors)), std))
                times = max(repeats // 4, 1) if key in BINNED else repeats
                held = share(
                    lambda seed, d=draw, m=metric, t=truth, n=n: _forecast(d, m, t, n, seed), times
                )
                yield f"{metric.key}, {name}, n = {n}: holds", held, ".95"


def _forecast(draw: Any, metric: Any, truth: float, n: int, seed: int) -> bool:
    errors, std = draw(np.random.default_rng(seed), n)
    return holds(metric, truth, {"y": errors, "p": np.zeros(n), "std": std})


#: Law -> draw(rng, n) of (predicted, true risks).
RISKS: dict[str, Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]] = {
    "one row in twenty says .97, truly .55": lambda rng, n: _failing(
        rng.random(n) < 0.05, rng.uniform(0.02, 0.9, n)
    ),
    "risks of .1, .3, .5 and .9 only": lambda rng, n: _both(rng.choice([0.1, 0.3, 0.5, 0.9], n)),
    "rare, 2 times too low": lambda rng, n: _halved(0.06 * rng.beta(1.0, 3.0, n)),
}
RISK_METRICS = (
    "log_loss",
    "event_brier_score",
    "event_auroc",
    "calibration_slope",
    "calibration_bias",
    "observed_expected_ratio",
)


def _failing(top: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.where(top, 0.97, p), np.where(top, 0.55, p)


def _both(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return p, p


def _halved(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return 0.5 * p, p


def classes(repeats: int) -> Iterator[Line]:
    """Risks of which few rows are sure and fail, that are tied, or that are rare and too low."""
    for key in RISK_METRICS:
        metric = getattr(cb.metrics, key)
        for name, draw in RISKS.items():
            truth = counted_by_truth(metric, *draw(np.random.default_rng(99), 300_000))
            for n in (100, 500):
                held = [
                    one
                    for seed in range(repeats)
                    if (one := _risk(draw, metric, truth, n, seed)) is not None
                ]
                yield (
                    f"{metric.key}, {name}, n = {n}: holds",
                    float(np.mean(held)) if held else float("nan"),
                    ".95",
                )


def _risk(draw: Any, metric: Any, truth: float, n: int, seed: int) -> bool | None:
    """None where the sample has no event, or no row without, and so no value."""
    rng = np.random.default_rng(seed)
    said, true = draw(rng, n)
    y = (rng.random(n) < true).astype(int)
    try:
        return holds(metric, truth, {"y": y, "p": said}) if 0 < y.sum() < n else None
    except ValueError:
        return None
