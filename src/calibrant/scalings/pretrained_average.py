"""An average of five scalings, weighed by a small network that was trained beforehand on simulated tasks."""

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import ClassVar

import numpy as np

from calibrant._kernels.softmax import softmax
from calibrant._support.options import require_matrix_size
from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.expression import weighted_sum
from calibrant.contracts.tags import Tags
from calibrant.predictions import Predictions
from calibrant.scalings.ensemble_matrix import EnsembleMatrixScaling
from calibrant.scalings.identity import Identity
from calibrant.scalings.structured_matrix import StructuredMatrixScaling
from calibrant.scalings.structured_vector import StructuredVectorScaling
from calibrant.scalings.temperature import TemperatureScaling

__all__ = ["MEMBERS", "PretrainedAverage", "fitted_members", "task_numbers"]

#: What is averaged, in the order of the network's outputs.
MEMBERS = (Identity, TemperatureScaling, StructuredVectorScaling, StructuredMatrixScaling, EnsembleMatrixScaling)
SMALLEST = 1e-12
#: In-sample gains are multiplied by the first and cut off at the second, as the network was trained.
GAIN_SCALE, MOST_GAIN = 10.0, 5.0


class PretrainedAverage(Calibrator):
    r"""Average five scalings with weights that a network, trained beforehand on simulated tasks, gives without folds.

    .. math:: Q = \sum_{j=1}^5 w_j Q^{(j)}, \qquad w = \mathrm{softmax}(B\, \mathrm{relu}(A t + a) + b)

    The members :math:`Q^{(j)}` are the predictions as they are, temperature, structured vector, structured matrix (SMS) and ensemble
    matrix scaling (EMS), all fitted on all rows. The ten numbers t describe the task: its rows and classes, how sure and how right the
    predictions are, their log loss, and the in-sample log loss that each member takes off. The 261 numbers A, a, B, b come with the
    package; they have the least log loss of the average on new rows of 600 simulated tasks.

    Parameters
    ----------
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    members_ : the five fitted calibrators.
    weights_ : (5,), their weights in the average.
    status_ : "converged", or the first other status of a member.

    See Also
    --------
    EnsembleMatrixScaling : the strongest member, alone.
    AutoCalibrator : averages more methods by out-of-fold evidence, at a higher cost.

    Notes
    -----
    Use it as a fixed method where folds are too dear, with a few hundred rows and up to 20 classes: it costs up to twice what EMS does.
    On 22 stored outputs that it was not trained on (``python -m benchmarks.experiments.calibration_prior``) its mean log loss was .80 %
    below that of EMS at 250 rows and .30 % at 1,000, below that of SMS by 1.34 % and .69 %; against ``AutoCalibrator`` it was .40 % lower
    at 250 rows and .24 % higher at 1,000. These 44 tasks are all that it was judged on. Out-of-fold evidence would test the weights on
    your rows, which this does not: prefer ``AutoCalibrator`` where it is affordable, and from 1,000 rows. It was trained on simulations
    only, of 2 to 20 classes and 60 to 2,000 rows, and beyond them its weights are an extrapolation: on 1,000 simulated rows of 100
    classes it left half of its weight on the uncalibrated predictions, and its log loss was 1.8 % above that of temperature scaling. It
    may change the predicted class.

    References
    ----------
    Weights of an average from a task's features, learned over many tasks: Montero-Manso et al., "FFORMA: feature-based forecast model
    averaging", International Journal of Forecasting 36, 2020. The network, its simulations and this use of it are ours.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> P = rng.dirichlet([1, 1, 1], 500)
    >>> y = np.where(rng.random(500) < 0.3, 0, P.argmax(1))
    >>> cal = PretrainedAverage().fit(P, y)
    >>> cal.status_, round(float(cal.weights_.sum()), 9)
    ('converged', 1.0)
    """

    tags: ClassVar[Tags] = Tags(soft_labels=True, label="pre-trained average of scalings")
    status_: str

    @classmethod
    def _examples(cls):
        return [cls(), cls(inputs="logit")]

    def _fit(self, record):
        require_matrix_size("PretrainedAverage", record.n_classes)
        self.members_: list[Calibrator] = fitted_members(record)
        first, second = _layers()
        hidden = np.maximum(_layer(task_numbers(record, self.members_), first), 0.0)
        self.weights_: np.ndarray = softmax(_layer(hidden, second)[None])[0]
        statuses = (m.status_ for m in self.members_)
        self.status_ = next((s for s in statuses if s not in ("exact", "converged")), "converged")

    def _predict_proba(self, record):
        out = np.zeros((len(record), record.n_classes))
        for share, member in zip(self.weights_, self.members_, strict=True):
            out += share * member.predict_record(record)
        return out

    def _expression(self, record):
        return weighted_sum([member.express(record) for member in self.members_], self.weights_)


def fitted_members(record: Predictions) -> list[Calibrator]:
    """The members, fitted on all rows of the record."""
    return [member(**record.calibrator_params).fit_record(record) for member in MEMBERS]


def task_numbers(record: Predictions, members: Sequence[Calibrator]) -> np.ndarray:
    """(10,) what the network is told: the task's size, how sure and how right its predictions are, their loss, the members' gains."""
    own, share = np.arange(len(record)), record.weights / record.weights.sum()
    n, n_classes = record.weights.sum(), record.n_classes
    losses = np.array([-share @ np.log(np.maximum(m.predict_record(record)[own, record.labels], SMALLEST)) for m in members])
    size = [np.log(n) - 6.0, np.log(n_classes) - 1.5, np.log(n_classes**2 / n)]
    gains = np.clip(GAIN_SCALE * np.diff(losses), -MOST_GAIN, MOST_GAIN)
    return np.array([*size, share @ record.probabilities.max(axis=1), share @ record.correct, losses[0], *gains])


@cache
def _layers():
    """((10, 16), (16,)) and ((16, 5), (5,)): the weights and offsets of the two layers, as trained."""
    table = json.loads(files("calibrant.scalings").joinpath("pretrained_average.json").read_text(encoding="utf-8"))
    return [(np.array(layer["weights"]), np.array(layer["offsets"])) for layer in table]


def _layer(values, layer):
    weights, offsets = layer
    return values @ weights + offsets
