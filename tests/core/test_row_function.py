"""One row through plain floats: the same numbers, and names that are used again."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.core.compiled import Compiled, row_function
from calibrant.core.expression import join, source


def test_a_row_alone_is_a_row_among_others():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(4), 200)
    y = rng.integers(0, 4, 200)
    for cal in (
        cb.calibrators.EnsembleMatrixScaling(),
        cb.OneVsRest(cb.calibrators.Spline()),
        cb.calibrators.IsotonicOneVsRest(),
        cb.AutoCalibrator(),
    ):
        run = cal.fit(P, y).compile()
        alone = np.vstack([run(row[None]) for row in P])
        assert np.abs(alone - run(P)).max() < 1e-13


def test_what_floats_refuse_arrays_answer():
    quotient = source(2).column(0) / source(2).column(1)
    x = source(2)
    run = Compiled(join([x.column(0) / x.column(1), x.exp()]))
    with np.errstate(divide="ignore", over="ignore"):
        assert run([[1.0, 0.0]]).tolist()[0][0] == np.inf
        assert run([[1000.0, 1.0]]).tolist()[0][1] == np.inf
    with pytest.raises(ZeroDivisionError):
        row_function(quotient)(1.0, 0.0)


def test_names_are_used_again_and_long_ones_left_to_arrays():
    x = source(3)
    for _ in range(300):
        x = x * 1.01 + 0.5
    function = row_function(x)
    assert len(function.__code__.co_varnames) < 20
    assert np.allclose(function(1.0, 2.0, 3.0), Compiled(x)([[1.0, 2.0, 3.0]] * 2)[0])
    for _ in range(300):
        x = x * 1.01 + 0.5
    assert row_function(x) is None
