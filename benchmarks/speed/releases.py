"""Time kernels, compare them with stored releases: ``python benchmarks/speed/releases.py``.

Every time is a ratio to another library or to a fixed piece of NumPy or Python in the same run, the
least CPU time of several turns each, so that ratios of one machine can be compared over years.
Exits with 1 if a ratio is more than 20 % above that of the last stored release on a machine of the
same kind (or any, if there is none). ``--store NAME`` adds the ratios to ``releases.json``.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.isotonic import IsotonicRegression

import calibrant as cb

STORED = Path(__file__).with_name("releases.json")
#: A ratio may be so many times the one before.
ALLOWED = 1.2


def rows(n, n_classes, seed=0):
    """(P, y) of an overconfident model."""
    rng = np.random.default_rng(seed)
    logits = 2.0 * rng.standard_normal((n, n_classes), dtype=np.float32).astype(np.float64)
    logits[np.arange(n), rng.integers(0, n_classes, n)] += 2.0
    y = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    P = np.exp(1.6 * (logits - logits.max(axis=1, keepdims=True)))
    return P / P.sum(axis=1, keepdims=True), y


def arrays():
    """A fixed piece of work on arrays: exponentials, sorting and products."""
    A = np.linspace(-3.0, 3.0, 400_000).reshape(2_000, 200)
    np.exp(A).sum(axis=1)
    np.argsort(np.sin(1e6 * A.ravel()))
    return A.T @ A


def loop():
    """A fixed piece of work of the interpreter."""
    total = 0.0
    for k in range(20_000):
        total += (k % 7) * 0.5


def often(function, times=200):
    """The function, several times."""

    def run():
        for _ in range(times):
            function()

    return run


def process(statement):
    """A new interpreter that runs the statement and prints its CPU seconds."""
    code = f"import time; start = time.process_time(); {statement}"
    code += "; print(time.process_time() - start)"

    # Byte code is kept apart from the sources, and read from the second time on.
    kept = {
        "PYTHONPYCACHEPREFIX": f"{tempfile.gettempdir()}/calibrant",
        "PYTHONDONTWRITEBYTECODE": "",
    }

    def run():
        command, environment = [sys.executable, "-c", code], {**os.environ, **kept}
        out = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        return float(out.stdout)

    return run


def part(name, *folders):
    """A component by its name, wherever this version offers it."""
    return next(getattr(folder, name) for folder in (cb, *folders) if hasattr(folder, name))


def kernels():
    """Name -> (what is timed, its measure, turns)."""
    (P, y), (P100, y100), (P2, y2) = rows(5_000, 10), rows(3_000, 100), rows(200_000, 2)
    logits, label = np.log(rows(8_000, 500)[0]).astype(np.float32), rows(8_000, 500)[1]
    score, hit = P2[:, 1], y2.astype(float)
    tempered, choice = cb.TemperatureScaling().fit(P, y), cb.AutoCalibrator().fit(P, y)
    compiled = {name: one.compile() for name, one in (("t", tempered), ("a", choice))}
    isotonic, platt = part("Isotonic", cb.calibrators), part("Platt", cb.calibrators)
    ems, sms = (part(f"{name}MatrixScaling", cb.calibrators) for name in ("Ensemble", "Structured"))
    one = P[:1]
    return {
        "temperature, 8,000 x 500": (
            lambda: cb.TemperatureScaling(inputs="logit").fit(logits, label),
            lambda: np.exp(logits).sum(axis=1),
            7,
        ),
        "isotonic, 200,000": (
            lambda: isotonic().fit(score, hit),
            lambda: IsotonicRegression(out_of_bounds="clip").fit(score, hit),
            7,
        ),
        "Platt, 200,000": (lambda: platt().fit(score, hit), arrays, 7),
        "SMS, 3,000 x 100": (lambda: sms().fit(P100, y100), arrays, 5),
        "EMS, 5,000 x 10": (lambda: ems().fit(P, y), arrays, 5),
        "automatic, 5,000 x 10": (lambda: cb.AutoCalibrator().fit(P, y), arrays, 5),
        "automatic, 60,000 x 2": (
            lambda: cb.AutoCalibrator().fit(P2[:60_000], y2[:60_000]),
            arrays,
            3,
        ),
        "row of temperature": (often(lambda: tempered.predict_proba(one)), loop, 15),
        "row of automatic": (often(lambda: choice.predict_proba(one), 20), loop, 15),
        "row of temperature, compiled": (often(lambda: compiled["t"](one)), loop, 15),
        "row of automatic, compiled": (often(lambda: compiled["a"](one)), loop, 15),
        "report with a temperature": (
            lambda: cb.report(y, P, calibrator=cb.TemperatureScaling()).to_html(),
            arrays,
            5,
        ),
        "import": (process("import calibrant"), process("import numpy"), 7),
        "first use": (
            process("import calibrant; calibrant.AutoCalibrator()"),
            process("import sklearn.isotonic, scipy.optimize"),
            7,
        ),
    }


def seconds(function):
    """CPU seconds of a call, or those that it returns."""
    start = time.process_time()
    result = function()
    return result if isinstance(result, float) else time.process_time() - start


def ratio(ours, base, turns):
    """Least time of ``ours`` over that of ``base``, which take turns."""
    base(), ours()
    times = [(seconds(ours), seconds(base)) for _ in range(turns)]
    mine, its = (min(column) for column in zip(*times, strict=True))
    return mine / its


def machine():
    """The processor, by name where the system tells it."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    name = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "")
    return name or platform.processor() or platform.machine()


def last_of(stored, where):
    """The last stored release on this machine, or on any; None without one."""
    here = [one for one in stored if one["machine"] == where]
    return next(reversed(here or stored), None)


def slower(now, before, allowed=ALLOWED):
    """Names of the kernels whose ratio is above ``allowed`` times the one before."""
    return [name for name, value in now.items() if value > allowed * before.get(name, np.inf)]


def main():
    """Print the table of all releases; exit 1 where a kernel got slower."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", metavar="NAME", help="add these ratios under a release's name")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    stored = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else []
    now = {name: round(ratio(*kernel), 4) for name, kernel in kernels().items()}
    before = last_of(stored, machine())
    worse = [] if before is None else slower(now, before["ratios"])
    print(f"{'ratio of CPU times':34}" + "".join(f"{one['release']:>16}" for one in stored), " now")
    for name, value in now.items():
        past = "".join(f"{one['ratios'].get(name, np.nan):16.3f}" for one in stored)
        print(f"{name:34}{past}{value:10.3f}{'  SLOWER' if name in worse else ''}")
    if options.store:
        kept = [one for one in stored if one["release"] != options.store]
        kept.append({"release": options.store, "machine": machine(), "ratios": now})
        STORED.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return int(bool(worse))


if __name__ == "__main__":
    sys.exit(main())
