"""A person chooses one of three models, and asks for whom it is wrong, from two pages."""

import json

import numpy as np
import pytest

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
pandas = pytest.importorskip("pandas")
runner = pytest.importorskip("click.testing").CliRunner()


def _calibrant(*arguments):
    from calibrant.cli.group import group

    found = runner.invoke(group, [str(one) for one in arguments])
    assert found.exit_code == 0, found.output


@pytest.fixture(scope="module", params=range(3))
def folder(request, tmp_path_factory):
    """Folder with the rows of three models. The true risk is ``near``, but for 20 points more in
    the north; ``noisy`` is much worse, and ``twin`` differs from ``near`` by nothing that matters.
    """
    rng, n = np.random.default_rng(request.param), 6_000
    near, north = rng.uniform(0.1, 0.7, n), rng.random(n) < 0.25
    frame = pandas.DataFrame(
        {
            "near": near,
            "twin": np.clip(near + rng.normal(0.0, 1e-3, n), 0.0, 1.0),
            "noisy": np.clip(near + rng.normal(0.0, 0.3, n), 0.01, 0.99),
            "place": np.where(north, "north", "south"),
            "sex": rng.choice(["f", "m"], n),
            "y": (rng.random(n) < near + 0.2 * north).astype(int),
        }
    )
    made = tmp_path_factory.mktemp("pages")
    frame.to_csv(made / "log.csv", index=False)
    return made


def _asked(folder, name, *arguments):
    """Return the content of the page that the command writes, and the page."""
    for suffix in ("json", "html"):
        _calibrant(*arguments, "--label", "y", "-o", folder / f"{name}.{suffix}")
    page = (folder / f"{name}.html").read_text("utf-8")
    return json.loads((folder / f"{name}.json").read_text("utf-8")), page


def test_the_worse_model_is_left_and_twins_are_not_ranked(folder):
    log, risks = folder / "log.csv", ("--risk", "near", "--risk", "noisy")
    found, page = _asked(folder, "two", "compare", log, *risks)
    assert found["verdict"]["action"] == "Use near."
    assert "Use near." in page
    found, _ = _asked(folder, "twins", "compare", log, "--risk", "near", "--risk", "twin")
    assert found["verdict"]["state"] == "no clear difference"


def test_the_north_is_named_and_nobody_else(folder):
    log = folder / "log.csv"
    found, page = _asked(
        folder, "groups", "audit", log, "--risk", "near", "--groups", "place,sex", "--null", "weak"
    )
    assert found["verdict"]["state"] == "groups are off"
    assert "Groups are off" in page
    read = {row["group"]: row["before"] for row in found["drawn"]["levels"]}
    assert read["place north"]["low"] <= -0.2 <= read["place north"]["high"]
    assert read["place south"]["outcome"] == "holds"
    assert {row["group"] for row in found["drawn"]["crossings"]} == {
        "place north × sex f",
        "place north × sex m",
    }
