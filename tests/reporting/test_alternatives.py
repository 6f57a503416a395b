from types import SimpleNamespace

from calibrant.core.forecast_record import read_forecast
from calibrant.core.predictions import read
from calibrant.reporting.calibrate import alternatives, best
from calibrant.reporting.compared_scores import Change, Estimate, Score

RECORDS = {
    "classification": read([[0.4, 0.6]], [1]),
    "regression": read_forecast([0.0], [1.0], [0.0]),
}


def compared(task, evaluation="out-of-fold"):
    return SimpleNamespace(before=RECORDS[task], after=object(), evaluation=evaluation)


def score(key, before, after, meaning="better"):
    return Score(
        key,
        key,
        "minimize",
        True,
        Estimate(before),
        Estimate(after),
        Change(after - before, meaning=meaning),
    )


def test_the_lowest_log_loss_is_best_unless_it_is_in_sample():
    found = {
        "a": compared("classification"),
        "b": compared("classification"),
        "c": compared("classification", "in-sample"),
    }
    tables = {
        "a": [[score("log_loss", 0.6, 0.5)]],
        "b": [[score("log_loss", 0.6, 0.4)]],
        "c": [[score("log_loss", 0.6, 0.1)]],
    }
    assert best(found, tables) == "b"
    rows = alternatives(found, "b", tables)
    assert [row.name for row in rows] == ["b", "c", "a"]
    assert [row.chosen for row in rows] == [True, False, False]


def test_of_forecasts_what_worsens_the_nll_comes_after_what_does_not():
    found = {"a": compared("regression"), "b": compared("regression")}
    tables = {
        "a": [[score("crps", 1.0, 0.5), score("nll", 1.0, 2.0, "worse")]],
        "b": [[score("crps", 1.0, 0.9), score("nll", 1.0, 1.0, "no clear change")]],
    }
    assert best(found, tables) == "b"


def test_outputs_count_alike_whatever_their_units():
    found = {"a": compared("regression"), "b": compared("regression")}
    tables = {
        "a": [
            [score("crps", 1.0, 0.9), score("nll", 1.0, 1.0)],
            [score("crps", 1000.0, 500.0), score("nll", 1.0, 1.0)],
        ],
        "b": [
            [score("crps", 1.0, 0.1), score("nll", 1.0, 1.0)],
            [score("crps", 1000.0, 900.0), score("nll", 1.0, 1.0)],
        ],
    }
    assert best(found, tables) == "b"
    rows = alternatives(found, "b", tables, ["small", "large"])
    assert [(row.name, row.output) for row in rows] == [
        ("b", "small"),
        ("a", "small"),
        ("b", "large"),
        ("a", "large"),
    ]
