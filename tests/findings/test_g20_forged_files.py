"""A forged file, whose state lacks an entry or holds another, is refused at load in one sentence
and soon (G20).
"""

import io
import json
import time
import zipfile

import numpy as np
import pytest
from tools.fuzz_load import signed

import calibrant as cb
from calibrant.errors import InputError, SavedFileError


def _problem(n=120):
    rng = np.random.default_rng(0)
    z = 2.0 * rng.normal(size=(n, 3))
    return np.exp(z) / np.exp(z).sum(axis=1, keepdims=True), (
        0.5 * z + rng.gumbel(size=z.shape)
    ).argmax(axis=1)


def _parts(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _states(node):
    """Every state in the manifest: those of the object and of its parts."""
    if isinstance(node, dict):
        if "state" in node:
            yield node["state"]
        for value in node.values():
            yield from _states(value)
    elif isinstance(node, list):
        for value in node:
            yield from _states(value)


def _forgeries(path):
    """(what is forged, the bytes of the file), under a digest that a forger wrote."""
    parts = _parts(path)
    manifest = json.loads(parts["manifest.json"])
    for state in list(_states(manifest["object"])):
        for name in list(state):
            kept = state[name]
            for what in ("nothing", "x", []):
                if what == "nothing":
                    del state[name]
                else:
                    state[name] = what
                out = io.BytesIO()
                with zipfile.ZipFile(out, "w") as archive:
                    for part, data in (
                        parts | {"manifest.json": json.dumps(signed(manifest, parts)).encode()}
                    ).items():
                        archive.writestr(part, data)
                state[name] = kept
                yield f"{name}: {what}", out.getvalue()


P, Y = _problem()
USES = {
    "sets": (
        lambda: cb.ConformalSets("aps").fit(P, Y),
        lambda one: (one.predict_set(P), one.guarantee_, repr(one)),
    ),
    "sets on a calibrator": (
        lambda: cb.ConformalSets(calibrator=cb.TemperatureScaling()).fit(P, Y),
        lambda one: (one.predict_set(P), repr(one)),
    ),
    "monitor": (
        lambda: cb.monitoring.CalibrationMonitor().update(P, Y),
        lambda one: (one.evidence_, one.p_value_, one.curve(level=None)),
    ),
    "temperature": (
        lambda: cb.TemperatureScaling().fit(P, Y),
        lambda one: (one.predict_proba(P), one.predict_confidence(P), repr(one)),
    ),
}


@pytest.mark.parametrize("name", USES)
def test_a_forged_state_is_refused_at_load_or_can_be_used(name, tmp_path):
    make, use = USES[name]
    later = []
    for what, content in _forgeries(make().save(tmp_path / "whole.calibrant")):
        path = tmp_path / "forged.calibrant"
        path.write_bytes(content)
        try:
            again = cb.load(path)
        except SavedFileError:
            continue
        try:
            use(again)
        except InputError:
            continue
        except Exception as error:
            later.append(f"{what}: {type(error).__name__}: {error}")
    assert not later, later


def test_a_forged_number_of_draws_takes_no_time_at_load(tmp_path):
    rng = np.random.default_rng(1)
    p = rng.random(80)
    gp = cb.calibrators.GaussianProcessCalibration(covariance="full", n_draws=20, n_inducing=2).fit(
        p, (rng.random(80) < p).astype(int)
    )
    parts = _parts(gp.save(tmp_path / "gp.calibrant"))
    manifest = json.loads(parts["manifest.json"])
    manifest["object"]["state"]["n_draws"] = 40_000
    with zipfile.ZipFile(tmp_path / "forged.calibrant", "w") as archive:
        for part, data in (
            parts | {"manifest.json": json.dumps(signed(manifest, parts)).encode()}
        ).items():
            archive.writestr(part, data)
    start = time.process_time()
    cb.load(tmp_path / "forged.calibrant")
    assert time.process_time() - start < 1.0
