"""Win rates, ranks, harm and paired intervals from arrays (methods, runs); a run that a method
did not enter is NaN.
"""

from dataclasses import dataclass

import numpy as np
from benchmarks.arena import results
from scipy.stats import rankdata

NOTHING, AUTOMATIC = "Identity", "AutoCalibrator"
METRICS = ("log_loss", "brier", "ece")
#: Kept beside the scores, where a result has it.
BESIDE = ("folds", "rarest")
TIE = 1e-9
#: What counts as worse than doing nothing: a loss more than half a percent higher.
HARM = 0.005


@dataclass
class Table:
    """Everything that was measured.

    ``methods``: names; ``peer``: (M,) bool; ``runs``: the runs; ``case``: (R,) number of the case,
    ``n_classes`` (R,); ``score``: {metric: (M, R)}, "folds", peers' log loss out of fold on the
    calibration rows, and "rarest", the share of the rarest class; ``fit_s``, ``predict_s``,
    ``failed``: (M, R); ``code``: {method of ours: fingerprints}.
    """

    methods: list
    peer: np.ndarray
    runs: list
    case: np.ndarray
    n_classes: np.ndarray
    score: dict
    fit_s: np.ndarray
    predict_s: np.ndarray
    failed: np.ndarray
    problem: dict
    code: dict

    def take(self, runs=None, methods=None):
        """The same for some runs (bool) or methods (bool)."""
        r = np.ones(len(self.runs), bool) if runs is None else runs
        m = np.ones(len(self.methods), bool) if methods is None else methods
        cut = lambda a: a[m][:, r]  # noqa: E731
        return Table(
            [name for name, kept in zip(self.methods, m, strict=True) if kept],
            self.peer[m],
            [run for run, kept in zip(self.runs, r, strict=True) if kept],
            self.case[r],
            self.n_classes[r],
            {k: cut(v) for k, v in self.score.items()},
            cut(self.fit_s),
            cut(self.predict_s),
            cut(self.failed),
            self.problem,
            self.code,
        )


def collect(runs, folder=results.RESULTS):
    """The table of all results that are there; runs without "doing nothing" and methods without
    runs are left out.
    """
    runs = [run for run in runs if results.path_of(folder, run.name, NOTHING).exists()]
    methods = results.methods_in(folder, runs)
    shape = len(methods), len(runs)
    score = {metric: np.full(shape, np.nan) for metric in (*METRICS, *BESIDE)}
    fit_s, predict_s, failed = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape, bool)
    peer, n_classes, problem, code = np.zeros(len(methods), bool), np.zeros(len(runs), int), {}, {}
    for j, run in enumerate(runs):
        for i, method in enumerate(methods):
            if not results.path_of(folder, run.name, method).exists():
                continue
            one = results.load(folder, run.name, method)
            for metric in METRICS:
                score[metric][i, j] = one[metric].mean(dtype=np.float64)
            for key in BESIDE:
                score[key][i, j] = one.get(key, np.nan)
            fit_s[i, j], predict_s[i, j], n_classes[j] = (
                one["fit_s"],
                one["predict_s"],
                one["n_classes"],
            )
            peer[i] = str(one["source"]) != "calibrant"
            if not peer[i]:
                code.setdefault(method, set()).add(str(one["code"]))
            if str(one["problem"]):
                failed[i, j] = True
                problem.setdefault(method, str(one["problem"]))
    names = [run.case.name for run in runs]
    case = np.unique(names, return_inverse=True)[1] if names else np.zeros(0, int)
    return Table(
        methods, peer, runs, case, n_classes, score, fit_s, predict_s, failed, problem, code
    )


def shared(table):
    """What can be compared: the runs that the peers have begun and the automatic choice has
    done; all of them where there are none.
    """
    there = ~np.isnan(table.score["log_loss"])
    for group in (table.peer, np.array([name == AUTOMATIC for name in table.methods], bool)):
        if group.any():
            table, there = (
                table.take(runs=there[group].any(axis=0)),
                there[:, there[group].any(axis=0)],
            )
    return table


