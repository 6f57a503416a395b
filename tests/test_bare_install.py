"""The core works with NumPy, SciPy and scikit-learn alone, and importing it loads nothing else.

Each test runs in a fresh interpreter, where the optional libraries cannot be found.
"""

import subprocess
import sys
import textwrap
from pathlib import Path

SRC = Path(__file__).resolve().parent.parent / "src"
OPTIONAL = (
    "pandas",
    "polars",
    "pyarrow",
    "duckdb",
    "matplotlib",
    "jinja2",
    "click",
    "rich",
    "torch",
    "IPython",
    "pytest",
    "hypothesis",
    "pyspark",
    "dask",
    "ray",
    "onnx",
    "onnxruntime",
    "skops",
)

BLOCK = f"""
import sys, warnings
warnings.simplefilter("error")
sys.path.insert(0, {str(SRC)!r})
OPTIONAL = {OPTIONAL!r}

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in OPTIONAL:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""


def _run(code, *arguments, block=True):
    head = (
        BLOCK
        if block
        else f"import sys\nsys.path.insert(0, {str(SRC)!r})\nOPTIONAL = {OPTIONAL!r}\n"
    )
    program = head + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_main_job_needs_no_optional_library(tmp_path):
    out = _run(
        """
        import numpy as np
        import calibrant as cb
        from calibrant import metrics

        rng = np.random.default_rng(0)
        logits = rng.normal(size=(300, 3)) * 3
        y = np.array([rng.choice(3, p=p) for p in np.exp(logits / 2) / np.exp(logits / 2).sum(1, keepdims=True)])
        cal = cb.TemperatureScaling(inputs="logit").fit(logits, y)
        Q = cal.predict_proba(logits)
        assert metrics.log_loss(y, Q) < metrics.log_loss(y, logits, inputs="logit")
        interval = metrics.expected_calibration_error.interval(y, Q, n_resamples=20)
        assert interval.low <= interval.high
        assert len(metrics.reliability_curve(y, Q).n)
        cal.save(sys.argv[1])
        assert (cb.load(sys.argv[1]).predict_proba(logits) == Q).all()
        print("done", sorted(name for name in OPTIONAL if name in sys.modules))
        """,
        tmp_path / "model.calibrant",
    )
    assert out.strip() == "done []"


def test_every_calibrator_fits_without_optional_libraries():
    out = _run("""
        import numpy as np
        import calibrant as cb
        from calibrant.core.estimators import offered

        rng = np.random.default_rng(0)
        P = rng.dirichlet(np.ones(2), size=200)
        y = (rng.random(200) < P[:, 1]).astype(int)
        warnings.simplefilter("ignore")
        fitted = 0
        for cls in offered(cb.core.Calibrator):
            for example in cls._examples():
                if example.inputs == "probability" and not (example.tags.uses_features or example.tags.needs_reference):
                    given = {"groups": y} if example.tags.uses_groups else {}
                    example.fit(P, y, **given).predict_proba(P, **given)
                    fitted += 1
        assert fitted >= 3
        print("done")
        """)
    assert out.strip() == "done"


def test_a_missing_library_is_named_with_its_feature_and_command():
    out = _run("""
        from calibrant import metrics
        try:
            metrics.reliability_curve([0, 1], [0.2, 0.7]).frame()
        except ImportError as error:
            print(type(error).__name__, error)
        """)
    assert out.startswith("MissingDependencyError")
    assert "pandas" in out
    assert "pip install 'calibrant[" in out


def test_importing_calibrant_loads_no_optional_library():
    """Where they are installed too. scikit-learn itself loads pandas where there is one, so what
    it brings does not count.
    """
    out = _run(
        """
        import sklearn.isotonic, scipy.optimize, scipy.stats
        before = set(sys.modules)
        import calibrant
        new = {name.split(".")[0] for name in set(sys.modules) - before}
        print(sorted(new & set(OPTIONAL)), sorted(new - {"calibrant"} - set(sys.stdlib_module_names)))
        """,
        block=False,
    )
    optional, other = out.strip().split("] [")
    assert optional == "["
    # scikit-learn and SciPy may load more of themselves; nobody else may come.
    assert {name.strip("' ]") for name in other.split(",")} <= {
        "",
        "numpy",
        "scipy",
        "sklearn",
        "threadpoolctl",
        "joblib",
        "narwhals",
    }


def test_importing_calibrant_never_loads_the_heavy_ones():
    out = _run(
        "import calibrant\nprint([n for n in OPTIONAL if n in sys.modules and n not in ('pandas',"
        " 'pyarrow')])",
        block=False,
    )
    assert out.strip() == "[]"


def test_a_browsers_python_without_threads_processes_and_locks_does_the_main_job(tmp_path):
    """Emscripten simulated: modules that are not there cannot be imported, and no thread starts."""
    out = _run(
        """
        import threading
        import numpy as np
        import scipy.optimize, scipy.special, scipy.stats, sklearn.base, sklearn.isotonic, sklearn.utils

        def refused(*_):
            raise RuntimeError("can't start new thread")

        sys.platform, threading.Thread.start = "emscripten", refused
        for name in ("fcntl", "multiprocessing", "_multiprocessing", "_posixsubprocess", "resource", "termios", "grp", "pwd", "ssl"):
            sys.modules[name] = None
        import calibrant as cb
        from calibrant import export, metrics
        from calibrant._numerics.threads import get_threads, set_threads

        set_threads(4)
        assert get_threads() == 1
        rng = np.random.default_rng(0)
        logits = 3.0 * rng.normal(size=(3_000, 4))
        y = (logits / 2.0 + rng.gumbel(size=logits.shape)).argmax(axis=1)
        for kind in (cb.AutoCalibrator, cb.calibrators.StructuredMatrixScaling, cb.OneVsRest, cb.ConfidenceCalibrator):
            cal = kind(inputs="logit")
            Q = cal.fit(logits, y).predict_proba(logits)
            assert metrics.log_loss(y, Q) < metrics.log_loss(y, logits, inputs="logit")
        assert metrics.expected_calibration_error.interval(y, Q, n_resamples=20).low >= 0.0
        found = cb.report(y[:500], Q[:500], n_resamples=20)
        cal.save(sys.argv[1])
        assert (cb.load(sys.argv[1]).predict_proba(logits) == Q).all()
        assert "export function" in export.to_javascript(cal)
        print("done")
        """,
        tmp_path / "model.calibrant",
    )
    assert out.split()[-1] == "done"
