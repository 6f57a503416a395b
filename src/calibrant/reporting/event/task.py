"""What a report on the risk of an event has of its own: the table of the task, on records seen as pairs of event and rest."""

from dataclasses import replace
from typing import Any

import numpy as np

from calibrant import metrics
from calibrant._kernels.intervals import wilson
from calibrant._kernels.probability_scale import probability_scale
from calibrant.compare.scores import Measure, score_table
from calibrant.reporting import curves
from calibrant.reporting.classification import CLASSIFICATION, affordable, few_resamples
from calibrant.reporting.event.quality import cautions, quality
from calibrant.reporting.event.verdict import verdict
from calibrant.reporting.evidence import latent
from calibrant.reporting.regions import by_region, confidence_sums

__all__ = ["EVENT", "KEYS"]

#: In the order of the page: scores to choose by, errors on the whole, errors in places, and how well the risks rank.
METRICS = (
    metrics.log_loss, metrics.event_brier_score, metrics.d2_brier, metrics.observed_expected_ratio, metrics.calibration_in_the_large,
    metrics.calibration_slope, metrics.positive_class_calibration_error, metrics.integrated_calibration_index, metrics.calibration_e90,
    metrics.event_auroc,
)  # fmt: skip
#: Key -> name.
KEYS = {metric.key: metric.name for metric in METRICS}
#: Rows of a group of the hero's bins at least, and events as well as rows without one among them.
ENOUGH_ROWS, ENOUGH_EVENTS = 40, 4


def measures(record: Any, n_bins: int, n_resamples: int) -> list[Measure]:
    """Proper scores, errors of the risk on the whole and in places, and how well it ranks."""
    metrics_of = (replace(one, n_bins=n_bins) if one.key == "event_ece" else one for one in METRICS)
    # The intervals of the ICI and of E90 are approximate: what honest risks would show stands beside them instead.
    counts = {"ici": 0, "e90": 0, "event_auroc": few_resamples(record, n_resamples)}
    return [Measure(one, counts[one.key] if one.key in counts else affordable(one, record, n_resamples)) for one in metrics_of]


def gaps(sums: np.ndarray, level: float) -> list[dict[str, Any]]:
    """One dictionary a group: rows, rate, risk, gap = risk - rate with low and high, and ratio = rate / risk (O/E) with its ends.

    The intervals hold together, for all groups that have rows (Bonferroni). ``sums`` are weight, events and risk.
    """
    n, events, total = sums.T
    several = max(int((n > 0).sum()), 1)
    low, high = wilson(events, n, 1.0 - (1.0 - level) / several)
    safe = np.where(n > 0, n, 1.0)
    rate, risk = events / safe, total / safe
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = [np.where(risk > 0, ends / risk, np.nan) for ends in (rate, low, high)]
    names = ("rate", "risk", "gap", "low", "high", "ratio", "ratio_low", "ratio_high")
    columns = np.column_stack([rate, risk, risk - rate, risk - high, risk - low, *ratios])
    return [
        {"rows": float(n[k]), **(dict(zip(names, columns[k].tolist(), strict=True)) if n[k] > 0 else dict.fromkeys(names))}
        for k in range(len(n))
    ]


def _sections(found, asked, used):
    before, shown, level = found.before, found.shown, asked.level
    scale = probability_scale(before.confidence, before.correct, before.weights)
    return {
        "n_bins": asked.n_bins, "scale": scale, "bins": _start(before),
        "binned": found.both(lambda r: curves.binned(r, asked.n_bins, level, strategy="mass")),
        "distribution": found.both(lambda r: metrics.risk_distribution.of(r, scale=scale).to_dict()),
        "corp": found.both(lambda r: curves.corp(r, level, asked.random_state)),
        "decision": found.both(lambda r: metrics.decision_curve.of(r, level=level).to_dict()),
        "gain": found.both(lambda r: curves.gain(r, level)),
        "thresholds": metrics.threshold_table.of(shown, **vars(asked.decisions), level=level).to_dict(),
        "regions": by_region(shown, shown.confidence, confidence_sums, gaps, level), "answer": _answer(found.whole, asked),
        "confidence": None, "signals": [], "latent": latent(used, found.whole.before, level),
    }  # fmt: skip


def _start(record):
    """The number of bins that a look at the curve begins with: as many as have rows, and events or their absence, enough each."""
    n = record.weights.sum()
    events = record.weights @ record.correct
    rare = min(events, n - events)
    enough = [count for count in curves.BIN_COUNTS if n >= count * ENOUGH_ROWS and rare >= count * ENOUGH_EVENTS]
    return max(enough, default=curves.BIN_COUNTS[0])


def _answer(found, asked):
    """The other question, whether the model's own answer is right: its metrics, and its curve before and after."""
    measured = CLASSIFICATION.measures(found.before, asked.n_bins, asked.n_resamples)
    scores = score_table(found.before, found.after, measured, level=asked.level, random_state=asked.random_state)
    return {"metrics": scores, "equal_mass": found.both(lambda r: curves.equal_mass(r, asked.n_bins, asked.level))}


EVENT = replace(
    CLASSIFICATION, measures=measures, quality=quality,
    cautions=cautions, verdict=verdict, gaps=gaps, sections=_sections,
)  # fmt: skip
