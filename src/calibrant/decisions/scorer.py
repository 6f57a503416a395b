"""Scores of the rows of a record: calibrated, with each row's own draw, block by block."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from calibrant._kernels.row_draws import row_codes, uniform_of_rows
from calibrant.contracts.calibrator import Calibrator
from calibrant.decisions.set_scores.score import SetScore
from calibrant.errors import InputError
from calibrant.predictions import Predictions

__all__ = ["Scorer"]

#: Entries of the predictions that a calibrator is asked about together.
TOGETHER = 4_000_000


@dataclass(frozen=True)
class Scorer:
    """A score, on the probabilities of a fitted calibrator (None: as they are said); ``seed`` is of the draws, None for none."""

    score: SetScore
    calibrator: Calibrator | None
    seed: int | None

    def blocks(self, record: Predictions) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """(rows, their probabilities, their draws), until all rows were had."""
        if self.calibrator is not None and len(self.calibrator.classes_) != record.n_classes:
            raise InputError(
                f"calibrator was fitted on {len(self.calibrator.classes_)} classes and P has {record.n_classes}; fit it on these columns."
            )
        start = 0
        for block in record.blocks(None if self.calibrator is None else max(1024, TOGETHER // record.n_classes)):
            P = block.probabilities if self.calibrator is None else self.calibrator.predict_record(block)
            # What the model said tells a row from others, whatever is made of it.
            u = np.ones(len(block)) if self.seed is None or not self.score.draws else uniform_of_rows(row_codes(block.values), self.seed)
            yield slice(start, start + len(block)), P, u
            start += len(block)

    def of_labels(self, record: Predictions) -> np.ndarray:
        """(n,) scores of the true classes."""
        labels = record.strata
        return np.concatenate([self.score.of_labels(P, labels[rows], u) for rows, P, u in self.blocks(record)])

    def of_all(self, record: Predictions) -> np.ndarray:
        """(n, K) scores."""
        out = np.empty(record.values.shape)
        for rows, P, u in self.blocks(record):
            out[rows] = self.score.of_all(P, u)
        return out

    def within(self, record: Predictions, limit: np.ndarray) -> np.ndarray:
        """(n, K), the classes whose score is at most the limit, (n, 1), (1, 1) or (1, K)."""
        out = np.empty(record.values.shape, dtype=bool)
        for rows, P, u in self.blocks(record):
            out[rows] = self.score.within(P, u, limit if len(limit) == 1 else limit[rows])
        return out
