"""BLAS on one thread while solving, and as it was afterwards, whatever happens inside."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from calibrant._support import solving
from calibrant._support.solving import one_blas_thread, solve


def _limits():
    return [
        library.num_threads
        for library in ThreadpoolController().select(user_api="blas").lib_controllers
    ]


@pytest.fixture(autouse=True)
def _first_call(monkeypatch):
    """The limit is on the libraries loaded by the first call: other tests may have loaded more
    since theirs.
    """
    monkeypatch.setitem(solving._state, "controller", None)


def test_nested_blocks_and_errors_restore_the_limit():
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        before = _limits()
        with one_blas_thread():
            with pytest.raises(ZeroDivisionError), one_blas_thread():
                raise ZeroDivisionError
            assert set(_limits()) == {1}
        assert _limits() == before


def test_concurrent_blocks_restore_the_limit():
    before, barrier = _limits(), Barrier(2)

    def work(_):
        with one_blas_thread():
            barrier.wait(10)
            seen = set(_limits())
            barrier.wait(10)
            return seen

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(work, range(2))) == [{1}, {1}]
    assert _limits() == before


def test_solve_minimises():
    x, status, _ = solve(lambda v: (float(v @ v), 2 * v, lambda r, relative: r / 2), np.ones(2))
    assert status == "converged"
    np.testing.assert_allclose(x, 0.0, atol=1e-12)
