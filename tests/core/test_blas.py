"""One thread of BLAS inside calibrant's calls, and as many as before afterwards."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from threading import Barrier

import pytest
from threadpoolctl import ThreadpoolController

from calibrant import testing
from calibrant.core import estimators as blas
from calibrant.core.estimators import FEW_NUMBERS, on_one_blas_thread, one_blas_thread
from calibrant.testing.runs import answer, fit, given, ordinary

#: Every component that is fitted, and what a component computes behind its template.
PARTS = [
    *testing.all_calibrators(),
    *testing.all_regression_calibrators(),
    *testing.every_calibrator(),
    *testing.all_maps(),
    *testing.all_signals(),
]
INNER = ("_fit", "_fit_output", "_predict", "_predict_confidence", "_predict_proba")
INNER += ("_predict_rows", "_score")


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
    monkeypatch.setitem(blas._state, "controller", None)


def test_nested_blocks_and_errors_restore_the_limit():
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        before = _limits()
        with one_blas_thread():
            with pytest.raises(ZeroDivisionError), one_blas_thread():
                raise ZeroDivisionError
            assert set(_limits()) == {1}
        assert _limits() == before


def test_a_decorated_function_keeps_its_answer_and_the_limit_through_an_error():
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        before = _limits()
        assert set(on_one_blas_thread(_limits)()) == {1}
        with pytest.raises(ValueError):
            on_one_blas_thread(int)("one")
        assert _limits() == before


def test_a_row_is_not_worth_the_limit():
    with ThreadpoolController().limit(limits=2, user_api="blas"), one_blas_thread(FEW_NUMBERS):
        assert set(_limits()) == {2}


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


def test_the_first_call_of_a_process_limits_every_library():
    program = """
import numpy as np, calibrant as cb
from threadpoolctl import ThreadpoolController
from calibrant.core import estimators as blas
cb.calibrators.Identity().fit([[0.2, 0.8]], [1])
from calibrant import calibrators, regression
import scipy.linalg
limited = blas._state["controller"].lib_controllers
every = ThreadpoolController().select(user_api="blas").lib_controllers
assert len(limited) == len(every) > 0, (limited, every)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


@pytest.mark.parametrize("part", PARTS, ids=repr)
def test_every_component_works_on_one_thread(part, monkeypatch):
    """A law for all that is registered: whatever a template calls finds the limit set."""
    limits = []

    def probed(function):
        @wraps(function)
        def probe(*args, **kwargs):
            limits.extend(library.num_threads for library in libraries)
            return function(*args, **kwargs)

        return probe

    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    for name in INNER:
        if hasattr(type(part), name):
            monkeypatch.setattr(type(part), name, probed(getattr(type(part), name)))
    held = given(part, ordinary(part)[0])
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        answer(fit(part, held), held)
        assert set(_limits()) == {2}
    assert set(limits) <= {1}, f"limits inside: {limits}"
