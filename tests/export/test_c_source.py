"""The C source compiles without a warning and gives what predict gives."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError
from calibrant.export import to_c

GCC = shutil.which("gcc")


@pytest.mark.skipif(GCC is None, reason="needs gcc")
def test_compiled_it_gives_what_predict_gives(cases, tmp_path):
    source = "".join(to_c(case.fitted, name=f"case{j}") for j, case in enumerate(cases))
    (tmp_path / "cases.c").write_text(source, encoding="utf-8")
    flags = [
        "-std=c99",
        "-O0",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-overlength-strings",
        "-shared",
        "-fPIC",
    ]
    subprocess.run(
        [GCC, *flags, "-o", tmp_path / "cases.so", tmp_path / "cases.c", "-lm"], check=True
    )
    library = ctypes.CDLL(str(tmp_path / "cases.so"))
    for j, case in enumerate(cases):
        function, out = library[f"case{j}"], np.empty(case.expected.shape[1])
        function.restype = None
        for row, expected in zip(np.ascontiguousarray(case.rows), case.expected, strict=True):
            function(
                *[array.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for array in (row, out)]
            )
            assert np.abs(out - expected).max() < 1e-12, case.name


def test_levels_are_in_a_comment_that_they_cannot_end():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=200)
    cal = cb.GroupCalibrator().fit(p, rng.uniform(size=200) < p, groups=["*/ int main", "b"] * 100)
    source = to_c(cal)
    assert 'p[2]: {"name": "group", "levels": ["* / int main", "b"], "missing": -1} */' in source


def test_only_names_of_functions_are_taken():
    cal = cb.TemperatureScaling().fit([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [0, 1, 1])
    with pytest.raises(InputError, match="name must be letters"):
        to_c(cal, name="x(); system")
    names = "int class p pow powf sinl exp log1p NAN INFINITY M_PI signbit isnan fpclassify bool"
    for word in [*names.split(), "outputs", "NaN"]:
        with pytest.raises(InputError, match="reserved word of the language"):
            to_c(cal, name=word)
