import numpy as np
import pytest

from calibrant._kernels.bins import LOGIT_CELLS, REACH, cell_count, cell_index, equal_width_index
from calibrant._kernels.softmax import log_odds


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_bins", [7, 15])
def test_rows_of_a_cell_share_every_bin_and_are_close(dtype, n_bins):
    rng = np.random.default_rng(0)
    edges = np.arange(1, 600) / 600
    score = np.concatenate(
        [
            rng.random(20_000),
            edges,
            np.nextafter(edges, 0),
            1.0 / (1.0 + np.exp(-20.0 * rng.normal(size=20_000))),
            [0, 1],
        ]
    )
    score = np.clip(score.astype(dtype), 0.0, 1.0).astype(np.float64)
    resolution = float(np.finfo(dtype).eps)
    cell = cell_index(score, n_bins, resolution)
    assert cell.min() >= 0
    assert cell.max() < cell_count(n_bins)
    order = np.argsort(score, kind="stable")
    assert (np.diff(cell[order]) >= 0).all(), "a cell's name rises with the score"
    same = np.diff(cell[order]) == 0
    for count in (5, 8, 10, 15, 20, 30, 50, n_bins):
        assert not np.diff(equal_width_index(score[order], count, resolution))[same].any()
    inner = (score[order] > 1.6e-8) & (score[order] < 1.0 - 1.6e-8)
    apart = np.diff(log_odds(score[order]))[same & inner[1:] & inner[:-1]]
    assert apart.max() <= 2.0 * REACH / LOGIT_CELLS + 1e-9


def test_exact_0_and_1_are_cells_of_their_own():
    cell = cell_index(np.array([0.0, 1e-300, 1.0 - 2.0**-53, 1.0]), 15, 2.0**-52)
    assert len(set(cell.tolist())) == 4
