"""Labels, risks and separators mean the same whether a table is read whole, in parts or by slice,
and the row of an error is counted in the table.
"""

import json
from contextlib import nullcontext

import numpy as np
import pytest

import calibrant as cb

pytest.importorskip("click")
pytest.importorskip("polars")
pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

from calibrant.cli.slices import Tables, count_tables  # noqa: E402
from calibrant.tables.names import Columns  # noqa: E402
from calibrant.tables.readers import large_table, read_file  # noqa: E402

N = 160
RNG = np.random.default_rng(0)
RISK = RNG.uniform(0.01, 0.99, N).round(3)
EVENT = RNG.random(N) < RISK
#: Sum of the log losses, by the formula.
LOSS = -np.log(np.where(EVENT, RISK, 1.0 - RISK)).sum()
#: How an event and none are written in a file of text, and in JSON.
CSV = {
    name: dict(enumerate(name.split("/")))
    for name in ("0/1", "0.0/1.0", "0e0/1e0", "0/+1", "false/true", "False/True", "no/yes")
}
JSON = {
    "0/1": {0: 0, 1: 1},
    "0.0/1.0": {0: 0.0, 1: 1.0},
    "false/true": {0: False, 1: True},
    **{name: dict(enumerate(name.strip("'").split("/"))) for name in ("'0/1'", "'0.0/1.0'")},
    **{name: dict(enumerate(name.strip("'").split("/"))) for name in ("'no/yes'", "'False/True'")},
}
#: Labels of one pair.
ALIKE = {"csv": ("0/1", "0.0/1.0", "0e0/1e0", "0/+1"), "jsonl": ("0/1", "0.0/1.0", "'0/1'")}


