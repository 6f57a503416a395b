"""Import the package first: pytest imports a file by itself for its doctests, which would make
second copies of its classes.
"""

import sys

import pytest

import calibrant as calibrant


@pytest.fixture(autouse=True)
def close_figures():
    """Close what a test drew: with one worker, matplotlib would warn of too many open figures."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
