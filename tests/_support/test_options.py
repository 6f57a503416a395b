import numpy as np
import pytest

from calibrant._support.options import require_count, require_option
from calibrant.errors import InputError


def test_an_option_is_one_of_those_named():
    require_option("scale", "logit", ("logit", "probability", "auto"))
    with pytest.raises(
        InputError, match=r'^scale must be "logit", "probability" or "auto"; got None.$'
    ):
        require_option("scale", None, ("logit", "probability", "auto"))


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(200)])
def test_a_count_is_a_whole_number_of_any_kind(value):
    require_count("n_bins", value, 3)


@pytest.mark.parametrize("value", [2, 3.0, "3", None, np.float64(4)])
def test_what_is_no_count_is_refused(value):
    with pytest.raises(
        InputError, match=r"^n_bins must be a whole number of at least 3; got .*; 10 is usual.$"
    ):
        require_count("n_bins", value, 3, usual=10)


@pytest.mark.parametrize("value", [True, 0, 13, 1.0])
def test_a_count_may_have_an_upper_end(value):
    require_count("depth", 12, most=12)
    with pytest.raises(InputError, match=r"^depth must be a whole number from 1 to 12; got "):
        require_count("depth", value, most=12)
