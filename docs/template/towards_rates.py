"""Extensions of calibrant: a calibrator, a map, a signal and a metric."""

from typing import ClassVar

import numpy as np
from scipy.optimize import minimize_scalar

import calibrant as cb
from calibrant.core import MapTags, MeanMetric, SignalTags, Tags


@cb.core.register
class TowardsRates(cb.core.Calibrator):
    """Calibrator that mixes probabilities with the class rates, (1 - a) P + a r.

    It chooses the a in [0, 0.99] that minimises the log loss.
    """

    tags: ClassVar[Tags] = Tags(label="towards the class rates")

    def _fit(self, record):
        weight, rows = record.weights, np.arange(len(record))
        self.rates_ = (
            np.bincount(record.labels, weights=weight, minlength=record.n_classes) / weight.sum()
        )
        said, rate = record.probabilities[rows, record.labels], self.rates_[record.labels]

        def log_loss(a):
            return -weight @ np.log((1.0 - a) * said + a * rate + 1e-12)

        self.share_ = float(
            minimize_scalar(
                log_loss, bounds=(0.0, 0.99), method="bounded", options={"xatol": 1e-9}
            ).x
        )

    def _predict_proba(self, record):
        return (1.0 - self.share_) * record.probabilities + self.share_ * self.rates_


@cb.core.register
class Rate(cb.core.Map):
    """Map that predicts the share of right answers for every score."""

    tags: ClassVar[MapTags] = MapTags(monotone=True, label="rate")

    def _fit(self, score, correct, weight):
        self.rate_ = float(weight @ correct / weight.sum())

    def _predict(self, score):
        return np.full(len(score), self.rate_)


@cb.core.register
class Lead(cb.core.Signal):
    """Lead of the most likely class over the second, 1 - P(second) / P(first)."""

    tags: ClassVar[SignalTags] = SignalTags(domain="unit")

    def _score(self, record):
        second, first = np.sort(record.probabilities, axis=1)[:, -2:].T
        return 1.0 - second / first


class AbsoluteScore(
    MeanMetric, name="absolute score", key="absolute_score", direction="minimize", range=(0.0, 1.0)
):
    """The mean of 1 - P(true class)."""

    def _losses(self, record):
        return 1.0 - record.probabilities[np.arange(len(record)), record.labels]


absolute_score = AbsoluteScore()
