"""The pages for those who come from other libraries: every name and every option of ours that
they promise is there.
"""

import ast
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics

PAGES = sorted((Path(__file__).resolve().parent.parent / "docs" / "coming_from").glob("*.rst"))
#: What every metric takes.
EVERYWHERE = {"sample_weight", "classes", "inputs", "target"}


def _cells():
    """(page, code) of everything in the second column."""
    for page in PAGES:
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith("   ``") or (
                line.startswith("   ") and line.count(" | ") == 2 and "there | here" not in line
            ):
                ours = line.split(" | ")[1]
                yield from (
                    pytest.param(code, id=f"{page.stem}: {code}")
                    for code in re.findall(r"``(.+?)``", ours)
                )


def _resolve(node):
    """What a dotted name stands for, a class for its instance; None for a variable of the
    example.
    """
    if isinstance(node, ast.Call):
        return _resolve(node.func)
    if isinstance(node, ast.Name):
        return {"cb": cb, "metrics": metrics}.get(node.id)
    inside = _resolve(node.value)
    return None if inside is None else getattr(inside, node.attr)


def _options(value):
    """The names of the options that a call may give."""
    metric = not inspect.isclass(value) and not inspect.isroutine(value)
    return set(inspect.signature(type(value) if metric else value).parameters) | (
        EVERYWHERE if metric else set()
    )


@pytest.mark.parametrize("code", list(_cells()))
def test_what_a_page_promises_is_there(code):
    seen = False
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            seen |= _resolve(node) is not None  # an AttributeError names what is missing
        if isinstance(node, ast.Call) and (called := _resolve(node.func)) is not None:
            options = _options(called)
            if "options" not in options and not inspect.isclass(called):
                assert {k.arg for k in node.keywords} <= options | EVERYWHERE, code
            elif inspect.isclass(called):
                assert {k.arg for k in node.keywords} <= options, code
    assert seen or code.startswith("cal."), f"{code} names nothing of ours"


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
    page = next(p for p in PAGES if p.stem == "scikit_learn").read_text(encoding="utf-8")
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


def test_every_page_has_a_table():
    assert len(PAGES) == 7
    assert len(list(_cells())) > 120
