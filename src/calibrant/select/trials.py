"""Candidates tried: each fitted on all rows, then on those of each fold from there, and asked for the rows held out."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from calibrant.contracts.calibrator import Calibrator
from calibrant.errors import CalibrationWarning, InputError
from calibrant.folds.out_of_fold import fit_clone
from calibrant.predictions import Predictions
from calibrant.select.candidates import Candidate
from calibrant.select.held_out import HeldOut, Pieces

__all__ = ["Trial", "fitted", "tried"]


@dataclass(frozen=True)
class Trial:
    """A candidate, fitted."""

    candidate: Candidate
    member: Calibrator


def fitted(candidates: Sequence[Candidate], record: Predictions) -> tuple[list[Trial], dict[str, str]]:
    """The candidates fitted on the record, and by name why others could not be."""
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
    candidates: Sequence[Candidate], pieces: Pieces, folds: np.ndarray, objective: str, progress: Callable[[str], None]
) -> tuple[list[Trial], HeldOut, dict[str, str]]:
    """(trials on all rows, out-of-fold predictions in brief, notes); ``folds`` is the number of each piece's fold, (m,).

    The first candidate cannot fail; another that does, on all rows or in a fold, is left out with a note.
    """
    trials, notes = fitted(candidates, pieces.record)
    held_out, failed, n_folds = HeldOut(pieces, len(trials), objective), set(), int(1 + folds.max())
    for k in range(n_folds):
        fit, held, place = pieces.split(folds == k)
        again, why = fitted([t.candidate for t in trials], fit)
        notes.update(why)
        failed.update(why)
        del fit
        ready = {t.candidate.name: t.member for t in [trials[0], *again]}
        # Of one that failed, the predictions as they are: they are dropped below.
        held_out.add(folds == k, place, (ready.get(t.candidate.name, trials[0].member).predict_record(held) for t in trials))
        progress(f"fold {k + 1} of {n_folds}")
    kept = [j for j, t in enumerate(trials) if t.candidate.name not in failed]
    return [trials[j] for j in kept], held_out.only(kept), notes
