"""``--reference``: distances to the rows that a model was trained on, from every kind of file."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import calibrant as cb
from calibrant.cli.group import group
from calibrant.errors import InputError

FEATURES = ["u", "v"]


def _run(*arguments):
    return CliRunner().invoke(group, [str(one) for one in arguments])


def _frame(n, seed, known=True):
    """Two overlapping classes in two features, and a model that knows the first one only."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame({"u": 2.0 * y + rng.normal(size=n), "v": 3.0 * y + rng.normal(size=n)})
    frame["row_id"], frame["place"], frame["y"] = np.arange(n), "north", np.where(y, "yes", "no")
    if known:
        p = 1.0 / (1.0 + np.exp(-(2.0 * frame.u - 2.0)))
        frame["p_no"], frame["p_yes"] = 1.0 - p, p
    return frame


def _as_npz(frame, path):
    arrays = {"X": frame[FEATURES].to_numpy(), "y": (frame.y == "yes").to_numpy().astype(int)}
    if "p_no" in frame:
        arrays["probabilities"] = frame[["p_no", "p_yes"]].to_numpy()
    np.savez(path, **arrays)


def _error(result):
    """The sentence that the command ends with; ``main`` prints that of an InputError."""
    assert result.exit_code != 0
    assert isinstance(result.exception, (InputError, SystemExit))
    text = str(result.exception) if isinstance(result.exception, InputError) else result.output
    return " ".join(text.split())


def _from_npz(path):
    with np.load(path) as file:
        return dict(file)


WRITE = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "parquet": lambda frame, path: frame.to_parquet(path),
    "jsonl": lambda frame, path: frame.to_json(
        path, orient="records", lines=True, double_precision=15
    ),
    "npz": _as_npz,
}
READ = {
    "csv": pd.read_csv,
    "parquet": pd.read_parquet,
    "jsonl": lambda path: pd.read_json(path, lines=True),
    "npz": _from_npz,
}


