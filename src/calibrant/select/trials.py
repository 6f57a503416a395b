"""Candidates fitted on one record."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibrant.contracts.calibrator import Calibrator
from calibrant.errors import CalibrationWarning, InputError
from calibrant.folds.splits import fit_clone
from calibrant.predictions import Predictions
from calibrant.select.candidates import Candidate

__all__ = ["Trial", "fitted"]


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
