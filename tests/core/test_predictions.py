"""The door: every kind of input that people hold, and one clear error for each that cannot be
used.
"""

import datetime
import re
from dataclasses import replace

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant._numerics.logistic import softmax
from calibrant.core.predictions import read
from calibrant.errors import InputError

P3 = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.25, 0.25, 0.5], [0.6, 0.2, 0.2]])
Y3 = np.array([0, 1, 2, 1])
P2 = np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]])
Y2 = np.array([0, 1, 1])


def with_value(row, column, value):
    out = P3.copy()
    out[row, column] = value
    return out


# The inputs that eight other libraries were tried on, and a few more: what we answer, word for
# word.
BAD_INPUTS = {
    "NaN in probabilities": (
        with_value(2, 1, np.nan),
        Y3,
        "P must be finite; row 2 is [0.25  nan 0.5 ] (1 in all); remove or repair these rows.",
    ),
    "infinite": (
        with_value(0, 0, np.inf),
        Y3,
        "P must be finite; row 0 is [inf 0.3 0.2] (1 in all); remove or repair these rows.",
    ),
    "unnormalised": (
        P3 * 1.2,
        Y3,
        (
            "rows of P must sum to 1 within 1e-05; row 0 sums to 1.2, row 1 sums to 1.2, row 2 sums"
            ' to 1.2 (4 in all); divide P by its row sums, or pass inputs="logit" if these are'
            " logits."
        ),
    ),
    "above 1": (
        P3 * 3,
        Y3,
        (
            "P must be probabilities in [0, 1]; row 0 is [1.5 0.9 0.6], row 1 is [0.3 2.4 0.3], row"
            ' 2 is [0.75 0.75 1.5 ] (4 in all); pass inputs="logit" if these are logits, and'
            " divide percentages by 100."
        ),
    ),
    "logits instead of probabilities": (
        [[1.0, -2.0, 0.5]],
        [0],
        (
            "P must be probabilities in [0, 1]; row 0 is [ 1.  -2.   0.5] (1 in all); "
            'pass inputs="logit" if these are logits, and divide percentages by 100.'
        ),
    ),
    "length mismatch": (
        P3,
        Y3[:3],
        (
            "y must have one label for each of the 4 predictions; got 3; check that both come from"
            " the same rows."
        ),
    ),
    "label out of range": (
        P3,
        [0, 1, 7, 1],
        (
            "y must be the column numbers 0..2 when the columns of P are not named; got [0, 1, 7]; "
            "pass classes=[...] with the label of each column, in column order."
        ),
    ),
    "negative label": (
        P3,
        [0, 1, -1, 1],
        (
            "y must be the column numbers 0..2 when the columns of P are not named; got [-1, 0, 1];"
            " pass classes=[...] with the label of each column, in column order."
        ),
    ),
    "fractional label": (
        P3,
        [0.5, 1.5, 0.5, 1.5],
        (
            "y must be the column numbers 0..2 when the columns of P are not named; got [0.5, 1.5];"
            " pass classes=[...] with the label of each column, in column order."
        ),
    ),
    "empty": (P3[:0], Y3[:0], "P has no rows; pass at least one prediction."),
    "no predictions": (
        None,
        Y3,
        "P must be the predictions, (n, K), or (n,) for binary; got None.",
    ),
    "one column": (
        P3[:, :1],
        Y3,
        "P has one column; pass P[:, 0] for binary predictions, or one column for each class.",
    ),
    "three dimensions": (
        P3[None],
        Y3,
        "P must be (n, K), or (n,) for binary predictions; got shape (1, 4, 3).",
    ),
    "ragged": (
        [[0.1, 0.9], [1.0]],
        [0, 1],
        "P must be a rectangular array; got rows of different lengths; give each the same columns.",
    ),
    "text": (
        [["a", "b"]],
        [0],
        "P must hold numbers; got an array of dtype <U1; convert it first.",
    ),
    "complex": (
        P3.astype(complex),
        Y3,
        "P must hold numbers; got an array of dtype complex128; convert it first.",
    ),
    "masked": (
        np.ma.masked_less(P3, 0.15),
        Y3,
        "P is a masked array with masked entries; repair or drop those rows first.",
    ),
    "one-hot labels": (
        P3,
        np.eye(3)[Y3],
        (
            "y must be one label per row, (n,); got shape (4, 3); pass y.argmax(axis=1), or swap"
            " the arguments if y and P are exchanged."
        ),
    ),
    "labels as a column": (
        P3,
        Y3[:, None],
        "y must be one label per row, (n,); got shape (4, 1); pass np.ravel(y).",
    ),
    "missing label": (
        P3,
        [0.0, np.nan, 1.0, 2.0],
        "y must not be missing; row 1 is nan; drop those rows.",
    ),
    "None as a label": (
        P3,
        [0, None, 1, 2],
        "y must not be missing; row 1 is None; drop those rows.",
    ),
    "booleans for three classes": (
        P3,
        [True, False, True, True],
        (
            "y must be the column numbers 0..2 when the columns of P are not named; got [False,"
            " True]; pass classes=[...] with the label of each column, in column order."
        ),
    ),
    "swapped, in two dimensions": (
        Y3.astype(float),
        P3,
        (
            "the predictions have 1 dimension and the labels 2: the two look swapped; pass them the"
            " other way."
        ),
    ),
    "swapped, binary": (
        Y2.astype(float),
        P2[:, 1],
        (
            "y holds fractions and P holds only 0 and 1: the two look swapped; pass them the other"
            " way."
        ),
    ),
}