@pytest.fixture(scope="module", params=WRITE)
def files(request, tmp_path_factory):
    """(kind, {name: path}, {name: frame}) of one kind of file."""
    folder = tmp_path_factory.mktemp("reference")
    frames = {"log": _frame(400, 0), "new": _frame(150, 1), "train": _frame(300, 2, known=False)}
    paths = {name: folder / f"{name}.{request.param}" for name in frames}
    for name, frame in frames.items():
        WRITE[request.param](frame, paths[name])
    return request.param, paths, frames


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Paths of a CSV log, test rows and training rows."""
    folder = tmp_path_factory.mktemp("tables")
    made = {"log": _frame(400, 0), "test": _frame(150, 1), "train": _frame(300, 2, known=False)}
    for name, frame in made.items():
        frame.to_csv(folder / f"{name}.csv", index=False)
    return {name: folder / f"{name}.csv" for name in made}


def _said(frame):
    """The predictions, in columns named by the classes."""
    return frame[["p_no", "p_yes"]].set_axis(["no", "yes"], axis=1)


def _in_python(frames):
    """The calibrator that Python fits on the same rows."""
    log, train = frames["log"], frames["train"]
    return cb.calibrators.GeometricCalibrator().fit(
        _said(log),
        log["y"],
        X=log[FEATURES],
        reference=(train[FEATURES], train["y"]),
    )


def test_fit_and_apply_give_the_confidences_of_python(files, tmp_path):
    kind, paths, frames = files
    model, out = tmp_path / "m.calibrant", tmp_path / f"out.{kind}"
    fitted = _run(
        *("fit", paths["log"], "--method", "geometric", "--label", "y"),
        *("--reference", paths["train"], "-o", model),
    )
    assert fitted.exit_code == 0, fitted.output
    names = ["X"] if kind == "npz" else FEATURES
    assert f"300 training rows of {paths['train']} use the features {', '.join(names)}" in (
        fitted.output
    )
    assert cb.load(model).feature_names_ == names
    applied = _run("apply", model, paths["new"], "-o", out)
    assert applied.exit_code == 0, applied.output
    new = frames["new"]
    expected = _in_python(frames).predict_confidence(_said(new), X=new[FEATURES])
    np.testing.assert_allclose(READ[kind](out)["confidence"], expected, rtol=1e-12, atol=1e-14)


def test_a_calibrator_fitted_on_a_frame_in_python_is_applied_by_the_names_of_its_columns(
    files, tmp_path
):
    kind, paths, frames = files
    if kind == "npz":
        pytest.skip("an array has no names of columns")
    fitted, model, out = _in_python(frames), tmp_path / "m.calibrant", tmp_path / f"out.{kind}"
    assert fitted.feature_names_ == FEATURES
    fitted.save(model)
    assert _run("apply", model, paths["new"], "-o", out).exit_code == 0
    new = frames["new"]
    expected = fitted.predict_confidence(_said(new), X=new[FEATURES])
    np.testing.assert_allclose(READ[kind](out)["confidence"], expected, rtol=1e-12, atol=1e-14)


def test_apply_reads_the_features_of_a_large_table_in_parts(tables, tmp_path, monkeypatch):
    model, whole, parts = tmp_path / "m.calibrant", tmp_path / "a.csv", tmp_path / "b.csv"
    geometric = ("--method", "geometric", "--label", "y", "--reference", tables["train"])
    assert _run("fit", tables["log"], *geometric, "-o", model).exit_code == 0
    assert _run("apply", model, tables["test"], "-o", whole).exit_code == 0
    monkeypatch.setenv("CALIBRANT_STREAMED_ROWS", "60")
    applied = _run("apply", model, tables["test"], "-o", parts)
    assert "it is read and written in parts" in applied.output
    assert whole.read_bytes() == parts.read_bytes()
    # A fit and a report read a sample of the log, and say so; the training rows are never sampled.
    refused = _run("fit", tables["log"], *geometric, "-o", tmp_path / "c.calibrant")
    assert refused.exit_code == 2
    assert "has 300 rows, more than are held in memory" in refused.output
    monkeypatch.setenv("CALIBRANT_STREAMED_ROWS", "350")
    sampled = _run("fit", tables["log"], *geometric, "-o", tmp_path / "d.calibrant")
    assert sampled.exit_code == 0
    assert "so a seeded sample of" in sampled.output


def test_evaluate_measures_out_of_fold_on_test_rows_and_with_a_saved_calibrator(tables, tmp_path):
    geometric = ("--method", "geometric", "--label", "y", "--reference", tables["train"])
    model = tmp_path / "m.calibrant"
    assert _run("fit", tables["log"], *geometric, "-o", model).exit_code == 0
    found = {
        "out-of-fold": _run("evaluate", tables["log"], *geometric, "--json"),
        "held-out": _run("evaluate", tables["log"], *geometric, "--test", tables["test"], "--json"),
        "saved": _run("evaluate", tables["test"], "--label", "y", "--calibrator", model, "--json"),
    }
    summaries = {name: json.loads(result.stdout) for name, result in found.items()}
    losses = {
        name: next(m for m in one["metrics"] if m["key"] == "log_loss")
        for name, one in summaries.items()
    }
    assert summaries["out-of-fold"]["calibrator"]["evaluation"] == "out-of-fold"
    assert losses["held-out"]["after"]["value"] == pytest.approx(losses["saved"]["after"]["value"])
    assert losses["out-of-fold"]["change"]["meaning"] == "better"


def test_apply_explains_each_row_by_its_nearest_training_rows(files, tmp_path):
    kind, paths, frames = files
    model, out = tmp_path / "m.calibrant", tmp_path / f"out.{kind}"
    fitted = _run(
        *("fit", paths["log"], "--method", "geometric", "--label", "y"),
        *("--reference", paths["train"], "-o", model),
    )
    assert fitted.exit_code == 0, fitted.output
    applied = _run("apply", model, paths["new"], "-o", out, "--explain")
    assert applied.exit_code == 0, applied.output
    new, written = frames["new"], READ[kind](out)
    expected = _in_python(frames).explain_rows(_said(new), X=new[FEATURES])
    for name in ("separation", "same_distance", "other_distance", "confidence"):
        np.testing.assert_allclose(written[name], getattr(expected, name), rtol=1e-12, atol=1e-14)
    assert list(written["zone"]) == expected.zone.tolist()
    assert list(written["other_row"]) == expected.other_row.tolist()
    train = frames["train"]
    named = train["y"].to_numpy()[np.asarray(written["other_row"])]
    assert named.tolist() == expected.other_class.tolist()


REFUSED = {
    "method without rows": (
        ["fit", "log", "--method", "geometric"],
        "--method geometric needs the rows that the model was trained on; pass --reference TABLE",
    ),
    "rows without method": (
        ["fit", "log", "--method", "temperature", "--reference", "train"],
        "temperature scaling does not; pass --method geometric, or leave it out",
    ),
    "evaluate without method": (
        ["evaluate", "log", "--reference", "train"],
        "needs a method that measures distances to the training rows",
    ),
    "features alone": (
        ["fit", "log", "--features", "u"],
        "--features u needs the rows that the model was trained on",
    ),
    "missing column": (
        ["fit", "log", "--method", "geometric", "--reference", "train", "--features", "u,w"],
        "log.csv holds no 'w'; name one of u, v",
    ),
    "text": (
        ["fit", "log", "--method", "geometric", "--reference", "train", "--features", "place"],
        "--features must name columns of numbers",
    ),
    "one score": (
        [
            *("fit", "log", "--risk", "u", "--inputs", "score", "--positive", "yes"),
            *("--reference", "train"),
        ],
        "--reference needs predictions of classes",
    ),
    "slices": (
        ["evaluate", "log", "--by", "place", "--reference", "train"],
        "--reference needs rows, but slices are computed from sums",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_done_is_a_usage_error_with_a_remedy(case, tables, tmp_path):
    arguments, words = REFUSED[case]
    named = [tables.get(one, one) for one in arguments]
    more = ["-o", tmp_path / "m.calibrant"] if arguments[0] == "fit" else []
    result = _run(*named, "--label", "y", *more)
    assert words in _error(result)


def _other(frame):
    return frame.assign(y=np.where(frame.u > 3.0, "maybe", frame.y))


def _missing(frame):
    return frame.assign(v=np.where(frame.u > 3.0, np.nan, frame.v))


TABLES = {
    "other classes": (_other, "must be among the classes no, yes of"),
    "missing feature": (_missing, "the feature 'v' must be known in every row; row"),
    "no label": (
        lambda frame: frame.drop(columns="y"),
        "must hold the labels of the training",
    ),
    "nothing shared": (lambda frame: frame[["y", "place"]], "must share columns of numbers"),
}


@pytest.mark.parametrize("case", TABLES)
def test_training_rows_that_do_not_fit_the_log_are_refused(case, tables, tmp_path):
    change, words = TABLES[case]
    change(pd.read_csv(tables["train"])).to_csv(tmp_path / "train.csv", index=False)
    result = _run(
        *("fit", tables["log"], "--method", "geometric"),
        *("--reference", tmp_path / "train.csv", "-o", tmp_path / "m.calibrant"),
    )
    assert words in _error(result)


def test_a_file_without_the_features_of_the_calibrator_is_refused(tables, tmp_path):
    model = tmp_path / "m.calibrant"
    geometric = ("--method", "geometric", "--label", "y", "--reference", tables["train"])
    assert _run("fit", tables["log"], *geometric, "-o", model).exit_code == 0
    pd.read_csv(tables["test"]).drop(columns="v").to_csv(tmp_path / "new.csv", index=False)
    result = _run("apply", model, tmp_path / "new.csv", "-o", tmp_path / "out.csv")
    assert "GeometricCalibrator uses; it has no 'v', and lacks 1 in all" in _error(result)


def test_only_a_calibrator_of_distances_explains(tables, tmp_path):
    model = tmp_path / "m.calibrant"
    fitted = _run("fit", tables["log"], "--method", "temperature", "--label", "y", "-o", model)
    assert fitted.exit_code == 0
    result = _run("apply", model, tables["test"], "-o", tmp_path / "out.csv", "--explain")
    assert result.exit_code == 2
    assert "--explain needs a calibrator of distances to training rows" in result.output
    assert "holds a TemperatureScaling" in " ".join(result.output.split())


def test_training_rows_as_the_log_are_warned_of(tables, tmp_path):
    result = _run(
        *("fit", tables["log"], "--method", "geometric", "--label", "y"),
        *("--reference", tables["log"], "-o", tmp_path / "m.calibrant"),
    )
    assert result.exit_code == 0
    assert "each at distance 0 from itself" in result.output


def test_one_risk_of_an_event_takes_training_rows_with_several_other_labels(tmp_path):
    log, train = _frame(400, 0), _frame(300, 2, known=False)
    log = log.assign(risk=log.p_yes).drop(columns=["p_no", "p_yes"])
    for frame, name in ((log, "log"), (train, "train")):
        frame["y"] = np.where((frame.y == "no") & (frame.v < 0.0), "never", frame.y)
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    model, out = tmp_path / "m.calibrant", tmp_path / "out.csv"
    named = ("--risk", "risk", "--label", "y", "--positive", "yes")
    fitted = _run(
        *("fit", tmp_path / "log.csv", "--method", "geometric", *named),
        *("--reference", tmp_path / "train.csv", "-o", model),
    )
    assert fitted.exit_code == 0, fitted.output
    applied = _run("apply", model, tmp_path / "log.csv", "--risk", "risk", "-o", out)
    assert applied.exit_code == 0, applied.output
    P = np.column_stack([1.0 - log.risk, log.risk])
    expected = cb.calibrators.GeometricCalibrator().fit(
        P,
        log.y == "yes",
        X=log[FEATURES],
        reference=(train[FEATURES], train.y == "yes"),
    )
    risk = expected.predict_proba(P, X=log[FEATURES])[:, 1]
    np.testing.assert_allclose(pd.read_csv(out).risk, risk, rtol=1e-12)
