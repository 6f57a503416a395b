"""The safe default: try what fits the data, pool what helps out of fold, and do nothing without evidence."""

import warnings
from dataclasses import dataclass, replace

import numpy as np

from calibrant._base.calibrator import Calibrator, require_fitted
from calibrant._base.tags import Tags
from calibrant._kernels.canonical_rows import merge_rows
from calibrant._kernels.pooling import linear_pool, log_linear_pool, pool_weights
from calibrant.errors import CalibrationWarning, InputError
from calibrant.select.candidates import CANDIDATES, candidates_for
from calibrant.select.evidence import EVIDENCE, LEAST_ROWS, score_difference
from calibrant.wrap.out_of_fold import fit_clone, out_of_fold

__all__ = ["AutoCalibrator"]

#: Members with less weight are left out of the pool.
LEAST_WEIGHT = 0.01
FLOOR = 1e-15


@dataclass(frozen=True)
class Trial:
    """One candidate's out-of-fold predictions and row scores."""

    candidate: object
    probabilities: np.ndarray
    losses: np.ndarray


class AutoCalibrator(Calibrator):
    r"""Choose and pool calibrators by their out-of-fold score, doing nothing among the choices.

    Every candidate that fits the number of rows and classes predicts each row out of fold. Those no worse than the uncalibrated
    predictions are pooled, linearly or log-linearly, whichever scores better:

    .. math:: \min_{w \in \Delta} \frac1n \sum_i S\Big(\sum_j w_j Q^{(j)}_i, y_i\Big) + \frac1n \sum_j w_j c_j

    with the complexities :math:`c_j` of :mod:`calibrant.select.candidates`, so that simpler maps win when rows are few. The pool is
    used only if it beats the uncalibrated predictions out of fold by half a standard error of the difference; its members are then
    fitted on all rows.

    Parameters
    ----------
    methods : "auto", or a list of names from ``calibrant.select.candidates.CANDIDATES``
    objective : {"log_loss", "brier"}
    cv : int, default 5
        Number of folds, stratified by class; ten below 500 rows.
    max_cost : float, optional
        Most relative cost of one fit of all candidates, temperature scaling being 1; the dearest are dropped first.
    random_state : int, default 0
        Seed of the folds.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    members_, weights_ : the pooled calibrators, fitted on all rows, and their weights.
    pool_ : "linear", "log-linear" or "single".
    table_ : list of dicts, one a candidate: name, score (out of fold), standard_error (of its difference to uncalibrated), weight, note.
    score_, uncalibrated_score_, gain_in_errors_ : of the pool, of doing nothing, and their difference in standard errors.
    status_ : "pooled", "identity: too few rows", "identity: one class only", or "identity: no evidence".

    Notes
    -----
    Use it when you do not want to choose. The evidence is out of fold on the calibration rows: strong, but no guarantee on new data,
    and none at all under a shift. Below 20 rows, or with one class only, it returns the predictions as they are and says so. Equal rows
    are kept in one fold, so that repetition and row order change nothing.

    References
    ----------
    Breiman, "Stacked regressions", Machine Learning 24, 1996; Ranjan and Gneiting, "Combining probability forecasts", JRSS B 72, 2010.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0.01, 0.99, 400)
    >>> y = rng.uniform(size=400) < 1 / (1 + np.sqrt((1 - p) / p))
    >>> cal = AutoCalibrator().fit(p, y)
    >>> cal.status_
    'pooled'
    """

    def __init__(
        self, *, methods="auto", objective="log_loss", cv=5, max_cost=None, random_state=0, inputs="probability", classes=None
    ):  # fmt: skip
        self.methods = methods
        self.objective = objective
        self.cv = cv
        self.max_cost = max_cost
        self.random_state = random_state
        self.inputs = inputs
        self.classes = classes

    tags = Tags(random=True, label="automatic choice")

    @classmethod
    def _examples(cls):
        cheap = ["temperature scaling", "structured vector scaling", "sigmoid of the log-odds"]
        return [cls(methods=cheap), cls(methods=cheap[:1], objective="brier", inputs="logit")]

    def _fit(self, record):
        names = self._names()
        first, weight = merge_rows(record.log_probabilities, record.labels, record.weights)
        record = replace(record, weight=None).take(first)
        record = replace(record, weight=weight)
        self.n_fit_ = float(weight.sum())
        if self.n_fit_ < LEAST_ROWS or len(first) < LEAST_ROWS:
            return self._do_nothing(record, "too few rows")
        if (record.labels == record.labels[0]).all():
            return self._do_nothing(record, "one class only")
        trials, notes = self._try(record, candidates_for(self.n_fit_, record.n_classes, names, self.max_cost))
        return self._choose(record, trials, notes)

    def _names(self):
        if self.objective not in ("log_loss", "brier"):
            raise InputError(f'objective must be "log_loss" or "brier"; got {self.objective!r}.')
        if isinstance(self.methods, str) and self.methods == "auto":
            return None
        known = [c.name for c in CANDIDATES]
        unknown = sorted(set(self.methods) - set(known))
        if unknown:
            raise InputError(f'methods must be "auto" or names among {known}; got {unknown}.')
        return set(self.methods)

    def _do_nothing(self, record, why):
        self.members_, self.weights_, self.pool_ = [fit_clone(CANDIDATES[0].make(), record)], np.ones(1), "single"
        self.table_, self.status_ = [], f"identity: {why}"
        self.score_ = self.uncalibrated_score_ = float(np.average(self._losses(record.probabilities, record), weights=record.weights))
        self.gain_in_errors_ = 0.0

    def _try(self, record, candidates):
        """Out-of-fold predictions of every candidate; one that fails is left out with a note."""
        folds = min(self.cv if len(record) >= 500 else max(self.cv, 10), len(record))
        trials, notes = [], {}
        for candidate in candidates:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", CalibrationWarning)
                    Q, _ = out_of_fold(candidate.make(), record, n_splits=folds, random_state=self.random_state)
            except (InputError, np.linalg.LinAlgError) as error:
                notes[candidate.name] = str(error)
                continue
            trials.append(Trial(candidate, np.maximum(Q, FLOOR), self._losses(Q, record)))
        return trials, notes

    def _losses(self, Q, record):
        own = Q[np.arange(len(record)), record.labels]
        if self.objective == "log_loss":
            return -np.log(np.maximum(own, FLOOR))
        return np.einsum("nk,nk->n", Q, Q) - 2.0 * own + 1.0

    def _choose(self, record, trials, notes):
        weight, identity = record.weights, trials[0]
        means = [float(np.average(t.losses, weights=weight)) for t in trials]
        useful = [t for t, mean in zip(trials, means, strict=True) if mean <= means[0]]
        self.pool_, pool, losses = self._pool(useful, record)
        gain, error = score_difference(identity.losses, losses, weight)
        self.uncalibrated_score_, self.score_ = means[0], means[0] - gain
        self.gain_in_errors_ = gain / error if error > 0.0 else 0.0
        enough = gain > EVIDENCE * error
        if not enough:
            useful, pool, self.pool_, self.score_ = [identity], np.ones(1), "single", means[0]
        kept = [(t.candidate, w) for t, w in zip(useful, pool, strict=True) if w >= LEAST_WEIGHT]
        shares = np.array([w for _, w in kept])
        self.weights_ = shares / shares.sum()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CalibrationWarning)
            self.members_ = [fit_clone(candidate.make(), record) for candidate, _ in kept]
        named = dict(zip([c.name for c, _ in kept], self.weights_.tolist(), strict=True))
        self.table_ = _table(trials, means, weight, named, notes)
        self.status_ = "pooled" if enough else "identity: no evidence"

    def _pool(self, useful, record):
        """(kind, weights, row scores out of fold) of the better pool."""
        if len(useful) == 1:
            return "single", np.ones(1), useful[0].losses
        P = np.stack([t.probabilities for t in useful])
        P /= P.sum(axis=2, keepdims=True)
        penalty = np.array([t.candidate.complexity for t in useful]) / self.n_fit_
        best = min(
            ((*pool_weights(P, record.labels, record.weights, penalty, pool, self.objective), pool) for pool in ("log-linear", "linear")),
            key=lambda found: found[1],
        )
        weights, _, pool = best
        return pool, weights, self._losses(_pooled(pool, weights, P), record)

    def _predict_proba(self, record):
        P = np.stack([np.maximum(member._proba(record), FLOOR) for member in self.members_])
        P /= P.sum(axis=2, keepdims=True)
        return _pooled(self.pool_, self.weights_, P)

    def explain(self) -> str:
        """One sentence: the data, what was pooled with what weights, and how strong the evidence against doing nothing is."""
        require_fitted(self, "members_")
        data = f"{self.n_fit_:,.0f} rows, {len(self.classes_):,} classes"
        if self.status_ != "pooled":
            return f"{data}: left uncalibrated ({self.status_.removeprefix('identity: ')})."
        shares = sorted(((r["weight"], r["name"]) for r in self.table_ if r["weight"] > 0.0), reverse=True)
        parts = ", ".join(f"{name} {share:.2f}" for share, name in shares)
        how = f" ({self.pool_} pool)" if len(shares) > 1 else ""
        return f"{data}: {parts}{how}; uncalibrated rejected by {self.gain_in_errors_:.1f} standard errors."


def _pooled(pool, weights, P):
    return log_linear_pool(weights, np.log(P)) if pool == "log-linear" else linear_pool(weights, P)


def _table(trials, means, weight, named, notes):
    rows = []
    for trial, mean in zip(trials, means, strict=True):
        name = trial.candidate.name
        _, error = score_difference(trials[0].losses, trial.losses, weight)
        rows.append({"name": name, "score": mean, "standard_error": error, "weight": named.get(name, 0.0), "note": ""})
    return rows + [{"name": n, "score": float("nan"), "standard_error": float("nan"), "weight": 0.0, "note": t} for n, t in notes.items()]
