"""CSV by pyarrow and by Python's strict reader: the same rows, or the same refusal."""

import io
import random
from pathlib import Path

import numpy as np
import pytest

from calibrant.errors import InputError
from calibrant.tables import texts
from calibrant.tables.texts import Texts, csv_tables

PIECES = ["a", "0.5", '"', "\n", "\r\n", '""', " ", "é", '"x"', "1e5", "7", "\r"]
CELLS = ["a", "0.5", '"q"', '"a""b"', '""', '"x\ny"', "é", "", "  ", '"é"""']


def rows_of(data, cells):
    try:
        parts = list(csv_tables(io.BytesIO(data), Path("rows.csv"), cells))
    except InputError as error:
        return str(error)
    table, separator, encoding = parts[0]
    rows = [row for part, *_ in parts for row in zip(*part.to_pydict().values(), strict=True)]
    return table.column_names, rows, separator, encoding


def text_of(rng):
    separator, n = rng.choice(",;\t"), rng.randint(1, 3)
    if rng.random() < 0.5:
        pieces = [*PIECES, separator, separator, f'"a{separator}b"', f'"a{separator}']
        body = "".join(rng.choice(pieces) for _ in range(rng.randint(0, 40)))
        return separator.join("xyz"[:n]) + "\n" + body
    lines = [separator.join(rng.choice(CELLS) for _ in range(n)) for _ in range(rng.randint(1, 12))]
    text = "\n".join(lines) + rng.choice(["", "\n", "\n\n"])
    return text.replace("\n", "\r\n") if rng.random() < 0.3 else text


def test_both_readers_agree(monkeypatch):
    monkeypatch.setattr(texts, "FEWEST_BYTES", 40)
    rng, read, plain = random.Random(0), [0, 0], texts.Rows.plain

    def counted(rows, data):
        table = plain(rows, data)
        read[table is not None] += 1
        return table

    for _ in range(4_000):
        encoding = rng.choice(["utf-8"] * 8 + ["utf-8-sig", "utf-16"])
        data, cells = text_of(rng).encode(encoding), rng.choice([None, 2, 5])
        monkeypatch.setattr(texts.Rows, "plain", counted)
        by_arrow = rows_of(data, cells)
        monkeypatch.setattr(texts.Rows, "plain", lambda rows, data: None)
        assert by_arrow == rows_of(data, cells), data
    assert min(read) > 1_000


def test_damage_is_named_by_its_line_in_any_part(monkeypatch):
    monkeypatch.setattr(texts, "FEWEST_BYTES", 40)
    rows = [f"{i},0.5" for i in range(100)]
    for line, words in (("7", "1 values in line 92"), ("7,\xe9".encode("latin-1"), "in line 92")):
        lines = ["a,b", *rows[:90], line, *rows[90:]]
        data = b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines)
        for cells in (None, 10):
            with pytest.raises(InputError, match=words):
                list(csv_tables(io.BytesIO(data), Path("rows.csv"), cells))


@pytest.mark.parametrize("text", ["1", "+1", ".5", "5.", "1e400", "-0", "inf", "00.5", "1E+05"])
def test_numbers_are_those_of_python(text):
    assert Texts.of([text]).numbers.tolist() == [float(text)]


@pytest.mark.parametrize("text", [" 1", "1_0", "nan", "nan(abc)", "", "0x10", "1,5", "١"])
def test_other_texts_are_left_to_the_strict_reader(text):
    assert Texts.of(["1", text]).numbers is None


def test_the_nearest_number_is_read():
    rng = np.random.default_rng(0)
    values = rng.normal(size=2_000) * 10.0 ** rng.integers(-30, 30, 2_000)
    assert Texts.of([repr(value) for value in values.tolist()]).numbers.tolist() == values.tolist()


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", "", "-2"], "int64", [1, None, -2]),
        (["1", "0.5", " "], "double", [1.0, 0.5, None]),
        ([" 1", "2.5"], "double", [1.0, 2.5]),
        (["007", "1.5"], "string", ["007", "1.5"]),
        (["1234567890123456789012"], "string", ["1234567890123456789012"]),
        (["a", ""], "string", ["a", None]),
        (["1234567890123456", "-1"], "int64", [1234567890123456, -1]),
        (["1234567890123456", "0.5"], "string", ["1234567890123456", "0.5"]),
        (["12345678901234567890", "0.5"], "string", ["12345678901234567890", "0.5"]),
        (["1_0"], "string", ["1_0"]),
        (["", " "], "int64", [None, None]),
    ],
)
def test_a_column_is_typed_as_a_whole(cells, kind, values):
    texts = Texts.of(cells)
    column = texts.of_kind(texts.kind)
    assert str(column.type) == kind
    assert column.to_pylist() == values


def test_decimal_commas_become_points_in_whole_columns_only():
    assert Texts.of(["0,5", "", "1.234,5"]).with_points.tolist() == ["0.5", "", "1234.5"]
    assert Texts.of(["0,5", "0.7"]).with_points.tolist() == ["0,5", "0.7"]
    assert Texts.of(["a,b", "c"]).with_points.tolist() == ["a,b", "c"]
