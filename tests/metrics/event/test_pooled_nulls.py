"""Draws of many rows by pooled score have the law of draws by row."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from calibrant import metrics
from calibrant._numerics import bootstrap
from calibrant._numerics.bins import equal_width_index
from calibrant.core.predictions import read
from calibrant.metrics import binless
from calibrant.reporting import summary

ROWS = 50_000


def tables():
    rng = np.random.default_rng(0)
    for name, p, weight in (
        ("u-shaped", rng.beta(0.5, 0.5, ROWS), None),
        ("rare", rng.beta(0.2, 20.0, ROWS), None),
        ("rounded", np.round(rng.random(ROWS), 2), None),
        ("weighted", rng.random(8_000), rng.integers(1, 20, 8_000).astype(np.float64)),
    ):
        y = (rng.random(len(p)) < p).astype(int)
        yield pytest.param(read(p, y, sample_weight=weight), id=name)


@pytest.mark.parametrize("rows", tables())
def test_the_null_of_the_ici_is_that_of_drawn_rows(rows, monkeypatch):
    metric = metrics.integrated_calibration_index
    pooled = metric._drawn(rows, 400, np.random.default_rng(1))
    monkeypatch.setattr(binless, "MANY_ROWS", np.inf)
    monkeypatch.setattr(binless, "drawn_by_score", lambda *_: False)
    by_row = metric._drawn(rows, 400, np.random.default_rng(2))
    assert ks_2samp(pooled, by_row).pvalue > 0.001


@pytest.mark.parametrize("rows", tables())
def test_the_chance_of_bins_is_that_of_drawn_rows(rows, monkeypatch):
    score = rows.confidence
    index = equal_width_index(score, 15, rows.resolution)
    expected = np.bincount(index, score * rows.weights, 15)

    def errors(seed):
        hits = summary._hits_of_bins(rows, index, 15, 600, np.random.default_rng(seed))
        return np.abs(hits - expected).sum(axis=1)

    pooled = errors(1)
    monkeypatch.setattr(summary, "MANY_ROWS", np.inf)
    monkeypatch.setattr(summary, "drawn_by_score", lambda *_: False)
    assert ks_2samp(pooled, errors(2)).pvalue > 0.001


def test_sums_of_cells_vary_as_those_of_their_rows():
    rng = np.random.default_rng(0)
    score = np.round(rng.random(60_000), 4)
    hit = (rng.random(len(score)) < score).astype(float)
    cells, cell = np.unique(np.column_stack([score, hit]), axis=0, return_inverse=True)
    weight = np.bincount(cell.ravel()).astype(float)
    assert len(weight) > bootstrap.PARTS

    def spread(score, hit, weight, seed):
        sets = [(equal_width_index(score, 10, 1e-9), [score, hit])]
        sums = bootstrap.resampled_sums(sets, 10, weight, 400, seed)
        return sums[:, 0, :, 2].std(axis=0)

    by_cell = spread(*cells.T, weight, 1)
    by_row = spread(score, hit, np.ones(len(score)), 2)
    assert by_cell == pytest.approx(by_row, rel=0.25)
    assert by_cell.mean() == pytest.approx(by_row.mean(), rel=0.08)