@pytest.mark.parametrize("case", BAD_INPUTS)
def test_bad_input_has_one_clear_error(case):
    P, y, message = BAD_INPUTS[case]
    with pytest.raises(InputError, match="^" + re.escape(message) + "$"):
        read(P, y)


@pytest.mark.parametrize("case", BAD_INPUTS)
@pytest.mark.parametrize(
    "calibrator",
    [cb.calibrators.Identity(), cb.TemperatureScaling(), cb.ConfidenceCalibrator()],
    ids=repr,
)
def test_calibrators_answer_as_the_door_does(calibrator, case):
    P, y, message = BAD_INPUTS[case]
    with pytest.raises(InputError, match="^" + re.escape(message) + "$"):
        calibrator.fit(P, y)


@pytest.mark.parametrize("case", BAD_INPUTS)
@pytest.mark.parametrize(
    "metric", [metrics.log_loss, metrics.expected_calibration_error, metrics.accuracy.interval]
)
def test_metrics_answer_as_the_door_does(metric, case):
    P, y, message = BAD_INPUTS[case]
    with pytest.raises(InputError, match="^" + re.escape(message) + "$"):
        metric(y, P)


@pytest.mark.parametrize(
    ("P", "y"),
    [
        (P3, np.zeros(4, int)),
        (np.full((4, 3), 1 / 3), Y3),
        (np.eye(3)[[0, 1, 2, 0]], Y3),
        (P3, [0, 1, 0, 1]),
    ],
    ids=["single class", "constant scores", "exact 0 and 1", "a class absent"],
)
def test_odd_but_valid_input_is_accepted(P, y):
    assert read(P, y).labels.tolist() == list(y)


SAME_INPUTS = {
    "list": lambda P, y: (P.tolist(), y.tolist()),
    "tuple": lambda P, y: (tuple(map(tuple, P)), tuple(y.tolist())),
    "numpy": lambda P, y: (P, y),
    "fortran order": lambda P, y: (np.asfortranarray(P), y),
    "a view with strides": lambda P, y: (np.repeat(P, 2, axis=0)[::2], np.repeat(y, 2)[::2]),
    "read-only": lambda P, y: (_frozen(P), _frozen(y)),
    "object dtype": lambda P, y: (P.astype(object), y.astype(object)),
    "labels as floats": lambda P, y: (P, y.astype(float)),
    "labels as uint8": lambda P, y: (P, y.astype(np.uint8)),
    "masked without a mask": lambda P, y: (np.ma.array(P), np.ma.array(y)),
}


