"""Worlds whose truth is known: what a model said, what happened, and how likely it truly was."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

__all__ = ["FRESH", "WORLDS", "Rows", "World", "logistic", "logit", "told"]

#: So many new rows stand for "all rows to come" where an expected value is taken.
FRESH = 20_000
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(31)
LEVELS = np.array(["a", "b", "c", "d"])


@dataclass(frozen=True)
class Rows:
    """Rows of a world.

    Attributes
    ----------
    said : (n,) risks, (n, K) class probabilities, or (n, 2) means and standard deviations
    outcome : (n,) labels, or numbers
    truth : as ``said``: the law that the outcomes were drawn from, row by row
    honest : as ``said``: the law of the outcome given only what was said
    groups, clusters, weights, batches : (n,) or None
    """

    said: np.ndarray
    outcome: np.ndarray
    truth: np.ndarray
    honest: np.ndarray
    groups: np.ndarray | None = None
    clusters: np.ndarray | None = None
    weights: np.ndarray | None = None
    batches: np.ndarray | None = None


@dataclass(frozen=True)
class World:
    """A declared law: ``draw(n, seed)`` makes rows of it; ``n`` are the rows that a person has."""

    name: str
    kind: str
    n: int
    draw: Callable[[int, int], Rows]
    #: Whether the model's probabilities are true of all rows with the same prediction.
    calibrated: bool = False
    #: Whether the data should be looked at before anything is calibrated.
    suspect: bool = False
    #: Whether the true risk differs between the groups by more than what was said.
    groups_differ: bool = False
    #: The share of rows to come that are of a group which the person's rows lack.
    unseen: float = 0.0

    def rows(self, seed: int) -> Rows:
        """The rows that the person has, of the repeat ``seed``."""
        return self.draw(self.n, seed)

    def fresh(self, seed: int) -> Rows:
        """Rows to come, on which expected values are taken."""
        rows = self.draw(FRESH, seed + 1_000_003)
        if not self.unseen:
            return rows
        new = np.random.default_rng(seed).random(FRESH) < self.unseen
        return replace(rows, groups=np.where(new, "unseen", rows.groups))


def logistic(z: np.ndarray) -> np.ndarray:
    """The probability of a log-odds."""
    return 1.0 / (1.0 + np.exp(-z))


def logit(p: np.ndarray) -> np.ndarray:
    """The log-odds of a probability, finite at 0 and 1."""
    p = np.clip(p, 1e-12, 1.0 - 1e-12)
    return np.log(p) - np.log1p(-p)


def told(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Outcomes of risks, or labels of class probabilities."""
    if p.ndim == 1:
        return (rng.random(len(p)) < p).astype(int)
    return np.minimum((rng.random((len(p), 1)) > p.cumsum(axis=1)).sum(axis=1), p.shape[1] - 1)


def _event(
    centre: float,
    spread: float,
    true: Callable[[np.ndarray], np.ndarray],
    shares: tuple[float, ...] = (0.4, 0.3, 0.2, 0.1),
    shifts: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0),
) -> Callable[[int, int], Rows]:
    """Log-odds of N(centre, spread); ``true`` maps them to the true ones, which groups shift."""

    def draw(n: int, seed: int) -> Rows:
        rng = np.random.default_rng([seed, 1])
        z = rng.normal(centre, spread, n)
        code = rng.choice(len(shares), n, p=shares)
        truth = logistic(true(z) + np.asarray(shifts)[code])
        honest = sum(w * logistic(true(z) + s) for w, s in zip(shares, shifts, strict=True))
        return Rows(logistic(z), told(truth, rng), truth, np.asarray(honest), LEVELS[code])

    return draw


def _sharp(n: int, seed: int) -> Rows:
    rng = np.random.default_rng([seed, 2])
    p = logistic(rng.choice([-1.0, 1.0], n) * rng.normal(5.0, 1.5, n))
    return Rows(p, told(p, rng), p, p)


def _bent(n: int, seed: int) -> Rows:
    """The surest 5 % of rows are said to be at .97 and are at .55."""
    rng = np.random.default_rng([seed, 3])
    p = rng.uniform(0.02, 0.9, n)
    top = rng.random(n) < 0.05
    said, truth = np.where(top, 0.97, p), np.where(top, 0.55, p)
    return Rows(said, told(truth, rng), truth, truth)


