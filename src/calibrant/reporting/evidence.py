"""Evidence behind confidences, as sections of a report: label stability, separation, latent
function, distances to the training rows, and guarantees.

The latent function is that of a Gaussian process. Label stability has the search for the noise,
iterations, and three rows. Distances have zones, what the separation adds to the score, and three
answers to doubt. Guarantees are from the model's confidences: the share of answers accepted at a
stated risk, and the size of conformal sets.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from calibrant import metrics
from calibrant._numerics.bins import grouped_sums
from calibrant._numerics.intervals import wilson
from calibrant._numerics.logistic import (
    clipped_logs,
    fit_sigmoid,
    inner_limits,
    sigmoid,
    smoothed_targets,
)
from calibrant.calibrators.confidence import SignalAccuracy, accuracy_over
from calibrant.calibrators.confidence_curve import (
    ConfidenceBars,
    ConfidencePoints,
    confidence_curve,
)
from calibrant.calibrators.hoki import HokiCalibrator
from calibrant.calibrators.label_stability import LabelStability
from calibrant.calibrators.separation import FastSeparation, NearestRows, Separation
from calibrant.core.arrays import whole_rows
from calibrant.core.folds import make_splits
from calibrant.core.groups import order_of
from calibrant.core.map import fitted_signal
from calibrant.core.predictions import Predictions
from calibrant.core.text_table import percent
from calibrant.decisions.selective import SelectiveClassifier
from calibrant.decisions.sets import ConformalSets
from calibrant.displays.axes import COLOURS, draw_grid, scale_axes
from calibrant.errors import InputError
from calibrant.reporting.compared_scores import Measure, Score, score_table
from calibrant.reporting.figures import FLAT, figure
from calibrant.reporting.states import worth_of

__all__ = [
    "Accepted",
    "Explained",
    "PromisedSets",
    "Promises",
    "confidence",
    "distance",
    "explained",
    "label_stability",
    "latent",
    "promises",
    "separation",
    "signals",
    "stability_figures",
]


ZONES = ("safe", "dangerous")
N_SPLITS = 5
#: Right and wrong answers from which the fits are compared out of fold.
ENOUGH = 10
EXAMPLES = 3


@dataclass(frozen=True)
class Explained:
    """Rows of a record with their numbers among all rows, the signal, and their nearest training
    rows.
    """

    record: Predictions
    number: np.ndarray
    signal: Any
    nearest: NearestRows


def distance(found: Explained | None, level: float, random_state: int) -> dict[str, Any] | None:
    """Describe the zones of the rows, three fits of their confidence, and the surest wrong answers
    in the dangerous zone; None without training rows.
    """
    if found is None:
        return None
    return {
        "n": float(found.record.weights.sum()),
        "training_rows": len(found.signal.index_.points_),
        "features": found.signal.space_.names_,
        "zones": _zones(found, level),
        "losses": _losses(found, level, random_state),
        "examples": _examples(found),
    }


def _zones(found: Explained, level: float) -> list[dict[str, Any]]:
    """Return the rows of each zone and their share right, with an interval."""
    record = found.record
    index = (found.nearest.separation <= 0.0).astype(np.intp)
    n, right = grouped_sums(index, 2, [record.correct], record.weights).T
    worth = worth_of(record, record.correct, index, 2)(level)
    low, high = wilson(right * worth, n * worth, level)
    return [
        {
            "zone": zone,
            "rows": n[k],
            "share": n[k] / n.sum(),
            "confidence": float(np.average(record.confidence[index == k], weights=own)),
            "right": right[k] / n[k],
            "low": low[k],
            "high": high[k],
        }
        for k, zone in enumerate(ZONES)
        for own in [record.weights[index == k]]
        if n[k] > 0.0
    ]


def _losses(found: Explained, level: float, random_state: int) -> list[Score]:
    """Return the log loss of the answer out of fold by the score alone, and its change by
    separation alone and by both, with paired intervals; empty with few right or wrong answers.
    """
    record, separation = found.record, found.nearest.separation
    if min(record.correct.sum(), (1.0 - record.correct).sum()) < ENOUGH:
        return []
    limits = inner_limits(record.confidence, record.weights.sum())
    low, high = clipped_logs(record.confidence, limits)
    columns = {
        "score": np.column_stack([low, -high]),
        "separation": separation[:, None],
        "both": np.column_stack([low, -high, separation]),
    }
    splits = make_splits(N_SPLITS, columns["score"], record.correct, record.cluster, random_state)
    pairs = {name: _fitted(record, design, splits) for name, design in columns.items()}
    measure = [Measure(metrics.log_loss, 1000)]
    return [
        replace(score, name=name)
        for name in ("separation", "both")
        for score in score_table(
            pairs["score"], pairs[name], measure, level=level, random_state=random_state
        )
    ]


def _fitted(record: Predictions, design: np.ndarray, splits: Any) -> Predictions:
    """Return the answers as pairs, with the confidences of logistic fits to the other folds."""
    out = np.empty(len(record))
    for fit, held_out in splits:
        weight = record.weights[fit]
        target = smoothed_targets(record.correct[fit], weight)
        identity = [1.0] * (design.shape[1] // 2 * 2) + [0.0] * (design.shape[1] % 2)
        theta, _ = fit_sigmoid(design[fit], target, weight, identity=identity)
        out[held_out] = sigmoid(design[held_out] @ theta[:-1] + theta[-1])
    pairs = record.as_pair("answer")
    return replace(pairs, values=np.column_stack([1.0 - out, out]), kind="probability")


def _examples(found: Explained) -> list[dict[str, Any]]:
    """Return the surest of the wrong answers in the dangerous zone, with their nearest training
    rows.
    """
    record, near = found.record, found.nearest
    doubted = np.flatnonzero((near.zone == ZONES[1]) & (record.correct < 0.5))
    names = record.classes.astype(str).tolist()
    return [
        {
            "row": int(found.number[i]),
            "predicted": names[record.predicted[i]],
            "true": names[record.labels[i]],
            **{name: values[i] for name, values in vars(near).items()},
            "other_class": str(near.other_class[i]),
        }
        for i in doubted[np.argsort(-record.confidence[doubted], kind="stable")][:EXAMPLES]
    ]


RISKS = (0.01, 0.05, 0.1)
CONFIDENCE, LEVEL = 0.95, 0.9
#: Largest number of rows times classes, and least number of rows, for which sets are made.
MOST_ENTRIES, FEWEST = 5e7, 20


@dataclass(frozen=True)
class Accepted:
    """Share of answers that can be accepted at one risk, and the threshold of confidence; or None,
    and the reason.
    """

    risk: float
    share: float | None
    threshold: float | None
    note: str


@dataclass(frozen=True)
class PromisedSets:
    """Conformal sets of these rows: their mean size, and the share of sets with one class."""

    level: float
    size: float
    alone: float


@dataclass(frozen=True)
class Promises:
    """Guarantees, each of which holds separately, not all of them simultaneously."""

    confidence: float
    n: float
    unit: Literal["rows", "clusters"]
    accepted: list[Accepted]
    sets: PromisedSets | None


def promises(record: Predictions) -> Promises | None:
    """Certify guarantees on rows with labels and uncalibrated predictions; None if weights are not
    whole numbers.
    """
    if not whole_rows(record.weights).all():
        return None
    n = (
        float(record.weights.sum())
        if record.cluster is None
        else float(len(np.unique(record.cluster)))
    )
    unit: Literal["rows", "clusters"] = "rows" if record.cluster is None else "clusters"
    return Promises(CONFIDENCE, n, unit, [_accepted(record, risk) for risk in RISKS], _sets(record))


def _accepted(record: Predictions, risk: float) -> Accepted:
    rule = SelectiveClassifier(risk, CONFIDENCE)
    try:
        rule.fit_record(record)
    except InputError as error:
        return Accepted(risk, None, None, str(error))
    return Accepted(risk, rule.certificate_.share, rule.threshold_, str(rule.certificate_))


def _sets(record: Predictions) -> PromisedSets | None:
    if len(record) < FEWEST or record.values.size > MOST_ENTRIES:
        return None
    sizes = ConformalSets(level=LEVEL).fit_record(record).set_record(record).sum(axis=1)
    return PromisedSets(
        LEVEL,
        float(np.average(sizes, weights=record.weights)),
        float(np.average(sizes == 1, weights=record.weights)),
    )


def label_stability(calibrator: Any, record: Predictions) -> dict[str, Any] | None:
    """Describe the noise of a calibrator that uses label stability, the iterations of Hoki, and the
    surest, the least stable and the most stable wrong row; None for other calibrators.
    """
    signal = getattr(calibrator, "signal_", None)
    if not isinstance(signal, LabelStability) or signal.transform is not None:
        return None
    gamma, confidence = signal.score_record(record), calibrator.confidence_record(record)
    order, right = np.lexsort((record.confidence, gamma)), record.correct > 0.5
    chosen = {
        "Surest row": order[right[order]][-1:],
        "Least stable row": order[:1],
        "Wrong but stable row": order[~right[order]][-1:],
    }
    names = record.classes.astype(str).tolist()
    return {
        "scale": signal.scale_,
        "scales": getattr(signal, "scales_", np.zeros(0)),
        "spread": getattr(signal, "spread_", np.zeros(0)),
        "iterations": _iterations(calibrator) if isinstance(calibrator, HokiCalibrator) else None,
        "rows": [
            {
                "kind": kind,
                "row": int(i),
                "label": names[record.predicted[i]],
                "true": names[record.labels[i]],
                "stability": gamma[i],
                "confidence": confidence[i],
                "curve": signal.stability_curve(record.values[[i]]),
            }
            for kind, rows in chosen.items()
            for i in rows
        ],
    }


def _iterations(calibrator: HokiCalibrator) -> dict[str, Any]:
    """Return the number of iterations and their end, and the bins of the last one that hold
    rows.
    """
    alpha, beta = calibrator.alpha_[-1], calibrator.beta_[-1]
    return {
        "count": calibrator.n_iter_,
        "status": calibrator.status_,
        "accuracy": calibrator.accuracy_,
        "n_bins": calibrator.n_bins,
        "bins": [
            {
                "from": j / calibrator.n_bins,
                "to": (j + 1) / calibrator.n_bins,
                "kept": alpha[j],
                "changed": beta[j],
            }
            for j in np.flatnonzero(~np.isnan(alpha))
        ],
    }


def stability_figures(found: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Draw the search, and the stability of each row by noise width; ``found`` is from
    ``label_stability``.
    """
    if found is None:
        return []
    scale = found["scale"]
    searched = (
        "Standard deviation of the confidence on one bin for each noise width tried. Little noise"
        " changes no label, and much noise changes all alike; the search takes the largest spread."
        f" Chosen: {scale:.3g}."
    )
    drawn = [("noise-search", "Search for the noise", searched, "Spread", found)]
    for number, row in enumerate(found["rows"]):
        next_class = row["curve"]["classes"][1]
        share = np.interp(scale, row["curve"]["scale"], [p[1] for p in row["curve"]["probability"]])
        words = (
            f"Row {row['row']}, predicted {row['label']}, true {row['true']}: noise of the chosen"
            f" width keeps the label in {percent(row['stability'])} of draws. Class {next_class}"
            f" takes over first, in {percent(share)}."
        )
        curve = {
            "scales": row["curve"]["scale"],
            "spread": [p[0] for p in row["curve"]["probability"]],
        }
        drawn.append((f"row-stability-{number}", row["kind"], words, "Label kept", curve))
    return [_figure(*one, scale) for one in drawn if one[-1]["scales"]]


