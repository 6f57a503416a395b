"""Compute every number that users see, from one tree:
``PYTHONPATH=TREE/src python numbers_program.py FILE``.

``tools/compare_numbers.py`` runs this program on two trees. It finds each name wherever a tree
keeps it, and passes every argument whose default may change. A part that fails is stored as the
name of its error, so that one failure hides no other part.
"""

import contextlib
import importlib
import io
import json
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from calibrant import metrics

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
#: Where a tree may keep a name: the top, then the areas, then the folders from before the areas.
HOLDERS = (
    "",
    *("metrics", "calibrators", "regression", "decisions", "core", "tables", "questions"),
    *("audits", "monitoring", "displays", "reporting", "export", "testing"),
    *("scalings", "maps", "forecasts", "signals", "wrap", "select", "models", "confidence"),
    *("neighbors", "pools", "frames", "plan", "validation", "online", "shift", "comparison"),
)
out: dict[str, Any] = {}


def named(name: str) -> Any:
    """The object that a tree calls ``name``, at the top or in a subpackage; a module of that name
    is not it.
    """
    for holder in HOLDERS:
        try:
            module = importlib.import_module(f"calibrant.{holder}".rstrip("."))
        except ModuleNotFoundError:
            continue
        if not isinstance(getattr(module, name, module), ModuleType):
            return getattr(module, name)
    raise AttributeError(name)


def keep(name: str, value: Any) -> None:
    """Write a value down, whatever it is made of, each number with all its bits."""
    if isinstance(value, dict):
        for key, each in value.items():
            keep(f"{name}/{key}", each)
    elif isinstance(value, list | tuple):
        for i, each in enumerate(value):
            keep(f"{name}/{i}", each)
    elif isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        out[name] = [float(v).hex() for v in np.asarray(value, dtype=np.float64).ravel()]
    elif isinstance(value, np.ndarray):
        out[name] = [str(v) for v in value.ravel()]
    elif isinstance(value, float | np.floating):
        out[name] = float(value).hex()
    elif value is None or isinstance(value, bool | int | str | np.integer | np.bool_):
        out[name] = str(value)
    elif hasattr(value, "to_dict"):
        keep(name, value.to_dict())
    elif hasattr(value, "__dict__"):
        keep(name, {k: v for k, v in vars(value).items() if not k.startswith("_")})
    else:
        out[name] = "of another kind"


def tried(name: str, make: Callable[[], Any]) -> None:
    """Keep what ``make`` gives, or the name of its error."""
    try:
        keep(name, make())
    except Exception as error:
        out[name] = type(error).__name__


def interval(found: Any) -> list[Any]:
    """The numbers of an interval, or of several."""
    found = found if isinstance(found, list) else [found]
    return [[one.value, one.low, one.high, one.plain] for one in found]


def rest(P: np.ndarray) -> np.ndarray:
    """Probabilities without zeros."""
    return np.clip(P, 1e-6, 1.0) / np.clip(P, 1e-6, 1.0).sum(axis=1, keepdims=True)


def seeded(one: Any) -> Any:
    """The calibrator with a fixed seed."""
    if "random_state" in one.get_params():
        one.set_params(random_state=0)
    return one


def label_of(one: Any) -> str:
    """The repr of a calibrator or metric, on one line."""
    return " ".join(repr(one).split())


def kind_of(metric: Any) -> str:
    """The kind of a metric's predictions, whatever a tree calls it."""
    return metric.task if hasattr(metric, "task") else metric.domain.name


