"""Every calibrator and map that has an expression, fitted, with rows to run it on."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from calibrant.errors import InputError
from calibrant.export.subject import QUANTILES
from calibrant.testing import all_calibrators, all_maps, all_regression_calibrators, problems
from calibrant.testing.data import forecast_problems, score_problem
from calibrant.testing.runs import groups_beside


@dataclass(frozen=True)
class Case:
    """A fitted part, rows (n, width) on ordinary, tied, certain and fitted scores, and what predict
    gives for them, (n, m).

    Of a part that takes groups, ``groups`` are the rows' own, whose positions are the last columns
    of ``rows``.
    """

    name: str
    fitted: Any
    rows: np.ndarray
    expected: np.ndarray
    groups: pd.DataFrame | None = None


def _groups(data):
    """A column of texts, one of numbers to be cut, one of whole numbers with a gap, all of which
    say something of the label.
    """
    hint = (data.y + np.arange(len(data.y)) % 4 // 3) % 3
    return pd.DataFrame(
        {
            "lang uage": np.array(["it's", "b", None], dtype=object)[hint],
            "age": data.X[:, 0],
            "site": 2 * hint,
        }
    )


def _unseen(groups, n):
    """The first n of them, with a level and numbers that nobody saw, and a missing number."""
    out = groups.iloc[np.arange(n) % len(groups)].reset_index(drop=True).astype({"site": object})
    out.loc[0, "lang uage"], out.loc[1, "age"], out.loc[2, "age"], out.loc[3, "site"] = (
        "other",
        np.nan,
        99.0,
        7,
    )
    return out


def _calibrator_cases():
    for example in all_calibrators():
        for data in problems()[:2]:
            if (
                example.tags.uses_features
                or example.tags.needs_reference
                or (example.tags.binary_only and data.n_classes > 2)
            ):
                continue
            logit = example.inputs == "logit"
            groups = _groups(data) if example.tags.uses_groups else None
            fitted = clone(example).fit(data.logits if logit else data.P, data.y, groups=groups)
            try:
                fitted.expression()
            except InputError:
                continue
            edges = np.vstack(
                [np.eye(data.n_classes), np.full((1, data.n_classes), 1.0 / data.n_classes)]
            )
            own, new = (data.logits, data.logits_test) if logit else (data.P, data.P_test)
            rows = np.vstack(
                [own[:40], new[:20], np.log(np.maximum(edges, 1e-9)) if logit else edges]
            )
            new = None if groups is None else _unseen(groups, len(rows))
            codes = [] if new is None else [fitted.group_levels().codes(new)]
            yield Case(
                f"{example!r} {data.n_classes}",
                fitted,
                np.hstack([rows, *codes]),
                fitted.predict_proba(rows, groups=new),
                new,
            )


def _forecast_cases():
    data = forecast_problems()[0]
    for example in all_regression_calibrators():
        fitted = clone(example).fit(
            data.forecast, data.y, **groups_beside(example, data.forecast.mean)
        )
        try:
            fitted.expression()
        except InputError:
            continue
        made = fitted.predict(data.test)
        expected = np.column_stack([made.mean, made.std, made.quantile(QUANTILES)])
        yield Case(
            repr(example), fitted, np.column_stack([data.test.mean, data.test.std]), expected
        )


def _map_cases():
    for example in all_maps():
        data = score_problem(example.tags.domain)
        fitted = example.fit(data.score, data.correct)
        ends = [] if example.tags.domain == "real" else [0.0, 1.0, *np.arange(1, 15) / 15.0]
        rows = np.concatenate([data.score, data.test, ends])
        yield Case(repr(example), fitted, rows[:, None], fitted.predict(rows)[:, None])


@pytest.fixture(scope="session")
def cases():
    """All of them: each test runs its emitter over the list, since one compiler call for all is
    quicker than one for each.
    """
    return [*_calibrator_cases(), *_forecast_cases(), *_map_cases()]
