import numpy as np
import pytest

from calibrant.cli.options import Columns
from calibrant.core.predictions import read
from calibrant.errors import InputError
from calibrant.tables.class_files import column_order
from calibrant.tables.readers import read_file


def write_csv(path, columns):
    rows = [
        ",".join(columns),
        *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)),
    ]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def as_record(data):
    return read(
        data.values,
        data.labels,
        inputs=data.inputs,
        classes=data.classes,
        sample_weight=data.weight,
    )


@pytest.mark.parametrize("kind", ["npz", "csv", "parquet"])
def test_each_format_gives_the_same_record(kind, predictions, tmp_path):
    P, y, names = predictions
    labels, weight, path = np.array(names)[y], 1.0 + np.arange(400) % 3, tmp_path / f"f.{kind}"
    table = {
        "row": range(400),
        "label": labels,
        **{f"p_{n}": P[:, j] for j, n in enumerate(names)},
        "weight": weight,
    }
    if kind == "npz":
        np.savez(path, probabilities=P, labels=labels, classes=names, sample_weight=weight)
    elif kind == "csv":
        write_csv(path, table)
    else:
        pa = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(
            pa.table({k: list(v) for k, v in table.items()}), path
        )
    record = as_record(read_file(path))
    np.testing.assert_array_equal(record.values, P)
    np.testing.assert_array_equal(record.labels, y)
    np.testing.assert_array_equal(record.weight, weight)
    assert record.classes.tolist() == names


def test_npy_takes_labels_from_another_file(predictions, tmp_path):
    P, y, _ = predictions
    np.save(tmp_path / "p.npy", P)
    np.save(tmp_path / "y.npy", y)
    record = as_record(read_file(tmp_path / "p.npy", Columns(label=str(tmp_path / "y.npy"))))
    np.testing.assert_array_equal(record.labels, y)
    with pytest.raises(InputError, match="--label"):
        read_file(tmp_path / "p.npy")


def test_whole_numbers_in_text_are_numbers(tmp_path):
    path = write_csv(
        tmp_path / "f.csv", {"p_0": [0.25, 0.5], "p_1": [0.75, 0.5], "y": ["1.0", "0"]}
    )
    record = as_record(read_file(path))
    assert record.labels.tolist() == [1, 0]
    assert record.classes.tolist() == [0, 1]


def test_one_column_is_binary(tmp_path):
    path = write_csv(tmp_path / "f.csv", {"p": [0.25, 0.5], "won": ["no", "yes"]})
    record = as_record(read_file(path, Columns(label="won", classes="no,yes")))
    assert record.values.tolist() == [[0.75, 0.25], [0.5, 0.5]]
    assert record.labels.tolist() == [0, 1]


def test_named_columns_and_logits(tmp_path):
    path = write_csv(
        tmp_path / "f.csv",
        {"a": [1, 2], "b": [3, 4], "label": ["b", "a"], "logit_a": [0, 1], "logit_b": [5, 6]},
    )
    assert read_file(path).inputs == "logit"
    data = read_file(path, Columns(logits="b,a"))
    assert data.values.tolist() == [[3, 1], [4, 2]]
    assert data.classes == ["b", "a"]


def test_both_kinds_in_one_file(tmp_path):
    np.savez(tmp_path / "f.npz", probabilities=[[0.5, 0.5]], logits=[[1.0, 2.0]], labels=[0])
    assert read_file(tmp_path / "f.npz").inputs == "probability"
    assert read_file(tmp_path / "f.npz", prefer="logit").inputs == "logit"
    assert read_file(tmp_path / "f.npz", Columns(logits="logits")).inputs == "logit"


def test_columns_are_put_in_the_order_of_the_calibrator(tmp_path):
    data = read_file(write_csv(tmp_path / "f.csv", {"p_b": [0.1], "p_a": [0.9], "y": ["a"]}))
    assert data.values[:, column_order(data, ["a", "b"])].tolist() == [[0.9, 0.1]]
    with pytest.raises(InputError, match="name the same classes"):
        column_order(data, ["a", "c"])


@pytest.mark.parametrize(
    ("columns", "options", "match"),
    [
        ({"q": [0.5], "y": [1]}, Columns(), "must have columns of predictions"),
        ({"p_a": [0.5], "p_b": [0.5]}, Columns(), "must hold the true labels"),
        ({"p_a": [0.5], "p_b": [0.5], "y": ["a"]}, Columns(label="z"), "holds no 'z'"),
        (
            {"p_a": [0.5], "p_b": ["n/a"], "y": ["a"]},
            Columns(),
            "column 'p_b' must hold numbers; row 0 is 'n/a'",
        ),
        (
            {"p_a": [0.5], "p_b": ["52%"], "y": ["a"]},
            Columns(),
            "row 0 is '52%'; remove the percent signs, and pass --inputs percent",
        ),
        (
            {"forecast": [0.5], "spread": [0.5], "y": [1]},
            Columns(),
            "forecasts of a number with --mean and --std",
        ),
        (
            {"p_a": [0.5], "p_b": [0.5], "y": ["a"]},
            Columns(probabilities="p_a,p_z"),
            "has no column 'p_z'",
        ),
        ({"p_a": [0.5], "p_b": [0.5], "y": ["a"]}, Columns(probabilities="z_*"), "no column like"),
    ],
)
def test_clear_errors_of_a_table(columns, options, match, tmp_path):
    with pytest.raises(InputError, match=match):
        read_file(write_csv(tmp_path / "f.csv", columns), options)


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("f.npz", b"junk", "not an npz file"),
        ("f.npy", b"junk", "not an npy file"),
        ("f.parquet", b"junk", "not a parquet file"),
        ("f.csv", b'p_a,p_b,y\n0.5,"0,5",a\n', "row 0 is '0,5'; write numbers with a point"),
        ("f.csv", b"risk;y\n0,5;1\n0.5;1\n", "row 0 is '0,5'; write numbers with a point"),
        ("f.txt", b"junk", "must end in"),
        ("f.csv", b"", "at least one row"),
        ("f.csv", b"a,b\n1\n", "2 column names and 1 values"),
    ],
)
def test_clear_errors_of_a_file(name, content, match, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=match):
        read_file(tmp_path / name)


def test_a_pickle_inside_is_refused(tmp_path):
    np.savez(tmp_path / "f.npz", probabilities=np.array([{"a": 1}], dtype=object))
    with pytest.raises(InputError, match="plain arrays"):
        read_file(tmp_path / "f.npz")


def test_names_with_underscores_are_no_numbers(tmp_path):
    path = write_csv(
        tmp_path / "f.csv", {"p_1_0": [0.7, 0.2], "p_1_1": [0.3, 0.8], "label": ["1_0", "1_1"]}
    )
    assert as_record(read_file(path)).classes.tolist() == ["1_0", "1_1"]


@pytest.mark.parametrize(
    ("words", "twice"),
    [
        (("evaluate", "--by", "g,g"), "--by and --time must name different columns; got 'g'"),
        (("monitor", "--by", "g", "--time", "g"), "--by and --time must name different columns"),
        (("audit", "--groups", "g, g"), "'g, g' must name different columns; got 'g' twice"),
        (("report", "--features", "g,g"), "'g,g' must name different columns; got 'g' twice"),
    ],
)
def test_a_column_named_twice_is_refused(words, twice, run, tmp_path):
    (tmp_path / "a.csv").write_text("p,label,g\n0.1,0,1\n0.9,1,2\n0.4,0,1\n0.6,1,2\n")
    command, *options = words
    assert twice in " ".join(run(command, "a.csv", *options, code=1).stderr.split())
