"""Delay until an alarm at equal rates of false alarms: the monitor beside MAPIE's RiskMonitoring.

MAPIE's formula (version 1.6, ``exchangeability_testing/risk_monitoring.py``): an alarm where the
lower limit of the risk since the start, by the conjugate mixture empirical Bernstein bound (Howard
et al. 2021) at half of the level, exceeds the upper Hoeffding limit of the reference plus a
tolerance. It takes the errors of labels; the Brier loss is our addition. Its limits are computed at
the ends of batches here, and its tolerance is 0.

Ours watches risks calibrated on the reference ("calibrated", tolerance 0.01), or the gaps of the
reference ("reference"). Each method's cut-off is the quantile of its largest statistic on streams
without a change, so that one in 20 has a false alarm within all batches; the rate is judged on
other streams.
"""

from collections.abc import Callable

import numpy as np
from benchmarks.arena.outputs import FOLDER as STAGE2
from benchmarks.questions.table import goal, line
from scipy.special import expit, gammainc, gammaln, logit

from calibrant.calibrators import Platt
from calibrant.monitoring import CalibrationMonitor

__all__ = ["run"]

ALPHA, ROWS, BEFORE, AFTER, REFERENCE = 0.05, 100, 40, 60, 2_000
Batches = list[tuple[np.ndarray, np.ndarray]]


class Bound:
    """The gamma-exponential mixture boundary at v for one level."""

    def __init__(self, alpha: float, v_opt: float = 1.0) -> None:
        log_term = np.log(1.0 / (2.0 * alpha / 2.0))
        self.rho = v_opt / (2.0 * log_term + np.log1p(2.0 * log_term))
        self.level = np.log(2.0 / alpha)
        self.lead = (
            self.rho * np.log(self.rho) - gammaln(self.rho) - np.log(gammainc(self.rho, self.rho))
        )

    def of(self, v: np.ndarray) -> np.ndarray:
        """The boundary of the sum at the variances v, by bisection."""
        low, high = np.zeros_like(v), 20.0 * np.maximum(np.sqrt(v), 1.0) + 40.0
        for _ in range(50):
            middle = 0.5 * (low + high)
            x = middle + v + self.rho
            a = v + self.rho
            value = self.lead + gammaln(a) + np.log(np.maximum(gammainc(a, x), 1e-300))
            above = value - a * np.log(x) + middle + v > self.level
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        return 0.5 * (low + high)


BOUND = Bound(ALPHA / 2.0)


def mapie(loss: Callable[..., np.ndarray], reference: np.ndarray, batches: Batches) -> np.ndarray:
    """Lower limit of the risk less the threshold, at the end of each batch."""
    held = loss(*reference)
    threshold = held.mean() + np.sqrt(np.log(2.0 / ALPHA) / (2.0 * len(held)))
    each = np.concatenate([loss(p, y) for p, y in batches])
    t = np.arange(1, len(each) + 1)
    mean = np.cumsum(each) / t
    v = np.cumsum((each - np.append(0.5, mean[:-1])) ** 2)
    at = np.cumsum([len(y) for _, y in batches]) - 1
    return np.maximum.accumulate(mean[at] - BOUND.of(v[at]) / t[at]) - threshold


def ours(reference: np.ndarray, batches: Batches) -> np.ndarray:
    """Largest log evidence so far, at the end of each batch."""
    monitor = CalibrationMonitor(alpha=ALPHA, tolerance=0.0, target="event").fit(*reference)
    for p, y in batches:
        monitor.update(p, y)
    return np.maximum.accumulate(monitor.path_)


def calibrated(reference: np.ndarray, batches: Batches) -> np.ndarray:
    """The same of risks that are calibrated on the reference first, against calibration itself."""
    fitted = Platt().fit(*reference)
    monitor = CalibrationMonitor(alpha=ALPHA, target="event")
    for p, y in batches:
        monitor.update(fitted.predict(p), y)
    return np.maximum.accumulate(monitor.path_)


METHODS: dict[str, Callable[..., np.ndarray]] = {
    "calibrated": calibrated,
    "reference": ours,
    "MAPIE": lambda *given: mapie(lambda p, y: ((p > 0.5) != y) * 1.0, *given),
    "its Brier": lambda *given: mapie(lambda p, y: (p - y) ** 2, *given),
}
#: Change -> the log-odds of the outcome after it, from those of the prediction.
CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "none": lambda x: x,
    "risk +0.25 of log-odds": lambda x: x + 0.25,
    "risk +0.5": lambda x: x + 0.5,
    "risk +1": lambda x: x + 1.0,
    "slope 0.7": lambda x: 0.7 * x,
    "slope 0.5": lambda x: 0.5 * x,
    "5 % of labels flipped": lambda x: logit(0.05 + 0.9 * expit(x)),
    "15 % of labels flipped": lambda x: logit(0.15 + 0.7 * expit(x)),
}


