import numpy as np
import pytest

from calibrant.decisions.repetitions import repetitions, require_share
from calibrant.errors import InputError


def test_whole_numbers_pass_and_others_do_not():
    assert repetitions(np.array([1.0, 3.0 + 1e-12])).tolist() == [1.0, 3.0]
    with pytest.raises(InputError, match=r"row 1 has 0\.5"):
        repetitions(np.array([1.0, 0.5]))


@pytest.mark.parametrize("value", [0, 1, -0.1, "0.1", True, None, np.nan])
def test_a_share_is_inside_0_and_1(value):
    with pytest.raises(InputError, match="risk must be above 0 and below 1"):
        require_share("risk", value)
