"""Sections of a report come from states that add up: those of parts, merged, are those of the
whole.
"""

from functools import reduce
from operator import add

import numpy as np
import pytest

from calibrant import metrics
from calibrant._numerics.thresholds import probability_scale
from calibrant.core.guarantee import plain
from calibrant.core.predictions import read
from calibrant.reporting import states as curves
from calibrant.reporting.classification import CLASSIFICATION
from calibrant.reporting.quality import cautions, quality
from calibrant.reporting.states import Counts, Distinct, Seen, by_region, confidence_gaps
from calibrant.reporting.summary import chance_error


def sections(seen):
    """All that is read of the rows by states."""
    counts = seen.counts
    return plain(
        {
            "binned": curves.binned(curves.in_width(seen, 0.95)),
            "histogram": curves.histogram(counts),
            "corp": curves.corp(seen, 0.95, 0),
            "risk": curves.risk(seen, 0.95),
            "equal_mass": curves.binned(curves.in_mass(seen, 0.95)),
            "confusion": curves.confusion(counts),
            "classes": seen.table,
            "of_classes": curves.of_classes(seen, 0.95),
            "quality": quality(seen, seen),
            "regions": by_region(seen.regions, confidence_gaps(seen.region_sums, 0.95)),
            "cautions": cautions(seen, quality(seen)),
            "chance": chance_error(seen, n_bins=15),
        }
    )


def same(ours, theirs):
    assert type(ours) is type(theirs)
    if isinstance(ours, dict):
        assert list(ours) == list(theirs)
        ours, theirs = list(ours.values()), list(theirs.values())
    if isinstance(ours, list):
        for one, other in zip(ours, theirs, strict=True):
            same(one, other)
    elif isinstance(ours, float):
        assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12)
    else:
        assert ours == theirs


@pytest.fixture(scope="module", params=["plain", "weighted", "tied", "event"])
def record(request):
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(4) * 0.5, 900)
    y = (rng.random(900)[:, None] > P.cumsum(axis=1)).sum(axis=1)
    if request.param == "tied":
        P = np.clip(P.round(1), 0.05, 1.0)
        P /= P.sum(axis=1, keepdims=True)
    found = read(P, y, sample_weight=rng.random(900) if request.param == "weighted" else None)
    return found.as_pair(2) if request.param == "event" else found


def test_three_parts_merged_say_what_the_whole_says(record):
    parts = [record.take(slice(*ends)) for ends in ((0, 100), (100, 101), (101, 900))]
    same(
        sections(Seen.of(parts, 15, 0.95, (5, 15), rows=record)),
        sections(Seen.of([record], 15, 0.95, (5, 15))),
    )


def test_the_report_reads_the_whole_at_once(record):
    """So the numbers of a report are those of its record to the bit."""
    found = Seen.of([record], 15, 0.95)
    curve = metrics.reliability_curve.of(record, strategy="mass").to_dict()
    assert curves.in_mass(found, 0.95)[15].to_dict() == curve
    assert (
        curves.in_width(found, 0.95)[30].to_dict()
        == metrics.reliability_curve.of(record, n_bins=30).to_dict()
    )
    assert (
        curves.histogram(found.counts).to_dict()
        == metrics.confidence_histogram.of(record).to_dict()
    )
    isotonic = metrics.isotonic_curve.of(record, n_draws=100)
    assert curves.corp(found, 0.95, 0).to_dict() == isotonic.thinned(curves.POINTS).to_dict()
    assert (
        curves.risk(found, 0.95).to_dict()
        == metrics.risk_coverage_curve.of(record).thinned(curves.POINTS).to_dict()
    )


def test_scores_that_are_sums_add_up_too(record):
    parts = [record.take(slice(*ends)) for ends in ((0, 300), (300, 900))]
    summed = [
        one.metric for one in CLASSIFICATION.measures(record, 15, 100) if one.metric.mergeable
    ]
    assert {
        metrics.log_loss,
        metrics.brier_score,
        metrics.expected_calibration_error,
        metrics.confidence_spread,
    } <= set(summed)
    for metric in summed:
        merged = metric.finalise(reduce(add, map(metric.totals_of, parts)))
        assert float(merged) == pytest.approx(metric.of(record), rel=1e-12, abs=1e-12)


def test_distinct_values_are_counted_once():
    values, hit, weight = (
        np.array([0.3, 0.1, 0.3, 0.2]),
        np.array([1.0, 0.0, 0.0, 1.0]),
        np.array([1.0, 2.0, 3.0, 4.0]),
    )
    whole = Distinct.of(values, [hit], weight)
    assert whole.values.tolist() == [0.1, 0.2, 0.3]
    assert whole.sums.tolist() == [[2.0, 0.0], [4.0, 4.0], [4.0, 1.0]]
    merged = Distinct.of(values[:2], [hit[:2]], weight[:2]) + Distinct.of(
        values[2:], [hit[2:]], weight[2:]
    )
    assert merged.values.tolist() == whole.values.tolist()
    assert merged.sums.tolist() == whole.sums.tolist()
    cut = whole.cut(2)
    assert cut.lower.tolist() == [0.1, 0.3]
    assert cut.upper.tolist() == [0.2, 0.3]
    assert cut.index(values).tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_what_of_an_event_follows_from_its_distinct_risks(weighted):
    """To the bit without weights, whose sums are whole numbers."""
    rng = np.random.default_rng(1)
    p = np.concatenate([rng.beta(0.4, 9, 500), np.repeat([0.0, 0.05, 0.3, 1.0], 60)])
    y = (rng.random(len(p)) < p).astype(int)
    record = read(p, y, sample_weight=rng.random(len(p)) if weighted else None).as_pair("event")
    parts = [record.take(slice(*ends)) for ends in ((0, 100), (100, 101), (101, len(p)))]
    counts, merged = Counts.of(record, 15), reduce(add, (Counts.of(part, 15) for part in parts))
    costs = {"cost_false_positive": 1.0, "cost_false_negative": 7.0}

    def said(rows):
        return {
            "decision": metrics.decision_curve.of(rows).to_dict(),
            "gain": metrics.gain_curve.of(rows).to_dict(),
            "thresholds": metrics.threshold_table.of(rows, **costs).to_dict(),
            "distribution": [
                metrics.risk_distribution.of(rows, scale=scale).to_dict()
                for scale in ("linear", "log", "logit", "auto")
            ],
            "scale": probability_scale(rows.confidence, rows.correct, rows.weights),
        }

    assert len(counts.pairs) < len(record)
    same(said(merged.pairs), said(counts.pairs))
    if weighted:
        same(said(counts.pairs), said(record))
    else:
        assert said(merged.pairs) == said(record)