def _clustered(n: int, seed: int) -> Rows:
    """Forty clusters, the largest with 30 % of the rows, each with a log-odds of its own."""
    rng = np.random.default_rng([seed, 4])
    m = 40 if n < FRESH else n // 5  # rows to come are of many new clusters
    size = np.full(m, 1.0 / m)
    if m == 40:
        size[:] = 0.7 / 39
        size[0] = 0.3
    cluster = rng.choice(m, n, p=size)
    effect, z = rng.normal(0.0, 0.7, m), rng.normal(0.0, 1.3, n)
    truth = logistic(z + effect[cluster])
    mixed = logistic(z[:, None] + 0.7 * NODES) @ (NODE_WEIGHTS / NODE_WEIGHTS.sum())
    return Rows(mixed, told(truth, rng), truth, mixed, clusters=cluster)


def _weighted(n: int, seed: int) -> Rows:
    """A calibrated model whose rows were drawn with very unequal chances."""
    rng = np.random.default_rng([seed, 5])
    p = logistic(rng.normal(0.0, 1.3, n))
    weights = np.exp(rng.normal(0.0, 1.0, n))
    groups = rng.choice(LEVELS, n)
    return Rows(p, told(p, rng), p, p, groups, weights=weights / weights.mean())


def _drifting(n: int, seed: int) -> Rows:
    """From the middle of the batches on the log-odds said are 1 too high."""
    rng = np.random.default_rng([seed, 6])
    z, batch = rng.normal(0.0, 1.2, n), np.arange(n) * 40 // n
    truth = logistic(np.where(batch < 20, z, z - 1.0))
    honest = (logistic(z) + logistic(z - 1.0)) / 2.0
    return Rows(logistic(z), told(truth, rng), truth, honest, batches=batch)


def _classes(n: int, seed: int) -> Rows:
    rng = np.random.default_rng([seed, 7])
    z = rng.normal(0.0, 1.5, (n, 12))
    said, truth = (np.exp(t * z) / np.exp(t * z).sum(axis=1, keepdims=True) for t in (1.6, 1.0))
    return Rows(said, told(truth, rng), truth, truth)


def _votes(n: int, seed: int) -> Rows:
    """Shares of 100 votes among ten classes; given them the law is Dirichlet's."""
    rng = np.random.default_rng([seed, 8])
    prior = np.full(10, 0.3)
    said = rng.multinomial(100, rng.dirichlet(prior, n)) / 100.0
    truth = (100.0 * said + prior) / (100.0 + prior.sum())
    return Rows(said, told(truth, rng), truth, truth)


def _forecasts(df: float) -> Callable[[int, int], Rows]:
    """Normal forecasts whose errors are of Student's t; their law is (mean, scale, df)."""

    def draw(n: int, seed: int) -> Rows:
        rng = np.random.default_rng([seed, 9])
        mean, scale = rng.normal(0.0, 3.0, n), rng.uniform(0.5, 2.0, n)
        law = np.column_stack([mean, scale, np.full(n, df)])
        return Rows(law[:, :2], mean + scale * rng.standard_t(df, n), law, law)

    return draw


WORLDS = (
    World("ordinary", "event", 600, _event(0.0, 1.8, lambda z: z / 1.5)),
    World("rare", "event", 2_000, _event(-3.8, 1.0, lambda z: z - 0.7)),
    World("sharp", "event", 100, _sharp, calibrated=True),
    World("timid", "event", 600, _event(0.0, 0.7, lambda z: 2.0 * z)),
    World("bent", "event", 400, _bent),
    World("calibrated", "event", 600, _event(0.0, 1.3, lambda z: z), calibrated=True),
    World("reversed", "event", 400, _event(0.0, 1.3, lambda z: -z), suspect=True),
    World("few events", "event", 300, _event(-3.2, 1.0, lambda z: z - 1.0)),
    World(
        "groups that differ",
        "event",
        2_000,
        _event(0.0, 1.2, lambda z: z, shifts=(-0.6, 0.3, 0.9, -1.2)),
        groups_differ=True,
    ),
    World("groups that do not", "event", 2_000, _event(0.0, 1.2, lambda z: z - 1.5)),
    World(
        "unseen group",
        "event",
        3_000,
        _event(0.0, 1.0, lambda z: z - 2.2, shares=(0.5, 0.3, 0.19, 0.01)),
        unseen=0.2,
    ),
    World("clustered", "event", 800, _clustered, calibrated=True),
    World("weighted by design", "event", 860, _weighted, calibrated=True),
    World("drifting", "event", 4_000, _drifting),
    World("many classes", "classes", 800, _classes),
    World("votes", "classes", 500, _votes),
    World("heavy-tailed forecasts", "forecasts", 400, _forecasts(3.0)),
    World("normal forecasts", "forecasts", 400, _forecasts(1e6), calibrated=True),
)