def _frozen(a):
    a = a.copy()
    a.setflags(write=False)
    return a


@pytest.mark.parametrize("how", SAME_INPUTS)
def test_same_predictions_in_another_container(how):
    record, plain = read(*SAME_INPUTS[how](P3, Y3)), read(P3, Y3)
    np.testing.assert_array_equal(record.probabilities, plain.probabilities)
    np.testing.assert_array_equal(record.labels, plain.labels)
    assert record.classes.tolist() == [0, 1, 2]


def test_pandas_columns_name_the_classes():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(P3, columns=["dog", "ant", "cat"])
    record = read(frame, pd.Series(["dog", "ant", "cat", "ant"], index=[9, 4, 1, 0]))
    assert record.classes.tolist() == ["dog", "ant", "cat"]
    assert record.labels.tolist() == [0, 1, 2, 1]


def test_pandas_labels_may_be_categorical_or_nullable():
    pd = pytest.importorskip("pandas")
    assert read(pd.DataFrame(P3), pd.Series(Y3).astype("category")).labels.tolist() == Y3.tolist()
    assert read(pd.DataFrame(P3), pd.Series(Y3, dtype="Int64")).labels.tolist() == Y3.tolist()
    with pytest.raises(InputError, match=r"y must not be missing; row 1 is (nan|<NA>)"):
        read(P3, pd.Series([0, None, 1, 2], dtype="Int64"))


def test_shuffled_columns_are_put_in_the_order_of_the_fit():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(P3, columns=["dog", "ant", "cat"])
    y = ["dog", "ant", "cat", "ant"]
    cal = cb.TemperatureScaling().fit(frame, y)
    expected = cal.predict_proba(frame)
    np.testing.assert_array_equal(cal.predict_proba(frame[["cat", "dog", "ant"]]), expected)
    np.testing.assert_array_equal(cal.predict_proba(P3), expected)
    assert cal.predict(frame[["cat", "dog", "ant"]]).tolist() == cal.predict(frame).tolist()
    shuffled = frame[["ant", "cat", "dog"]]
    assert metrics.log_loss(y, shuffled) == pytest.approx(metrics.log_loss(y, frame), abs=1e-15)
    assert metrics.log_loss(y, shuffled, classes=["dog", "ant", "cat"]) == pytest.approx(
        metrics.log_loss(y, frame), abs=1e-15
    )


def test_columns_that_are_not_the_classes_are_refused():
    pd = pytest.importorskip("pandas")
    cal = cb.calibrators.Identity(classes=["a", "b", "c"]).fit(P3, ["a", "b", "c", "b"])
    with pytest.raises(
        InputError,
        match=(
            r"the columns of P must be named by the classes \['a', 'b', 'c'\]; got \['a', 'b',"
            r" 'z'\]"
        ),
    ):
        cal.predict_proba(pd.DataFrame(P3, columns=["a", "b", "z"]))
    with pytest.raises(InputError, match="got 4 columns and the 3 classes"):
        cal.predict_proba(pd.DataFrame(P3, columns=["a", "b", "c"]).assign(id=0.0))
    with pytest.raises(InputError, match="the columns of P must have different names"):
        read(pd.DataFrame(P3, columns=["a", "b", "a"]), [0, 1, 0, 1])


def test_a_frame_without_names_leaves_them_to_classes():
    pd = pytest.importorskip("pandas")
    record = read(pd.DataFrame(P3), ["b", "c", "a", "c"], classes=["b", "c", "a"])
    assert record.labels.tolist() == Y3.tolist()


