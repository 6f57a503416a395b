"""G25: a page never says that there is no shift above a shift that it shows."""

import re

import numpy as np
import pytest

import calibrant as cb

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
#: A shift that is more than chance (p below .05) and too small for a caution.
SMALL = r"Shift of the (?:rate|risks|classes|confidences)</dt><dd>[\d.]+ \(p ([\d.e-]+)\)"


def page(seed, n, rate):
    rng = np.random.default_rng(seed)

    def rows(base):
        p = 1.0 / (1.0 + np.exp(-rng.normal(base, 1.0, n)))
        return (rng.random(n) < p).astype(int), p

    y, p = rows(0.0)
    return cb.report(
        y, p, test=rows(rate), calibrator=cb.TemperatureScaling(), n_resamples=100
    ).to_html()


def test_g25_no_shift_is_said_only_where_none_is_shown():
    html = page(3, 4000, 0.1)
    found = [float(p) for p in re.findall(SMALL, html)]
    assert len(found) == 2
    assert max(found) < 0.05
    assert "no shift between calibration and test" not in html
    assert "differ by more than chance, but too little to matter" in html
