"""A person who knows no method tries each one that ``calibrant methods`` lists, as it says."""

import re

import numpy as np
import pytest

pytest.importorskip("rich")
pandas = pytest.importorskip("pandas")
runner = pytest.importorskip("click.testing").CliRunner()


def classes(seed, n=1_500):
    """Rows of three classes that depend on two features; the model is three times too sure, more
    so in group b. The last columns are the true probabilities.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    logits = 1.5 * np.column_stack([X, -X.sum(axis=1)])
    true = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    y = (rng.random(n)[:, None] > true.cumsum(axis=1)).sum(axis=1)
    group = rng.choice(["a", "b"], n)
    said = np.exp(logits * np.where(group == "a", 2.5, 3.5)[:, None])
    said /= said.sum(axis=1, keepdims=True)
    columns = {f"p_{k}": said[:, k] for k in range(3)} | {"u": X[:, 0], "v": X[:, 1]}
    return pandas.DataFrame(columns | {"group": group, "label": y})


def forecasts(seed, n=1_500):
    """Forecasts whose standard deviations are half of the true ones, and less in group b."""
    rng = np.random.default_rng(seed)
    mean, group = rng.normal(size=n), rng.choice(["a", "b"], n)
    std = rng.uniform(0.5, 2.0, n)
    y = mean + std * rng.normal(size=n)
    columns = {"mean": mean, "std": std * np.where(group == "a", 0.5, 0.3), "group": group}
    return pandas.DataFrame(columns | {"y": y})


def _calibrant(*arguments):
    from calibrant.cli.group import group

    found = runner.invoke(group, [str(one) for one in arguments])
    assert found.exit_code == 0, found.output
    return found.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Rows to fit, new rows, and the training rows, of both worlds."""
    made = tmp_path_factory.mktemp("list")
    for seed, name in enumerate(("log", "new")):
        classes(seed).to_csv(made / f"classes_{name}.csv", index=False)
        forecasts(seed).to_csv(made / f"numbers_{name}.csv", index=False)
    classes(2)[["u", "v", "label"]].to_csv(made / "train.csv", index=False)
    return made


def listed(section):
    """(name, option in brackets) of the methods of one section, in order of the list."""
    lines = _calibrant("methods").split("\n\n")[section].splitlines()
    found = [re.fullmatch(r"    ([a-z-]+)  +.*?(?:\[(--\w+)\])?", line) for line in lines]
    return [match.groups() for match in found if match]


def used(folder, kind, name, option):
    """The new rows, calibrated by a method as the list says."""
    given = {"--groups": "group", "--reference": folder / "train.csv", None: ""}[option]
    log, new, model = (folder / f"{kind}_{part}" for part in ("log.csv", "new.csv", "m.calibrant"))
    _calibrant(
        "fit", log, "--method", name, *([option, given] if option else []), "-o", model, "--force"
    )
    out = folder / "out.csv"
    _calibrant("apply", model, new, "-o", out, "--force")
    return pandas.read_csv(new), pandas.read_csv(out)


def log_loss(frame, y):
    columns = frame[[f"p_{k}" for k in range(3)]].to_numpy()
    return -np.log(np.clip(columns[np.arange(len(y)), y], 1e-12, 1)).mean()


@pytest.mark.parametrize("section", [0, 1])
def test_each_usual_method_for_classes_helps_on_new_rows(folder, section):
    methods = listed(section)
    assert len(methods) == 5
    for name, option in methods:
        new, out = used(folder, "classes", name, option)
        y = new.label.to_numpy()
        assert log_loss(out, y) < 0.9 * log_loss(new, y), name


def test_each_usual_method_for_the_answer_helps_on_new_rows(folder):
    methods = listed(2)
    assert {name for name, _ in methods} >= {"geometric", "hoki"}
    for name, option in methods:
        new, out = used(folder, "classes", name, option)
        said = new[[f"p_{k}" for k in range(3)]].to_numpy()
        right = said.argmax(axis=1) == new.label
        before, after = said.max(axis=1), out["confidence"].to_numpy()
        assert abs(after.mean() - right.mean()) < 0.3 * abs(before.mean() - right.mean()), name


def test_each_usual_method_for_a_number_covers_what_it_says(folder):
    methods = listed(3)
    assert len(methods) == 5
    for name, option in methods:
        new, out = used(folder, "numbers", name, option)
        held = (new.y >= out["low_0.9"]) & (new.y <= out["high_0.9"])
        assert 0.85 < held.mean() < 0.95, name
