"""The safe default: try what fits the data, average by out-of-fold evidence, and do nothing without any."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.canonical_rows import merge_rows
from calibrant._kernels.pooling import exponential_weights, linear_pool, stacking_weights
from calibrant.contracts.calibrator import Calibrator, require_fitted
from calibrant.contracts.tags import Tags
from calibrant.errors import CalibrationWarning, InputError
from calibrant.folds.out_of_fold import fit_clone, out_of_fold
from calibrant.predictions import Inputs
from calibrant.select.candidates import CANDIDATES, candidates_for
from calibrant.select.evidence import LEAST_ROWS, score_difference
from calibrant.select.trust import beside_nothing, trusted_share

__all__ = ["AutoCalibrator"]

#: With fewer rows than this, so many folds.
FEW_ROWS, FOLDS_OF_FEW = 500, 10
#: Rows that a merged row counts as in the folds, at most.
MOST_PIECES = 100
#: Members with less weight are left out of the average.
LEAST_WEIGHT = 0.01
#: Both scores are mixable at a learning rate of 1; half of it, as candidates fitted on the same rows err together.
RATE = 0.5
#: Prior weight of doing nothing; the other candidates share the rest.
PRIOR_OF_NOTHING = 0.5
FLOOR = 1e-15


@dataclass(frozen=True)
class Trial:
    """One candidate's out-of-fold predictions and row scores."""

    candidate: object
    probabilities: np.ndarray
    losses: np.ndarray