def of_classes() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """{name: (labels, probabilities)} of four models."""
    found = {}
    for name, load in (("digits", load_digits), ("breast cancer", load_breast_cancer)):
        X, y = load(return_X_y=True)
        order = np.random.default_rng(0).permutation(len(y))
        train, later = order[: len(y) // 2], order[len(y) // 2 :]
        models = {
            "forest": RandomForestClassifier(50, random_state=0),
            "naive Bayes": GaussianNB(var_smoothing=1e-3),
        }
        for title, model in models.items():
            P = rest(model.fit(X[train], y[train]).predict_proba(X[later]))
            found[f"{title} on {name}"] = (y[later], P)
    return found


def of_numbers() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(outcomes, means, standard deviations)."""
    X, y = load_diabetes(return_X_y=True)
    model = GaussianProcessRegressor(RBF() + WhiteKernel(), normalize_y=True).fit(X[:200], y[:200])
    mean, std = model.predict(X[200:], return_std=True)
    return y[200:], mean, std


def of_events(
    n: int = 1200, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(events, risks, groups, clusters) of a model that is too bold."""
    rng = np.random.default_rng(seed)
    z, group = rng.normal(-1.0, 1.5, n), rng.choice(["north", "south", "west"], n)
    truth = 1.0 / (1.0 + np.exp(-(0.7 * z + 0.5 * (group == "west"))))
    y = (rng.random(n) < truth).astype(int)
    return y, 1.0 / (1.0 + np.exp(-z)), group, rng.integers(80, size=n)


def calibrators() -> None:
    """The predictions of every calibrator."""
    for name, (y, P) in of_classes().items():
        half = len(y) // 2
        for one in named("all_calibrators")():
            tags = one.tags
            if tags.uses_features or tags.needs_reference or one.inputs != "probability":
                continue
            fit = seeded(one).fit
            tried(
                f"calibrator/{name}/{label_of(one)}",
                lambda fit=fit, P=P, y=y, half=half: fit(P[:half], y[:half]).predict_proba(
                    P[half:]
                )[:50],
            )
    y, mean, std = of_numbers()
    for one in named("all_regression_calibrators")():
        fit = seeded(one).fit
        tried(
            f"regression calibrator/{label_of(one)}",
            lambda fit=fit: (
                fit((mean[:120], std[:120]), y[:120]).predict(mean[120:], std[120:]).interval(0.9)
            ),
        )


def all_metrics_() -> None:
    """Every metric and its interval."""
    y, mean, std = of_numbers()
    predictions = of_classes()
    for metric in named("all_metrics")():
        cases: dict[str, Any] = {f"{name}/": case for name, case in predictions.items()}
        if kind_of(metric) == "regression":
            cases = {"": (y, mean, std)}
        elif kind_of(metric) == "joint":
            cases = {"": (y[:, None], mean[:, None], np.square(std)[:, None, None])}
        elif kind_of(metric) == "sets":
            cases = {f"{name}/": (labels, P >= 0.1) for name, (labels, P) in predictions.items()}
        for name, case in cases.items():
            tried(f"metric/{name}{label_of(metric)}", lambda m=metric, c=case: m(*c))
            tried(
                f"interval/{name}{label_of(metric)}",
                lambda m=metric, c=case: interval(m.interval(*c, n_resamples=100)),
            )


def reports() -> None:
    """Reports of classes, events, error bars, groups, clusters and weights."""
    for name, (y, P) in of_classes().items():
        for title, one in (("", None), (" of temperature", named("TemperatureScaling")())):
            keep(
                f"report{title}/{name}",
                named("report")(y, P, calibrator=one, n_resamples=200, level=0.95).to_dict(),
            )
    y, mean, std = of_numbers()
    for title, one in (("", None), (" of std scaling", named("StdScaling")())):
        keep(
            f"report{title}/diabetes",
            named("report")(y, mean, std, calibrator=one, n_resamples=200).to_dict(),
        )
    y, p, groups, cluster = of_events()
    given = {"calibrator": named("Platt")(), "n_resamples": 100}
    weight = np.random.default_rng(1).lognormal(0.0, 0.7, len(y))
    options: dict[str, dict[str, Any]] = {
        "groups": {"groups": groups},
        "cluster": {"cluster": cluster},
        "weights": {"sample_weight": weight, "weight_kind": "sampling"},
        "costs": {"cost_false_positive": 1.0, "cost_false_negative": 5.0},
    }
    for title, more in options.items():
        tried(
            f"report with {title}",
            lambda more=more: named("report")(y, p, **given, **more).to_dict(),
        )


def decisions() -> None:
    """Rules, sets and their guarantees."""
    y, P = of_classes()["forest on digits"]
    half = len(y) // 2
    fit, new = (P[:half], y[:half]), P[half:]
    for bound in ("auto", "betting"):
        rule = named("SelectiveClassifier")(risk=0.1, confidence=0.95, bound=bound)
        tried(f"decisions/selective/{bound}", lambda r=rule: r.fit(*fit).accept(new))
        tried(f"decisions/certificate/{bound}", lambda r=rule: vars(r.certificate_))
    for score in ("lac", "aps", "raps", "margin", "top_k"):
        for by in (None, "class"):
            sets = named("ConformalSets")(score, 0.9, by=by, random_state=0)
            tried(f"decisions/sets/{score}/{by}", lambda s=sets: s.fit(*fit).predict_set(new))
            tried(f"decisions/p values/{score}/{by}", lambda s=sets: s.p_values(new)[:40])
    rule = named("ConformalRiskControl")(0.1, "top_k")
    tried("decisions/risk control/top_k", lambda: rule.fit(*fit).predict_set(new))
    several = (np.random.default_rng(6).random(P.shape) < P).astype(int)
    labels = named("ConformalRiskControl")(0.2, "missed_labels")
    tried(
        "decisions/risk control/missed_labels",
        lambda: labels.fit(P[:half], several[:half]).predict_set(new),
    )
    y, p, _, _ = of_events()
    rule = named("NeymanPearsonClassifier")(0.2, confidence=0.9)
    tried("decisions/neyman pearson", lambda: rule.fit(p[:800], y[:800]).decide(p[800:]))
    tried(
        "decisions/threshold",
        lambda: named("decision_threshold")(
            y, p, cost_false_positive=1.0, cost_false_negative=4.0, level=0.95, random_state=0
        ).to_dict(),
    )
    costs = named("ExpectedCost")([[0.0, 5.0], [1.0, 0.0]])
    tried("decisions/expected cost", lambda: costs.decide(np.column_stack([1 - p, p]))[:60])
    losses = np.random.default_rng(2).random((600, 12)) < np.linspace(0.02, 0.2, 12)
    tried(
        "decisions/settings",
        lambda: vars(named("certified_settings")(losses.astype(float), 0.1, 0.9)),
    )


def groups() -> None:
    """Audits, repairs of groups, and slices."""
    y, p, group, cluster = of_events()
    age = np.random.default_rng(3).integers(18, 90, len(y))
    columns = pd.DataFrame({"site": group, "age": age})
    for null in ("strong", "weak"):
        for control in ("any", "share"):
            tried(
                f"audit/{null}/{control}",
                lambda null=null, control=control: (
                    named("audit")(
                        y, p, columns, null=null, control=control, n_draws=300, random_state=0
                    )
                    .frame()
                    .select_dtypes("number")
                    .to_numpy()
                ),
            )
    tried(
        "audit/cluster",
        lambda: (
            named("audit")(y, p, columns, cluster=cluster, n_draws=300, random_state=0)
            .frame()
            .select_dtypes("number")
            .to_numpy()
        ),
    )
    for name in ("GroupCalibrator", "Multicalibration"):
        one = seeded(named(name)(named("Platt")()))
        tried(
            f"groups/{name}",
            lambda one=one: one.fit(p, y, groups=group).predict_proba(p[:60], groups=group[:60]),
        )
    z, mean, std = of_numbers()
    half = np.where(mean > np.median(mean), "high", "low")
    for name in ("ForecastGroupCalibrator", "ForecastMulticalibration"):
        one = seeded(named(name)(named("StdScaling")()))
        tried(
            f"groups/{name}",
            lambda one=one: (
                one.fit((mean, std), z, groups=half).predict(mean, std, groups=half).interval(0.9)
            ),
        )


def comparisons() -> None:
    """Compare, tests, curves, pooling and planning."""
    y, p, _, cluster = of_events()
    both = {"as is": p, "flat": 0.5 * p + 0.2}
    for name, more in (("rows", {}), ("clusters", {"cluster": cluster})):
        tried(
            f"compare/{name}",
            lambda more=more: [
                vars(row)
                for row in metrics.compare(
                    y, both, metrics=[metrics.log_loss, metrics.event_brier_score], **more
                ).rows
            ],
        )
    for test in ("spiegelhalter_test", "calibration_equivalence_test"):
        tried(f"tests/{test}", lambda test=test: vars(getattr(metrics, test)(y, p)))
    tried(
        "tests/calibration_error_test",
        lambda: vars(
            metrics.calibration_error_test(
                metrics.expected_calibration_error, y, p, n_draws=300, random_state=0
            )
        ),
    )
    for curve in ("reliability_curve", "loess_curve", "decision_curve", "risk_distribution"):
        tried(f"curves/{curve}", lambda curve=curve: vars(getattr(metrics, curve)(y, p)))
    tried(
        "plan/validation",
        lambda: [
            one.rows
            for one in named("validation_size")(prevalence=0.1, auroc=0.8, beta=(0.5, 4.5)).criteria
        ],
    )
    X = np.random.default_rng(4).normal(size=(150, 3))
    hit = (X[:, 0] + np.random.default_rng(5).normal(size=150) > 0).astype(int)
    tried(
        "validate",
        lambda: named("validate")(
            LogisticRegression(), X, hit, n_resamples=20, random_state=0
        ).to_dict(),
    )
    for metric in (metrics.log_loss, metrics.event_auroc, metrics.observed_expected_ratio):
        for name, more in (
            ("cluster", {"cluster": cluster}),
            ("sampling", {"sample_weight": 0.5 + p, "weight_kind": "sampling"}),
        ):
            tried(
                f"interval with {name}/{label_of(metric)}",
                lambda m=metric, more=more: interval(m.interval(y, p, n_resamples=100, **more)),
            )


def tables() -> None:
    """Frames, files and engines."""
    y, p, group, _ = of_events()
    frame = pd.DataFrame({"label": y, "risk": p, "site": group})
    options: dict[str, Any] = {"label": "label", "by": ["site"], "n_bins": 15, "target": "event"}
    holders: dict[str, Callable[[], Any]] = {"pandas": lambda: frame}
    with contextlib.suppress(ImportError):
        polars = importlib.import_module("polars")
        holders["polars"] = lambda: polars.from_pandas(frame)
    with contextlib.suppress(ImportError):
        arrow = importlib.import_module("pyarrow")
        holders["arrow"] = lambda: arrow.Table.from_pandas(frame)
    for name, holder in holders.items():
        tried(
            f"tables/evaluate/{name}",
            lambda holder=holder: named("evaluate")(holder(), score="risk", **options).to_dict(),
        )
    fitted = named("OneVsRest")(named("Platt")()).fit(p[:600], y[:600])
    both = frame.assign(p_0=1.0 - p, p_1=p)[["p_0", "p_1"]]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out.parquet"
        tried(
            "tables/apply",
            lambda: (
                pd.read_parquet(named("apply")(fitted, both, path, probabilities=["p_0", "p_1"]))
                .select_dtypes("number")
                .to_numpy()
            ),
        )


def exports() -> None:
    """Every form of export, as text, and files read again."""
    y, p, group, _ = of_events()
    P = np.column_stack([1.0 - p, p])
    fitted = {
        "temperature": named("TemperatureScaling")().fit(P, y),
        "isotonic": named("OneVsRest")(named("Isotonic")()).fit(P, y),
        "beta": named("OneVsRest")(named("Beta")()).fit(P, y),
        "groups": named("GroupCalibrator")(named("Platt")()).fit(P, y, groups=group),
    }
    for name, one in fitted.items():
        for form in ("to_json", "to_c", "to_javascript"):
            tried(f"export/{form}/{name}", lambda f=form, one=one: named(f)(one))
        columns = ["p0", "p1"]
        more = {"groups": ["site"]} if name == "groups" else {}
        tried(
            f"export/to_sql/{name}",
            lambda one=one, more=more, columns=columns: named("to_sql")(
                one, columns=columns, table="t", dialect="duckdb", **more
            ),
        )
        tried(
            f"export/onnx/{name}", lambda one=one: named("to_onnx")(one).SerializeToString().hex()
        )
        with tempfile.TemporaryDirectory() as folder:
            more = {"groups": group[:50]} if name == "groups" else {}
            path = Path(folder) / "one.calibrant"
            tried(
                f"saved/{name}",
                lambda one=one, path=path, more=more: (
                    one.save(path) and named("load")(path).predict_proba(P[:50], **more)
                ),
            )


def streams() -> None:
    """Monitoring by rows, by batches and over time."""
    y, p, _, _ = of_events(2400)
    monitor = named("CalibrationMonitor")(alpha=0.05, tolerance=0.01, n_bins=15, target="event")
    for k in range(24):
        rows = slice(100 * k, 100 * (k + 1))
        tried(f"monitor/{k}", lambda rows=rows: vars(monitor.update(p[rows], y[rows])))
    when = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(2400) // 100, unit="D")
    frame = pd.DataFrame({"label": y, "risk": p, "when": when})
    tried(
        "monitor/over time",
        lambda: named("monitor")(
            named("evaluate")(frame, score="risk", label="label", time="when", every="day"),
            alpha=0.05,
        ).to_dict(),
    )
    tried(
        "rolling",
        lambda: vars(
            named("rolling_evaluation")(
                named("OneVsRest")(named("Platt")()), p, y, times=when, n_splits=4
            )
        ),
    )


def commands() -> None:
    """The numbers that each command prints or writes."""
    from calibrant.cli.main import main

    y, p, group, cluster = of_events()
    frame = pd.DataFrame({"label": y, "risk": p, "site": group, "patient": cluster})
    frame["when"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(len(y)) // 60, unit="D")
    z, mean, std = of_numbers()
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        frame.to_csv(here / "log.csv", index=False)
        frame.to_parquet(here / "log.parquet")
        pd.DataFrame({"y": z, "mean": mean, "std": std}).to_csv(here / "bars.csv", index=False)
        log, model = str(here / "log.csv"), str(here / "model.calibrant")
        read = ("--risk", "risk", "--label", "label")
        bars = ("--mean", "mean", "--std", "std", "--label", "y")
        calls: Iterable[tuple[str, ...]] = (
            ("evaluate", log, *read),
            ("evaluate", str(here / "log.parquet"), *read),
            ("evaluate", log, *read, "--by", "site"),
            ("evaluate", log, *read, "--cluster", "patient"),
            ("evaluate", str(here / "bars.csv"), *bars),
            ("report", log, *read, "-o", str(here / "page.json")),
            ("fit", log, *read, "--method", "beta", "-o", model),
            ("apply", model, log, "--risk", "risk", "-o", str(here / "out.csv")),
            ("decide", log, *read, "--max-error", "0.3", "-o", str(here / "rule.calibrant")),
            ("audit", log, *read, "--groups", "site"),
            ("monitor", log, *read, "--time", "when"),
            ("export", model, "-o", str(here / "model.json")),
            ("methods",),
        )
        for call in calls:
            name = " ".join(one.replace(folder, "") for one in call)
            tried(f"command/{name}", lambda call=call: numbers_printed(main, call, folder))
        for written in ("page.json", "out.csv", "model.json"):
            tried(f"written/{written}", lambda w=written: numbers_in((here / w).read_text("utf-8")))


def numbers_printed(main: Callable[[list[str]], Any], call: tuple[str, ...], folder: str) -> Any:
    """The numbers of what a command prints, and its exit code."""
    text, code = io.StringIO(), 0
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        try:
            main(list(call))
        except SystemExit as stop:
            code = stop.code or 0
    return {"code": str(code), "numbers": numbers_in(text.getvalue().replace(folder, ""))}


def numbers_in(text: str) -> np.ndarray:
    """The numbers of a text, in their order."""
    return np.array([float(one) for one in NUMBER.findall(text)])


PARTS = (
    calibrators,
    all_metrics_,
    reports,
    decisions,
    groups,
    comparisons,
    tables,
    exports,
    streams,
    commands,
)

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asked = sys.argv[2:]
    for part in PARTS:
        if not asked or part.__name__.strip("_") in asked:
            part()
    Path(sys.argv[1]).write_text(json.dumps(out), encoding="utf-8")