def rows(n: int, change: Callable[[np.ndarray], np.ndarray], rng: np.random.Generator):
    """Risks of a model that is 1.2 times too sharp, and outcomes."""
    x = rng.normal(-0.5, 1.5, n)
    return expit(1.2 * x), (rng.random(n) < expit(change(x))).astype(int)


def stream(kind: str, rng: np.random.Generator, before: int = BEFORE) -> tuple[np.ndarray, Batches]:
    """A reference, and batches that change after ``before`` of them."""
    same, changed = CHANGES["none"], CHANGES[kind]
    batches = [rows(ROWS, same if t < before else changed, rng) for t in range(BEFORE + AFTER)]
    return rows(REFERENCE, same, rng), batches


def cut_offs(made: list[tuple[np.ndarray, Batches]]) -> dict[str, float]:
    """The statistic of each method that one in 20 streams without a change exceeds."""
    largest = {name: [of(*one)[-1] for one in made] for name, of in METHODS.items()}
    return {name: float(np.quantile(found, 1.0 - ALPHA)) for name, found in largest.items()}


def _simulated(repeats: int) -> None:
    count = 10 * repeats
    cut = cut_offs([stream("none", np.random.default_rng(seed)) for seed in range(4 * count)])
    print(f"\nmedian batches of {ROWS} rows until the alarm (share detected within {AFTER})")
    line("", list(METHODS))
    delays: dict[str, dict[str, float]] = {}
    early, seen = dict.fromkeys(METHODS, 0), 0
    for kind in CHANGES:
        found = {name: list[float]() for name in METHODS}
        seen += count
        for seed in range(1000, 1000 + count):
            made = stream(kind, np.random.default_rng(seed))
            for name, of in METHODS.items():
                hit = np.flatnonzero(of(*made) > cut[name])
                early[name] += len(hit) > 0 and hit[0] < BEFORE
                late = hit[hit >= BEFORE] if len(hit) and hit[0] >= BEFORE else hit[:0]
                found[name].append(float(late[0] - BEFORE + 1) if len(late) else np.inf)
        delays[kind] = {name: float(np.median(one)) for name, one in found.items()}
        shares = {name: float(np.isfinite(one).mean()) for name, one in found.items()}
        line(kind, [f"{delays[kind][name]:g} ({shares[name]:.0%})" for name in METHODS])
    line(f"false alarms within {BEFORE}", [f"{early[name] / seen:.1%}" for name in METHODS])
    real = [kind for kind in CHANGES if kind != "none"]
    best = [delays[k]["calibrated"] <= delays[k]["MAPIE"] for k in real]
    goal(
        "detected no later than by MAPIE's errors, at equal false alarms",
        f"{sum(best)} of {len(best)} changes",
        all(best),
    )


def _natural(repeats: int) -> None:
    """The electricity market: rows 4,000 to 8,000 are the reference and, drawn again, the streams
    without a change; the rest is one stream of weeks.
    """
    with np.load(STAGE2 / "drift_elec2.npz") as file:
        y, models = (
            file["label"].astype(int),
            {name: file[name].astype(float) for name in ("p_logreg", "p_hgb")},
        )
    print("\ndrift_elec2: week of the alarm of 111, at equal false alarms in drawn weeks")
    line("", list(METHODS))
    for model, p in models.items():
        weeks = [(p[i : i + 336], y[i : i + 336]) for i in range(8_000, len(y) - 335, 336)]
        drawn = []
        for seed in range(10 * repeats):
            rng = np.random.default_rng(seed)
            own = rng.permutation(np.arange(4_000, 8_000))
            held, rest = own[:REFERENCE], own[REFERENCE:]
            places = [rng.choice(rest, 336) for _ in weeks]
            drawn.append(((p[held], y[held]), [(p[at], y[at]) for at in places]))
        cut = cut_offs(drawn)
        reference = p[4_000:8_000:2], y[4_000:8_000:2]
        found = {
            name: np.flatnonzero(of(reference, weeks) > cut[name]) for name, of in METHODS.items()
        }
        line(model, [int(one[0]) + 1 if len(one) else "none" for one in found.values()])


def run(repeats: int) -> None:
    """Print the tables and goals."""
    _simulated(repeats)
    _natural(repeats)
