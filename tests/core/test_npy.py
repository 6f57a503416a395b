import io

import numpy as np
import pytest

from calibrant.core.saving import read_npy


def stream(array, version=None):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version)
    return out.getvalue()


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.eye(3)),
        np.array(["ü", "b"]),
        np.array(2),
        np.zeros((0, 2)),
    ],
)
def test_reads_what_numpy_writes(array, version):
    data = stream(array, version)
    again = read_npy(io.BytesIO(data), len(data))
    assert again.dtype == array.dtype
    np.testing.assert_array_equal(again, array)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ((b"(2, 3), }      ", b"(2000000000,3)}"), "says shape .* and 48 are there"),
        ((b"(2, 3)", b"(2, 2)"), "32 bytes, and 48 are there"),
        ((b"\x93NUMPY", b"\x93NUMPX"), "magic"),
        ((b"'<f8'", b"'|O' "), "holds object"),
    ],
)
def test_refuses_what_is_not_there(change, match):
    data = stream(np.zeros((2, 3))).replace(*change)
    with pytest.raises(ValueError, match=match):
        read_npy(io.BytesIO(data), len(data))


def test_kinds():
    data = stream(np.array(["a"]))
    with pytest.raises(ValueError, match="holds <U1 instead"):
        read_npy(io.BytesIO(data), len(data), "f")