def _figure(
    key: str, title: str, words: str, label: str, curve: dict[str, Any], scale: float
) -> dict[str, Any]:
    """Draw one curve over the noise width, with a line at the chosen width."""
    pairs = list(zip(curve["scales"], curve["spread"], strict=True))
    points = [(*one, f"noise {one[0]:.3g}: {label} {one[1]:.3f}") for one in pairs]
    rows = [[f"{a:.4g}", f"{b:.4f}"] for a, b in pairs]
    display = _OverNoise(np.array(pairs), label, scale)
    return figure(key, title, words, display, points, ["Noise width", label], rows, size=FLAT)


class _OverNoise:
    """Curve over the noise width, with a line at the chosen width."""

    def __init__(self, curve: np.ndarray, label: str, scale: float) -> None:
        self.curve, self.label, self.scale = curve, label, scale

    def plot(self, ax: Any) -> None:
        """Draw it on ``ax``."""
        x, y = self.curve.T
        draw_grid(ax)
        ax.axvline(self.scale, color=COLOURS["muted"], linewidth=1, linestyle=(0, (4, 3)))
        ax.plot(x, y, color=COLOURS["main"], linewidth=1.4, marker="o", markersize=4)
        scale_axes(ax, "log", 0.9 * x.min(), 1.1 * x.max(), "x")
        ax.set(ylim=(0.0, 1.05 * max(y.max(), 0.01)), xlabel="Noise width", ylabel=self.label)


