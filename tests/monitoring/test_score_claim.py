"""What a reference lets a monitor claim."""

import numpy as np
import pytest

from calibrant._numerics.intervals import clopper_pearson
from calibrant.errors import InputError
from calibrant.monitoring.claims import ScoreClaim, learned_band


def test_the_band_is_that_of_all_bins_together_and_claims_nothing_where_no_row_was():
    low, high = learned_band(
        np.array([[100.0, 90.0, 80.0], [0.0, 0.0, 0.0], [50.0, 10.0, 12.0]]), 0.1, 0.02
    )
    for bin_, (n, score, hits) in {0: (100, 0.9, 80), 2: (50, 0.2, 12)}.items():
        ends = np.subtract(clopper_pearson(hits, n, 0.95), score)
        assert (low[bin_], high[bin_]) == pytest.approx((ends[0] - 0.02, ends[1] + 0.02))
    assert (low[1], high[1]) == (-1.02, 1.02)
    # A single row is claimed of, as the only bin with any.
    low, high = learned_band(np.array([[1.0, 0.3, 1.0], [0.0, 0.0, 0.0]]), 0.1, 0.0)
    assert (low[0], high[0]) == pytest.approx(np.subtract(clopper_pearson(1.0, 1.0, 0.9), 0.3))


def test_rows_and_totals():
    sums = np.array([[[10.0, 5.0, 4.0], [20.0, 18.0, 17.0]]])
    assert ScoreClaim().rows(sums[0]) == 30.0
    assert ScoreClaim().stated(sums).tolist() == [[30.0, 23.0, 21.0]]
    with pytest.raises(InputError, match="sums must be"):
        ScoreClaim().checked(np.array([[10.0, 5.0, -1.0]]))


@pytest.mark.parametrize(
    "sums",
    [
        [[1.0, -0.1, 0.0]],
        [[1.0, 0.0, -1.0]],
        [[-1.0, -1.0, -1.0]],
        [[1.0, 1.1, 0.0]],
        [[1.0, 0.0, 1.1]],
        [[1.0, np.nan, 0.0]],
        [[np.inf, 1.0, 0.0]],
        [1.0, 0.5, 0.5],
        [[1.0, 0.5]],
        [[1.0, 0.5, 0.5, 0.5]],
    ],
)
def test_sums_that_cannot_be(sums):
    with pytest.raises(InputError, match="the last two at most the first"):
        ScoreClaim().checked(np.array(sums))


def test_sums_that_can_be_and_others_like_them():
    sums = np.array(
        [
            [0.0, 0.0, 0.0],
            [4.0, 4.0, 0.0],
            [4.0, 0.0, 4.0],
            [2000.0, 1000.0, 500.0],
            [1.0, 0.7, 0.0],
        ]
    )
    claim = ScoreClaim()
    assert claim.checked(sums) is sums
    assert claim.events(sums) is claim.errors(sums) is sums
    drawn = claim.redrawn(sums, 60)
    assert drawn.shape == (60, 5, 3)
    assert (drawn[..., :2] == sums[:, :2]).all()
    assert (drawn[:, [0, 1, 2, 4], 2] == [0.0, 0.0, 4.0, 0.0]).all()
    # 500 hits with a standard deviation of 19.4.
    assert drawn[:, 3, 2].mean() == pytest.approx(500.0, abs=8.0)
    assert 14.0 < drawn[:, 3, 2].std() < 25.0
