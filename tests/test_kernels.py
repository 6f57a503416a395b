"""The tests of the linear algebra under other kernels: which run, and why one does not."""

import subprocess

import pytest
from tools import kernels


def test_every_place_is_there():
    assert [place for place in kernels.TESTS if not (kernels.ROOT / place).exists()] == []


@pytest.mark.parametrize(
    ("found", "why"),
    [
        ("Haswell", None),
        ("SkylakeX", "ended in: SkylakeX"),
        ("exit status -4", "ended in: exit status -4"),
    ],
)
def test_a_kernel_that_the_processor_lacks_is_skipped_with_its_reason(monkeypatch, found, why):
    monkeypatch.setattr(kernels, "taken", lambda kernel: found)
    assert (kernels.reason("Haswell", "Zen") or "").endswith(why or "")
    assert (kernels.reason("Haswell", "Zen") is None) == (why is None)


def test_the_processors_own_kernel_is_left_out(monkeypatch):
    monkeypatch.setattr(kernels, "taken", lambda kernel: kernel)
    assert kernels.reason("Haswell", "Haswell") == "the tests ran with it before"


def test_the_number_of_kernels_with_failures_is_the_exit_status(monkeypatch):
    runs = []

    def run(command, env, cwd):
        runs.append(env["OPENBLAS_CORETYPE"])
        return subprocess.CompletedProcess(command, int(runs[-1] == "Haswell"))

    monkeypatch.setattr(kernels, "taken", lambda kernel: kernel or "SkylakeX")
    monkeypatch.setattr(kernels.subprocess, "run", run)
    assert kernels.main([]) == 1
    assert runs == ["Sandybridge", "Haswell"]
