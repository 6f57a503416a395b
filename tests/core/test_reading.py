import numpy as np
import pytest

from calibrant import metrics
from calibrant.core.reading import read_for
from calibrant.errors import InputError


@pytest.mark.parametrize(
    ("chosen", "said", "words"),
    [
        ([metrics.accuracy, metrics.sharpness], {}, "one task"),
        (
            [metrics.sharpness],
            {"classes": [0, 1]},
            "classes= does not apply to forecasts of a number",
        ),
        (
            [metrics.sharpness],
            {"inputs": "logit"},
            "inputs= does not apply to forecasts of a number",
        ),
        ([metrics.accuracy], {"std": [1.0, 1.0]}, "std= does not apply to predictions of classes"),
        ([metrics.sharpness], {}, "standard deviations"),
    ],
)
def test_what_does_not_go_together_is_refused(chosen, said, words):
    asked = {"std": None, "sample_weight": None, "classes": None, "inputs": "probability", **said}
    with pytest.raises(InputError, match=words):
        read_for(chosen, [0, 1], [0.2, 0.7], **asked)


def test_means_are_enough_where_no_metric_asks_for_more():
    record = read_for(
        [metrics.mean_absolute_error], [1.0, 2.0], [0.0, 0.0], None, [1.0, 0.0], None, "probability"
    )
    np.testing.assert_array_equal(record.error, [1.0])