@pytest.fixture
def written(tmp_path):
    """A function that writes labels, one a row, to one file or a folder of two."""

    def write(labels, kind, folder=False, risk=RISK):
        place = tmp_path / ("rows" if folder else f"rows.{kind}")
        place.mkdir() if folder else None
        rows = [
            {"risk": float(risk[i]), "label": label, "g": "ab"[i % 2]}
            for i, label in enumerate(labels)
        ]
        for i, part in enumerate((rows[: N // 2], rows[N // 2 :]) if folder else (rows,)):
            file = place / f"{i}.{kind}" if folder else place
            if kind == "csv":
                lines = [",".join(map(str, row.values())) for row in part]
                file.write_text("\n".join(["risk,label,g", *lines]) + "\n", encoding="utf-8")
            elif kind == "jsonl":
                file.write_text("\n".join(map(json.dumps, part)) + "\n", encoding="utf-8")
            else:
                pd.DataFrame(part).to_parquet(file, index=False)
        return place

    return write


class Total:
    """A number that passes over a table add up."""

    def __init__(self, value):
        self.value = value

    def plus(self, other):
        return Total(self.value + other.value)


def loss(record, _=None):
    share = record.values if record.values.ndim == 1 else record.values[:, 1]
    return Total(-np.log(np.where(record.labels == 1, share, 1.0 - share)).sum())


def whole(path, columns):
    data = read_file(path, columns)
    assert data.asked(None) == "event"
    return loss(data.record()).value


def in_parts(path, columns):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CALIBRANT_STREAMED_ROWS", "100")
        bar = lambda *_, **__: nullcontext(lambda rows: None)  # noqa: E731
        with large_table(path, columns, None, bar) as table:
            rows, *_ = table.summed(cb.calibrators.Identity(), table.data.asked(None))
            return rows.fold(loss).value


def by_slice(path, columns):
    overall = count_tables(path, Tables(by="g"), columns, None)[0].overall()
    return overall["log_loss"] * overall["n"]


WAYS = {"whole": whole, "parts": in_parts, "slices": by_slice}


def labels_of(kind, one, other, folder):
    """Labels in two ways: by file of a folder, or in turn."""
    words = CSV if kind == "csv" else JSON
    ways = [one if (i < N // 2 if folder else i % 2) else other for i in range(N)]
    return [words[way][int(event)] for way, event in zip(ways, EVENT, strict=True)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("folder", [False, True], ids=["file", "folder"])
@pytest.mark.parametrize(("kind", "one", "other"), [
    *(("csv", one, one) for one in CSV),
    *(("jsonl", one, one) for one in JSON),
    *(("csv", "0/1", other) for other in ALIKE["csv"]),
    *(("jsonl", "'0.0/1.0'", other) for other in ALIKE["jsonl"]),
    *(("csv", "false/true", "False/True"), ("jsonl", "false/true", "'False/True'")),
])  # fmt: skip
def test_labels_of_one_pair_have_one_event(way, folder, kind, one, other, written):
    path = written(labels_of(kind, one, other, folder), kind, folder)
    assert WAYS[way](path, Columns(risk="risk")) == pytest.approx(LOSS, rel=1e-9)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("folder", [False, True], ids=["file", "folder"])
@pytest.mark.parametrize(("kind", "one", "other"), [
    *(("csv", "0/1", other) for other in ("false/true", "no/yes")),
    *(("jsonl", "0/1", other) for other in ("false/true", "'no/yes'")),
    ("csv", "no/yes", "False/True"),
])  # fmt: skip
def test_labels_of_two_pairs_are_refused(way, folder, kind, one, other, written):
    path = written(labels_of(kind, one, other, folder), kind, folder)
    with pytest.raises(cb.errors.InputError):
        WAYS[way](path, Columns(risk="risk"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_codes_are_names_in_every_way(way, kind, written):
    path = written(["01" if event else "00" for event in EVENT], kind)
    with pytest.raises(cb.errors.InputError, match="event"):
        WAYS[way](path, Columns(risk="risk"))
    found = WAYS[way](path, Columns(risk="risk", positive="01"))
    assert found == pytest.approx(LOSS, rel=1e-9)


@pytest.mark.parametrize("function", [cb.evaluate, cb.tables.sketch])
def test_two_pairs_in_a_frame_are_refused(function):
    pairs = [pa.array(np.tile(pair, 40_000)) for pair in (["0", "1"], ["no", "yes"])]
    p = pa.array(np.full(80_000, 0.5))
    halves = [pa.RecordBatch.from_arrays([p, label], ["p", "label"]) for label in pairs]
    for half in halves:
        function(pa.Table.from_batches([half]), probabilities="p", target="event")
    table = pa.Table.from_batches(halves)
    with pytest.raises(cb.errors.InputError, match="of one pair; it holds those of 0 and 1, and"):
        function(table, probabilities="p", target="event")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("risk", [1.0000000000000002, 1.00000001])
def test_a_risk_just_above_one_is_one(way, kind, risk, written):
    risks = np.where(np.arange(N) == np.flatnonzero(EVENT)[0], risk, RISK)
    losses = -np.log(np.where(EVENT, np.minimum(risks, 1.0), 1.0 - RISK)).sum()
    path = written(EVENT.astype(int).tolist(), kind, risk=risks)
    assert WAYS[way](path, Columns(risk="risk")) == pytest.approx(losses, rel=1e-9)


@pytest.mark.parametrize("way", ["whole", "slices"])
def test_a_risk_above_one_is_named(way, written):
    path = written(
        EVENT.astype(int).tolist(), "csv", risk=np.where(np.arange(N) == 7, 1.000001, RISK)
    )
    with pytest.raises(cb.errors.InputError, match=r"row 7 is 1\.000001"):
        WAYS[way](path, Columns(risk="risk"))


@pytest.mark.parametrize("engine", ["polars", "duckdb", "pyarrow"])
@pytest.mark.parametrize(("column", "value"), [("p", 1.5), ("p", None), ("label", None)])
def test_the_row_of_an_error_is_counted_in_the_table(engine, column, value, tmp_path):
    pytest.importorskip(engine)
    n, row = 300_000, 290_001
    frame = pd.DataFrame({"p": np.full(n, 0.5), "label": np.arange(n) % 2.0})
    frame.loc[row, column] = value
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(cb.errors.InputError, match=rf"row {row} is .*\(1 in its part of the table"):
        cb.evaluate(tmp_path / "t.parquet", probabilities="p", engine=engine)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("quote", ["", '"'], ids=["plain", "quotes that need Python"])
def test_the_line_of_a_separator_is_none_of_names(way, quote, tmp_path):
    path = tmp_path / "excel.csv"
    rows = [f"{f'{RISK[i]:.3f}'.replace('.', ',')};{int(EVENT[i])};{'ab'[i % 2]}" for i in range(N)]
    rows[5] += quote and 'a"b"'
    path.write_text("\r\n".join(["sep=;", "risk;label;g", *rows, ""]), encoding="utf-8", newline="")
    assert WAYS[way](path, Columns(risk="risk")) == pytest.approx(LOSS, rel=1e-9)


def test_a_damaged_line_below_it_is_named(tmp_path):
    path = tmp_path / "excel.csv"
    path.write_text("sep=;\nrisk;label\n0,4;1\n0,5;0;7\n", encoding="utf-8")
    with pytest.raises(cb.errors.InputError, match="line 4"):
        read_file(path)


def test_half_of_a_character_is_a_slice(run, tmp_path):
    lines = [f'{{"risk": 0.4, "label": {i % 2}, "g": "\\ud800{i % 2}"}}' for i in range(40)]
    (tmp_path / "t.jsonl").write_text("\n".join(lines), encoding="utf-8")
    found = json.loads(run("evaluate", "t.jsonl", "--by", "g", "--json").stdout)
    assert [row["g"] for row in found["slices"]] == ["\\ud8000", "\\ud8001"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_infinity_is_a_slice(kind, run, tmp_path):
    frame = pd.DataFrame({"risk": RISK, "label": EVENT.astype(int), "g": [1.5, np.inf] * (N // 2)})
    file = tmp_path / f"t.{kind}"
    frame.to_csv(file, index=False) if kind == "csv" else frame.to_parquet(file)
    found = json.loads(run("evaluate", file.name, "--by", "g", "--json").stdout)
    assert {str(row["g"]) for row in found["slices"]} == {"1.5", "inf"}
