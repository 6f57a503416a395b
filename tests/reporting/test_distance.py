"""The section of a report on distances to the training rows: its numbers are those by hand."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")


def _world(n, seed, n_classes=2):
    """Classes on a line of length 4 in the second feature; the score knows only the first."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = np.column_stack([y + rng.normal(size=n), 2.0 * y + rng.normal(size=n)])
    P = np.exp(-0.5 * (X[:, :1] - np.arange(n_classes)) ** 2)
    return X, y, P / P.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module", params=[2, 3])
def found(request):
    """(the rows, their report) of two and of three classes."""
    X_train, y_train, _ = _world(300, 0, request.param)
    X, y, P = _world(500, 1, request.param)
    reference = X_train, y_train
    report = cb.report(
        y, P, X=X, reference=reference, calibrator=cb.calibrators.Identity(), n_resamples=50
    )
    return (X, y, P, reference), report


def test_zones_hold_all_rows_and_their_share_right(found):
    (X, y, P, reference), report = found
    section = report.to_dict()["distance"]
    separation = cb.calibrators.FastSeparation().fit(P, y, X=X, reference=reference).score(P, X=X)
    right = P.argmax(axis=1) == y
    safe, dangerous = section["zones"]
    assert [safe["rows"], dangerous["rows"]] == [sum(separation > 0), sum(separation <= 0)]
    assert safe["right"] == pytest.approx(right[separation > 0].mean())
    assert dangerous["right"] == pytest.approx(right[separation <= 0].mean())
    assert dangerous["low"] < dangerous["right"] < dangerous["high"] < safe["low"]
    assert section["training_rows"] == 300


def test_separation_tells_what_the_score_does_not_know(found):
    losses = {one["name"]: one for one in found[1].to_dict()["distance"]["losses"]}
    assert losses["both"]["change"]["meaning"] == "better"
    assert losses["both"]["after"]["value"] < losses["separation"]["after"]["value"]


def test_examples_are_the_surest_wrong_answers_in_the_dangerous_zone(found):
    (X, y, P, (X_train, y_train)), report = found
    section = report.to_dict()["distance"]
    signal = cb.calibrators.FastSeparation().fit(P, y, X=X, reference=(X_train, y_train))
    wrong = (P.argmax(axis=1) != y) & (signal.score(P, X=X) <= 0.0)
    surest = np.flatnonzero(wrong)[np.argsort(-P.max(axis=1)[wrong], kind="stable")][:3]
    assert [one["row"] for one in section["examples"]] == surest.tolist()
    for one in section["examples"]:
        row = P[one["row"]]
        assert (one["predicted"], one["true"]) == (str(row.argmax()), str(y[one["row"]]))
        assert str(y_train[one["other_row"]]) == one["other_class"] != one["predicted"]
        assert str(y_train[one["same_row"]]) == one["predicted"]


def test_the_page_shows_the_section_and_the_curve(found):
    page, section = found[1].to_html(), found[1].to_dict()["distance"]
    assert 'id="figure-separation"' in page
    assert "Distance to the training rows" in page
    assert f"number {section['examples'][0]['other_row']} (" in page
    for zone in section["zones"]:
        assert f'<th scope="row">{zone["zone"]}</th><td class="n">{zone["rows"]:.0f}</td>' in page


def test_rows_of_weight_0_keep_their_numbers():
    X_train, y_train, _ = _world(100, 0)
    X, y, P = _world(200, 1)
    weight = (np.arange(200) % 2).astype(float)
    options = {"calibrator": cb.calibrators.Identity(), "n_resamples": 50}
    whole = cb.report(y, P, X=X, reference=(X_train, y_train), sample_weight=weight, **options)
    half = cb.report(y[1::2], P[1::2], X=X[1::2], reference=(X_train, y_train), **options)
    weighted, own = (one.to_dict()["distance"] for one in (whole, half))
    assert [one["row"] for one in weighted["examples"]] == [
        2 * one["row"] + 1 for one in own["examples"]
    ]
    assert weighted["zones"] == own["zones"]


def test_clusters_widen_the_intervals_and_few_wrong_answers_bring_no_fits():
    X_train, y_train, _ = _world(300, 0)
    X, y, P = _world(120, 1)
    options = {
        "calibrator": cb.calibrators.Identity(),
        "n_resamples": 50,
        "reference": (X_train, y_train),
    }
    five = np.repeat(np.arange(120), 5)
    found = cb.report(y[five], P[five], X=X[five], cluster=five, **options).to_dict()["distance"]
    plain = cb.report(y[five], P[five], X=X[five], **options).to_dict()["distance"]
    for clustered, one in zip(found["zones"], plain["zones"], strict=True):
        assert clustered["right"] == one["right"]
        assert clustered["high"] - clustered["low"] > 1.5 * (one["high"] - one["low"])
    sure = np.flatnonzero(P.argmax(axis=1) == y)
    few = cb.report(y[sure], P[sure], X=X[sure], **options).to_dict()["distance"]
    assert few["losses"] == few["examples"] == []


def test_without_training_rows_there_is_no_section():
    _, y, P = _world(100, 1)
    report = cb.report(y, P, calibrator=cb.calibrators.Identity(), n_resamples=50)
    assert report.to_dict()["distance"] is None
    assert "Distance to the training rows" not in report.to_html()


def test_held_out_rows_bring_their_own_features():
    X_train, y_train, _ = _world(300, 0)
    (X, y, P), (X_new, y_new, P_new) = _world(400, 1), _world(200, 2)
    found = cb.report(
        y,
        P,
        test=(y_new, P_new, None, None, X_new),
        X=X,
        reference=(X_train, y_train),
        calibrator=cb.calibrators.GeometricCalibrator(),
        n_resamples=50,
    ).to_dict()
    cal = cb.calibrators.GeometricCalibrator().fit(P, y, X=X, reference=(X_train, y_train))
    confidence = cal.predict_confidence(P_new, X=X_new)
    right = (P_new.argmax(axis=1) == y_new).astype(int)
    after = next(one["after"] for one in found["metrics"] if one["key"] == "log_loss")
    assert after["value"] == pytest.approx(metrics.log_loss(right, confidence))
    assert found["distance"]["n"] == 200
