"""Comparisons and verdicts where the truth is known: G4 and G5, and clusters of unequal size:
G9.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from benchmarks.hard.draws import Draw, Line, holds, mild, mixed, share, sharp, sigmoid
from benchmarks.journeys.product import ADVICE

import calibrant as cb

__all__ = ["clusters", "paired", "verdicts"]

#: World -> (log-odds of the true risks, those of a model that is worse, sizes).
WORSE: dict[str, tuple[Draw, Callable[[np.ndarray], np.ndarray], tuple[int, ...]]] = {
    "sharp, 1.5 x sharper": (sharp, lambda z: 1.5 * z, (50, 100, 200, 1_000)),
    "few rows overstated": (mild, lambda z: np.where(z > 2.5, z + 4.0, z), (500, 1_000, 3_000)),
    "sharp on one side": (lambda rng, n: rng.normal(4.0, 1.0, n), lambda z: 1.5 * z, (100,)),
    "rare, 1.5 x sharper": (lambda rng, n: rng.normal(-5.0, 1.0, n), lambda z: 1.5 * z, (200,)),
    "rarest understated": (
        lambda rng, n: rng.normal(-4.0, 1.5, n),
        lambda z: np.where(z < -6.0, z - 3.0, z),
        (500,),
    ),
    "one in twenty sure": (mixed, lambda z: np.where(np.abs(z) > 5.0, 2.0 * z, z), (300,)),
    "timid": (mild, lambda z: 0.6 * z, (200,)),
    "1.5 x bolder": (mild, lambda z: 1.5 * z, (100, 500)),
}


def paired(repeats: int) -> Iterator[Line]:
    """True risks beside a model that is truly worse."""
    for name, (draw, other, sizes) in WORSE.items():
        for n in sizes:
            found = [_compared(draw, other, n, seed) for seed in range(repeats)]
            yield f"{name}, n = {n}: called better", found.count("better") / repeats, "at most .025"
            yield f"{name}, n = {n}: called worse", found.count("worse") / repeats, "much"


def _compared(draw: Draw, other: Callable[[np.ndarray], np.ndarray], n: int, seed: int) -> str:
    rng = np.random.default_rng(seed)
    z = draw(rng, n)
    y = (rng.random(n) < sigmoid(z)).astype(int)
    pair = {"true": sigmoid(z), "other": sigmoid(other(z))}
    return cb.metrics.compare(y, pair, metrics=[cb.metrics.log_loss]).rows[0].meaning


#: Calibrator -> sizes at which it is advised on or against for true, sharp risks.
ADVISED: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "TemperatureScaling": (lambda: cb.TemperatureScaling(), (50, 100, 200)),
    "OneVsRest(Beta)": (lambda: cb.OneVsRest(cb.calibrators.Beta()), (250,)),
    "the automatic choice": (lambda: cb.AutoCalibrator(), (100,)),
}


def verdicts(repeats: int) -> Iterator[Line]:
    """What a report advises on true risks that are sharp, and where it sees nothing in risks
    that are off.
    """
    times = max(repeats // 2, 1)
    for name, (make, sizes) in ADVISED.items():
        for n in sizes:
            advised = share(lambda seed, m=make, n=n: _advised(m(), n, seed), times)
            yield f"{name} on true sharp risks, n = {n}: use it", advised, "at most .025"
    for n in (50, 250):
        found = [_comfort(n, seed) for seed in range(times)]
        said = f"5 % of rows say .97, truly .55, n = {n}"
        yield f"{said}: called fine", float(np.mean([one[0] for one in found])), "little"
        yield (
            f"{said}: so, and no word of what rows can show",
            float(np.mean([one[1] for one in found])),
            "0",
        )


def _verdict(y: np.ndarray, p: np.ndarray, calibrator: Any) -> dict[str, Any]:
    return cb.report(y, p, calibrator=calibrator, n_resamples=20).to_dict()["verdict"]


def _advised(calibrator: Any, n: int, seed: int) -> bool:
    rng = np.random.default_rng(seed)
    p = sigmoid(sharp(rng, n))
    found = _verdict((rng.random(n) < p).astype(int), p, calibrator)
    return ADVICE.get(found.get("state") or found["calibration"]) == "use it"


def _comfort(n: int, seed: int) -> tuple[bool, bool]:
    rng = np.random.default_rng(seed)
    top = rng.random(n) < 0.05
    p = np.where(top, 0.97, rng.uniform(0.02, 0.9, n))
    found = _verdict(
        (rng.random(n) < np.where(top, 0.55, p)).astype(int), p, cb.calibrators.Identity()
    )
    state = found.get("state")
    fine = (
        state in ("use as they are", "fine as it is") if state else found["model"] == "calibrated"
    )
    return fine, fine and "could" not in found.get("detail", found["sentence"])


def clusters(repeats: int) -> Iterator[Line]:
    """One cluster with a large part of the rows among small ones, and models that are as good."""
    for count, part in ((10, 0.45), (25, 0.31), (60, 0.25)):
        rows = max(300, 12 * count)
        sizes = np.full(count, rows * (1.0 - part) / (count - 1))
        sizes[0] = rows * part
        cluster = np.repeat(np.arange(count), np.round(sizes).astype(int))
        where = f"{count} clusters, the largest {100 * part:.0f} %"
        yield (
            f"{where}: equals told apart",
            share(lambda seed, c=cluster: _told_apart(c, seed), repeats),
            "at most .05",
        )
        for key, truth in (("observed_expected_ratio", 1.0), ("calibration_bias", 0.0)):
            metric = getattr(cb.metrics, key)
            held = share(
                lambda seed, c=cluster, m=metric, t=truth: holds(m, t, _clustered(c, seed)), repeats
            )
            yield f"{where}, {key}: interval holds", held, ".95"
        benefit = replace(cb.metrics.net_benefit, threshold=0.3)
        p = _clustered(np.arange(1_000_000), 0)["p"]
        truth = float(np.where(p >= 0.3, p - (1.0 - p) * 3.0 / 7.0, 0.0).mean())
        held = share(
            lambda seed, c=cluster, m=benefit, t=truth: holds(m, t, _clustered(c, seed)), repeats
        )
        yield f"{where}, net_benefit: interval holds", held, ".95"
    for key, truth in (("observed_expected_ratio", 1.0), ("calibration_bias", 0.0)):
        metric = getattr(cb.metrics, key)
        held = share(lambda seed, m=metric, t=truth: holds(m, t, _crossed(seed)), repeats)
        yield f"20 raters x 25 items, {key}: interval holds", held, ".95"


def _clustered(cluster: np.ndarray, seed: int) -> dict[str, Any]:
    """Risks that are right on average over clusters, each of which has an effect of its own."""
    rng = np.random.default_rng(seed)
    z, shared = rng.normal(0.0, 1.0, len(cluster)), rng.normal(0.0, 1.0, cluster.max() + 1)
    nodes, mass = np.polynomial.hermite_e.hermegauss(21)
    p = sigmoid(z[:, None] + nodes) @ (mass / mass.sum())
    y = (rng.random(len(cluster)) < sigmoid(z + shared[cluster])).astype(int)
    return {"y": y, "p": p, "cluster": cluster}


def _crossed(seed: int) -> dict[str, Any]:
    """Risks that are right on average over raters and items, both with effects and unequal
    numbers.
    """
    rng = np.random.default_rng(seed)
    sizes = [rng.dirichlet(np.full(count, 1.5)) for count in (20, 25)]
    ways = np.column_stack([rng.choice(len(size), 600, p=size) for size in sizes])
    z, shared = rng.normal(0.0, 1.0, 600), [rng.normal(0.0, 0.7, len(size)) for size in sizes]
    nodes, mass = np.polynomial.hermite_e.hermegauss(21)
    p = sigmoid(z[:, None] + 0.7 * np.sqrt(2.0) * nodes) @ (mass / mass.sum())
    risk = sigmoid(z + shared[0][ways[:, 0]] + shared[1][ways[:, 1]])
    return {"y": (rng.random(600) < risk).astype(int), "p": p, "cluster": ways}


def _told_apart(cluster: np.ndarray, seed: int) -> bool:
    given = _clustered(cluster, seed)
    z = np.log(given["p"] / (1.0 - given["p"]))
    pair = {"high": sigmoid(z + 0.5), "low": sigmoid(z - 0.5)}
    found = cb.metrics.compare(given["y"], pair, metrics=[cb.metrics.log_loss], cluster=cluster)
    return found.rows[0].p_value < 0.05
