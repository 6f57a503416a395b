"""H32: names that are there, words that are taken, labels that mean the same in Python and in the
command, and help that can be read.
"""

import inspect
import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.testing import calibrator_checks

ROOT = Path(__file__).resolve().parents[2]
LABELS = {
    "numbers": lambda y: y,
    "floats": lambda y: y.astype(float),
    "booleans": lambda y: y.astype(bool),
    "number texts": lambda y: y.astype(str),
    "no and yes": lambda y: np.array(["no", "yes"])[y],
    "False and True": lambda y: np.array(["False", "True"], dtype=object)[y],
    "list": lambda y: [("NO", "YES")[k] for k in y],
}


def drawn(n=300):
    rng = np.random.default_rng(0)
    p = rng.uniform(0.02, 0.98, n)
    return p, (rng.random(n) < p**2).astype(int)


def test_h32_where_everything_is_names_what_is_there():
    text = (ROOT / "docs" / "guide" / "where.rst").read_text(encoding="utf-8")
    table = text.partition("At the top")[2].partition("By package")[0]
    names = re.findall(r"``(\w+)``", table)
    assert [name for name in names if not hasattr(cb, name)] == []
    exported = {name for name in cb.__all__ if not inspect.ismodule(getattr(cb, name))}
    assert exported - {*names, "__version__"} == set()


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_h32_labels_of_two_classes_are_read_in_every_form(labels):
    p, y = drawn()
    given, P = labels(y), np.column_stack([1.0 - p, p])
    assert metrics.log_loss(given, p) == metrics.log_loss(y, p)
    assert metrics.log_loss(given, P) == metrics.log_loss(y, P)
    assert metrics.event_auroc(given, p) == metrics.event_auroc(y, p)
    np.testing.assert_array_equal(
        cb.TemperatureScaling().fit(P, given).predict_proba(P),
        cb.TemperatureScaling().fit(P, y).predict_proba(P),
    )
    np.testing.assert_array_equal(
        cb.Platt().fit(p, given).predict(p), cb.Platt().fit(p, y).predict(p)
    )
    audits = [cb.audit(one, p, groups=p > 0.5).sentence for one in (given, y)]
    assert audits[0] == audits[1]
    rules = [cb.SelectiveClassifier(0.4).fit(p, one).threshold_ for one in (given, y)]
    assert rules[0] == rules[1]


def test_h32_a_report_reads_no_and_yes():
    p, y = drawn()
    found, expected = cb.report(LABELS["no and yes"](y), p), cb.report(y, p)
    assert found.to_dict()["metrics"] == expected.to_dict()["metrics"]


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_h32_the_command_reads_them_alike(labels, run, tmp_path):
    p, y = drawn()
    rows = zip(p.tolist(), np.asarray(labels(y)).tolist(), strict=True)
    text = "".join(json.dumps({"p": a, "label": b}) + "\n" for a, b in rows)
    (tmp_path / "f.jsonl").write_text(text, encoding="utf-8")
    found = json.loads(run("evaluate", "f.jsonl", "--json").stdout)["metrics"]
    loss = {row["key"]: row["before"]["value"] for row in found}["log_loss"]
    assert loss == pytest.approx(metrics.log_loss(y, p))


def test_h32_the_class_that_did_not_occur_is_named():
    fitted = cb.calibrators.Identity().fit([0.5, 0.6], ["Yes", "Yes"])
    assert fitted.classes_.tolist() == ["No", "Yes"]
    assert metrics.log_loss(["yes"] * 4, [0.5] * 4) == pytest.approx(np.log(2.0))


@pytest.mark.parametrize("labels", [["good", "bad"], ["yes", "true"], ["Yes", "yes"]])
def test_h32_other_pairs_are_refused(labels):
    with pytest.raises(cb.errors.InputError, match="classes="):
        metrics.log_loss(labels * 3, [0.5] * 6)


