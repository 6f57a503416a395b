"""H23: the rows of --test are scored with their own labels and weights, or refused."""

import json

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics

pytest.importorskip("click")
pytest.importorskip("rich")


def drawn(seed, n=300):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.02, 0.98, n)
    return p, (rng.random(n) < p**2).astype(int)


@pytest.fixture
def files(tmp_path):
    """Calibration rows and as many test rows, as npy, npz and CSV."""
    rows = {"fit": drawn(0), "test": drawn(1)}
    for name, (p, y) in rows.items():
        np.save(tmp_path / f"{name}.npy", p)
        np.save(tmp_path / f"{name}_y.npy", y)
        np.savez(tmp_path / f"{name}.npz", probabilities=p, labels=y)
        text = "".join(f"{a!r},{b}\n" for a, b in zip(p.tolist(), y.tolist(), strict=True))
        (tmp_path / f"{name}.csv").write_text("p,label\n" + text, encoding="utf-8")
        (tmp_path / f"{name}_other.csv").write_text("p,came\n" + text, encoding="utf-8")
        bare = "".join(f"{a!r}\n" for a in p.tolist())
        (tmp_path / f"{name}_bare.csv").write_text("p\n" + bare, encoding="utf-8")
    (p, y), (new, came) = rows.values()
    return metrics.log_loss(came, cb.Platt().fit(p, y).predict(new))


METHOD = ("--method", "platt")
OF_NPY = ("fit.npy", "--label", "fit_y.npy")


@pytest.mark.parametrize("command", ["evaluate", "report"])
@pytest.mark.parametrize("fitted_on", [OF_NPY, ("fit.csv", "--label", "label"), ("fit.npz",)])
def test_h23_an_npy_file_needs_labels_of_its_own(fitted_on, command, files, run):
    more = () if command == "evaluate" else ("-o", "r.json")
    told = run(command, *fitted_on, "--test", "test.npy", *METHOD, *more, code=2).stderr
    assert "--test-label" in told


@pytest.mark.parametrize("fitted_on", [OF_NPY, ("fit.csv",), ("fit.npz",)])
@pytest.mark.parametrize(
    "test",
    [
        ("test.npy", "--test-label", "test_y.npy"),
        ("test.npz",),
        ("test.csv",),
        ("test_other.csv", "--test-label", "came"),
    ],
)
def test_h23_every_pair_of_files_is_scored_with_the_labels_of_the_test(test, fitted_on, files, run):
    told = run("evaluate", *fitted_on, "--test", *test, *METHOD, "--json").stdout
    rows = {row["key"]: row["after"]["value"] for row in json.loads(told)["metrics"]}
    assert rows["log_loss"] == pytest.approx(files, rel=1e-6)


def test_h23_a_table_without_labels_is_refused(files, run):
    told = run("evaluate", *OF_NPY, "--test", "test_bare.csv", *METHOD, code=1).stderr
    assert "test_bare.csv must hold the true labels" in told
    assert "--test-label" in told
    run("evaluate", "fit.csv", "--test", "test_bare.csv", *METHOD, code=1)


def test_h23_weights_of_other_rows_are_refused(files, run, tmp_path):
    np.save(tmp_path / "w.npy", np.ones(300))
    asked = (*OF_NPY, "--weight", "w.npy", "--test", "test.npy", *METHOD)
    told = run("evaluate", *asked, "--test-label", "test_y.npy", code=2).stderr
    assert "--test-weight" in told
    run("evaluate", *asked, "--test-label", "test_y.npy", "--test-weight", "w.npy")


def test_h23_labels_of_no_test_are_refused(files, run):
    assert "--test TABLE" in run("evaluate", "fit.csv", "--test-label", "came", code=2).stderr
