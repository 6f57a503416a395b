"""Out-of-fold predictions of an automatic choice for the rows of its own fit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from calibrant._numerics.logistic import softmax
from calibrant.calibrators.candidates import ONE_CLASS, Candidate
from calibrant.calibrators.evidence_pool import evidence_pool
from calibrant.calibrators.held_out import FLOOR, WHOLE_ENTRIES, HeldOut, Pieces
from calibrant.calibrators.trials import Trial, fitted, tried
from calibrant.core.folds import folds_of
from calibrant.core.given import Workspace
from calibrant.core.predictions import Predictions

__all__ = ["PAIRWISE_ROWS", "Choice", "FoldFits"]

#: From this number of rows on, fits without two folds are extrapolated from those without one.
PAIRWISE_ROWS = 2_000
#: Before the halves, candidates are left out whose total loss exceeds the least by more nats. Their
#: weight would be below the least of a member. Among 2,000 rows this bias would count.
NATS = 10.0
#: Weights of the candidates, and the candidates fitted.
Choice = tuple[np.ndarray, list[Any]]


@dataclass(frozen=True)
class FoldFits:
    """Fit of an automatic choice in its folds.

    Attributes
    ----------
    pieces : Pieces
    trials : the candidates that succeeded; the first is no calibration
    held_out : HeldOut of these, with the number of each piece's fold
    objective, random_state : of the choice
    """

    pieces: Pieces
    trials: Sequence[Trial]
    held_out: HeldOut
    objective: str
    random_state: int

    @property
    def kind(self) -> str:
        """Origin of a choice without a fold: "pairs", "extrapolated", or "halves" if not all rows
        are held out.
        """
        if len(self.held_out.members) <= self.held_out.folds.max():
            return "halves"
        return "pairs" if len(self.pieces.row) < PAIRWISE_ROWS else "extrapolated"

    def predictions(self, record: Predictions) -> tuple[np.ndarray, np.ndarray, str] | None:
        """Return out-of-fold probabilities (n, K) of the rows of the fit, their folds (n,), and the
        kind of choice; None with too few folds, or if rows with weights were split.
        """
        split = len(self.pieces.row) > len(self.pieces.record) and record.weight is not None
        if split or self.held_out.folds.max() < (3 if self.kind == "halves" else 2):
            return None
        folds, choices = self.choices(self.kind)
        parts, rows = (
            [],
            [np.flatnonzero(folds[self.pieces.given] == k) for k in range(len(choices))],
        )
        for own, (weights, members) in zip(rows, choices, strict=True):
            held = record.take(own)
            parts.append(
                sum(weights[j] * members[j].predict_record(held) for j in np.flatnonzero(weights))
            )
        return record.gathered(parts, rows), folds[self.pieces.given], self.kind

    def choices(self, kind: str) -> tuple[np.ndarray, list[Choice]]:
        """Return the fold of each piece (m,), and for each fold a choice without its labels.

        Its weights come from losses of other folds, under fits without these and without the fold.
        A fit that has seen the fold would favour the candidates that happen to suit it.
        """
        return {"pairs": self._pairs, "extrapolated": self._extrapolated, "halves": self._halves}[
            kind
        ]()

    def _weights(self, losses: HeldOut, candidates: Sequence[Candidate]) -> np.ndarray:
        n, grouped = float(losses.weight.sum()), [one.uses_groups for one in candidates]
        return evidence_pool(losses, grouped, n, self.random_state).shares

    def _losses(self, n_candidates: int) -> list[HeldOut]:
        """Return for each fold a summary without losses yet, in which the fold has no weight."""
        n_folds, out = len(self.held_out.members), []
        for k in range(n_folds):
            one = HeldOut(self.pieces, n_candidates, self.objective, WHOLE_ENTRIES // n_folds)
            one.weight = np.where(self.held_out.folds == k, 0.0, one.weight)
            out.append(one)
        return out

    def _pairs(self) -> tuple[np.ndarray, list[Choice]]:
        """Fit the candidates without each pair of folds and without each fold.

        These fits start anew. A start at the fit of all rows, with its penalty, has seen the fold.
        """
        folds, losses = self.held_out.folds, self._losses(len(self.trials))
        candidates, members = [one.candidate for one in self.trials], list[list[Any]]()
        for i, j in combinations_with_replacement(range(len(losses)), 2):
            out = (folds == i) | (folds == j)
            fit, held, place = self.pieces.split(out)
            made, _ = fitted(candidates, replace(fit, workspace=Workspace.of_choice()))
            named = {one.candidate.name: one.member for one in made}
            ready = [named.get(one.name, made[0].member) for one in candidates]
            if i == j:
                members.append(ready)
                continue
            predictions = [one.predict_record(held) for one in ready]
            for scored, unseen in ((i, j), (j, i)):
                losses[unseen].add(folds == scored, place[folds[out] == scored], predictions)
        each = zip(losses, members, strict=True)
        return folds, [self._of_classes(candidates, *one) for one in each]

    def _of_classes(
        self, candidates: list[Candidate], losses: HeldOut, members: list[Any]
    ) -> Choice:
        """Return the choice from these losses; if their rows have one class, by its candidates."""
        kept = list(range(len(candidates)))
        if len(np.unique(losses.labels[losses.weight > 0.0])) == 1:
            kept = [j for j in kept if j == 0 or candidates[j].name in ONE_CLASS]
        weights = self._weights(losses.only(kept), [candidates[j] for j in kept])
        return weights, [members[j] for j in kept]

    def _extrapolated(self) -> tuple[np.ndarray, list[Choice]]:
        r"""Extrapolate the log-probabilities without two of K folds from those without one.

        .. math:: f_{-ij} = \frac{(K - 1) (f_{-i} + f_{-j}) - \sum_l f_{-l}}{K - 2} + c

        This is exact where every fold adds its own share to f, as in a Newton step.
        """
        folds = self.held_out.folds
        fits = self.held_out.members
        losses, n = self._losses(len(fits[0])), len(fits)
        for i in range(n):
            held, place = self.pieces.inside(folds == i)
            logs = [
                [np.log(np.maximum(one.predict_record(held), FLOOR)) for one in made]
                for made in fits
            ]
            starts = [(n - 1) * each[i] - sum(each) for each in zip(*logs, strict=True)]
            for j in {*range(n)} - {i}:
                both = zip(starts, logs[j], strict=True)
                predictions = (softmax((a + (n - 1) * b) / (n - 2)) for a, b in both)
                losses[j].add(folds == i, place, predictions)
        candidates = [one.candidate for one in self.trials]
        return folds, [
            (self._weights(one, candidates), made) for one, made in zip(losses, fits, strict=True)
        ]

    def _halves(self) -> tuple[np.ndarray, list[Choice]]:
        """Choose on each half of the rows for the other. About as many rows are held out as in the
        fit, and at most four times as many are fitted.
        """
        pieces, contenders = self.pieces, self._contenders()
        n_parts = 2 * max(5, len(pieces.row) // (2 * len(self.held_out.weight)))
        part, half = np.divmod(
            folds_of(pieces.labels, pieces.cluster, n_parts, self.random_state), 2
        )
        candidates, out = [self.trials[j].candidate for j in contenders], list[Choice]()
        for k in (0, 1):
            read = np.where((half == k) & (part < 5), np.minimum(part, 1), -1)
            trials, losses, _ = tried(candidates, pieces, read, self.objective, str, 1)
            weights = self._weights(losses, [one.candidate for one in trials])
            out.append((weights, [one.member for one in trials]))
        return 1 - half, out

    def _contenders(self) -> list[int]:
        """Return the candidates that may get a weight, and no calibration."""
        held = self.held_out
        sums = np.array([held.losses(one) @ held.weight for one in np.eye(len(held.own))])
        return [0, *(1 + np.flatnonzero(sums[1:] <= sums.min() + NATS)).tolist()]
