"""The evidence behind confidences in a report: which figures it has when, and that they say what
the numbers do.
"""

import numpy as np
import pytest

import calibrant as cb

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")


@pytest.fixture(scope="module")
def blobs():
    """Training rows and (X, y, P) of three overlapping blobs."""
    rng = np.random.default_rng(4)
    mean = np.array([[0.0, 0.0], [2.5, 0.0], [0.0, 2.5]])

    def draw(n):
        y = rng.integers(0, 3, n)
        X = mean[y] + rng.normal(size=(n, 2))
        P = np.exp(-0.4 * ((X[:, None] - mean) ** 2).sum(axis=2) + rng.normal(0.0, 0.7, (n, 3)))
        return X, y, P / P.sum(axis=1, keepdims=True)

    return draw(200), draw(400)


def _keys(page):
    return [key for key in ("stability", "separation", "latent") if f'id="figure-{key}"' in page]


def test_features_and_a_training_set_bring_separation(blobs):
    (X_train, y_train, _), (X, y, P) = blobs
    found = cb.report(
        y, P, calibrator=cb.TemperatureScaling(), X=X, reference=(X_train, y_train), n_resamples=100
    )
    stability, separation = found.to_dict()["signals"]
    own = cb.calibrators.signal_accuracy(
        y, P, cb.calibrators.FastSeparation(), X=X, reference=(X_train, y_train)
    )
    assert separation["bins"] == own.bins.to_dict()
    assert stability["name"] == "LabelStability"
    page = found.to_html()
    assert _keys(page) == ["stability", "separation"]
    below = own.bins.score < 0.0
    right = own.bins.n[below] @ own.bins.accuracy[below] / own.bins.n[below].sum()
    assert f"{100 * right:.1f} % are right in the bins below 0" in page


def test_the_separation_of_a_calibrator_is_its_own(blobs):
    (X_train, y_train, _), (X, y, P) = blobs
    signals = [cb.calibrators.TopProbability(), cb.calibrators.FastSeparation("l1")]
    cal = cb.calibrators.StackedConfidence(signals=signals).fit(
        P[:200], y[:200], X=X[:200], reference=(X_train, y_train)
    )
    summary = cb.report(
        y[200:], P[200:], calibrator=cal, X=X[200:], in_sample=False, n_resamples=100
    ).to_dict()
    own = cb.calibrators.signal_accuracy(
        y[200:],
        P[200:],
        cb.calibrators.FastSeparation("l1"),
        X=X[200:],
        reference=(X_train, y_train),
    )
    assert summary["signals"][1]["bins"] == own.bins.to_dict()


def test_two_classes_without_features_bring_neither_and_a_gaussian_process_its_latent_function():
    rng = np.random.default_rng(0)
    p = rng.random(200)
    y = (rng.random(200) < p**2).astype(int)
    cal = cb.calibrators.GaussianProcessCalibration(n_inducing=3).fit(p[:100], y[:100])
    found = cb.report(y[100:], p[100:], calibrator=cal, in_sample=False, n_resamples=100)
    latent = found.to_dict()["latent"]
    np.testing.assert_allclose(latent["mean"], cal.latent(latent["score"]).mean)
    assert len(latent["ticks"]) == 200
    assert _keys(found.to_html()) == ["latent"]
    assert (
        cb.report(y, p, calibrator=cb.TemperatureScaling(), n_resamples=100).to_dict()["latent"]
        is None
    )


def test_features_without_distances_leave_the_figure_out(blobs):
    (_, y_train, _), (_, y, P) = blobs
    words = np.array([["a", "b"]] * len(y), dtype=object)
    summary = cb.report(
        y,
        P,
        calibrator=cb.TemperatureScaling(),
        X=words,
        reference=(words[:200], y_train),
        n_resamples=100,
    ).to_dict()
    assert [one["name"] for one in summary["signals"]] == ["LabelStability"]
