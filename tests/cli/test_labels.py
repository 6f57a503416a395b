"""Labels that are missing, and events that no row has: one rule for every command and route."""

import pytest

ROUTES = {
    "whole": ("evaluate",),
    "slices": ("evaluate", "--by", "g"),
    "monitor": ("monitor", "--time", "day"),
}


@pytest.fixture
def table(tmp_path):
    def written(text):
        rows = [
            f"{0.2 + 0.6 * (i % 3 > 0)},{int(i % 3 > 0)},{'ab'[i % 2]},2026-01-{1 + i % 9:02d}"
            for i in range(120)
        ]
        if text is not None:
            for i in range(4, 120, 10):
                rows[i] = rows[i].replace(f",{int(i % 3 > 0)},", f",{text},", 1)
        path = tmp_path / "s.csv"
        path.write_text("\n".join(["p,y,g,day", *rows]) + "\n", encoding="utf-8")
        return path

    return written


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("text", ["nan", "NA", "null", "None", "N/A", "NaN"])
def test_a_text_for_a_missing_label_is_no_label(run, table, route, text):
    arguments = (*ROUTES[route], str(table(text)), "--positive", "1")
    refused = run(*arguments, code=1)
    assert "'y' must" in refused.output
    assert "in every row" in refused.output
    assert "12 of 120 rows are left out" in run(*arguments, "--skip-missing").output


def test_a_declared_class_may_have_such_a_name(run, table):
    path = table(None)
    path.write_text(path.read_text().replace(",0,", ",None,"), encoding="utf-8")
    for route in ROUTES.values():
        run(*route, str(path), "--classes", "None,1")


def test_a_table_read_in_parts_has_the_same_rule(run, table, monkeypatch):
    monkeypatch.setenv("CALIBRANT_STREAMED_ROWS", "50")
    refused = run("evaluate", str(table("NA")), "--positive", "1", code=1)
    assert "'y' must hold a label in every row; row 4 is missing (12 in all)" in refused.output


@pytest.mark.parametrize(("option", "code"), [("--positive", 1), ("--target", 2)])
@pytest.mark.parametrize("route", ROUTES)
def test_an_event_of_no_row_is_refused(run, table, route, option, code):
    refused = run(*ROUTES[route], str(table(None)), option, "zzz", code=code)
    assert "'zzz'" in refused.output
    assert f"{option} must be" in refused.output


def test_one_column_is_the_risk_of_the_event_only(run, table):
    path = str(table(None))
    refused = run("evaluate", path, "--by", "g", "--target", "0", code=2)
    assert "as its risk; got '0'" in refused.output
    run("evaluate", path, "--by", "g", "--target", "1")
