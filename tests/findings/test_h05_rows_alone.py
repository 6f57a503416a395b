"""H5: what a row means depends on no other row: alone, in a batch, in any order, with its options
in any order, it is read and calibrated to the same bits; fits have the same bits in any order.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant.questions import AutoQuestionCalibrator, IsotonicQuestions

# Few labels of each kind leave the search short of its end.
pytestmark = pytest.mark.filterwarnings("ignore::calibrant.errors.FitWarning")
CALIBRATORS = [cb.QuestionCalibrator(), IsotonicQuestions(), AutoQuestionCalibrator(cv=3)]


def log_of(n=160, seed=0):
    """Rows of every kind and form: typed and not, with and without ids, rounded and not."""
    rng = np.random.default_rng(seed)
    log = []
    for i in range(n):
        form, size = i % 6, int(rng.integers(3, 9))
        p = rng.dirichlet(np.ones(size))
        p = np.round(p, 4) if i % 2 else p
        row = {"question": f"q{i % 5}", "id": None if i % 7 == 0 else i // 2}
        names = [f"o{k}" for k in rng.permutation(size)]
        if form == 0:
            row |= {"probs": dict(zip(names, p.tolist(), strict=True)), "label": names[0]}
        elif form == 1:
            row |= {"probs": dict(zip(names, p.tolist(), strict=True)), "type": "intent"}
            row |= {"label": names[1]}
        elif form == 2:
            levels = [str(k) for k in rng.permutation(size)]
            row |= {"probs": dict(zip(levels, p.tolist(), strict=True)), "type": "score"}
            row |= {"label": int(levels[0])}
        elif form == 3:
            row |= {"probs": {"yes": float(p[0]), "no": float(1 - p[0])}, "label": bool(i % 4)}
        elif form == 4:
            row |= {"confidence": float(np.round(p[0], 2)), "correct": bool(rng.random() < p[0])}
        else:
            row |= {"samples": rng.choice(["x", "y", "z"], 4).tolist(), "label": "x"}
        log.append(row)
    return log


def named(record):
    """The probabilities of each row by name."""
    return [dict(sorted(one.items())) for one in record.answers()]


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=lambda one: type(one).__name__)
def test_rows_have_one_answer_alone_and_in_any_batch(calibrator):
    log, new = log_of(), log_of(60, seed=1)
    fitted = calibrator.fit(cb.read_questions(log))
    whole = named(fitted.predict(cb.read_questions(new)))
    for i in range(len(new)):
        assert named(fitted.predict(cb.read_questions([new[i]]))) == [whole[i]], new[i]
    rng = np.random.default_rng(2)
    for _ in range(5):
        some = rng.permutation(len(new))[: int(rng.integers(2, 50))]
        part = named(fitted.predict(cb.read_questions([new[i] for i in some])))
        assert part == [whole[i] for i in some]


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=lambda one: type(one).__name__)
def test_fits_have_one_answer_in_any_order(calibrator):
    log, new = log_of(100), cb.read_questions(log_of(30, seed=1))
    expected = named(calibrator.fit(cb.read_questions(log)).predict(new))
    rng = np.random.default_rng(3)
    moved = [log[i] for i in rng.permutation(len(log))]
    for row in moved:
        if isinstance(row.get("probs"), dict):
            items = list(row["probs"].items())
            row["probs"] = dict(items[k] for k in rng.permutation(len(items)))
    assert named(calibrator.fit(cb.read_questions(moved)).predict(new)) == expected


def test_an_untyped_row_has_the_type_of_its_kind():
    untyped = {"question": "q", "probs": {"a": 0.7, "b": 0.3}}
    typed = {**untyped, "type": "intent"}
    for log in ([untyped], [untyped, typed], [typed, untyped]):
        record = cb.read_questions(log)
        names = record.type.names[record.type.index].tolist()
        assert names[log.index(untyped)] == "choice"


def test_a_row_is_refused_for_its_own_sum():
    rounded = {"probs": {f"o{k}": 0.0039 for k in range(255)}}
    plain = {"probs": {"a": 1.0 / 3.0, "b": 2.0 / 3.0}}
    assert len(cb.read_questions([rounded])) == 1
    assert len(cb.read_questions([rounded, plain])) == 2


def test_ties_have_one_answer_in_any_order_of_options():
    for probs in ({"b": 0.5, "a": 0.5}, {"a": 0.5, "b": 0.5}):
        record = cb.read_questions([{"probs": probs, "label": "a"}])
        assert record.correct.tolist() == [1.0]
