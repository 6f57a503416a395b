"""A person chooses one of two models; are later rows, without labels, predicted as well?"""

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError


def risks(rng, n, spread):
    """P(event), and what two models say of it: one near, one too sure."""
    odds = rng.normal(0.0, spread, n)
    said = odds + 0.3 * rng.normal(size=n)
    return [1.0 / (1.0 + np.exp(-z)) for z in (odds, said, 2.5 * said)]


def test_a_report_of_models_says_whether_the_later_rows_are_still_predicted_as_well():
    rng = np.random.default_rng(3)
    p, near, sure = risks(rng, 2000, 2.0)
    y = (rng.random(2000) < p).astype(int)
    # Rows whose events are harder to tell apart.
    for spread, expected in ((2.0, "one is better"), (0.5, "it has changed")):
        _, *later = risks(rng, 1500, spread)
        new = dict(zip(("near", "sure"), later, strict=True))
        found = cb.report(y, {"near": near, "sure": sure}, new=new, n_resamples=100)
        content = found.to_dict()
        assert content["verdict"]["model"] == "near"
        assert content["verdict"]["state"] == expected
        assert {*content["since"]} == {"near", "sure"}
        for page in (found.to_html(), found.to_markdown()):
            assert "Since then: later rows without labels" in page
            assert content["since"]["sure"]["sentence"].split(":")[0] in page
    with pytest.raises(InputError, match="new must hold later rows of every model"):
        cb.report(y, {"near": near, "sure": sure}, new={"near": near})


def test_a_report_of_models_without_later_rows_has_none():
    content = cb.report([0, 1] * 50, {"a": [0.2, 0.7] * 50, "b": [0.5] * 100}, n_resamples=50)
    assert content.to_dict()["since"] == {}
    assert "Since then" not in content.to_html()
