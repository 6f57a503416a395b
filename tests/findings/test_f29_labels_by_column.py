"""F29: what is plain to a reader is not refused: labels by column, bfloat16, and a report's
misspelt option is named.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError
from calibrant.testing import problems


def test_f29_integer_labels_are_columns_where_classes_are_not_numbers():
    data = problems()[1]
    names = ["cat", "dog", "cow"]
    by_column = cb.TemperatureScaling(classes=names).fit(data.P, data.y)
    by_name = cb.TemperatureScaling(classes=names).fit(data.P, np.array(names)[data.y])
    assert by_column.classes_.tolist() == names
    assert by_column.predict(data.P_test).tolist() == by_name.predict(data.P_test).tolist()
    assert metrics.log_loss(data.y, data.P, classes=names) == metrics.log_loss(data.y, data.P)
    assert metrics.log_loss(data.y.astype(float), data.P, classes=names) == metrics.log_loss(
        data.y, data.P
    )
    assert metrics.accuracy([True, False], [0.9, 0.2], classes=["no", "yes"]) == 1.0


def test_f29_a_thousand_names_and_integer_labels():
    rng = np.random.default_rng(0)
    P, y = rng.dirichlet(np.ones(1000), 20), rng.integers(0, 1000, 20)
    assert (
        cb.TemperatureScaling(classes=[f"class {k}" for k in range(1000)]).fit(P, y).classes_[3]
        == "class 3"
    )


@pytest.mark.parametrize("classes", [[1, 2, 3], ["1", "2", "3"], [1.0, 2.0, 3.0]])
def test_f29_where_classes_are_numbers_labels_are_names(classes):
    P = np.eye(3)
    assert metrics.accuracy([1, 2, 3], P, classes=classes) == 1.0
    with pytest.raises(InputError, match="y must hold only the classes"):
        metrics.accuracy([0, 1, 2], P, classes=classes)


@pytest.mark.parametrize("y", [[0, 1, 3], [0, "cat", 1], [-1, 0, 1], [0.5, 1.0, 2.0]])
def test_f29_other_labels_are_still_refused(y):
    with pytest.raises(InputError, match="y must hold only the classes"):
        metrics.accuracy(y, np.eye(3), classes=["cat", "dog", "cow"])


class Bfloat16Tensor:
    """What a CPU tensor of torch.bfloat16 shows of itself: NumPy has no such numbers, so it must
    be widened first.
    """

    dtype = "torch.bfloat16"

    def __init__(self, values):
        bits = np.asarray(values, dtype=np.float32).view(np.uint32)
        self.values = (
            ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
        )
        self.shape, self.ndim = self.values.shape, self.values.ndim

    def detach(self):
        return self

    def cpu(self):
        return self

    def float(self):
        widened = Bfloat16Tensor(self.values)
        widened.dtype = "torch.float32"
        return widened

    def numpy(self):
        if self.dtype != "torch.float32":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.values


def test_f29_bfloat16_probabilities_are_taken():
    data = problems()[2]
    narrow = Bfloat16Tensor(data.P)
    sums = narrow.values.sum(axis=1, dtype=np.float64)
    assert np.abs(sums - 1.0).max() > 1e-3
    wide = narrow.values / sums[:, None]
    assert metrics.log_loss(data.y, narrow) == pytest.approx(
        metrics.log_loss(data.y, wide), abs=1e-12
    )
    with pytest.raises(InputError, match=r"rows of P must sum to 1 within 0.01; row 0 sums to 1.0"):
        metrics.log_loss(data.y, Bfloat16Tensor(1.05 * data.P))


def test_f29_bfloat16_arrays_are_taken():
    kind = pytest.importorskip("ml_dtypes").bfloat16
    data = problems()[2]
    narrow = data.P.astype(kind)
    fitted = cb.TemperatureScaling().fit(narrow, data.y)
    assert fitted.predict_proba(data.P_test.astype(kind)).dtype == np.float64


def test_f29_a_misspelt_option_of_the_report_is_named():
    with pytest.raises(TypeError, match=r"report has no option 'n_bin'; it has .*'n_bins'"):
        cb.report([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], n_bin=5)
    with pytest.raises(TypeError, match=r"report has no option 'classes'; it has .*'outputs'"):
        cb.report([0.0, 1.0, 1.0, 0.0], [0.2, 0.7, 0.9, 0.4], [1.0] * 4, classes=["a"])


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (
            [[1.0], [2.0]],
            (
                r"at least 2 draws a row; got shape \(2, 1\); one draw does not show the spread:"
                r" pass it as the mean"
            ),
        ),
        (
            [[1.0, 2.0], [3.0, 3.0]],
            (
                r"samples must differ within a row; row 1 has 2 draws of 3.0 \(1 in all\); their"
                r" std is 0"
            ),
        ),
        ([[[1.0, 2.0], [3.0, 3.0]]], "samples must differ within a row; row 0 has 2 draws of 3.0"),
    ],
)
def test_f29_draws_without_spread_are_refused_in_words_of_draws(samples, message):
    with pytest.raises(InputError, match=message):
        cb.regression.SampleForecast(samples)


@pytest.mark.parametrize("y", [[0, 1, 1], [False, True, True]])
def test_f29_nobody_has_said_the_order_of_columns_that_a_table_names(y):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"yes": [0.1, 0.8, 0.9], "no": [0.9, 0.2, 0.1]})
    for use in (lambda: metrics.accuracy(y, frame), lambda: cb.TemperatureScaling().fit(frame, y)):
        with pytest.raises(InputError, match="write the labels as the columns are named"):
            use()
    assert metrics.accuracy(["no", "yes", "yes"], frame) == 1.0
    assert metrics.accuracy(y, frame, classes=["no", "yes"]) == 1.0
