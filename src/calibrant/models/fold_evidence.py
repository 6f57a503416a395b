"""What the models of the folds show by agreeing or not, and their average."""

from collections.abc import Sequence

import numpy as np

from calibrant._kernels.softmax import log_probabilities, softmax

__all__ = ["REFIT_AGREEMENT", "agreement", "averaged", "chosen_told", "exponent_of", "fit_before_held_out"]

#: From this agreement on, the refitted model is as good as the average of the models of the folds. Of 185 pairs of data and model, the
#: sets of ``benchmarks/wrappers.py`` that chose, 62 had it: refitting those alone changed the mean log loss over all by -.0001, refitting
#: all by +.0096.
REFIT_AGREEMENT = 0.975


def agreement(one: np.ndarray, other: np.ndarray, prior: np.ndarray, weight: np.ndarray | None = None) -> float:
    r"""How alike two models' answers to the same rows are: :math:`2 \sum a b / (\sum a^2 + \sum b^2)`, 1 where they are equal.

    ``a`` and ``b`` are the evidence of each, their log-probabilities less those of the class rates. ``one`` and ``other`` are (n, K)
    calibrated probabilities, ``prior`` (K,) the class rates.
    """
    a, b = _evidence(one, prior), _evidence(other, prior)
    share = np.ones(len(a)) if weight is None else weight
    both = float(share @ (a * a + b * b).sum(axis=1))
    return 1.0 if both == 0.0 else float(share @ (2.0 * a * b).sum(axis=1)) / both


def exponent_of(agreement: float, n_models: int) -> float:
    """The slope that the truth has against the mean of so many answers, where it has slope 1 against each of them.

    It is the ratio of two mean squares, of one answer and of the mean: the truth's product with either is the same.
    """
    return n_models / (1.0 + (n_models - 1.0) * min(max(agreement, 0.0), 1.0))


def averaged(answers: Sequence[np.ndarray], prior: np.ndarray, exponent: float) -> np.ndarray:
    """The geometric mean (n, K) of calibrated probabilities, their evidence beside the class rates raised to the exponent."""
    mean = np.add.reduce([_evidence(Q, prior) for Q in answers]) / len(answers)
    return softmax(np.log(prior) + exponent * mean)


def chosen_told(chosen: str, evidence: dict[str, float], n_models: int) -> str | None:
    """What was chosen and why, in a sentence; None where there was no choice."""
    if chosen == "given":
        return None
    if not evidence:
        return "One model, fitted to all rows, because the splits, one alone or ever later ones, give no models of like rows to compare."
    found = f"agree by {evidence['agreement']:.3f} on rows that one of them has not seen"
    if chosen == "refit":
        return f"One model, fitted to all rows, because the models of the folds {found} ({REFIT_AGREEMENT} or more)."
    how = f"raised to the power {evidence['exponent']:.2f}"
    return f"The average of the {n_models} models of the folds, {how}, because they {found} (less than {REFIT_AGREEMENT})."


def fit_before_held_out(splits: Sequence[tuple[np.ndarray, np.ndarray]]) -> bool:
    """Whether every split fits on rows before those that it holds out, as splits in time do."""
    return all(fit_rows.max() < held_out.min() for fit_rows, held_out in splits)


def _evidence(Q, prior):
    logs = log_probabilities(np.asarray(Q, dtype=np.float64)) - np.log(prior)
    return logs - logs.mean(axis=1, keepdims=True)
