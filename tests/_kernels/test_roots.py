"""The safeguarded Newton iteration: its root, its bounds, and what it says."""

import numpy as np
import pytest

from calibrant._kernels.temperature import increasing_root


@pytest.mark.parametrize("root", [2e-3, 0.5, 1.0, 7.0, 900.0])
@pytest.mark.parametrize("start", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("shape", ["line", "cube", "log", "arctan"])
def test_finds_the_root_from_anywhere(shape, start, root):
    functions = {
        "line": lambda x: (x - root, 1.0),
        "cube": lambda x: (x**3 - root**3, 3 * x**2),
        "log": lambda x: (np.log(x / root), 1 / x),
        # Newton alone diverges on it.
        "arctan": lambda x: (np.arctan(50 * (x - root)), 50 / (1 + (50 * (x - root)) ** 2)),
    }
    x, status = increasing_root(functions[shape], 1e-3, 1e3, start)
    assert status == "converged"
    assert x == pytest.approx(root, rel=1e-9)


def test_stops_at_the_bounds_and_says_so():
    assert increasing_root(lambda x: (x + 1.0, 1.0), 1e-3, 1e3, 1.0) == (1e-3, "at lower bound")
    assert increasing_root(lambda x: (x - 1e9, 1.0), 1e-3, 1e3, 1.0) == (1e3, "at upper bound")
    # However little is missing there; at a bound that is the root itself nothing is.
    assert increasing_root(lambda x: (x, 1.0), 1e-3, 1e3, 1.0) == (1e-3, "at lower bound")
    assert increasing_root(lambda x: (x - 1000.1, 1.0), 1e-3, 1e3, 1.0) == (1e3, "at upper bound")
    assert increasing_root(lambda x: (x - 1e-3, 1.0), 1e-3, 1e3, 1.0) == (1e-3, "converged")
    assert increasing_root(lambda x: (x - 1e3, 1.0), 1e-3, 1e3, 1.0) == (1e3, "converged")


def test_nothing_to_learn_stays_at_the_start():
    assert increasing_root(lambda _: (0.0, 0.0), 1e-3, 1e3, 1.0) == (1.0, "flat")


def test_a_step_function_ends():
    x, status = increasing_root(lambda x: (np.sign(x - 3.0), 0.0), 1e-3, 1e3, 1.0)
    assert x == pytest.approx(3.0, rel=1e-9)
    assert status == "converged"


def test_too_few_steps_are_reported():
    assert (
        increasing_root(lambda x: (x**3 - 8.0, 3 * x**2), 1e-3, 1e3, 500.0, max_steps=2)[1]
        == "max steps"
    )
