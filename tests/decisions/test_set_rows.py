"""Options of prediction sets, at their edges."""

from typing import Any

import numpy as np
import pytest

from calibrant.decisions.set_rows import require_options
from calibrant.decisions.sets import ConformalSets
from calibrant.errors import InputError

OPTIONS: dict[str, Any] = {
    "score": "raps",
    "level": 0.9,
    "penalty": 0.1,
    "k_reg": 1,
    "share": 0.5,
    "n_bins": 256,
    "seed": 0,
}
NAMES = {"share": "fit_share", "seed": "random_state"}


@pytest.mark.filterwarnings("ignore::calibrant.errors.SparseDataWarning")
@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"penalty": 0.0},
        {"penalty": 5.0},
        {"k_reg": 0},
        {"share": 1e-6},
        {"share": 0.999999},
        {"n_bins": 257},
        {"seed": 7},
        {"level": 0.0001},
        {"level": 0.9999},
        {"penalty": None, "k_reg": None},
        *(
            {"score": score, "penalty": None, "k_reg": None}
            for score in ("lac", "aps", "margin", "top_k", "ordered")
        ),
    ],
)
def test_sets_are_made_with_options_at_the_edge_of_what_may_be(changed):
    given = {NAMES.get(name, name): value for name, value in (OPTIONS | changed).items()}
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(3), 60)
    y = (rng.random((60, 1)) > np.cumsum(P, axis=1)[:, :2]).sum(axis=1)
    fitted = ConformalSets(**given).fit(P, y)
    # No more of the classes are in the sets of a lower level, and no fewer of a higher one.
    own, low, high = (
        fitted.predict_set(P, level=level) for level in (given["level"], 0.00005, 0.99995)
    )
    assert (low <= own).all()
    assert high.all()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"penalty": -1e-9}, "penalty must be a finite number of at least 0"),
        ({"k_reg": -1}, "k_reg must be a whole number of at least 0"),
        *(
            ({"share": share}, "fit_share must be above 0 and below 1")
            for share in (0.0, 1.0, 1.5, True)
        ),
        ({"n_bins": 255}, "n_bins must be a whole number of at least 256"),
        ({"seed": -1}, "random_state must be a whole number from 0 to"),
        ({"level": 0.0}, "level"),
        ({"level": 1.0}, "level"),
        *(
            (changed, "passed together")
            for changed in (
                {"penalty": None},
                {"k_reg": None},
                {"score": "aps"},
                {"score": "lac", "penalty": None},
            )
        ),
    ],
)
def test_options_beyond_it(changed, said):
    with pytest.raises(InputError, match=said):
        require_options(**OPTIONS | changed)
