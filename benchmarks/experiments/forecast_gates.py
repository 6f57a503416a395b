"""How much of the pool of forecast calibrators the automatic choice uses, by several rules:
``python -m benchmarks.experiments.forecast_gates``.

The pool is that of the automatic choice; only its share beside no calibration changes. A rule maps
two numbers to a share: the pool's out-of-fold gain in CRPS and in log loss (of at most 2 nats a
row), each in standard errors. Each line compares a rule with ``DistributionRecalibration``, its
first member, on the choosing half of the regression arena (``--part simulated``: on
simulations): the share of runs with the lower score, ties half, and runs more than 0.5 % worse than
no calibration in CRPS.
"""

import argparse
import warnings

import numpy as np
from benchmarks.arena.report import text
from benchmarks.regression_arena import answers, cases, predictions
from scipy import special

import calibrant as cb
from calibrant.forecasts.averaged import averaged
from calibrant.select import auto_regression, evidence_pool

SHARE = special.ndtr
RULES = {
    "always": lambda crps, nll: 1.0,
    "CRPS": lambda crps, nll: SHARE(crps),
    "log loss": lambda crps, nll: SHARE(nll),
    "the smaller": lambda crps, nll: SHARE(min(crps, nll)),
    "the larger": lambda crps, nll: SHARE(max(crps, nll)),
    "mean": lambda crps, nll: SHARE(0.5 * (crps + nll)),
    "0.6 of the mean": lambda crps, nll: SHARE(0.3 * (crps + nll)),
    "0.5 of the mean": lambda crps, nll: SHARE(0.25 * (crps + nll)),
    "0.5 of the mean, limited": lambda crps, nll: SHARE(0.5 * min(0.5 * (crps + nll), crps + 2.0)),
    "0.3 of the mean": lambda crps, nll: SHARE(0.15 * (crps + nll)),
}
NAMES = ("nll", "crps", "interval_score_50", "interval_score", "interval_score_99")
HEADER = ("rule", "runs", "NLL", "CRPS", "50 %", "90 %", "99 %", "worse than nothing")


class Pool(cb.AutoRegressionCalibrator):
    """The automatic choice that keeps its whole pool, and the two gains."""

    def _pooled(self, record, tried, folds, notes):
        def pool_of(held):
            found = evidence_pool.forecast_pool(held)
            shares = np.append(0.0, found.shares[1:])
            if not shares.any():
                # The rule dropped the pool, whose weights the rates alone give.
                sums = held.own[1:] @ held.weight / held.nat
                shares[1:] = np.exp(evidence_pool.FORECAST_RATE * (sums.min() - sums))
            shares /= shares.sum()
            self.gains = [
                np.clip(evidence_pool.gain_in_errors(held, shares, score), -99.0, 99.0)
                for score in ("crps", "nll")
            ]
            kept = np.flatnonzero(shares >= evidence_pool.LEAST_WEIGHT).tolist()
            return evidence_pool.EvidencePool(kept, shares[kept], held.own, 0.0)

        before, auto_regression.forecast_pool = auto_regression.forecast_pool, pool_of
        try:
            return super()._pooled(record, tried, folds, notes)
        finally:
            auto_regression.forecast_pool = before


def scored(forecast, y):
    """The five mean scores of a forecast."""
    low, high = forecast.interval(answers.LEVEL)
    others = np.array([forecast.interval(level) for level in answers.OTHERS])
    quantiles, density = forecast.quantile(answers.LEVELS), forecast.log_density(y)
    answer = answers.Answer(low, high, None, None, quantiles, density, others)
    losses = answers.losses(answer, y)
    return [losses[name].mean() for name in NAMES]


def judged(run):
    """(rules + 2, 5) scores of a run: every rule's, no calibration's, its first member's."""
    fit, test = predictions.load(run)
    pool, new = Pool().fit(fit.forecast(), fit.y), test.forecast()
    both, parts = (pool.predict(new), new), cb.regression.DistributionRecalibration()
    found = []
    for rule in RULES.values():
        share = float(rule(*pool.gains))
        share = 0.0 if share < evidence_pool.LEAST_WEIGHT else share
        used = [(f, w) for f, w in zip(both, (share, 1.0 - share), strict=True) if w > 0.0]
        forecast = averaged([f for f, _ in used], np.array([w for _, w in used]))
        found.append(scored(forecast, test.y))
    found += [scored(new, test.y), scored(parts.fit(fit.forecast(), fit.y).predict(new), test.y)]
    return found


def main():
    """Print a line for each rule."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("choose", "simulated"), default="choose")
    parser.add_argument("--seeds", type=int, help="permutations of the rows (1)")
    parser.add_argument("--sizes", type=int, nargs="+", help="these numbers of rows only")
    chosen = parser.parse_args()
    runs = [
        run
        for run in cases.runs_of(chosen.part, chosen.seeds)
        if chosen.sizes is None or run.size in chosen.sizes
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = np.array([judged(run) for run in runs])
    rows = []
    for j, rule in enumerate(RULES):
        apart = scores[:, j] - scores[:, -1]
        won = ((apart < -1e-9) + 0.5 * (np.abs(apart) <= 1e-9)).mean(axis=0)
        worse = (scores[:, j, 1] > 1.005 * scores[:, -2, 1]).mean()
        cells = [f"{100 * share:.0f} %" for share in won]
        rows.append((rule, str(len(runs)), *cells, f"{100 * worse:.1f} %"))
    print(text(rows, HEADER))


if __name__ == "__main__":
    main()
