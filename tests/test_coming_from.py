"""What the page for those who come from scikit-learn says of it holds."""

import re
from pathlib import Path

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics

PAGE = Path(__file__).resolve().parent.parent / "docs" / "coming_from" / "scikit_learn.rst"


def test_scikit_learns_names_are_those_of_the_version_installed():
    pytest.importorskip("sklearn", minversion="1.9", reason="the page is of scikit-learn 1.9")
    import sklearn.calibration
    import sklearn.frozen
    import sklearn.isotonic
    import sklearn.metrics
    import sklearn.model_selection

    modules = (
        sklearn.calibration,
        sklearn.frozen,
        sklearn.isotonic,
        sklearn.metrics,
        sklearn.model_selection,
    )
    page = PAGE.read_text(encoding="utf-8")
    theirs = re.findall(r"^   ``(\w+)", page, flags=re.MULTILINE)
    assert len(theirs) > 15
    for name in theirs:
        assert any(hasattr(module, name) for module in modules), name


def test_what_the_page_says_of_scikit_learns_numbers_holds():
    pytest.importorskip("sklearn", minversion="1.9", reason="the page is of scikit-learn 1.9")
    from sklearn.metrics import (
        brier_score_loss,
        d2_brier_score,
        d2_log_loss_score,
        log_loss,
        roc_auc_score,
    )

    rng = np.random.default_rng(0)
    p, P, y = rng.uniform(0.01, 0.99, 200), rng.dirichlet(np.ones(3), 200), rng.integers(0, 3, 200)
    event = (rng.random(200) < p).astype(int)
    assert metrics.event_brier_score(event, p) == pytest.approx(brier_score_loss(event, p))
    assert metrics.brier_score(event, p) == pytest.approx(2 * brier_score_loss(event, p))
    assert metrics.brier_score(y, P) == pytest.approx(brier_score_loss(y, P))
    assert metrics.log_loss(y, P) == pytest.approx(log_loss(y, P))
    assert metrics.d2_log_loss(event, p) == pytest.approx(d2_log_loss_score(event, p))
    assert metrics.d2_brier(event, p) == pytest.approx(d2_brier_score(event, p))
    assert metrics.event_auroc(event, p) == pytest.approx(roc_auc_score(event, p))


PAGES = [*sorted(PAGE.parent.glob("*.rst")), PAGE.parent.parent / "guide" / "limits.rst"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_name_of_ours_on_a_page_exists(page):
    text = page.read_text(encoding="utf-8")
    ours = re.findall(r"(?<![\w.])(?:cb|metrics)(?:\.[a-zA-Z_]\w*)+", text)
    ours += [f"cb.{name}" for name in re.findall(r"`~?calibrant\.([\w.]+)`", text)]
    for name in ours:
        value = {"cb": cb, "metrics": metrics}[name.split(".")[0]]
        for part in name.split(".")[1:]:
            assert hasattr(value, part), name
            value = getattr(value, part)


def test_what_the_page_on_mapie_says_of_options_holds():
    rng = np.random.default_rng(0)
    mean, P = rng.normal(size=300), rng.dirichlet(np.ones(3), 300)
    y = (P.cumsum(axis=1) > rng.random((300, 1))).argmax(axis=1)
    outcome = mean + rng.normal(size=300)
    run = cb.AdaptiveIntervals(method="aci").fit(mean[:150], outcome[:150])
    assert 0.8 < run.run(mean[150:], outcome[150:]).covered.mean() < 1.0
    sets = cb.decisions.ConditionalSets(level=0.9).fit(P, y, features=mean)
    assert sets.predict_set(P[:2], features=mean[:2]).shape == (2, 3)
    weights = rng.uniform(0.5, 2.0, 300)
    by_weight = {"sample_weight": weights, "weight_kind": "sampling"}
    assert "weighted" in str(cb.ConformalSets().fit(P, y, **by_weight).guarantee_)
    with pytest.raises(cb.errors.InputError, match="whole numbers"):
        cb.SelectiveClassifier(0.5).fit(P, y, sample_weight=weights)
