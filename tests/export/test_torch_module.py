"""The torch module gives what predict gives, has its gradient, and can be scripted and saved."""

import io

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError
from calibrant.export import to_torch


def test_precision_is_one_of_two():
    cal = cb.TemperatureScaling().fit([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [0, 1, 1])
    with pytest.raises(InputError, match="precision must be"):
        to_torch(cal, precision="float16")


def test_it_gives_what_predict_gives(cases):
    torch = pytest.importorskip("torch")
    for case in cases:
        off = np.abs(to_torch(case.fitted)(torch.tensor(case.rows)).numpy() - case.expected).max()
        assert off < 1e-12, f"{case.name}: {off}"


# torch warns that scripting will go; servers still load what it wrote.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_it_is_differentiable_scriptable_and_saved():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(50, 3))
    cal = cb.calibrators.StructuredMatrixScaling(inputs="logit").fit(logits, rng.integers(0, 3, 50))
    module = to_torch(cal)
    x = torch.tensor(logits[:5], requires_grad=True)
    assert torch.autograd.gradcheck(module, (x,))
    scripted, held = torch.jit.script(module), io.BytesIO()
    torch.jit.save(scripted, held)
    held.seek(0)
    with torch.no_grad():
        assert torch.equal(torch.jit.load(held)(x), module(x))
    assert to_torch(cal, precision="float32")(x.float()).dtype == torch.float32
