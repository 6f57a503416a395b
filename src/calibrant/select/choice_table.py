"""What was tried, one row a candidate: how it scored out of fold, its weight, or why it was left out."""

from typing import Any

from calibrant.select.evidence import score_difference

__all__ = ["choice_table"]


def choice_table(trials, losses, means, weight, pool, notes) -> list[dict[str, Any]]:
    """Rows of the trials, the first of which does nothing, then of the candidates that failed, whose ``notes`` say why."""
    rows = []
    for trial, loss, mean, share in zip(trials, losses, means, pool, strict=True):
        _, error = score_difference(losses[0], loss, weight)
        rows.append({"name": trial.candidate.name, "score": mean, "standard_error": error, "weight": float(share), "note": ""})
    return rows + [{"name": n, "score": float("nan"), "standard_error": float("nan"), "weight": 0.0, "note": t} for n, t in notes.items()]