#: Largest number of rows to read: enough for narrow intervals, and few enough for a small page.
MOST_ROWS = 20_000
LATENT_POINTS = 121
TICKS = 200
#: Number of points of a confidence curve.
CURVE_POINTS = 201


@dataclass(frozen=True)
class Confidence:
    """Calibrator's confidence by score; ``in_sample``: it was fitted on the rows shown."""

    points: ConfidencePoints
    bars: ConfidenceBars
    cloud: bool
    n: float
    right: float
    wrong: float
    in_sample: bool


def confidence(calibrator: Any, record: Any, evaluation: str) -> Confidence | None:
    """Compute the confidence by score for all rows, with the densities of right and wrong rows."""
    if calibrator is None or (calibrator.tags.uses_features and record.X is None):
        return None
    curve = confidence_curve.of(record, calibrator)
    if curve is None:
        return None
    shown, numbers = (
        curve.points.thinned(CURVE_POINTS),
        (curve.cloud, curve.n, curve.right, curve.wrong),
    )
    return Confidence(shown, curve.bars, *numbers, evaluation != "held-out")


def signals(
    found: Explained | None, record: Predictions, level: float, random_state: int
) -> list[SignalAccuracy]:
    """Compute the accuracy by label stability (three classes or more), and by separation if
    features and a training set are known.
    """
    record = record.take(_sample(record, random_state))
    stability = _stability(record)
    return [
        *([] if stability is None else [accuracy_over(stability, record, level=level)]),
        *separation(found, level),
    ]


