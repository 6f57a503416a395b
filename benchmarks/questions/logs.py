"""Stored logs of language models: pooled calibration with 25, 100 and 300 labels a question."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from benchmarks.arena.outputs import FOLDER
from benchmarks.questions.table import alone, goal, line

from calibrant.questions import (
    AutoQuestionCalibrator,
    QuestionCalibrator,
    Questions,
    read_questions,
)

__all__ = ["logs"]

#: Labels a question; rows of a question to score on, at most and at least; questions at most.
LABELS, NEW, LEAST, MOST = (25, 100, 300), 200, 20, 60
METHODS = ("none", "one", "alone", "pooled", "auto")


def _sets() -> Iterator[tuple[str, np.ndarray, Any]]:
    """(name, question of each row, function from rows to a record)."""
    with np.load(FOLDER / "llm_llama_mmlu.npz") as z:
        first = z["prompt_id"] == 0
        P, y, subject = z["probs"][first].astype(float), z["label"][first], z["subject"][first]
    P /= P.sum(axis=1, keepdims=True)

    def choices(rows: np.ndarray) -> Questions:
        return read_questions(
            [
                {"question": q, "probs": dict(zip("ABCD", p, strict=True)), "label": "ABCD"[k]}
                for q, p, k in zip(subject[rows], P[rows].tolist(), y[rows], strict=True)
            ]
        )

    yield "mmlu, subjects", subject, choices
    with np.load(FOLDER / "llm_msp_mcqa.npz") as z:
        task = np.char.add(z["dataset"][z["dataset_code"]], z["models"][z["model_code"]])
        yield "mcqa, datasets x models", task, _confident(task, z["msp"], z["correct"])
    with np.load(FOLDER / "llm_verbal_logprob.npz") as z:
        task = np.char.add(z["qset"], z["model"])
        given = z["chosen_token_confidence"]
        kept = np.isfinite(given)
        own = _confident(task[kept], given[kept], z["correct"][kept])
        yield "token confidence", task[kept], own
        given = z["stated_confidence"]
        kept = np.isfinite(given)
        own = _confident(task[kept], given[kept], z["correct"][kept])
        yield "stated confidence", task[kept], own
    with np.load(FOLDER / "llm_selfconsistency_gpqa.npz") as z:
        kept = (z["answered"] == 1) & np.isfinite(z["confidence"])
        task = z["model"][kept]
        yield "gpqa, models", task, _confident(task, z["confidence"][kept], z["correct"][kept])


def _confident(task: np.ndarray, confidence: np.ndarray, correct: np.ndarray) -> Any:
    values = confidence.astype(float)
    values = values / 100.0 if values.max() > 1.0 + 1e-3 else np.minimum(values, 1.0)

    def read(rows: np.ndarray) -> Questions:
        listed = zip(task[rows], values[rows].tolist(), correct[rows].tolist(), strict=True)
        return read_questions(
            [{"question": q, "confidence": p, "correct": bool(c)} for q, p, c in listed]
        )

    return read


def _parts(question: np.ndarray, labels: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(rows to fit on, rows to score on) of the questions that have enough rows."""
    order = np.random.default_rng(seed).permutation(len(question))
    fit, new = list[np.ndarray](), list[np.ndarray]()
    for name in np.unique(question)[:MOST]:
        own = order[question[order] == name]
        if len(own) >= labels + LEAST:
            fit.append(own[:labels])
            new.append(own[labels : labels + NEW])
    empty = np.empty(0, np.intp)
    return np.concatenate([empty, *fit]), np.concatenate([empty, *new])


def _losses(fitted_on: Questions, new: Questions) -> np.ndarray:
    """(questions, methods) mean log loss; a confidence counts as at least 1e-4 from 0 and 1."""
    found = [
        new.probability,
        QuestionCalibrator(by="one").fit_record(fitted_on).predict_record(new),
        alone(fitted_on, new),
        QuestionCalibrator().fit_record(fitted_on).predict_record(new),
        AutoQuestionCalibrator().fit_record(fitted_on).predict_record(new),
    ]
    code = new.question.index
    loss = [-np.log(np.maximum(new.recalibrated(one).of_right, 1e-4)) for one in found]
    count = np.bincount(code)
    return (
        np.column_stack([np.bincount(code, one) for one in loss])[count > 0]
        / (count[count > 0][:, None])
    )


def logs(repeats: int) -> None:
    """Print mean log losses of questions, and differences paired by question."""
    line("set, labels a question", (*METHODS, "questions"))
    away = dict[tuple[int, str], list[float]]()
    for name, question, read in _sets():
        for labels in LABELS:
            every = list[np.ndarray]()
            for seed in range(repeats):
                fit, new = _parts(question, labels, seed)
                if len(fit):
                    every.append(_losses(read(fit), read(new)))
            mean = np.mean(every, axis=0) if every else np.empty(0)
            if len(mean) > 1:
                line(f"{name}: {labels}", [*mean.mean(axis=0).tolist(), len(mean)])
                for k, other in enumerate(METHODS[:3]):
                    own = mean[:, 3] - mean[:, k]
                    error = own.std() / math.sqrt(max(len(own) - 1, 1))
                    away.setdefault((labels, other), []).append(float(own.mean()))
                    print(f"{'':<8}pooled less {other}: {own.mean():+.4f} (error {error:.4f})")
    for (labels, other), found in sorted(away.items()):
        below = sum(one < 0.0 for one in found)
        told = f"mean {np.mean(found):+.4f}, {below} of {len(found)} sets"
        goal(f"{labels} labels: pooled lower than {other}, by question", told, np.mean(found) < 0.0)
