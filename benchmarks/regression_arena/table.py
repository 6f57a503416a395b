"""Everything that was measured, as arrays (methods, runs); what a method does not say, or has
not run, is NaN.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from benchmarks.arena import results
from benchmarks.regression_arena.calibrators import NOTHING
from benchmarks.regression_arena.run import RESULTS

from calibrant import metrics

#: Lower is better; the other columns have no winner.
SCORES = ("nll", "crps", "interval_score")
#: Those of the other levels, and whether they held.
MORE = ("interval_score_50", "interval_score_99", "covered_50", "covered_99")
DRAWS = 400


@dataclass
class Table:
    """``methods``: names; ``peer``: (M,) bool; ``runs``; ``value``: {column: (M, R)}; ``failed``:
    (M, R); ``problem``, ``code``: by method.

    Columns: the scores, ``ence`` and ``null`` (its 95 % quantile if the std were right),
    ``covered``, ``width``, ``fit_s``.
    """

    methods: list
    peer: np.ndarray
    runs: list
    value: dict
    failed: np.ndarray
    problem: dict
    code: dict

    @property
    def case(self):
        """(R,) number of the case."""
        return np.unique([run.case.name for run in self.runs], return_inverse=True)[1]

    @property
    def nothing(self):
        """Row of doing nothing."""
        return self.methods.index(NOTHING)

    def take(self, runs=None, methods=None):
        """The same for some runs (bool) or methods (bool)."""
        r = np.ones(len(self.runs), bool) if runs is None else np.asarray(runs)
        m = np.ones(len(self.methods), bool) if methods is None else np.asarray(methods)
        return replace(
            self,
            methods=[name for name, kept in zip(self.methods, m, strict=True) if kept],
            peer=self.peer[m],
            runs=[run for run, kept in zip(self.runs, r, strict=True) if kept],
            value={column: values[m][:, r] for column, values in self.value.items()},
            failed=self.failed[m][:, r],
        )


def collect(runs, folder=RESULTS, ence=True):
    """The table of all results that are there, without runs that lack "doing nothing"; without
    ``ence`` what takes longest is left out.
    """
    runs = [run for run in runs if results.path_of(folder, run.name, NOTHING).exists()]
    methods = results.methods_in(folder, runs)
    columns = (*SCORES, *MORE, "ence", "null", "covered", "width", "fit_s")
    value = {column: np.full((len(methods), len(runs)), np.nan) for column in columns}
    failed, peer = np.zeros((len(methods), len(runs)), bool), np.zeros(len(methods), bool)
    problem, code = {}, {}
    for j, run in enumerate(runs):
        for path in (Path(folder) / run.name).glob("[!.]*.npz"):
            i, one = methods.index(path.stem), results.load(folder, run.name, path.stem)
            for column, number in measured(one, ence).items():
                value[column][i, j] = number
            peer[i] = str(one["source"]) != "calibrant"
            if not peer[i]:
                code.setdefault(path.stem, set()).add(str(one["code"]))
            if str(one["problem"]):
                failed[i, j] = True
                problem.setdefault(path.stem, str(one["problem"]))
    return Table(methods, peer, runs, value, failed, problem, code)


def measured(one, ence=True):
    """The columns of one result."""
    out = {name: one[name].mean(dtype=np.float64) for name in (*SCORES, *MORE, "covered", "width")}
    out |= {"ence": np.nan, "null": np.nan, "fit_s": float(one["fit_s"])}
    if ence and not np.isnan(one["std"]).any():
        ence, (y, mean, std) = (
            metrics.expected_normalized_calibration_error,
            (one[key].astype(np.float64) for key in ("y", "mean", "std")),
        )
        out |= {"ence": ence(y, mean, std), "null": ence.null(mean, std, n_draws=DRAWS).high}
    return out


def unfinished(table):
    """(M,) bool: methods with results in fewer than half of the runs; their shares would be of
    other runs than the rest's.
    """
    return np.isnan(table.value["interval_score"]).sum(axis=1) > 0.5 * len(table.runs)


def entered(table, score):
    """The methods that say what a score needs, in any of the runs."""
    return table.take(methods=~np.isnan(table.value[score]).all(axis=1))
