"""Sums of a table say what the rows say; a sample and folds are the same whatever the parts."""

from functools import reduce

import numpy as np
import pytest

from calibrant import metrics
from calibrant.calibrators.maps.sigmoids import Platt
from calibrant.calibrators.multiclass import OneVsRest
from calibrant.calibrators.temperature import TemperatureScaling
from calibrant.core.predictions import read
from calibrant.reporting import states as curves
from calibrant.reporting.classification import SCORES
from calibrant.reporting.compared_scores import Measure, score_table
from calibrant.reporting.states import Counts, Seen, by_region, confidence_gaps
from calibrant.reporting.table.sums import (
    PARTS,
    RiskCells,
    RiskPairs,
    TableFits,
    TableSample,
    TableSums,
    fold_of,
    seen_of,
)
from calibrant.tables.apply import row_hash

N = 6000


def rows(K, weighted=False, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(K) * 0.5, N).astype(dtype)
    y = (rng.random(N)[:, None] > P.cumsum(axis=1)).sum(axis=1).clip(0, K - 1)
    return read(P, y, sample_weight=rng.integers(1, 4, N) if weighted else None)


def parts_of(record):
    """Three parts with the numbers of their rows."""
    number = row_hash(0, N)
    return [
        (record.take(slice(a, b)), number[a:b]) for a, b in ((0, 1000), (1000, 1001), (1001, N))
    ]


@pytest.fixture(params=[(4, False, np.float64), (12, True, np.float32)], ids=["plain", "weighted"])
def both(request):
    record = rows(*request.param)
    made = [
        TableSums.of(part, (number % np.uint64(PARTS)).astype(int), 15, SCORES)[0]
        for part, number in parts_of(record)
    ]
    return record, reduce(TableSums.plus, made)


def test_counts_are_those_of_the_rows(both):
    record, sums = both
    ours, theirs = sums.counts(), Counts.of(record, 15)
    for name in ("total", "labels", "predicted", "confusion", "tenths"):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=1e-9), name
    for count, table in theirs.bins.items():
        assert ours.bins[count] == pytest.approx(table, rel=1e-9, abs=1e-9)
    for metric in SCORES:
        assert sums.losses[metric.key] == pytest.approx(metric.totals_of(record), rel=1e-9)
    classwise = metrics.classwise_calibration_error
    assert sums.in_parts().sum(axis=0) == pytest.approx(
        classwise.totals_of(record), rel=1e-9, abs=1e-9
    )


def test_what_is_seen_of_sums_is_what_is_seen_of_rows(both):
    record, sums = both
    ours, theirs = seen_of(sums, record, 0.95), Seen.of([record], 15, 0.95)
    assert [place.where["class"] for place in ours.table] == [
        place.where["class"] for place in theirs.table
    ]
    for one, other in zip(ours.table, theirs.table, strict=True):
        assert vars(one.found) == pytest.approx(vars(other.found), rel=1e-9, abs=1e-9)
    for ours_curve, theirs_curve in zip(
        curves.of_classes(ours, 0.95).values(),
        curves.of_classes(theirs, 0.95).values(),
        strict=True,
    ):
        assert ours_curve.accuracy == pytest.approx(theirs_curve.accuracy, rel=1e-9)
    mass = [curves.in_mass(seen, 0.95)[15] for seen in (ours, theirs)]
    assert mass[0].n == pytest.approx(mass[1].n, rel=0.05)
    assert mass[0].accuracy == pytest.approx(mass[1].accuracy, abs=0.03)
    gaps = [
        by_region(seen.regions, confidence_gaps(seen.region_sums, 0.95)) for seen in (ours, theirs)
    ]
    assert sum(place.found.rows for place in gaps[0]) == pytest.approx(
        sum(place.found.rows for place in gaps[1])
    )
    risks = [curves.risk(seen, 0.95) for seen in (ours, theirs)]
    assert np.interp(0.5, risks[0].coverage, risks[0].risk) == pytest.approx(
        np.interp(0.5, risks[1].coverage, risks[1].risk), abs=2e-3
    )


def test_the_interval_of_random_parts_is_about_that_of_rows(both):
    record, sums = both
    ours = metrics.classwise_calibration_error.interval_of_parts(
        sums.in_parts(), level=0.95, n_resamples=400, random_state=0
    )
    theirs = metrics.classwise_calibration_error.interval_of(record)
    assert ours.plain == pytest.approx(theirs.plain, rel=1e-9)
    # A row of weight w falls to one part: it counts as w rows that hang together, so that the
    # interval is wider.
    wider = 1.0 if record.weight is None else 3.0
    assert (
        0.75 * (theirs.high - theirs.low)
        < ours.high - ours.low
        < 1.25 * wider * (theirs.high - theirs.low)
    )


