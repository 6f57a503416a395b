"""A person with class probabilities asks which answers noise would change."""

import json

import numpy as np
import pytest

import calibrant as cb

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
runner = pytest.importorskip("click.testing").CliRunner()


def world(seed, n=600, n_classes=4):
    """Logits and labels; a row is a coin toss between two classes, or is decided by 6."""
    rng = np.random.default_rng(seed)
    close = rng.random(n) < 0.5
    first, second = (rng.permuted(np.tile(np.arange(n_classes), (n, 1)), axis=1)[:, :2]).T
    logits = np.zeros((n, n_classes))
    logits[np.arange(n), first] = np.where(close, 3.05, 9.0)
    logits[np.arange(n), second] = 3.0
    y = np.where(close & (rng.random(n) < 0.5), second, first)
    return logits, y, close, second


def test_rows_with_small_margins_flip_and_the_page_names_the_class_that_takes_over():
    for seed in range(8):
        logits, y, close, second = world(seed)
        found = cb.report(
            y,
            logits,
            calibrator=cb.calibrators.HokiCalibrator(inputs="logit"),
            n_resamples=2,
            inputs="logit",
        ).to_dict()["label_stability"]
        surest, least, wrong = found["rows"]
        assert close[least["row"]]
        assert least["curve"]["classes"][1] == second[least["row"]]
        assert least["stability"] < 0.6
        assert not close[surest["row"]]
        assert surest["stability"] > 0.95
        assert close[wrong["row"]]  # only a coin toss can be wrong


def test_exact_stability_is_the_simulated_share():
    logits, y, _, _ = world(0)
    hoki = cb.calibrators.HokiCalibrator(inputs="logit").fit(logits, y)
    rng, draws = np.random.default_rng(1), 40_000
    for row in (0, 1, 2, 3):
        curve = hoki.signal_.stability_curve(logits[[row]])
        for scale, (kept, taken) in zip(curve.scale, curve.probability[:, :2], strict=True):
            noisy = logits[row] + scale * rng.standard_normal((draws, 4))
            share = np.bincount(noisy.argmax(axis=1), minlength=4)[curve.classes[:2]] / draws
            assert [kept, taken] == pytest.approx(share, abs=5.0 * np.sqrt(0.25 / draws))


def test_the_command_writes_the_search_and_the_rows(tmp_path):
    from calibrant.cli.group import group

    logits, y, _, _ = world(0)
    np.savez(tmp_path / "log.npz", logits=logits, y=y)
    page = tmp_path / "page.html"
    found = runner.invoke(
        group,
        ["report", str(tmp_path / "log.npz"), "--method", "hoki", "-o", str(page), "--json"],
    )
    assert found.exit_code == 0, found.output
    said = json.loads(found.output)["label_stability"]
    text = page.read_text("utf-8")
    assert said["scale"] == said["scales"][int(np.argmax(said["spread"]))]
    assert "Stability of its answers" in text
    assert f"ended after {said['iterations']['count']} iteration" in text
    for row in said["rows"]:
        assert f"keeps the label in {100 * row['stability']:.1f} % of draws" in text
