"""H2: threads of BLAS and of trees waited in a loop between the small products and nodes of a fit,
and cost the time of every core.
"""

import os
import subprocess
import sys

import pytest

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
#: In a new process, as BLAS reads its number of threads when it is loaded; the others' CPU time.
PROGRAM = """
import sys, time, warnings
import numpy as np
import calibrant as cb
from calibrant._numerics.threads import set_threads

warnings.simplefilter("ignore")
set_threads(1)
rng = np.random.default_rng(0)
logits = 2.0 * rng.normal(size=(4000, 10))
y = (logits / 1.5 + rng.gumbel(size=logits.shape)).argmax(axis=1)
P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
X = rng.normal(size=(20_000, 60))
some = slice(400)
separation = cb.calibrators.FastSeparation().fit(
    P[:10], y[:10], X=X[:10], reference=(X, rng.integers(0, 10, 20_000))
)


def queries():
    for i in range(60):
        separation.score(P[i : i + 1], X=X[i : i + 1] + 0.1)


calls = {
    "process": lambda: cb.calibrators.GaussianProcessCalibration(inputs="logit").fit(
        logits[some], y[some]
    ),
    "hoki": lambda: cb.calibrators.HokiCalibrator(inputs="logit").fit(logits, y),
    "separation": queries,
    "platt": lambda: cb.Platt().fit(np.tile(P[:, 0], 5), np.tile(y == 0, 5)),
    "trees": lambda: cb.monitoring.shift_test(X[:2000, :6], X[2000:3000, :6]),
    "metric": lambda: cb.metrics.calibration_slope(np.tile(y == 0, 8), np.tile(P[:, 0], 8)),
}
call = calls[sys.argv[1]]
call()
time.sleep(0.2)
whole, own = time.process_time(), time.thread_time()
call()
own = time.thread_time() - own
time.sleep(0.2)
print(own, time.process_time() - whole - own)
"""


@pytest.mark.skipif(CORES < 2, reason="one core: BLAS has one thread anyway")
@pytest.mark.parametrize("call", ["process", "hoki", "separation", "platt", "trees", "metric"])
def test_h02_only_the_thread_of_the_call_works(call):
    limits = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    default = {name: value for name, value in os.environ.items() if name not in limits}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, call], env=default, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    own, others = map(float, done.stdout.split())
    assert others <= 0.5 * own + 0.01, f"{own:.3f} s in the call, {others:.3f} s beside it"
