"""Warnings for calibration rows that are copies, or seem to be several views of one object."""

import numpy as np

from calibrant._numerics.bootstrap import row_codes
from calibrant._numerics.clusters import repeated_rows
from calibrant.core.predictions import Predictions
from calibrant.errors import CalibrationWarning, warn

__all__ = ["caution_look_alike", "content_of", "copies_in", "neighbours_nearest"]

#: Number of rows to check, evenly spaced, each among this many before and after it of its own
#: class.
MOST_LOOKS, REACH = 400, 50
#: Thresholds of the warning: how much more often than by chance a row's nearest row is its
#: neighbour, in ratio and in standard errors.
TIMES, ERRORS = 3.0, 6.0
#: Share of steps from row to row of a class that go in one direction in rows sorted by a score, as
#: merged rows of a table are; views of one object go up and down.
SORTED = 0.9
#: With at least this many classes, each in one block of at most this many rows, views of one object
#: cannot be ruled out.
MANY_CLASSES, SHORT_BLOCK = 20, 50


def content_of(record: Predictions) -> np.ndarray:
    """Return (n,) numbers that are equal for equal predictions, in full precision."""
    # The order of the columns counts.
    place = np.sqrt(1.0 + np.arange(record.n_classes))
    parts = [row_codes(np.asarray(block.values) * place) for block in record.blocks(4096)]
    return np.concatenate(parts)


def copies_in(record: Predictions) -> np.ndarray:
    """Return (n,) whether each row is a copy of an earlier one: its predictions and its label
    repeat, and more often than those of a score with few values.
    """
    return repeated_rows(content_of(record), record.confidence, record.correct, record.ranks[1])


def neighbours_nearest(record: Predictions) -> tuple[float, float, int]:
    """Return (share of rows whose most similar row of the same class is the one before or after it,
    share by chance, rows checked).

    Similarity is the distance of the probabilities; equal rows, as from repetition, are skipped.
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
        # Only these rows, because the probabilities of a thousand classes for all rows need much
        # memory.
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
    """Warn if consecutive rows of one class are each other's nearest far more often than by chance.

    ``misled`` names the result that assumes independent rows.
    """
    if record.labels is None:
        return
    copies = int(np.count_nonzero(copies_in(record)))
    if copies:
        warn(
            f"{copies:,} of {len(record):,} rows repeat an earlier one, with its outcome: copies"
            f" mislead {misled}; remove them, or pass cluster=, the object of each row.",
            CalibrationWarning,
        )
        return
    blocks, seen = 1 + np.count_nonzero(np.diff(record.labels)), len(np.unique(record.labels))
    if blocks == seen >= MANY_CLASSES and 2 * seen <= len(record) <= SHORT_BLOCK * seen:
        warn(
            f"each of {seen} classes comes in one block of about {len(record) / seen:.0f} rows: if"
            f" a block shows one object, its rows are dependent and mislead {misled}; pass"
            " cluster=, the object of each row.",
            CalibrationWarning,
        )
        return
    found, chance, looks = neighbours_nearest(record)
    if (
        looks
        and not _is_sorted(record)
        and found > TIMES * chance
        and (found - chance) * looks > ERRORS * (max(chance, 1.0 / looks) * looks) ** 0.5
    ):
        warn(
            f"{100.0 * found:.0f} % of the rows are most like the next row of their class"
            f" ({100.0 * chance:.0f} % by chance): several views of one object mislead {misled};"
            " pass cluster=, the object of each row.",
            CalibrationWarning,
        )


def _is_sorted(record: Predictions) -> bool:
    """Whether rows of a class are in the order of a score, so that neighbours are alike for that
    reason alone.
    """
    labels = np.asarray(record.labels)
    order = np.argsort(labels, kind="stable")
    same = np.diff(labels[order]) == 0
    for score in (record.confidence, record.values[:, -1]):
        steps = np.diff(np.asarray(score)[order])[same]
        up, down = np.count_nonzero(steps > 0.0), np.count_nonzero(steps < 0.0)
        if max(up, down) > SORTED * (up + down):
            return True
    return False
