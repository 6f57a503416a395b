"""Run the tests that print numbers of the linear algebra once under each BLAS kernel of x86: their
last digits differ, and so does what hangs on them.

Run: python tools/kernels.py [OPTIONS OF PYTEST]  (the kernel that this processor takes by itself is
left out: the tests have just run with it)
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: OpenBLAS's names of the kernels of processors with AVX, with AVX2 and with AVX-512.
KERNELS = ("Sandybridge", "Haswell", "SkylakeX")
#: The pages, docstrings of what solves equations, tests of solvers and of extreme values.
TESTS = (
    "docs/quick_start.rst",
    "docs/guide",
    "docs/tutorials",
    "src/calibrant/calibrators",
    "src/calibrant/regression",
    "src/calibrant/monitoring",
    "tests/_numerics/test_gaussian_process.py",
    "tests/_numerics/test_gaussian_process_fit.py",
    "tests/_numerics/test_newton.py",
    "tests/core/test_calibrators.py",
    "tests/findings/test_h01_digits_of_the_processor.py",
)
#: Of the contracts of calibrators only these laws.
CHOSEN = "not test_calibrators or extreme_weights"
PROBE = """
import numpy, scipy.linalg
from threadpoolctl import ThreadpoolController
scipy.linalg.cholesky(numpy.eye(300) + numpy.ones((300, 300)) @ numpy.ones((300, 300)))
blas = ThreadpoolController().select(user_api="blas").info()
print(*sorted({library["architecture"] for library in blas}))
"""


def environment(kernel: str | None) -> dict[str, str]:
    """The environment of a process on this kernel; None: on the processor's own."""
    others = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    return others if kernel is None else others | {"OPENBLAS_CORETYPE": kernel}


def taken(kernel: str | None) -> str:
    """The kernel on which a product in a new process ran, or how that process ended."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE], env=environment(kernel), capture_output=True, text=True
    )
    return done.stdout.strip() if done.returncode == 0 else f"exit status {done.returncode}"


def reason(kernel: str, own: str) -> str | None:
    """Why the tests do not run on this kernel; None where they do."""
    if kernel == own:
        return "the tests ran with it before"
    found = taken(kernel)
    return None if found == kernel else f"a product with it ended in: {found}"


def main(options: list[str]) -> int:
    """The number of kernels on which a test fails."""
    own, failed = taken(None), 0
    print(f"This processor takes {own} by itself.")
    for kernel in KERNELS:
        if why := reason(kernel, own):
            print(f"skipped {kernel}: {why}")
            continue
        print(f"== {kernel}", flush=True)
        command = [sys.executable, "-m", "pytest", "-q", "-k", CHOSEN, *options, *TESTS]
        failed += subprocess.run(command, env=environment(kernel), cwd=ROOT).returncode != 0
    return failed


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
