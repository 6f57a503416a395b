import numpy as np
from scipy import stats

from calibrant._kernels.draws import placed_codes, row_codes, uniform_of_rows


def test_draws_are_uniform_and_each_seed_has_its_own():
    P = np.random.default_rng(0).dirichlet(np.ones(3), 20_000)
    for values in (P, P.astype(np.float32), P.astype(np.float16)[:2000], (P[:, :2] * 1000).round()):
        codes = row_codes(np.unique(values, axis=0))
        draws = [uniform_of_rows(codes, seed) for seed in (0, 1)]
        assert stats.kstest(draws[0], "uniform").pvalue > 1e-3
        assert abs(np.corrcoef(*draws)[0, 1]) < 4 / np.sqrt(len(codes))


def test_a_row_has_its_draw_wherever_it_is():
    P = np.random.default_rng(0).dirichlet(np.ones(7), 40_000)
    codes = row_codes(P)
    assert (row_codes(P[30_000:30_010]) == codes[30_000:30_010]).all()
    assert (row_codes(P[:, ::-1]) == codes).all()
    assert (
        row_codes(P[:10].astype(np.float32))
        == row_codes(P[:10].astype(np.float32).astype(np.float64))
    ).all()
    assert row_codes(np.array([[0.0, 1.0]])) == row_codes(np.array([[-0.0, 1.0]]))
    draws = uniform_of_rows(codes, 3)
    assert draws.min() > 0.0
    assert draws.max() < 1.0


def test_equal_rows_have_codes_of_their_places():
    codes = placed_codes(np.full((500, 2), 0.5))
    assert len(np.unique(codes)) == 500
    assert stats.kstest(uniform_of_rows(codes, 0), "uniform").pvalue > 1e-3
    again = placed_codes(np.full((3, 2), 0.5))
    assert again.tolist() == codes[:3].tolist()
    assert row_codes(np.full((3, 2), 0.5))[0] not in codes
