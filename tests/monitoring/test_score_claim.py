"""What a reference lets a monitor claim."""

import numpy as np
import pytest

from calibrant._kernels.intervals import clopper_pearson
from calibrant.errors import InputError
from calibrant.monitoring.score_claim import ScoreClaim, learned_band


def test_the_band_is_that_of_all_bins_together_and_claims_nothing_where_no_row_was():
    low, high = learned_band(np.array([[100.0, 90.0, 80.0], [0.0, 0.0, 0.0], [50.0, 10.0, 12.0]]), 0.1, 0.02)
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