def test_cells_stand_for_the_rows():
    record = rows(2, weighted=True)
    cells = reduce(
        RiskCells.plus, [RiskCells.of(part, number, 15) for part, number in parts_of(record)]
    )
    merged, fold = cells.record()
    assert cells.rows == N
    assert len(merged) < N
    for metric in (
        metrics.log_loss,
        metrics.event_brier_score,
        metrics.observed_expected_ratio,
        metrics.positive_class_calibration_error,
    ):
        assert metric.of(merged) == pytest.approx(metric.of(record), abs=1e-5), metric.key
    assert metrics.event_auroc.of(merged) == pytest.approx(metrics.event_auroc.of(record), abs=1e-4)
    number = fold_of(row_hash(0, N))
    assert np.bincount(fold, weights=merged.weights) == pytest.approx(
        np.bincount(number, weights=record.weights)
    )


def test_pairs_of_cells_stand_for_the_rows_on_either_side_of_a_step():
    """All risks lie within two cells, and the map has a step in each."""
    rng = np.random.default_rng(0)
    risk = 0.3 + 0.003 * rng.random(N)
    record = read(
        np.column_stack([1.0 - risk, risk]),
        (rng.random(N) < 0.4).astype(int),
        sample_weight=rng.integers(1, 4, N),
    )
    stepped = np.array([0.1, 0.5, 0.9])[np.digitize(risk, [0.301, 0.302])]
    after = record.recalibrated(np.column_stack([1.0 - stepped, stepped]))
    number = [slice(0, 1000), slice(1000, 1001), slice(1001, N)]
    pairs = reduce(
        RiskPairs.plus, [RiskPairs.of(record.take(one), after.take(one), 15) for one in number]
    )
    merged = pairs.records("probability")
    assert len(merged[0]) < 20
    for ours, theirs in zip(merged, (record, after), strict=True):
        for metric in (
            metrics.log_loss,
            metrics.event_brier_score,
            metrics.positive_class_calibration_error,
        ):
            assert metric.of(ours) == pytest.approx(metric.of(theirs), abs=1e-5), metric.key


def test_merged_rows_keep_their_fold_so_that_no_ranking_is_worse():
    record, number = rows(2), row_hash(0, N)
    fits = TableFits.of(OneVsRest(Platt()), record, fold_of(number))
    parts = [
        RiskPairs.of(part, fits.after(part, fold_of(own)), 15, fold_of(own))
        for part, own in parts_of(record)
    ]
    pairs = reduce(RiskPairs.plus, parts)
    before, after = pairs.records("probability")
    assert np.bincount(pairs.fold, weights=before.weights) == pytest.approx(
        np.bincount(fold_of(number), weights=record.weights)
    )
    measure = [Measure(metrics.event_auroc, 200, analytic=True)]
    (row,) = score_table(before, after, measure, folds=pairs.fold)
    assert row.change.value == pytest.approx(0.0, abs=1e-6)
    assert row.change.meaning == "no clear change"


def test_a_sample_does_not_depend_on_the_parts():
    record, number = rows(3), row_hash(0, N)
    whole = TableSample.of(record, number, 0.1)
    parts = reduce(
        TableSample.plus, [TableSample.of(part, own, 0.1) for part, own in parts_of(record)]
    )
    assert (whole.record.values == parts.record.values).all()
    assert (whole.fold == parts.fold).all()
    assert len(whole.record) == pytest.approx(0.1 * N, abs=5 * np.sqrt(0.1 * N))
    assert len(TableSample.of(record, number, 1.0).record) == N


def test_no_row_is_calibrated_by_a_fit_that_has_seen_it():
    record, fold = rows(3), fold_of(row_hash(0, N))
    fits = TableFits.of(TemperatureScaling(), record, fold)
    after = fits.after(record, fold)
    for k in range(5):
        own = TemperatureScaling().fit(record.values[fold != k], record.labels[fold != k])
        assert fits.by_fold[k].temperature_ == pytest.approx(own.temperature_)
        assert after.values[fold == k] == pytest.approx(
            own.predict_proba(record.values[fold == k]), abs=1e-12
        )
