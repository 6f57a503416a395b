"""What the defaults gain on halves of real sets: fitted on one half, judged on the other, and the
other way round.

``python -m benchmarks.groups --only halves`` prints for each set and model the log loss of the
model, of the automatic choice without groups and of ``GroupCalibrator()``, and the gain of the last
over the second with its paired standard error over the rows. Seeds are odd: the defaults were
chosen on even ones. Then the same for rows of a level that was left out of the fit: of each column,
its second commonest level.
"""

from collections.abc import Callable, Iterator

import numpy as np
from benchmarks.groups.repair import SETS, losses_of, read_set

import calibrant as cb

__all__ = ["gain_of", "halves", "unseen"]

#: Name -> fit on (risks, outcomes, groups); gives a function of (risks, groups).
Fit = Callable[[np.ndarray, np.ndarray, np.ndarray], Callable[[np.ndarray, np.ndarray], np.ndarray]]


def _raw(
    p: np.ndarray, y: np.ndarray, groups: np.ndarray
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    return lambda new, of: new


def _without(
    p: np.ndarray, y: np.ndarray, groups: np.ndarray
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    cal = cb.AutoCalibrator().fit(p, y)
    return lambda new, of: cal.predict_proba(new)[:, 1]


def _by_group(
    p: np.ndarray, y: np.ndarray, groups: np.ndarray
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    cal = cb.GroupCalibrator().fit(p, y, groups=groups.astype(object))
    return lambda new, of: cal.predict_proba(new, groups=of.astype(object))[:, 1]


COMPARED: dict[str, Fit] = {"raw": _raw, "automatic": _without, "by group": _by_group}


def gain_of(before: np.ndarray, after: np.ndarray) -> tuple[float, float]:
    """The mean of before - after, (n,) losses of the same rows, and its paired standard error."""
    gap = before - after
    return float(gap.mean()), float(gap.std(ddof=1) / len(gap) ** 0.5)


def _parts(n: int, seeds: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(rows to fit, rows to judge): both halves of each split."""
    for seed in range(1, 2 * seeds, 2):
        order = np.random.default_rng(seed).permutation(n)
        a, b = order[: n // 2], order[n // 2 :]
        yield a, b
        yield b, a


def _said(name: str, losses: dict[str, np.ndarray]) -> float:
    """Print a line of a set; the gain over the automatic choice."""
    gain, error = gain_of(losses["automatic"], losses["by group"])
    verdict = "better" if gain > error else "worse" if gain < -error else "equal"
    means = "  ".join(f"{one} {values.mean():.4f}" for one, values in losses.items())
    print(
        f"{name:27s} {len(losses['raw']):6,d} rows  {means}  gain {gain:+.5f} (s.e. {error:.5f})"
        f" {verdict}",
        flush=True,
    )
    return gain


def halves(folder: str, seeds: int) -> None:
    """Print the losses on halves, each row's being the mean over the seeds, then those of levels
    left out.
    """
    gains = []
    for name, said, label, columns in SETS:
        p, y, groups = read_set(folder, name, said, label, columns)
        losses = {one: np.zeros(len(y)) for one in COMPARED}
        for fit, judged in _parts(len(y), seeds):
            for one, method in COMPARED.items():
                q = method(p[fit], y[fit], groups[fit])(p[judged], groups[judged])
                losses[one][judged] += losses_of(q, y[judged]) / seeds
        gains.append(_said(f"{name} {said}", losses))
    print(f"mean gain over the automatic choice without groups: {np.mean(gains):+.5f}")
    print("\nrows of a level that was left out of the fit:")
    for one in SETS:
        unseen(folder, one, seeds)


def unseen(folder: str, one: tuple[str, str, str, tuple[str, ...]], seeds: int) -> None:
    """Print the losses of rows whose level the fit had not seen, of all columns together."""
    name, said, label, columns = one
    p, y, groups = read_set(folder, name, said, label, columns)
    losses = {method: list[np.ndarray]() for method in COMPARED}
    for j in range(len(columns)):
        levels, counts = np.unique(groups[:, j], return_counts=True)
        left_out = groups[:, j] == levels[np.argsort(counts)[-2]]
        found = {method: np.zeros(int(left_out.sum())) for method in COMPARED}
        place = np.cumsum(left_out) - 1
        for half, other in _parts(len(y), seeds):
            fit, judged = half[~left_out[half]], other[left_out[other]]
            for method, made in COMPARED.items():
                q = made(p[fit], y[fit], groups[fit])(p[judged], groups[judged])
                found[method][place[judged]] += losses_of(q, y[judged]) / seeds
        for method, values in found.items():
            losses[method].append(values)
    _said(f"{name} {said}", {method: np.concatenate(values) for method, values in losses.items()})
