"""Fit and score every method on every run; what is done already is left alone, so a run that was
stopped goes on where it was.
"""

import io
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from multiprocessing import get_context

import numpy as np
from benchmarks.arena import predictions, results, scores


@cache
def methods_of(source):
    """The competitors of "calibrant" or "peers", or the one that ``package:Class`` names."""
    if ":" in source:
        from benchmarks.arena.outside import outside

        return [outside(source)]
    if source == "peers":
        from benchmarks.arena.peers import available

        return available()
    from benchmarks.arena.calibrators import discovered

    return discovered()


def chosen(methods, names):
    """The methods whose name is among ``names``; all where none is given."""
    unknown = sorted(set(names or ()) - {m.name for m in methods})
    if unknown:
        raise SystemExit(
            f"no such method: {', '.join(unknown)}; there are {', '.join(m.name for m in methods)}"
        )
    return [m for m in methods if not names or m.name in names]


def attempt(make, fit, predict):
    """(what ``predict(fitted)`` gave, {CPU seconds, problem, status}) of
    ``fitted = fit(make())``, in silence; None if it raises.
    """
    problem, status, answer, cpu = "", "", None, [time.process_time()]
    try:
        with (
            warnings.catch_warnings(),
            redirect_stdout(io.StringIO()),
            redirect_stderr(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            fitted = fit(make())
            cpu.append(time.process_time())
            answer = predict(fitted)
        status = str(getattr(fitted, "status_", ""))
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"[:200]
    cpu = np.diff([*cpu, time.process_time()])
    return answer, {
        "fit_s": cpu[0],
        "predict_s": cpu[1] if len(cpu) > 1 else 0.0,
        "problem": problem,
        "status": status,
    }


def one(method, P_fit, y_fit, P_test, y_test):
    """Fit and score one method. One that raises, or gives what is no probability, leaves the
    predictions as they were and says so.
    """
    Q, remarks = attempt(
        method.make,
        lambda calibrator: calibrator.fit(P_fit.copy(), y_fit.copy()),
        lambda fitted: scores.checked(fitted.predict_proba(P_test.copy()), P_test.shape),
    )
    Q = P_test if Q is None else Q
    return {
        "log_loss": scores.log_losses(Q, y_test).astype(np.float32),
        "brier": scores.brier_scores(Q, y_test).astype(np.float32),
        "ece": scores.top_label_error(Q, y_test),
        "n_fit": len(y_fit),
        "n_classes": P_fit.shape[1],
        "rarest": np.bincount(np.concatenate([y_fit, y_test]), minlength=P_fit.shape[1]).min()
        / (len(y_fit) + len(y_test)),
        **remarks,
    }


#: Peers are tried by folds too, to choose one of them on the calibration rows, up to so many rows
#: times classes.
FOLDS, MOST_CELLS = 3, 5_000


def by_folds(method, P, y):
    """The mean log loss out of three folds of the calibration rows; NaN where there are too many
    to try.
    """
    if P.size > MOST_CELLS:
        return np.nan
    fold = np.random.default_rng(0).permutation(len(y)) % FOLDS
    parts = [
        one(method, P[fold != k], y[fold != k], P[fold == k], y[fold == k])["log_loss"]
        for k in range(FOLDS)
    ]
    return float(np.concatenate(parts).mean(dtype=np.float64))


def work(run, source, names, folder, again=False, folds=True):
    """Every missing or outdated (with ``again``: every) result of one run; returns how many were
    made. ``folds`` tries peers by folds of the calibration rows too.
    """
    methods = [
        m
        for m in chosen(methods_of(source), names)
        if again or not results.done(folder, run.name, m)
    ]
    if not methods:
        return 0
    P, y = predictions.load(run.case)
    fit, test = predictions.split(run, len(y))
    entering = [m for m in methods if m.enters(len(fit), P.shape[1])]
    for method in entering:
        values = one(method, P[fit], y[fit], P[test], y[test])
        if source == "peers" and folds:
            values["folds"] = by_folds(method, P[fit], y[fit])
        results.save(
            folder, run.name, method.name, code=method.code, source=method.source, **values
        )
    return len(entering)


def race(
    runs, source="calibrant", names=None, folder=results.RESULTS, jobs=1, again=False, work=work
):
    """All runs by ``work``, with a line of progress for each; returns how many results were
    made.
    """
    start, made = time.time(), 0
    for done, (run, n) in enumerate(_each(work, runs, jobs, source, names, folder, again), 1):
        made += n
        left = (time.time() - start) / done * (len(runs) - done)
        print(
            f"[{done}/{len(runs)}] {run.name}: {n} new, about {left / 60:.0f} min left",
            file=sys.stderr,
            flush=True,
        )
    return made


def _each(work, runs, jobs, *arguments):
    if jobs <= 1:
        for run in runs:
            yield run, work(run, *arguments)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(work, run, *arguments): run for run in runs}
        for future in as_completed(waiting):
            yield waiting[future], future.result()
