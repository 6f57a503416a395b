"""Fit and score every method on every run; what is done already is left alone, so a run that was
stopped goes on where it was.
"""

from functools import cache
from pathlib import Path

import numpy as np
from benchmarks.arena import results
from benchmarks.arena.run import attempt, chosen
from benchmarks.arena.run import race as race_by
from benchmarks.regression_arena import answers, predictions
from benchmarks.regression_arena.cases import for_the_slow

#: Peers that take seconds a fit.
SLOW = ("netcal GP-Normal", "netcal GP-Beta")
RESULTS = Path(__file__).parent / "results"


@cache
def methods_of(source):
    """The competitors of "calibrant" or "peers"."""
    if source == "peers":
        from benchmarks.regression_arena.peers import available

        return available()
    from benchmarks.regression_arena.calibrators import discovered

    return discovered()


def one(method, fit, test):
    """Fit and score one method. One that raises, or gives what cannot be scored, is scored as
    N(mean, std) of the model, and says so.
    """
    answer, remarks = attempt(
        method.make,
        lambda competitor: competitor.fit(fit),
        lambda fitted: answers.checked(fitted.answer(test), len(test.y)),
    )
    answer = answer or answers.normal(test.mean, test.std, test.y)
    losses = answers.losses(answer, test.y)
    return {
        **{name: loss.astype(np.float32) for name, loss in losses.items()},
        "y": test.y,
        "n_fit": len(fit.y),
        **remarks,
    }


def work(run, source, names, folder, again=False):
    """Every missing or outdated (with ``again``: every) result of one run; returns how many were
    made.
    """
    entering = [
        m for m in chosen(methods_of(source), names) if m.name not in SLOW or for_the_slow(run)
    ]
    methods = [m for m in entering if again or not results.done(folder, run.name, m)]
    if methods:
        fit, test = predictions.load(run)
        for method in methods:
            results.save(
                folder,
                run.name,
                method.name,
                code=method.code,
                source=method.source,
                **one(method, fit, test),
            )
    return len(methods)


def race(runs, source="calibrant", names=None, folder=RESULTS, jobs=1, again=False):
    """All runs; returns how many results were made."""
    return race_by(runs, source, names, folder, jobs, again, work=work)