class AutoCalibrator(Calibrator):
    r"""Average calibrators by the evidence of their out-of-fold scores, doing nothing among them.

    Every candidate that fits the number of rows and classes predicts each row out of fold. Its weight in their average is

    .. math:: w_j = \mathbb{E}_u \frac{\pi_j e^{-L_j(u) / 2}}{\sum_k \pi_k e^{-L_k(u) / 2}}, \qquad
              L_j(u) = n \sum_i u_i S(Q^{(j)}_i, y_i), \qquad u \sim \mathrm{Dirichlet}(1, \ldots, 1)

    (pseudo-Bayesian model averaging with the Bayesian bootstrap): candidates that the rows cannot tell apart share the weight. Doing
    nothing has half of the prior :math:`\pi` and the others an equal share of the rest, so that few rows, on which one candidate out of
    many looks good by chance, leave the predictions nearly as they are. The convex combination of candidates with the best out-of-fold
    score, their stack, is weighed as one more. A gain of z standard errors out of fold earns the average the share
    :math:`z^4 / (z^4 + (19 / \sqrt n)^4)`, the uncalibrated predictions the rest. Its members are fitted on all rows.

    Parameters
    ----------
    methods : "auto", or a list of names from ``calibrant.select.candidates.CANDIDATES``
    objective : {"log_loss", "brier"}
    cv : int, default 5
        Number of folds, stratified by class; ten below 500 rows.
    max_cost : float, optional
        Most relative cost of one fit of all candidates, temperature scaling being 1; the dearest are dropped first.
    random_state : int, default 0
        Seed of the folds and of the bootstrap.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    members_, weights_ : the averaged calibrators, fitted on all rows, and their weights.
    table_ : list of dicts, one a candidate: name, score (out of fold), standard_error (of its difference to uncalibrated), weight, note.
    score_, uncalibrated_score_ : out of fold, of what is used and of doing nothing.
    gain_in_errors_ : the average's gain over doing nothing in standard errors, with the row of unknown class.
    status_ : "pooled", "identity: too few rows", or "identity: no evidence".

    See Also
    --------
    AutoRegressionCalibrator : the same for forecasts of numbers.

    Notes
    -----
    Use it when you do not want to choose. The evidence is out of fold on the calibration rows: strong, but no guarantee on new data, and
    none at all under a shift. Below 20 rows it returns the predictions as they are; with one class only, it weighs the class rates alone
    against them. The comparison with doing nothing counts one row more, of which every class is equally true: probabilities of 0 that few
    rows have not yet shown to be wrong are a risk all the same. Equal rows count as one of their summed weight, so that repetition and row
    order change nothing; where equal predictions differ in label, a row's weight is dealt out over the folds as so many rows would be.

    References
    ----------
    Yao, Vehtari, Simpson and Gelman, "Using stacking to average Bayesian predictive distributions", Bayesian Analysis 13, 2018;
    the stack among what it averages is ours. Learning rates: Vovk and Zhdanov, "Prediction with expert advice for the Brier game", JMLR 10,
    2009.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0.01, 0.99, 400)
    >>> y = rng.uniform(size=400) < 1 / (1 + np.sqrt((1 - p) / p))
    >>> cal = AutoCalibrator().fit(p, y)
    >>> cal.status_
    'pooled'
    """

    score_: float
    uncalibrated_score_: float

    def __init__(
        self, *, methods: str | Sequence[str] = "auto", objective: Literal["log_loss", "brier"] = "log_loss", cv: int = 5,
        max_cost: float | None = None, random_state: int = 0, inputs: Inputs = "probability", classes: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        self.methods: str | Sequence[str] = methods
        self.objective: Literal["log_loss", "brier"] = objective
        self.cv: int = cv
        self.max_cost: float | None = max_cost
        self.random_state: int = random_state
        self.inputs: Inputs = inputs
        self.classes = classes

    tags = Tags(random=True, label="automatic choice")

    @classmethod
    def _examples(cls):
        cheap = ["temperature scaling", "structured vector scaling", "sigmoid of the log-odds"]
        return [cls(methods=cheap), cls(methods=cheap[:1], objective="brier", inputs="logit")]

    def _fit(self, record):
        names = self._names()
        record = _canonical(record)
        self.n_fit_: float = float(record.weights.sum())
        if min(self.n_fit_, len(record)) < LEAST_ROWS:
            return self._do_nothing(record, "too few rows")
        if (record.labels == record.labels[0]).all():
            names = {"class rates"}.intersection(names or {"class rates"})
        trials, notes = self._try(record, candidates_for(self.n_fit_, record.n_classes, names, self.max_cost))
        return self._choose(record, trials, notes)

    def _names(self):
        self._option("objective", "log_loss", "brier")
        if isinstance(self.methods, str) and self.methods == "auto":
            return None
        known = [c.name for c in CANDIDATES]
        unknown = sorted(set(self.methods) - set(known))
        if unknown:
            raise InputError(f'methods must be "auto" or names among {known}; got {unknown}.')
        return set(self.methods)

    def _do_nothing(self, record, why):
        self.members_, self.weights_ = [fit_clone(CANDIDATES[0].make(), record)], np.ones(1)
        self.table_, self.status_ = [], f"identity: {why}"
        self.score_ = self.uncalibrated_score_ = float(np.average(self._losses(record.probabilities, record), weights=record.weights))
        self.gain_in_errors_: float = 0.0

    def _try(self, record, candidates):
        """Out-of-fold predictions of every candidate; one that fails is left out with a note."""
        folds = min(self.cv if self.n_fit_ >= FEW_ROWS else max(self.cv, FOLDS_OF_FEW), len(record))
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
        pool = self._pool(trials, record)
        kept = np.flatnonzero(pool >= LEAST_WEIGHT).tolist()
        pool = pool[kept] / pool[kept].sum()
        Q = linear_pool(pool, np.stack([trials[j].probabilities for j in kept]))
        gain, error = score_difference(identity.losses, self._losses(Q, record), weight)
        self.uncalibrated_score_ = means[0]
        gain += (self._unknown(identity.probabilities, weight) - self._unknown(Q, weight)) / self.n_fit_
        self.gain_in_errors_ = gain / error if error > 0.0 else 0.0
        kept, pool = beside_nothing(kept, pool, trusted_share(gain, error, self.n_fit_), LEAST_WEIGHT)
        Q = linear_pool(pool, np.stack([trials[j].probabilities for j in kept]))
        self.score_ = float(np.average(self._losses(Q, record), weights=weight))
        self.weights_: np.ndarray = pool
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CalibrationWarning)
            self.members_: list[Calibrator] = [fit_clone(trials[j].candidate.make(), record) for j in kept]
        named = {trials[j].candidate.name: float(w) for j, w in zip(kept, pool, strict=True)}
        self.table_: list[dict[str, Any]] = _table(trials, means, weight, named, notes)
        self.status_ = "identity: no evidence" if kept == [0] else "pooled"

    def _pool(self, trials, record):
        """Weights of the candidates by evidence; their stack is weighed as one more candidate, and its weight shared out."""
        P = np.stack([t.probabilities for t in trials])
        stack = stacking_weights(P, record.labels, record.weights, self.objective)
        losses = np.stack([*(t.losses for t in trials), self._losses(linear_pool(stack, P), record)])
        others = len(losses) - 1
        prior = np.append(PRIOR_OF_NOTHING, np.full(others, (1.0 - PRIOR_OF_NOTHING) / others))
        *own, shared = exponential_weights(losses, record.weights, RATE, self.random_state, prior=prior)
        return np.array(own) + shared * stack

    def _unknown(self, Q, weight):
        """The mean score if every class were equally true."""
        if self.objective == "log_loss":
            return -float(np.average(np.log(np.maximum(Q, FLOOR)).mean(axis=1), weights=weight))
        return float(np.average(np.einsum("nk,nk->n", Q, Q), weights=weight)) - 2.0 / Q.shape[1] + 1.0

    def _predict_proba(self, record):
        return linear_pool(self.weights_, np.stack([member.predict_record(record) for member in self.members_]))

    def explain(self) -> str:
        """One sentence: the data, what was pooled with what weights, and how strong the evidence against doing nothing is."""
        require_fitted(self, "members_")
        data = f"{self.n_fit_:,.0f} rows, {len(self.classes_):,} classes"
        if self.status_ != "pooled":
            return f"{data}: left uncalibrated ({self.status_.removeprefix('identity: ')})."
        shares = sorted(((r["weight"], r["name"]) for r in self.table_ if r["weight"] > 0.0), reverse=True)
        parts = ", ".join(f"{name} {share:.2f}" for share, name in shares)
        return f"{data}: {parts}; uncalibrated rejected by {self.gain_in_errors_:.1f} standard errors."


def _canonical(record):
    """Equal rows merged, in an order of their own, so that repetition and row order change nothing.

    Where predictions are discrete, as those of neighbours and forests are, the same prediction comes with several labels. Each merged row
    is then taken apart into pieces of about one row: a fit from which all of a prediction's hits were held out would be misled.
    """
    first, weight = merge_rows(record.log_probabilities, record.labels, record.weights)
    merged = replace(record, weight=None).take(first)
    distinct, _ = merge_rows(merged.log_probabilities, np.zeros(len(merged)), weight)
    pieces = np.clip(np.round(weight), 1, MOST_PIECES if len(distinct) < len(merged) else 1).astype(int)
    return replace(merged.take(np.repeat(np.arange(len(merged)), pieces)), weight=np.repeat(weight / pieces, pieces))


def _table(trials, means, weight, named, notes):
    rows = []
    for trial, mean in zip(trials, means, strict=True):
        name = trial.candidate.name
        _, error = score_difference(trials[0].losses, trial.losses, weight)
        rows.append({"name": name, "score": mean, "standard_error": error, "weight": named.get(name, 0.0), "note": ""})
    return rows + [{"name": n, "score": float("nan"), "standard_error": float("nan"), "weight": 0.0, "note": t} for n, t in notes.items()]
