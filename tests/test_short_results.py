"""Whatever is printed in a session is short: results, and the signatures that ``help`` shows."""

import importlib
import inspect
import warnings

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.core.guarantee import Brief

N = 2_000
RNG = np.random.default_rng(0)
P = RNG.dirichlet(np.ones(4), N)
Y = np.array([RNG.choice(4, p=row) for row in P])
RISK = RNG.beta(1, 2, N)
EVENT = (RNG.random(N) < RISK).astype(int)
MEAN, STD = RNG.normal(size=N), np.exp(0.3 * RNG.normal(size=N))
OUTCOME = MEAN + STD * RNG.normal(size=N)
#: Lines of a terminal, and its columns.
LINES, COLUMNS = 15, 80


def log():
    return cb.read_questions(
        [
            {"id": k, "question": f"q{k % 9}", "probs": {"a": p, "b": 1 - p}, "label": "ba"[hit]}
            for k, (p, hit) in enumerate(zip(RISK.tolist(), EVENT.tolist(), strict=True))
        ]
    )


def confidence():
    return cb.ConfidenceCalibrator().fit(P, Y)


RESULTS = {
    "reliability": lambda: metrics.reliability_curve(Y, P),
    "smooth": lambda: metrics.loess_curve(EVENT, RISK),
    "isotonic": lambda: metrics.isotonic_curve(EVENT, RISK),
    "decision": lambda: metrics.decision_curve(EVENT, RISK),
    "thresholds": lambda: metrics.threshold_table(EVENT, RISK),
    "murphy": lambda: metrics.murphy_curve(EVENT, RISK),
    "risk and coverage": lambda: metrics.risk_coverage_curve(Y, P),
    "distribution": lambda: metrics.risk_distribution(EVENT, RISK),
    "ordered intervals": lambda: metrics.ordered_intervals(OUTCOME, MEAN, STD),
    "interval curve": lambda: metrics.interval_curve(OUTCOME, MEAN, STD),
    "real std": lambda: metrics.real_std_curve(OUTCOME, MEAN, STD),
    "pit": lambda: metrics.pit_histogram(OUTCOME, MEAN, STD),
    "interval": lambda: metrics.log_loss.interval(EVENT, RISK),
    "confidence curve": lambda: cb.calibrators.confidence_curve(Y, P, confidence()),
    "signal": lambda: cb.calibrators.signal_accuracy(Y, P, cb.calibrators.Margin()),
    "calibrator": confidence,
    "questions": log,
    "question rules": lambda: cb.QuestionRules(risk=0.4).fit(log()),
    "calibrated questions": lambda: cb.QuestionCalibrator().fit(log()).predict(log()),
    "report": lambda: cb.report(EVENT, RISK, calibrator=cb.Platt(), n_resamples=20),
    "forecast": lambda: cb.ConformalIntervals().fit(MEAN, OUTCOME, std=STD).predict(MEAN, STD),
    "rate": lambda: cb.estimate_rate(judge=RISK, labels=np.where(np.arange(N) < 99, EVENT, np.nan)),
    "sets": lambda: cb.ConformalSets().fit(P, Y),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_prints_on_half_a_screen(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = RESULTS[name]()
    for text in (repr(found), str(found)):
        rows = sum(max(-(-len(line) // COLUMNS), 1) for line in text.split("\n"))
        assert rows <= LINES, text


def test_a_brief_record_names_long_columns_by_their_length_and_shows_short_ones():
    curve = metrics.decision_curve([0, 1], [0.2, 0.7], thresholds=[0.25, 0.5])
    assert repr(curve).startswith("DecisionCurve(threshold=array([0.25, 0.5 ]), net_benefit=array(")
    assert "threshold=<100>" in repr(metrics.decision_curve([0, 1], [0.2, 0.7]))


def test_no_record_writes_out_its_arrays():
    """A dataclass would make a repr of its own for each class."""
    kinds = [Brief]
    for kind in kinds:
        kinds += kind.__subclasses__()
    assert len(kinds) > 40
    made = [kind for kind in kinds if "__create_fn__" in kind.__repr__.__qualname__]
    assert made == []
    assert all("__repr__" in vars(kind) for kind in kinds)


PLACES = ("metrics", "calibrators", "displays", "decisions", "monitoring", "questions")


@pytest.mark.parametrize("place", ["", *PLACES, "regression", "tables", "export", "testing"])
def test_help_shows_arrays_by_name(place):
    module = importlib.import_module(f"calibrant.{place}".rstrip("."))
    for name in module.__all__:
        found = getattr(module, name)
        members = [getattr(found, one, None) for one in dir(found) if not one.startswith("_")]
        for one in (found, *(members if inspect.isclass(found) else ())):
            try:
                signature = str(inspect.signature(one))
            except (TypeError, ValueError):
                continue
            assert "_SupportsArray" not in signature, f"{name}: {signature[:200]}"
