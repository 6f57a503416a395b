"""A caution where calibration rows seem to be several looks at one thing."""

import numpy as np

from calibrant.errors import CalibrationWarning, warn
from calibrant.predictions import Predictions

__all__ = ["caution_look_alike", "neighbours_nearest"]

#: Rows looked at, evenly spaced, each among so many that come before and after it of its own class.
MOST_LOOKS, REACH = 400, 50
#: Cautioned of where a row's next of kin is its neighbour so much more often than by chance, in
#: ratio and in standard errors.
TIMES, ERRORS = 3.0, 6.0
#: So many classes and more, each in one block of so few rows and fewer: nothing tells the blocks'
#: rows from looks at one thing.
MANY_CLASSES, SHORT_BLOCK = 20, 50


def neighbours_nearest(record: Predictions) -> tuple[float, float, int]:
    """(share of rows whose most alike row of the same class is the one before or after it, share by
    chance, rows looked at).

    Alike is by the distance of the probabilities; equal rows, which repetition makes, are passed
    over.
    """
    labels = np.asarray(record.labels)
    order = np.argsort(labels, kind="stable")
    starts, ends = (np.searchsorted(labels[order], labels, side=side) for side in ("left", "right"))
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    found = chance = 0.0
    looks = 0
    for i in range(0, len(order), max(1, len(order) // MOST_LOOKS)):
        near = np.arange(max(starts[i], place[i] - REACH), min(ends[i], place[i] + REACH + 1))
        near = near[near != place[i]]
        # Of these rows only: all rows' probabilities of a thousand classes are much to hold for a
        # glance.
        P = record.take(np.append(order[near], i)).probabilities
        far = np.square(P[:-1] - P[-1]).sum(axis=1)
        near, far = near[far > 0.0], far[far > 0.0]
        if len(near) < 4:
            continue
        beside = np.abs(order[near] - i) == 1
        found += beside[far.argmin()]
        chance += beside.mean()
        looks += 1
    return found / max(looks, 1), chance / max(looks, 1), looks


def caution_look_alike(record: Predictions, misled: str = "the choice") -> None:
    """Warn where rows that follow each other, of one class, are each other's most alike far more
    often than by chance.

    ``misled`` names what takes the rows for independent.
    """
    if record.labels is None:
        return
    blocks, seen = 1 + np.count_nonzero(np.diff(record.labels)), len(np.unique(record.labels))
    if blocks == seen >= MANY_CLASSES and 2 * seen <= len(record) <= SHORT_BLOCK * seen:
        warn(
            f"each of {seen} classes comes in one block of about {len(record) / seen:.0f} rows: if"
            f" a block is of one thing, its rows mislead {misled}; pass cluster=, the thing that"
            " each row is of.",
            CalibrationWarning,
        )
        return
    found, chance, looks = neighbours_nearest(record)
    if (
        looks
        and found > TIMES * chance
        and (found - chance) * looks > ERRORS * (max(chance, 1.0 / looks) * looks) ** 0.5
    ):
        warn(
            f"{100.0 * found:.0f} % of the rows are most like the next row of their class"
            f" ({100.0 * chance:.0f} % by chance): rows that are looks at one thing mislead"
            f" {misled}; pass cluster=, the thing that each row is of.",
            CalibrationWarning,
        )
