"""What the page for those who come from scikit-learn says of it holds."""

import re
from pathlib import Path

import numpy as np
import pytest

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