def test_h32_plural_units_are_taken():
    p, y = drawn()
    logit = np.log(p / (1.0 - p))
    assert metrics.log_loss(y, logit, inputs="logits") == metrics.log_loss(y, logit, inputs="logit")
    assert metrics.log_loss(y, p, inputs="probabilities") == metrics.log_loss(y, p)
    plural = cb.TemperatureScaling(inputs="logits").fit(logit, y)
    one = cb.TemperatureScaling(inputs="logit").fit(logit, y)
    np.testing.assert_array_equal(plural.predict_proba(logit), one.predict_proba(logit))
    with pytest.raises(cb.errors.InputError, match="inputs must be"):
        metrics.log_loss(y, p, inputs="odds")


class Model:
    def predict(self, X):
        return X


@pytest.mark.parametrize(
    "part", [cb.AutoCalibrator, cb.TemperatureScaling, cb.GroupCalibrator, cb.Platt]
)
def test_h32_a_model_in_fit_is_refused_in_words(part):
    p, y = drawn()
    for arguments in ((Model(), p[:, None], y), (Model(), y)):
        with pytest.raises((TypeError, ValueError)) as caught:
            part().fit(*arguments)
        assert f"{part.__name__}.fit takes predictions" in str(caught.value)
        assert "CalibratedClassifier" in str(caught.value)


def test_h32_one_forecast_takes_std_as_run_does():
    rng = np.random.default_rng(0)
    mean, std = rng.normal(size=300), rng.uniform(0.5, 2.0, 300)
    y = mean + std * rng.normal(size=300)
    one, other = (cb.AdaptiveIntervals().fit(mean, y, std=std) for _ in range(2))
    assert one.predict_one(0.1, std=1.5) == other.predict_one((0.1, 1.5))
    one.learn_one(0.1, 3.0, std=1.5)
    other.learn_one((0.1, 1.5), 3.0)
    assert one.predict_one(0.1, std=1.5) == other.predict_one((0.1, 1.5))


class Halfway(cb.core.Calibrator):
    """By the template, with NumPy's own sums over the classes."""

    tags = cb.core.Tags(label="halfway")

    def _fit(self, record):
        self.rates_ = np.average(record.probabilities, axis=0, weights=record.weights)

    def _predict_proba(self, record):
        Q = 0.5 * record.probabilities + 0.5 * self.rates_
        return Q / Q.sum(axis=1, keepdims=True)


class Sharper(Halfway):
    def _fit(self, record):
        self.power_ = 1.5

    def _predict_proba(self, record):
        Q = np.exp(self.power_ * (record.logits - record.logits.max(axis=1, keepdims=True)))
        return Q / Q.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("inputs", ["probability", "logit"])
@pytest.mark.parametrize("part", [Halfway, Sharper])
def test_h32_a_calibrator_by_the_template_passes_the_laws(part, inputs):
    checks = calibrator_checks(part(inputs=inputs))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for check in checks:
            if check.name in ("rows_are_independent", "weights_are_repetition", "row_order"):
                check()


def test_h32_a_record_is_described_in_a_few_lines():
    log = [
        {"id": i, "question": "q", "confidence": (i % 97) / 97, "correct": i % 3 == 0}
        for i in range(3000)
    ]
    assert len(repr(cb.read_questions(log)).splitlines()) <= 15
    p, y = drawn(3000)
    for one in (cb.NormalForecast(p, p + 1.0), cb.report(y, p), metrics.reliability_curve(y, p)):
        assert len(repr(one).splitlines()) <= 15


def public():
    for name in cb.__all__:
        part = getattr(cb, name)
        if inspect.isfunction(part) or inspect.isclass(part):
            yield name, part
        for more, method in inspect.getmembers(part, inspect.isfunction):
            if inspect.isclass(part) and not more.startswith("_"):
                yield f"{name}.{more}", method


def test_h32_help_opens_with_names_and_not_with_the_parts_of_a_type():
    long = [name for name, part in public() if "_SupportsArray" in str(inspect.signature(part))]
    assert long == []