def separation(found: Explained | None, level: float) -> list[SignalAccuracy]:
    """Compute the accuracy by separation; empty without training rows."""
    if found is None:
        return []
    score = found.nearest.separation
    return [accuracy_over(found.signal, found.record, level=level, score=score)]


def explained(calibrator: Any, record: Any, random_state: int) -> Explained | None:
    """Find the nearest training rows of a sample of the rows; None without features or a training
    set.
    """
    signal = _separation(calibrator, record)
    if signal is None:
        return None
    rows = _sample(record, random_state)
    number = np.arange(len(record)) if record.kept is None else np.flatnonzero(record.kept)
    record = record.take(rows)
    return Explained(record, number[rows], signal, signal.explain_record(record))


def _sample(record: Any, random_state: int) -> np.ndarray:
    """Return the positions of at most ``MOST_ROWS`` rows, in order."""
    rows = np.arange(len(record))
    if len(rows) > MOST_ROWS:
        drawn = np.random.default_rng(random_state).permutation(len(rows))[:MOST_ROWS]
        rows = np.sort(order_of(record)[drawn])
    return rows


def _stability(record: Predictions) -> Any:
    """Return the label stability; None for two classes, where it repeats the top probability."""
    if record.n_classes == 2:
        return None
    return fitted_signal(LabelStability(), record)


def _separation(calibrator: Any, record: Any) -> Any:
    """Return the calibrator's separation, or one fitted to the reference; None if the features give
    no distance.
    """
    if getattr(record, "X", None) is None:
        return None
    own = [
        s
        for s in (getattr(calibrator, "signal_", None), *getattr(calibrator, "signals_", ()))
        if isinstance(s, Separation)
    ]
    if own:
        return own[0]
    if record.reference is None:
        return None
    try:
        return fitted_signal(FastSeparation(), record)
    except InputError:
        return None


def latent(calibrator: Any, record: Any, level: float) -> dict[str, Any] | None:
    """Compute the latent function of a Gaussian-process calibrator over the range of the scores;
    None for other calibrators.
    """
    if not hasattr(calibrator, "latent") or calibrator.inputs != record.kind:
        return None
    scores = np.unique(np.asarray(record.values, dtype=np.float64))
    curve = calibrator.latent(np.linspace(scores[0], scores[-1], LATENT_POINTS), level=level)
    ticks = scores[
        np.unique(np.linspace(0, len(scores) - 1, min(len(scores), TICKS)).round().astype(int))
    ]
    return {**curve.to_dict(), "ticks": ticks.tolist()}
