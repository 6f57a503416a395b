"""H33: a count of bins, draws, rows to wait or rows to remember that no memory holds ends in one
sentence, at every door.
"""

import inspect
import signal

import numpy as np
import pytest

import calibrant as cb
from calibrant import calibrators, metrics
from calibrant.calibrators import HistogramBinning
from calibrant.errors import InputError
from calibrant.monitoring import (
    AdaptiveIntervals,
    AdaptiveSets,
    CalibrationMonitor,
    OnlineCalibrator,
)

HUGE = 10**9
COUNTS = ("n_bins", "n_draws", "n_points", "n_levels", "n_resamples", "n_rows")
RNG = np.random.default_rng(0)
P = RNG.random(200)
Y = (RNG.random(200) < P).astype(int)


def metric_calls():
    """(name, argument) of every public function of predictions and labels that takes a count."""
    for name in metrics.__all__:
        function = getattr(metrics, name)
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError):
            continue
        first = list(parameters)[:2]
        if first in (["y_true", "P"], ["y_true", "y_pred"]):
            yield from ((name, count) for count in COUNTS if count in parameters)


CALLS = list(metric_calls())


def test_the_calls_are_many():
    assert len(CALLS) >= 15


@pytest.fixture
def at_once():
    """Stop a count that is not refused before it fills the memory."""

    def stop(*_):
        raise TimeoutError("the count was not refused at once")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(10)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(("name", "count"), CALLS)
def test_a_huge_count_of_a_metric_is_refused(name, count):
    with pytest.raises(
        InputError, match=f"{count} must be a whole number from .* to .*; got {HUGE}"
    ):
        # ``compare`` takes several predictions.
        getattr(metrics, name)(Y, {"a": P, "b": P**2} if name == "compare" else P, **{count: HUGE})


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    ("kind", "count"),
    [
        (OnlineCalibrator, "n_bins"),
        (CalibrationMonitor, "n_bins"),
        (HistogramBinning, "n_bins"),
        (calibrators.GroupCalibrator, "n_bins"),
    ],
)
def test_a_huge_count_of_a_calibrator_is_refused(kind, count):
    more = {"groups": np.arange(200) % 2} if kind is calibrators.GroupCalibrator else {}
    with pytest.raises(InputError, match=f"{count} must be a whole number"):
        kind(**{count: HUGE}).fit(P, Y, **more)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(("count", "value"), [("window", HUGE), ("delay", 10**7)])
def test_a_huge_window_or_delay_is_refused(count, value):
    with pytest.raises(InputError, match=f"{count} must be a whole number"):
        AdaptiveSets(**{count: value}).fit(np.column_stack([1.0 - P, P]), Y)
    with pytest.raises(InputError, match=f"{count} must be a whole number"):
        AdaptiveIntervals(**{count: value}).fit((P, np.ones(200)), P)


def test_the_command_refuses_a_huge_count(run, tmp_path):
    rows = "".join(f"{p},{y}\n" for p, y in zip(P, Y, strict=True))
    (tmp_path / "log.csv").write_text("p,y\n" + rows, encoding="utf-8")
    asked = ("log.csv", "--risk", "p", "--label", "y", "--bins", str(HUGE))
    for command in ("evaluate", "monitor", "report"):
        told = run(command, *asked, code=2).output
        assert "1000000000 is not in the range 1<=x<=1000000" in " ".join(told.split())
    with pytest.raises(InputError, match="n_bins must be a whole number"):
        cb.report(Y, P, n_bins=HUGE)


@pytest.mark.parametrize("seed", [-1, 2**32, 0.5])
def test_a_seed_of_an_audit_that_is_no_whole_number_is_refused(seed):
    with pytest.raises(InputError, match="random_state must be a whole number"):
        cb.audit(Y, P, groups=np.arange(200) % 2, random_state=seed)
