"""How often the alarm of CalibrationMonitor is false, and how soon it is right:
``python -m benchmarks.monitoring``.

Streams of 200 batches of 100 rows with confidences as a good classifier gives them (Beta(4, 1)
between a half and 1), calibrated up to batch 100. Printed for each change: the share of streams
with an alarm before it, the share found after it, and the median and ninth decile of the batches
waited. With ``--forecasts`` the same for forecasts as mean and std, and the share of false alarms
on laws that do not flatter them: heavy tails, counts with ties, samples, and rows that are right
only on the whole.
"""

import argparse

import numpy as np
from scipy import stats

import calibrant as cb

ROWS, BATCHES, CHANGE = 100, 200, 100


def _sharper(p, factor):
    return 1.0 / (1.0 + ((1.0 - p) / p) ** factor)


CHANGES = {
    "none": lambda p: p,
    "2 points lower": lambda p: p - 0.02,
    "5 points lower": lambda p: p - 0.05,
    "10 points lower": lambda p: p - 0.10,
    "20 points lower": lambda p: p - 0.20,
    "5 points higher": lambda p: np.minimum(p + 0.05, 1.0),
    "logits 1.5 times too large": lambda p: _sharper(p, 1.0 / 1.5),
    "logits 2 times too large": lambda p: _sharper(p, 0.5),
    "logits 2 times too small": lambda p: _sharper(p, 2.0),
}


#: Of forecasts: outcomes in stds from the mean, by a generator and a number of rows.
ERRORS = {
    "none": lambda rng, n: rng.normal(size=n),
    "bias of 0.1 std": lambda rng, n: 0.1 + rng.normal(size=n),
    "bias of 0.2 std": lambda rng, n: 0.2 + rng.normal(size=n),
    "bias of 0.5 std": lambda rng, n: 0.5 + rng.normal(size=n),
    "std 10 % too small": lambda rng, n: rng.normal(size=n) / 0.9,
    "std 20 % too small": lambda rng, n: rng.normal(size=n) / 0.8,
    "std half of what it should be": lambda rng, n: 2.0 * rng.normal(size=n),
    "std 20 % too large": lambda rng, n: rng.normal(size=n) / 1.2,
    "tails of Student's t, 3 degrees": lambda rng, n: rng.standard_t(3.0, n) / np.sqrt(3.0),
}
LEVELS = np.array([0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95])


def heavy_tails(rng, n):
    """Student's t of 2.1 degrees, said to be such: the variance is nearly infinite, and the PIT
    is uniform.
    """
    law = stats.t(2.1, loc=rng.normal(size=n), scale=rng.uniform(0.5, 2.0, n))
    return law, law.rvs(random_state=rng)


def counts(rng, n):
    """Poisson counts with their own quantiles, which tie with each other and with most outcomes."""
    mu = rng.uniform(0.3, 3.0, n)
    values = stats.poisson.ppf(LEVELS, mu[:, None])
    return cb.QuantileForecast(LEVELS, values), rng.poisson(mu).astype(float)


def many_zeros(rng, n):
    """Three in ten are exactly 0."""
    mu, zero = rng.uniform(0.5, 4.0, n), rng.random(n) < 0.3
    values = -mu[:, None] * np.log(1.0 - (np.maximum(LEVELS, 0.3) - 0.3) / 0.7)
    return cb.QuantileForecast(LEVELS, values), np.where(zero, 0.0, rng.exponential(mu))


def samples(rng, n):
    """Nine draws of counts, so that most outcomes tie with some."""
    mu = rng.uniform(2.0, 8.0, n)
    drawn = rng.poisson(mu[:, None], (n, 9)).astype(float)
    drawn[np.ptp(drawn, axis=1) == 0.0, 0] += 1e-9
    return cb.regression.SampleForecast(drawn), rng.poisson(mu).astype(float)


def right_on_the_whole(rng, n):
    """Half the rows fall too high, half too low: no row is calibrated, and all together are."""
    place = np.sqrt(rng.random(n))
    place = np.where(rng.random(n) < 0.5, place, 1.0 - place)
    return cb.NormalForecast(np.zeros(n), np.ones(n)), stats.norm.ppf(place)


#: Laws under which nothing is wrong.
RIGHT = {
    "t of 2.1 degrees": heavy_tails,
    "Poisson counts, their quantiles": counts,
    "three in ten are 0, quantiles": many_zeros,
    "Poisson counts, nine samples": samples,
    "right on the whole alone": right_on_the_whole,
}


def forecast_alarm_of(error, seed, options):
    """The batch of the alarm, from 0; None without one."""
    rng, monitor = (
        np.random.default_rng(seed),
        cb.monitoring.CalibrationMonitor(target="forecast", **options),
    )
    for t in range(BATCHES):
        mean, std = rng.normal(size=ROWS), rng.uniform(0.5, 2.0, ROWS)
        y = mean + std * (error if t >= CHANGE else ERRORS["none"])(rng, ROWS)
        if monitor.update(mean, y, std=std).alarm_:
            return t
    return None


def false_alarm(law, seed, options):
    """Whether a stream in which nothing is wrong has one."""
    rng, monitor = (
        np.random.default_rng(seed),
        cb.monitoring.CalibrationMonitor(target="forecast", **options),
    )
    return any(monitor.update(*law(rng, ROWS)).alarm_ for _ in range(CHANGE))


def alarm_of(change, seed, options):
    """The batch of the alarm, from 0; None without one."""
    rng, monitor = (
        np.random.default_rng(seed),
        cb.monitoring.CalibrationMonitor(target="event", **options),
    )
    for t in range(BATCHES):
        p = 0.5 + 0.5 * rng.beta(4.0, 1.0, ROWS)
        rate = change(p) if t >= CHANGE else p
        if monitor.update(p, (rng.uniform(size=ROWS) < rate).astype(int)).alarm_:
            return t
    return None


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--tolerance", type=float, default=0.01)
    parser.add_argument(
        "--forecasts", action="store_true", help="forecasts of a number instead of confidences"
    )
    asked = parser.parse_args()
    options = {"alpha": asked.alpha, "tolerance": asked.tolerance}
    print(f"{asked.streams} streams, alpha {asked.alpha:g}, tolerance {asked.tolerance:g}")
    print(f"{'change':<34}{'false':>8}{'found':>8}{'median':>8}{'90 %':>8}")
    changes, alarm = (ERRORS, forecast_alarm_of) if asked.forecasts else (CHANGES, alarm_of)
    for name, change in changes.items():
        alarms = [alarm(change, seed, options) for seed in range(asked.streams)]
        false = np.mean([t is not None and t < CHANGE for t in alarms])
        waited = [t - CHANGE + 1 for t in alarms if t is not None and t >= CHANGE]
        found = len(waited) / max(sum(t is None or t >= CHANGE for t in alarms), 1)
        quantiles = np.quantile(waited, [0.5, 0.9]) if waited else [np.nan, np.nan]
        print(
            f"{name:<34}{false:>8.3f}{found:>8.2f}{quantiles[0]:>8.0f}{quantiles[1]:>8.0f}",
            flush=True,
        )
    for name, law in RIGHT.items() if asked.forecasts else ():
        share = np.mean([false_alarm(law, seed, options) for seed in range(asked.streams)])
        print(f"{name:<34}{share:>8.3f}", flush=True)


if __name__ == "__main__":
    main()
