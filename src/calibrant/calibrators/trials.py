"""Candidates fitted on one record, and tried by folds."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibrant.calibrators.candidates import Candidate
from calibrant.calibrators.held_out import HeldOut, Pieces
from calibrant.core.calibrator import Calibrator
from calibrant.core.folds import fit_clone
from calibrant.core.predictions import Predictions
from calibrant.errors import CalibrationWarning, InputError

__all__ = ["Trial", "fitted", "tried"]


@dataclass(frozen=True)
class Trial:
    """Fitted candidate."""

    candidate: Candidate
    member: Calibrator


def fitted(
    candidates: Sequence[Candidate], record: Predictions
) -> tuple[list[Trial], dict[str, str]]:
    """Return the candidates fitted on the record, and the failures' reasons by name."""
    trials, notes = [], {}
    for candidate in candidates:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CalibrationWarning)
                trials.append(Trial(candidate, fit_clone(candidate.make(), record)))
        except (InputError, np.linalg.LinAlgError) as error:
            notes[candidate.name] = str(error)
    return trials, notes


def tried(
    candidates: Sequence[Candidate],
    pieces: Pieces,
    folds: np.ndarray,
    objective: str,
    progress: Callable[[str], None],
    n_held: int | None = None,
) -> tuple[list[Trial], HeldOut, dict[str, str]]:
    """Return (trials, summary of out-of-fold predictions, notes); ``folds`` is the fold number of
    each piece, (m,), or -1 for pieces that no fit reads.

    The first candidate cannot fail; another that fails, in its trial or in a fold, is left out with
    a note. The trials are fits on all rows, or on those outside the first fold if only the first
    ``n_held`` folds are held out.
    """
    n_folds = int(1 + folds.max())
    n_held = n_folds if n_held is None else n_held
    seen = (folds >= 0) & (folds < n_held)
    # With few folds held out, a fit on all rows beside those of the folds would cost as much.
    whole = n_held == n_folds
    first = pieces.record if whole else pieces.outside(folds == 0, folds >= 0)
    trials, notes = fitted(candidates, first)
    del first
    evidence = replace(pieces, row=pieces.row[seen], weight=pieces.weight[seen])
    held_out, failed = HeldOut(evidence, len(trials), objective), set()
    for k in range(n_held):
        again, why = trials, {}
        if whole or k > 0:
            fit = pieces.outside(folds == k, folds >= 0)
            again, why = fitted([t.candidate for t in trials], fit)
            del fit
        notes.update(why)
        failed.update(why)
        held, place = pieces.inside(folds == k)
        ready = {t.candidate.name: t.member for t in [trials[0], *again]}
        # A failed one has the raw predictions as placeholders, which are dropped below.
        members = [ready.get(t.candidate.name, trials[0].member) for t in trials]
        held_out.add(folds[seen] == k, place, (one.predict_record(held) for one in members))
        held_out.members.append(members)
        progress(f"fold {k + 1} of {n_held}")
    kept = [j for j, t in enumerate(trials) if t.candidate.name not in failed]
    return [trials[j] for j in kept], held_out.only(kept), notes
