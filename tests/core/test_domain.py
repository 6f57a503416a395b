"""A third kind of prediction enters by its own file: multiple choice with a ragged number of
options.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from calibrant import metrics
from calibrant.core.domain import DOMAINS, Domain, Facet, Record, domain_of, domain_of_input
from calibrant.core.forecast_record import read_forecast
from calibrant.core.given import PlainRows
from calibrant.core.joint_normal import read_joint
from calibrant.core.metric_kinds import MeanMetric, Metric
from calibrant.core.predictions import read
from calibrant.core.reading import CLASSIFICATION, REGRESSION
from calibrant.errors import InputError
from calibrant.metrics.forecast_joint import JOINT
from calibrant.metrics.sets import SETS, read_sets


@dataclass(frozen=True)
class Questions(PlainRows):
    """Probabilities (options,) of questions with any number of options, by ``start`` (n + 1,),
    and the option that was right.
    """

    probability: np.ndarray
    start: np.ndarray
    right: np.ndarray

    def __len__(self) -> int:
        return len(self.right)

    @property
    def of_right(self) -> np.ndarray:
        return self.probability[self.start[:-1] + self.right]

    @property
    def mark(self) -> np.ndarray:
        return self.of_right

    def gathered(self, parts: Sequence[list[np.ndarray]], rows: Sequence[np.ndarray]) -> Any:
        order = np.argsort(np.concatenate(rows))
        answers = [one for part in parts for one in part]
        return [answers[i] for i in order]

    def recalibrated(self, result: list[np.ndarray], output: str = "probability") -> "Questions":
        return replace(self, probability=np.concatenate(result))

    def agrees_with(self, other: "Questions") -> bool:
        return np.allclose(self.probability, other.probability, rtol=0.0, atol=1e-12)

    def _own(self, rows: np.ndarray) -> dict[str, Any]:
        rows = np.arange(len(self))[rows]
        parts = [self.probability[self.start[i] : self.start[i + 1]] for i in rows]
        start = np.append(0, np.cumsum([len(part) for part in parts]))
        return {
            "probability": np.concatenate(parts),
            "start": start,
            "right": self.right[rows],
        }


def _read(metrics, y_true, P, *, sample_weight):
    start = np.append(0, np.cumsum([len(one) for one in P]))
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    return Questions(np.concatenate(P).astype(np.float64), start, np.asarray(y_true), weight=weight)


@pytest.fixture
def questions():
    made = Domain(
        "quiz",
        "answers to questions",
        Questions,
        _read,
        takes=lambda P, std: isinstance(P, list) and np.ndim(P[0]) == 1,
    )
    yield made
    del DOMAINS["quiz"]


def metric_of(domain: Domain) -> Metric:
    class QuestionLoss(
        MeanMetric,
        name="log loss of questions",
        key="question_log_loss",
        range=(0.0, float("inf")),
        estimand="expected log loss of a new question",
    ):
        def _losses(self, record: Questions) -> np.ndarray:
            return -np.log(record.of_right)

    QuestionLoss.domain = domain
    return QuestionLoss()


def data(n=200):
    rng = np.random.default_rng(0)
    P = [rng.dirichlet(np.ones(rng.integers(2, 6))) for _ in range(n)]
    return np.array([rng.choice(len(one), p=one) for one in P]), P


def test_a_metric_of_a_third_domain_has_a_value_an_interval_and_weights(questions):
    y, P = data()
    metric = metric_of(questions)
    losses = np.array([-np.log(one[k]) for one, k in zip(P, y, strict=True)])
    assert metric(y, P) == pytest.approx(losses.mean())
    assert metric(y, P, sample_weight=np.arange(200.0) + 1) == pytest.approx(
        np.average(losses, weights=np.arange(200) + 1)
    )
    found = metric.interval(y, P)
    assert found.low < found.value < found.high
    assert metric.interval(y, P, method="bootstrap", n_resamples=200).low == pytest.approx(
        found.low, abs=0.05
    )
    assert metrics.compute([metric], y, P) == {"question_log_loss": metric(y, P)}


def test_metrics_of_two_domains_are_not_read_together(questions):
    y, P = data()
    with pytest.raises(InputError, match=r"one task; got \['classification', 'quiz'\]"):
        metrics.compute([metric_of(questions), metrics.log_loss], y, P)
    with pytest.raises(InputError, match="std= does not apply to answers to questions"):
        metric_of(questions)(y, P, std=np.ones(200))


def test_a_record_and_an_input_say_their_domain(questions):
    y, P = data(5)
    assert domain_of(_read([], y, P, sample_weight=None)) is questions
    assert domain_of(read([[0.5, 0.5]], [1])) is CLASSIFICATION
    assert domain_of(read_forecast([0.0], [1.0], [0.0])) is REGRESSION
    assert domain_of_input(P) is questions
    assert domain_of_input(np.zeros(3)) is CLASSIFICATION
    assert domain_of_input(np.zeros(3), np.ones(3)) is REGRESSION


def test_every_record_keeps_the_protocol(questions):
    y, P = data(5)
    records = [
        read([[0.5, 0.5]], [1]),
        read_forecast([[0.0, 1.0]], [[1.0, 1.0]], [[0.0, 2.0]]),
        _read([], y, P, sample_weight=None),
        read_joint(([[0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]), [[2.0, 1.0]]),
        read_sets([1], [[0, 1]], None, None),
    ]
    members = [name for name in vars(Record) if not name.startswith("_")]
    assert {"take", "weights", "recalibrated"} < set(members)
    assert {JOINT, SETS} < set(DOMAINS.values())
    # Other folders have kinds of their own, as has the example of the guide.
    here = ("calibrant.core", "calibrant.metrics", __name__)
    known = {one.record for one in DOMAINS.values() if one.record.__module__.startswith(here)}
    assert {type(record) for record in records} == known
    for record in records:
        # Names alone do not say that a value can be made: each is asked for.
        assert [name for name in members if not hasattr(record, name)] == []
        assert isinstance(record, Record)
        assert sum(len(block) for block in record.blocks()) == len(record)
        assert record.agrees_with(record.take(np.arange(len(record))))


def test_a_facet_is_made_once_and_a_missing_one_is_named(questions):
    made = []
    units: Facet[str] = Facet("unit")
    units.register(questions, lambda: made.append(1) or "share")
    assert questions in units
    assert (units[questions], units[questions], made) == ("share", "share", [1])
    with pytest.raises(InputError, match="predictions of classes have no unit"):
        units[CLASSIFICATION]