def test_polars():
    pl = pytest.importorskip("polars")
    named = read(pl.DataFrame(P3, schema=["z", "y", "x"]), pl.Series(["z", "y", "x", "y"]))
    assert named.classes.tolist() == ["z", "y", "x"]
    assert named.labels.tolist() == Y3.tolist()
    unnamed = read(pl.DataFrame(P3), pl.Series(Y3))
    assert unnamed.classes.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(unnamed.values, P3)
    assert read(pl.Series(P2[:, 1]), pl.Series(Y2)).labels.tolist() == Y2.tolist()


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    record = read(torch.tensor(P3, requires_grad=True), torch.tensor(Y3))
    np.testing.assert_array_equal(record.probabilities, read(P3).probabilities)
    assert record.labels.tolist() == Y3.tolist()
    logits = torch.tensor(np.log(P3)).to(torch.bfloat16)
    np.testing.assert_allclose(read(logits, inputs="logit").probabilities, P3, atol=0.02)
    assert read(torch.tensor(P3).half()).resolution == np.finfo(np.float16).eps


def test_binary_in_one_column_is_the_second_class():
    record = read(P2[:, 1], Y2)
    np.testing.assert_array_equal(record.values, np.column_stack([1 - P2[:, 1], P2[:, 1]]))
    logits = read([-2.0, 0.0, 3.0], inputs="logit")
    np.testing.assert_allclose(
        logits.probabilities[:, 1], 1 / (1 + np.exp([2.0, 0.0, -3.0])), rtol=1e-15
    )


LABELS = {
    "strings not in sorted order": ["yes", "no"],
    "booleans": [True, False],
    "minus one and one": [-1, 1],
    "one and two": [1, 2],
    "floats": [0.5, 1.5],
    "whole floats": [1.0, 2.0],
    "bytes": [b"a", b"b"],
    "tuples": [("a", 1), ("b", 2)],
    "dates": [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)],
    "frozen sets": [frozenset(), frozenset([1])],
    "of two kinds": [1, "a"],
    "empty string": ["", "x"],
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_hashable_kind(kind, tmp_path):
    names = LABELS[kind]
    y = [names[k] for k in Y2]
    record = read(P2, y, classes=names)
    assert record.labels.tolist() == Y2.tolist()
    cal = cb.calibrators.Identity(classes=names).fit(P2, y)
    assert cal.predict(P2).tolist() == [names[0], names[1], names[0]]
    if kind not in ("bytes", "dates", "frozen sets"):
        assert (
            cb.load(cal.save(tmp_path / "c.calibrant")).predict(P2).tolist()
            == cal.predict(P2).tolist()
        )
    assert metrics.accuracy(y, P2, classes=names) == pytest.approx(2 / 3)


@pytest.mark.parametrize("names", [[-1, 1], [1, 2], ["bad", "good"]], ids=str)
def test_labels_that_are_not_column_numbers_ask_for_classes(names):
    y = [names[k] for k in Y2]
    with pytest.raises(
        InputError, match=r"y must be the column numbers 0\.\.1 .* pass classes=\[\.\.\.\]"
    ):
        read(P2, y)
    assert read(P2, y, classes=names).labels.tolist() == Y2.tolist()


@pytest.mark.parametrize("names", [["no", "yes"], ["No", "Yes"], ["NO", "YES"]], ids=str)
@pytest.mark.parametrize("P", [P2, P2[:, 1]], ids=["two columns", "one column"])
def test_no_and_yes_need_no_classes(names, P):
    record = read(P, [names[k] for k in Y2])
    assert record.labels.tolist() == Y2.tolist()
    assert record.classes.tolist() == names
    # One of them alone is enough.
    assert read(P, [names[1]] * len(P)).labels.tolist() == [1] * len(P)


def test_booleans_need_no_classes():
    record = read(P2[:, 1], Y2 == 1)
    assert record.labels.tolist() == Y2.tolist()
    assert record.classes.tolist() == [False, True]


