"""The parts of a summary about one calibrator, from the rows before and after it."""

from calibrant.compare.given import shown_name
from calibrant.reporting import curves
from calibrant.reporting.cautions import cautions
from calibrant.reporting.chance import chance_error
from calibrant.reporting.classes import class_table, group_table, region_table
from calibrant.reporting.drift import drift
from calibrant.reporting.quality import quality
from calibrant.reporting.verdict import verdict

__all__ = ["method_facts", "sections"]

#: Classes whose curves are drawn: a page of a thousand would help nobody.
DRAWN_CLASSES = 12


def sections(found, scores, name, groups, times, n_bins, level, random_state) -> dict:
    """Everything but the choice; ``scores`` is from ``score_table``, ``name`` the calibrator's ("" for its own)."""
    before, after = found.before, found.after
    shown = after if after is not None and found.evaluation != "in-sample" else before
    chance = chance_error(before, n_bins=n_bins, level=level, random_state=random_state)
    weight = before.weights
    trust = (float(weight @ before.confidence / weight.sum()), float(weight @ before.correct / weight.sum()))
    method, rows = method_facts(found, name), class_table(shown, level=level)
    state = quality(before, found.calibration)
    names = [row["class"] for row in rows[:DRAWN_CLASSES]]
    return {
        "data": _data(before), "quality": state, "calibrator": method, "cautions": cautions(before, found.evaluation, state),
        "metrics": scores, "chance": chance, "verdict": verdict(scores, chance, trust, method["name"], found.evaluation),
        "bound": _bounds(found, n_bins),
        "curves": _both(found, lambda r: curves.reliability(r, n_bins, level)), "histograms": _both(found, curves.histogram),
        "binned": _both(found, lambda r: curves.binned(r, level)), "corp": _both(found, lambda r: curves.corp(r, level, random_state)),
        "risk": _both(found, lambda r: curves.risk(r, level)), "confusion": curves.confusion(shown),
        "equal_mass": _both(found, lambda r: curves.equal_mass(r, n_bins, level)),
        "classes": {"of": "before" if shown is before else "after", "rows": rows},
        "class_curves": curves.of_classes(shown, names, level), "regions": region_table(shown, level=level),
        "groups": None if groups is None else group_table(shown, groups, level=level),
        "drift": drift(
            times, _pair(before), None if after is None else _pair(after), "before" if shown is before else "after", before.weight, groups
        ),
    }  # fmt: skip


def _pair(record):
    return record.confidence, record.correct


def _bounds(found, n_bins):
    """Of the calibrated rows only where the calibrator has not seen them: folds that share their rows are not independent."""
    after = curves.bound(found.after, n_bins) if found.evaluation == "held-out" else None
    return {"n_bins": n_bins, "before": curves.bound(found.before, n_bins), "after": after}


def _both(found, make):
    return {"before": make(found.before), "after": None if found.after is None else make(found.after)}


def _data(record):
    return {
        "n": float(record.weights.sum()), "rows": len(record), "weighted": record.weight is not None, "inputs": record.kind,
        "n_classes": record.n_classes, "classes": [str(c) for c in record.classes],
    }  # fmt: skip


def method_facts(found, name) -> dict:
    """What the calibrator is and how its numbers came about."""
    calibrator = found.calibrator
    return {
        "name": name or shown_name(calibrator), "class": type(calibrator).__name__, "status": getattr(calibrator, "status_", None),
        "evaluation": found.evaluation, "n_splits": found.n_splits, "n_fit": found.n_fit,
    }  # fmt: skip
