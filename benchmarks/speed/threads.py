"""CPU time of every component in the default environment, beside one thread of BLAS and of
calibrant.

    python -m benchmarks.speed.threads [WORD ...]

Every registered component (with words, those whose repr holds one) is fitted and predicts in two
fresh processes: one as it starts by default, one with OPENBLAS_NUM_THREADS=1 and
CALIBRANT_THREADS=1. CPU seconds of all threads, those that wait included; the better of TURNS.
Exits with 1 where the ratio is above AT_MOST and the difference above NOISE.
"""

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import calibrant as cb
from calibrant import testing
from calibrant.testing.data import forecast_problems, problem, score_problem
from calibrant.testing.runs import answer, fit, given, ordinary

TURNS, AT_MOST, NOISE = 2, 1.5, 0.01
#: Seconds after which waiting threads of BLAS have gone to sleep.
SLEEP = 0.1
LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "CALIBRANT_THREADS")


def classes(n_classes: int, n: int) -> Any:
    """A problem of classes with n rows to fit and n to predict."""
    rng = np.random.default_rng(0)
    logits = 2.0 * rng.normal(size=(2 * n, n_classes))
    y = (logits / 1.5 + rng.gumbel(size=logits.shape)).argmax(axis=1)
    X, reference = logits[:, :2], (rng.normal(size=(n, 2)), rng.integers(0, n_classes, n))
    return replace(
        problem(n_classes),
        logits=logits[:n],
        y=y[:n],
        weight=np.ones(n),
        X=X[:n],
        logits_test=logits[n:],
        X_test=X[n:],
        reference=reference,
    )


def scores(domain: str, n: int) -> Any:
    """A problem of scores with n rows."""
    rng = np.random.default_rng(0)
    p = rng.random(n)
    score = p if domain == "unit" else np.log(p / (1.0 - p))
    correct = (rng.random(n) < p).astype(float)
    return replace(score_problem(domain), score=score, correct=correct, test=score)


def forecasts(n: int) -> Any:
    """A problem of normal forecasts with n rows."""
    rng = np.random.default_rng(0)
    mean, std = rng.normal(size=n), np.exp(0.3 * rng.normal(size=n))
    y = mean + 1.5 * std * rng.normal(size=n)
    both = cb.NormalForecast(mean, std)
    return replace(forecast_problems()[0], forecast=both, y=y, test=both, y_test=y)


def calls(words: list[str]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """(name, a call) of the fit and the prediction of every component, and of every metric."""
    of_classes = [*testing.all_calibrators(), *testing.all_signals()]
    parts = [
        *((part, 2 if getattr(part.tags, "binary_only", False) else 10) for part in of_classes),
        *((part, None) for part in testing.all_maps()),
        *((part, 0) for part in testing.all_regression_calibrators()),
        *((part, -1) for part in testing.every_calibrator()),
    ]
    for part, kind in parts:
        name = " ".join(repr(part).split())
        if words and not any(word in name for word in words):
            continue
        if kind is None:
            data = scores(part.tags.domain, 20_000)
        elif kind > 0:
            data = classes(kind, 2_000)
        else:
            data = forecasts(12_000) if kind == 0 else ordinary(part)[0]
        held = given(part, data)
        fitted = fit(part, held)
        yield f"fit {name}", lambda part=part, held=held: fit(part, held)
        yield f"predict {name}", lambda fitted=fitted, held=held: answer(fitted, held)
    two, more, numbers = classes(2, 30_000), classes(10, 6_000), forecasts(6_000)
    for metric in testing.all_metrics():
        name = " ".join(repr(metric).split())
        if words and not any(word in name for word in words):
            continue
        rows = two if metric.binary_only else more
        if metric.domain.name == "classification":
            yield name, lambda metric=metric, rows=rows: metric(rows.y, rows.P)
        elif metric.domain.name == "regression":
            yield name, lambda metric=metric: metric(numbers.y, numbers.forecast)


def cpu_seconds(call: Callable[[], Any]) -> float:
    """CPU seconds of all threads, until those of BLAS sleep."""
    start = time.process_time()
    call()
    time.sleep(SLEEP)
    return time.process_time() - start


def measure(words: list[str]) -> None:
    """Print name -> CPU seconds, for the parent."""
    warnings.simplefilter("ignore")
    print(
        json.dumps(
            {name: min(cpu_seconds(call) for _ in range(TURNS)) for name, call in calls(words)}
        )
    )


def measured(limits: dict[str, str], words: list[str]) -> dict[str, float]:
    """What ``measure`` prints in a fresh process with these limits only."""
    others = {name: value for name, value in os.environ.items() if name not in LIMITS}
    command = [sys.executable, "-m", "benchmarks.speed.threads", "--measure", *words]
    return json.loads(subprocess.check_output(command, env=others | limits, text=True))


def main(words: list[str]) -> int:
    """Print a table, the largest ratio first; 1 where one is too large."""
    default = measured({}, words)
    alone = measured({"OPENBLAS_NUM_THREADS": "1", "CALIBRANT_THREADS": "1"}, words)
    print(f"{'default':>9s} {'one':>9s}  ratio   (CPU seconds, {os.cpu_count()} cores)")
    wrong = 0
    for name in sorted(default, key=lambda name: -default[name] / alone[name]):
        ratio, more = default[name] / alone[name], default[name] - alone[name]
        bad = ratio > AT_MOST and more > NOISE
        wrong += bad
        print(f"{default[name]:9.4f} {alone[name]:9.4f} {ratio:6.2f} {'!' * bad:1s} {name[:90]}")
    print(f"{wrong} of {len(default)} above {AT_MOST}")
    return int(wrong > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2:])
    else:
        sys.exit(main(sys.argv[1:]))
