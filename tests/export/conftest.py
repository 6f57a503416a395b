"""Every calibrator and map that has an expression, fitted, with rows to run it on."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from calibrant.errors import InputError
from calibrant.testing import all_calibrators, all_maps, problems
from calibrant.testing.data import score_problem


@dataclass(frozen=True)
class Case:
    """A fitted part, rows (n, width) on ordinary, tied, certain and fitted scores, and what predict gives for them, (n, m)."""

    name: str
    fitted: Any
    rows: np.ndarray
    expected: np.ndarray


def _calibrator_cases():
    for example in all_calibrators():
        for data in problems()[:2]:
            if (
                example.tags.uses_features
                or example.tags.uses_groups
                or example.tags.needs_reference
                or (example.tags.binary_only and data.n_classes > 2)
            ):
                continue
            logit = example.inputs == "logit"
            fitted = clone(example).fit(data.logits if logit else data.P, data.y)
            try:
                fitted.expression()
            except InputError:
                continue
            edges = np.vstack([np.eye(data.n_classes), np.full((1, data.n_classes), 1.0 / data.n_classes)])
            own, new = (data.logits, data.logits_test) if logit else (data.P, data.P_test)
            rows = np.vstack([own[:40], new[:20], np.log(np.maximum(edges, 1e-9)) if logit else edges])
            yield Case(f"{example!r} {data.n_classes}", fitted, rows, fitted.predict_proba(rows))


def _map_cases():
    for example in all_maps():
        data = score_problem(example.tags.domain)
        fitted = example.fit(data.score, data.correct)
        ends = [] if example.tags.domain == "real" else [0.0, 1.0, *np.arange(1, 15) / 15.0]
        rows = np.concatenate([data.score, data.test, ends])
        yield Case(repr(example), fitted, rows[:, None], fitted.predict(rows)[:, None])


@pytest.fixture(scope="session")
def cases():
    """All of them: each test runs its emitter over the list, since one compiler call for all is quicker than one for each."""
    return [*_calibrator_cases(), *_map_cases()]
