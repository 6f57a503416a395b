"""Labels that come in batches of 100: the regret of ``OnlineCalibrator`` with and without ``delay``
on relations that alternate by batch, against a greedy adversary, and where nothing changes.

The regret is the total log loss above that of the best member, each predicting with the same
delay: the start, or one half-life.
"""

from collections.abc import Callable

import numpy as np
from benchmarks.questions.table import goal, line

from calibrant._numerics.online import Line
from calibrant.monitoring import OnlineCalibrator

__all__ = ["run"]

#: Rows of a batch, batches of a run.
ROWS, BATCHES = 100, 40
HALF_LIVES = (np.inf, 400.0, 80.0)
Labels = Callable[[int, np.ndarray, np.ndarray, np.random.Generator], np.ndarray]


def _alternating(k: int, p: np.ndarray, _: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.random(len(p)) < (p if k % 2 == 0 else 1.0 - p)


def _greedy(k: int, p: np.ndarray, each: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The labels of a batch, of a few ways to choose them, that cost the mixture most."""
    mixed, q = each[0], each[1:]
    choices = [rng.random(len(p)) < one for one in (p, 1.0 - p)]
    choices += [mixed < 0.5, *(one < 0.5 for one in q)]
    losses = [_loss(mixed, y) - min(_loss(one, y) for one in q) for y in choices]
    return choices[int(np.argmax(losses))]


def _stationary(k: int, p: np.ndarray, _: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.random(len(p)) < 1.0 / (1.0 + ((1.0 - p) / p) ** 0.7)


LAWS: dict[str, Labels] = {
    "alternating": _alternating,
    "greedy adversary": _greedy,
    "stationary": _stationary,
}


def _loss(q: np.ndarray, y: np.ndarray) -> float:
    return float(-np.log(np.where(y, q, 1.0 - q)).sum())


def _regret(law: Labels, seed: int, delay: int) -> tuple[float, float, float]:
    """(loss above that of the best member, its loss, most by the guarantee)."""
    rng = np.random.default_rng(seed)
    given = {"half_lives": HALF_LIVES, **({"delay": delay} if delay else {})}
    learner = OnlineCalibrator(**given).fit([0.5, 0.5], [0, 1])
    total, members = 0.0, np.zeros(len(HALF_LIVES) + 1)
    for k in range(BATCHES):
        p = 1.0 / (1.0 + np.exp(-rng.normal(0.0, 1.5, ROWS)))
        now = learner._now()[0]
        rows = Line(learner._features(learner._rows(p, None)), np.empty((0, 0)))
        each = rows.forecast(now["theta"][:, :, None])[:, 0]
        q = learner.predict_proba(p)[:, 1]
        y = law(k, p, np.vstack([q, each]), rng)
        total += _loss(q, y)
        members += [_loss(one, y) for one in each]
        learner.partial_fit(p, y.astype(int))
    bound = learner.guarantee()
    return total - members.min(), float(members.min()), bound.most * bound.n


def run(repeats: int) -> None:
    """Print the regret with and without the delay, and the bound."""
    line("nats above the best member", ("before", "largest", "now", "largest", "bound", "its loss"))
    for name, law in LAWS.items():
        old = np.array([_regret(law, seed, 0)[0] for seed in range(repeats)])
        new = np.array([_regret(law, seed, ROWS - 1) for seed in range(repeats)])
        now, bound = new[:, 0], float(new[0, 2])
        cells = [old.mean(), old.max(), now.mean(), now.max(), bound, new[:, 1].mean()]
        line(name, [float(one) for one in cells])
        largest = float(now.max())
        goal(
            f"below the bound ({repeats} draws)", f"{largest:.0f} of {bound:.0f}", largest <= bound
        )
