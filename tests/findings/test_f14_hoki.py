"""F14: a default signal did not follow ``inputs``; and where Hoki's partitions cycle, the
paper's literal stop could not be had.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError

RNG = np.random.default_rng(0)
LOGITS = 3.0 * RNG.normal(size=(300, 3))
Y = (LOGITS + 2.0 * RNG.gumbel(size=LOGITS.shape)).argmax(axis=1)
X = LOGITS + RNG.normal(size=LOGITS.shape)
REFERENCE = (X[:150], Y[:150])


@pytest.mark.parametrize(
    "calibrator",
    [
        cb.calibrators.HokiCalibrator(inputs="logit"),
        cb.calibrators.HokiCalibrator(
            signal=cb.calibrators.LabelStability(noise="uniform"), inputs="logit"
        ),
        cb.ConfidenceCalibrator(inputs="logit"),
        cb.ConfidenceCalibrator(signal=cb.calibrators.Margin(scale="logit"), inputs="logit"),
        cb.calibrators.GeometricCalibrator(inputs="logit"),
        cb.calibrators.GeometricCalibrator("paper", inputs="logit"),
        cb.calibrators.StackedConfidence(inputs="logit"),
    ],
    ids=repr,
)
def test_f14_fitted_signals_read_what_the_calibrator_reads(calibrator):
    needs = calibrator.tags.needs_reference
    calibrator.fit(
        LOGITS[150:], Y[150:], **({"X": X[150:], "reference": REFERENCE} if needs else {})
    )
    signals = calibrator.signals_ if hasattr(calibrator, "signals_") else [calibrator.signal_]
    for signal in signals:
        score = signal.score(LOGITS[:9], **({"X": X[:9]} if signal.tags.uses_features else {}))
        alone = type(signal)(**{**signal.get_params(deep=False), "inputs": "logit"})
        alone.fit(
            LOGITS[150:],
            Y[150:],
            X=X[150:] if needs else None,
            reference=REFERENCE if needs else None,
        )
        np.testing.assert_array_equal(
            score, alone.score(LOGITS[:9], **({"X": X[:9]} if signal.tags.uses_features else {}))
        )


def test_f14_the_signal_given_is_left_as_it_is():
    signal = cb.calibrators.LabelStability()
    cb.calibrators.HokiCalibrator(signal=signal, inputs="logit").fit(LOGITS, Y)
    assert (signal.inputs, hasattr(signal, "scale_")) == ("probability", False)


def test_f14_the_calibrator_of_geometric_answers_too():
    cal = cb.calibrators.GeometricCalibrator("paper", inputs="logit").fit(
        LOGITS[150:], Y[150:], X=X[150:], reference=REFERENCE
    )
    a, b = (c.predict_confidence(LOGITS[:9], X=X[:9]) for c in (cal, cal.calibrator_))
    np.testing.assert_array_equal(a, b)


def cycling(stop, max_iter, seed):
    rng = np.random.default_rng(seed)
    logits = 2.5 * rng.standard_normal((120, 4))
    y = (logits + 2.0 * rng.gumbel(size=logits.shape)).argmax(axis=1)
    return logits, cb.calibrators.HokiCalibrator(
        inputs="logit", n_bins=100, start="confidence", stop=stop, max_iter=max_iter
    ).fit(logits, y)


def test_f14_the_papers_stop_goes_on_through_a_cycle():
    cycles = 0
    for seed in range(25, 40):
        logits, ours = cycling("repeated", 200, seed)
        _, papers = cycling("unchanged", 200, seed)
        if ours.status_ == "cycle":
            cycles += 1
            assert (papers.status_, papers.n_iter_) == ("max iterations", 200)
            np.testing.assert_allclose(papers.alpha_[: ours.n_iter_], ours.alpha_)
        else:
            assert (papers.status_, papers.n_iter_) == ("fixed point", ours.n_iter_)
            np.testing.assert_array_equal(
                papers.predict_confidence(logits), ours.predict_confidence(logits)
            )
    assert 0 < cycles < 15


def test_f14_where_a_cycle_is_left_decides_the_answer():
    """What the notes say: none of the answers on a cycle is the right one."""
    for seed in range(25, 40):
        logits, papers = cycling("unchanged", 200, seed)
        if papers.status_ == "max iterations":
            _, later = cycling("unchanged", 201, seed)
            assert (
                np.abs(later.predict_confidence(logits) - papers.predict_confidence(logits)).max()
                > 1e-3
            )
            return
    raise AssertionError("no cycle found")


def test_f14_an_unknown_stop_is_refused():
    with pytest.raises(InputError, match='stop must be "repeated" or "unchanged"'):
        cb.calibrators.HokiCalibrator(stop="cycle", inputs="logit").fit(LOGITS, Y)