def test_unknown_label_is_named():
    with pytest.raises(InputError, match=r"y must hold only the classes \['a', 'b'\]; got \['z'\]"):
        read(P2, ["a", "b", "z"], classes=["a", "b"])


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (["a"], "P must have one column for each class; got 2 columns and the 1 classes ['a']"),
        (["a", "a"], "classes must be distinct; got ['a', 'a']"),
        (
            2,
            (
                "classes must be the labels of the columns of P, in column order; got 2; pass a"
                " list of them."
            ),
        ),
        (
            "ab",
            (
                "classes must be the labels of the columns of P, in column order; got 'ab'; pass a"
                " list of them."
            ),
        ),
    ],
)
def test_classes_that_do_not_fit(classes, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read(P2, Y2, classes=classes)


def test_predicting_other_columns_than_fitted():
    cal = cb.calibrators.Identity().fit(P3, Y3)
    with pytest.raises(InputError, match=r"got 2 columns and the 3 classes \[0, 1, 2\]"):
        cal.predict_proba(P2)


def test_inputs_is_never_guessed():
    with pytest.raises(
        InputError, match=r"""inputs must be "probability" or "logit"; got 'scores'\."""
    ):
        cb.TemperatureScaling(inputs="scores").fit(P3, Y3)
    # Probabilities are logits too, if one says so.
    for name in ("logit", "logits"):
        np.testing.assert_allclose(read(P3, inputs=name).probabilities, softmax(P3), rtol=1e-15)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(3), "sample_weight must have one weight for each of the 4 rows; got shape (3,)."),
        (
            [1, 1, -1, 1],
            (
                "sample_weight must be finite and not negative; row 2 is -1.0; use 0 to leave a row"
                " out."
            ),
        ),
        (
            [1, np.nan, 1, 1],
            (
                "sample_weight must be finite and not negative; row 1 is nan; use 0 to leave a row"
                " out."
            ),
        ),
        (np.zeros(4), "sample_weight is zero in every row; at least one row must count."),
    ],
)
def test_bad_weights(weight, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read(P3, Y3, sample_weight=weight)


def test_rows_of_weight_zero_are_dropped_with_everything_that_belongs_to_them():
    record = read(P3, Y3, sample_weight=[2, 0, 1, 0], X=np.arange(4))
    assert len(record) == 2
    assert record.weight.tolist() == [2, 1]
    assert record.labels.tolist() == [0, 2]
    assert record.X.tolist() == [0, 2]
    assert record.per_row(np.arange(4)).tolist() == [0, 2]


@pytest.mark.parametrize("argument", ["X", "reference"])
def test_arguments_that_a_calibrator_does_not_use_are_refused(argument):
    with pytest.raises(InputError, match=f"Identity does not use {argument}; leave it out"):
        cb.calibrators.Identity().fit(P3, Y3, **{argument: (P3, Y3)})


@pytest.mark.parametrize("n_classes", [2, 10, 1000])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_rows_rounded_to_their_dtype_are_accepted_and_renormalised(dtype, n_classes):
    rng = np.random.default_rng(0)
    P = softmax(3 * rng.normal(size=(200, n_classes))).astype(dtype)
    record = read(P)
    np.testing.assert_allclose(record.probabilities.sum(axis=1), 1.0, atol=1e-12)
    assert record.resolution == max(np.finfo(dtype).eps, 2.0**-23)


@pytest.mark.parametrize(
    ("dtype", "off"), [(np.float16, 0.02), (np.float32, 1.5e-4), (np.float64, 1.5e-4)]
)
def test_rows_off_by_more_than_their_dtype_explains_are_refused(dtype, off):
    P = P2.copy()
    P[1, 0] += off
    with pytest.raises(
        InputError, match=r"rows of P must sum to 1 within .*; row 1 sums to .* \(1 in all\)"
    ):
        read(P.astype(dtype))


def test_bad_rows_are_counted_across_blocks():
    P = np.full((70_000, 2), 0.5)
    P[66_000, 0] = 0.7
    with pytest.raises(InputError, match=r"row 66000 sums to 1\.2 \(1 in all\)"):
        read(P)


def test_logits_and_probabilities_are_one_route():
    rng = np.random.default_rng(2)
    logits = 3 * rng.normal(size=(500, 4))
    a, b = read(softmax(logits)), read(logits, inputs="logit")
    np.testing.assert_allclose(a.probabilities, b.probabilities, rtol=1e-12)
    np.testing.assert_allclose(a.log_probabilities, b.log_probabilities, rtol=1e-9, atol=1e-15)
    np.testing.assert_array_equal(a.predicted, b.predicted)


def test_blocks_cover_every_row_once():
    record = read(P3, Y3, sample_weight=[1, 2, 3, 4])
    parts = list(record.blocks(3))
    assert [len(p) for p in parts] == [3, 1]
    np.testing.assert_array_equal(np.concatenate([p.weights for p in parts]), record.weights)
    np.testing.assert_array_equal(np.vstack([p.one_hot for p in parts]), record.one_hot)


@pytest.mark.parametrize("inputs", ["probability", "logit"])
@pytest.mark.parametrize("target", ["answer", "event", "no"])
def test_a_pair_says_what_the_target_asks(target, inputs):
    rng = np.random.default_rng(0)
    P = rng.dirichlet([0.5, 0.5], 200)
    record = read(
        P if inputs == "probability" else np.log(P),
        rng.integers(0, 2, 200),
        inputs=inputs,
        classes=["no", "yes"],
    )
    record = replace(record, weight=rng.random(200))
    score, hit = record.pair(target)
    pair = record.as_pair(target)
    assert (pair.confidence == score).all()
    assert (pair.probabilities[:, 1] == score).all()
    assert (pair.correct == hit).all()
    assert (pair.labels == hit).all()
    assert (pair.weights == record.weights).all()
    assert (
        metrics.reliability_curve.of(pair).to_dict()
        == metrics.reliability_curve.of(record, target=target).to_dict()
    )


def test_the_event_of_two_classes_keeps_its_last_digits():
    pair = read([[1e-30, 1.0]], [0]).as_pair("event")
    assert metrics.log_loss.of(pair) == pytest.approx(30 * np.log(10))


def test_the_question_asked_where_none_is_named_is_the_event_of_two_classes():
    assert read([0.2, 0.7]).default_target == "event"
    assert read(P3).default_target == "answer"


def test_a_pair_of_one_class_of_many_is_that_class_against_the_rest():
    pair = read(P3, Y3).as_pair(2)
    assert pair.confidence.tolist() == P3[:, 2].tolist()
    assert pair.correct.tolist() == [0.0, 0.0, 1.0, 0.0]
    assert pair.take(slice(1, 3)).correct.tolist() == [0.0, 1.0]
    with pytest.raises(InputError, match="takes two classes; got 3"):
        read(P3, Y3).as_pair("event")


def test_reference_labels_are_positions_in_the_classes():
    X = np.zeros((3, 2))
    record = read(P2, ["b", "a", "a"], classes=["b", "a"], reference=(X, ["a", "a", "b"]))
    assert record.reference[1].tolist() == [1, 1, 0]
    with pytest.raises(InputError, match="reference must be the pair"):
        read(P2, Y2, reference=X)
    with pytest.raises(InputError, match=r"reference\[0\] must have 2 rows"):
        read(P2, Y2, reference=(X, [0, 1]))


@pytest.mark.parametrize(
    "metric", [metrics.log_loss, metrics.brier_score], ids=["log loss", "Brier score"]
)
def test_what_a_record_keeps_is_never_written_to(metric):
    P = np.random.default_rng(0).dirichlet(np.ones(3), 50)
    record = read(P, np.arange(50) % 3)
    record.by_class.setflags(write=False)
    assert metric.of(record) == metric(np.arange(50) % 3, P)