def finished(table):
    """The methods with results in at least half of the runs."""
    return table.take(methods=~unfinished(table))


def unfinished(table):
    """(M,) bool: methods with results in fewer than half of the runs; their shares would be of
    other runs than the rest's.
    """
    return np.isnan(table.score["log_loss"]).sum(axis=1) > 0.5 * len(table.runs)


def win_shares(score):
    """(M, M): share of the runs that both entered in which the row's method has the lower score,
    ties half; NaN for oneself or no run.
    """
    n = len(score)
    out = np.full((n, n), np.nan)
    for i in range(n):
        both = ~np.isnan(score[i]) & ~np.isnan(score)
        difference = np.where(both, score[i] - score, 0.0)
        won = (difference < -TIE) + 0.5 * (np.abs(difference) <= TIE)
        with np.errstate(invalid="ignore"):
            out[i] = np.where(both, won, 0.0).sum(axis=1) / both.sum(axis=1)
        out[i, i] = np.nan
    return out


def win_rates(score, against=None):
    """(M,): mean over the other methods (those of ``against``, bool) of the share of runs won."""
    shares = win_shares(score)
    if against is not None:
        shares = shares[:, against]
    seen = ~np.isnan(shares)
    return np.where(seen, shares, 0.0).sum(axis=1) / np.maximum(seen.sum(axis=1), 1)


def mean_ranks(score):
    """(M,): mean over the runs entered of the rank among the methods that entered it; 1 is best,
    ties share.
    """
    ranks = np.full(score.shape, np.nan)
    for j in range(score.shape[1]):
        there = ~np.isnan(score[:, j])
        ranks[there, j] = rankdata(np.round(score[there, j] / TIE))
    return np.nanmean(ranks, axis=1)


def share_worse(score, nothing):
    """(M,): share of the runs entered whose score is more than 0.5 % above that of doing nothing
    (R,).
    """
    there = ~np.isnan(score)
    return (np.where(there, score, 0.0) > (1.0 + HARM) * nothing).sum(axis=1) / there.sum(axis=1)


def change(score, reference, case, draws=400):
    """(median, low, high) of the change against ``reference`` (R,), in percent; 95 % bootstrap
    over cases, all runs of one together.
    """
    there = ~np.isnan(score) & ~np.isnan(reference)
    return median_by_case(100.0 * (score[there] / reference[there] - 1.0), case[there], draws)


def median_by_case(values, case, draws=400):
    """(median, low, high) of values (R,); 95 % bootstrap over cases, all runs of one together."""
    of_case = [values[case == c] for c in np.unique(case)]
    rng = np.random.default_rng(0)
    medians = [
        np.median(np.concatenate([of_case[k] for k in rng.integers(0, len(of_case), len(of_case))]))
        for _ in range(draws)
    ]
    return float(np.median(values)), *np.quantile(medians, [0.025, 0.975]).tolist()


def duel(table, first, second, metric, folder=results.RESULTS):
    """Two methods, run by run: (share won, runs clearly better, runs clearly worse, runs);
    clearly is 1.96 paired standard errors.
    """
    better = worse = n = 0
    won = 0.0
    for run in table.runs:
        paths = [results.path_of(folder, run.name, name) for name in (first, second)]
        if not all(path.exists() for path in paths):
            continue
        a, b = (
            results.load(folder, run.name, name)[metric].astype(np.float64)
            for name in (first, second)
        )
        difference, error = (a - b).mean(), (a - b).std(ddof=1) / np.sqrt(len(a))
        won += 0.5 if abs(difference) <= TIE else float(difference < 0.0)
        better += difference < -1.96 * error - TIE
        worse += difference > 1.96 * error + TIE
        n += 1
    return won / max(n, 1), int(better), int(worse), n
