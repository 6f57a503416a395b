"""``calibrant plan``: the rows of a study, as Python gives them."""

import json

import pytest

import calibrant as cb

pytest.importorskip("rich")
testing = pytest.importorskip("click.testing")


def run(*arguments):
    from calibrant.cli.group import group

    return testing.CliRunner().invoke(group, ["plan", *arguments])


def test_a_validation_is_planned_as_in_python():
    result = run("--prevalence", "0.1", "--auroc", "0.8")
    assert result.output.strip() == str(cb.metrics.validation_size(prevalence=0.1, auroc=0.8))
    result = run("--beta", "2", "8", "--slope-width", "0.3", "--threshold", "0.2", "--json")
    expected = cb.metrics.validation_size(beta=(2, 8), slope_width=0.3, threshold=0.2)
    assert json.loads(result.output) == json.loads(json.dumps(expected.to_dict()))


def test_an_update_is_planned_as_in_python():
    result = run("--normal", "-2", "1", "--update", "intercept and slope", "--slope-width", "0.5")
    assert result.output.strip() == str(cb.metrics.updating_size(normal=(-2, 1), slope_width=0.5))


def test_what_it_refuses():
    for arguments, message in (
        (["--prevalence", "2", "--auroc", "0.8"], "prevalence must lie strictly between 0 and 1"),
        ([], "the distribution of risks is unknown"),
        (
            ["--beta", "2", "8", "--update", "intercept", "--threshold", "0.1"],
            "--threshold plans a validation",
        ),
    ):
        result = run(*arguments)
        assert result.exit_code == 1
        assert message in result.output
