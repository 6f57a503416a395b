"""Automatic choice of a calibrator: candidates that fit the data, averaged by out-of-fold evidence,
or none.
"""

import sys
import time
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from calibrant.calibrators.candidates import (
    CANDIDATES,
    ONE_CLASS,
    Candidate,
    candidates_for,
    names_of,
)
from calibrant.calibrators.circumstances import Circumstances
from calibrant.calibrators.evidence_pool import evidence_pool, table_of, weights_told
from calibrant.calibrators.held_out import HeldOut, Pieces, canonical
from calibrant.calibrators.honest_folds import FoldFits
from calibrant.calibrators.maps.closed_test import ClosedTest
from calibrant.calibrators.multiclass import OneVsRest
from calibrant.calibrators.trials import Trial, fitted, tried
from calibrant.calibrators.trust import LEAST_ROWS
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import Calibrator, Tags, require_fitted
from calibrant.core.expression import weighted_sum
from calibrant.core.folds import fit_clone, folds_of
from calibrant.core.given import Inputs
from calibrant.core.group_levels import GroupLevels, same_levels
from calibrant.core.predictions import Predictions
from calibrant.errors import InputError

__all__ = ["AutoCalibrator", "Progress", "default_calibrator"]

#: Seconds before the first progress message.
PATIENCE = 2.0


class Progress:
    """Report progress on the error stream, if requested and only after two seconds of work."""

    def __init__(self, verbose: bool) -> None:
        self.verbose: bool = verbose
        self.start: float = time.monotonic()

    def __call__(self, done: str) -> None:
        seconds = time.monotonic() - self.start
        if self.verbose and seconds > PATIENCE:
            print(f"calibrant: {done}, {seconds:.0f} s", file=sys.stderr, flush=True)


_known: dict[str, Any] = {"candidates": None, "tags": {}}


def _candidate_tags() -> dict[str, Tags]:
    """Tags by name, made once: a prediction of one row would otherwise make every candidate."""
    if _known["candidates"] is not CANDIDATES:
        _known.update(candidates=CANDIDATES, tags={c.name: c.tags for c in CANDIDATES})
    return _known["tags"]


#: Number of folds below this number of rows.
FEW_ROWS, FOLDS_OF_FEW = 500, 10
#: Rows, and entries of their predictions, in a fold at most; as many are held out if there are more
#: in all. On 20 simulated sets more evidence lowered the log loss by .001 % (by .012 % at most).
EVIDENCE_ROWS, EVIDENCE_ENTRIES = 10_000, 4_000_000


class AutoCalibrator(
    Circumstances,
    family="automatic choice",
    use="Cross-validates methods; start here",
    common=True,
):
    r"""Average calibrators by the evidence of their out-of-fold scores, including no calibration.

    Every candidate suited to the number of rows and classes predicts each row out of fold. Its
    weight in their average is

    .. math:: w_j = \mathbb{E}_u \frac{\pi_j e^{-L_j(u) / 2}}{\sum_k \pi_k e^{-L_k(u) / 2}}, \qquad
              L_j(u) = n \sum_i u_i S(Q^{(j)}_i, y_i), \qquad u \sim \mathrm{Dirichlet}(1, \ldots,
              1)

    (pseudo-Bayesian model averaging with the Bayesian bootstrap): candidates with similar evidence
    share the weight. No calibration has half of the prior :math:`\pi`, and the others equal shares
    of the rest, so that few rows, on which one of many candidates looks good by chance, leave the
    predictions nearly unchanged. With groups, the candidates that use them have half of the prior.
    The stack, the convex combination of candidates with the best out-of-fold score, is one more
    candidate. If the average gains z standard errors out of fold, its share is :math:`z^4 / (z^4 +
    (10 / \sqrt n)^4)`, and the uncalibrated predictions have the rest; with fewer than ten rows of
    the rarest class, or five wrong answers, 17 stands for 10. Its members are fitted on all rows.

    Parameters
    ----------
    policy : {"average", "closed_test"}, default "average"
        "closed_test" applies the smallest update of the risk of one event that :class:`ClosedTest`
        requires: none, an intercept, intercept and slope, or a curve. It does not average, and
        ignores the options below except ``inputs`` and ``classes``.
    methods : "auto", or a list of names from ``calibrant.calibrators.candidates.CANDIDATES``
    objective : {"log_loss", "brier"}
    cv : int, default 5
        Number of folds, stratified by class; ten below 500 rows. Only some are held out beyond
        10,000 rows or 4 million entries, and no fold holds more.
    max_cost : float, optional
        Maximum total cost of fitting all candidates once, relative to temperature scaling; the most
        expensive are dropped first.
    random_state : int, default 0
        Seed of the folds and of the bootstrap.
    verbose : bool, default False
        Report the progress of the fit on the error stream, after two seconds.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    members_, weights_ : the averaged calibrators, fitted on all rows, and their weights.
    table_ : list of dicts, one a candidate: name, score (out of fold), standard_error (of its
        difference to uncalibrated), weight, note.
    score_, uncalibrated_score_ : of the rows held out, of the result and of no calibration.
    shift_ : the ``LabelShift`` to the class rates of ``unlabeled``, or None.
    gain_in_errors_ : the average's gain over no calibration in standard errors, with the row of
        unknown class.
    status_ : "pooled", "identity: too few rows", or "identity: no evidence"; or "closed test: " and
        its choice.

    See Also
    --------
    AutoRegressionCalibrator : the same for forecasts of numbers.
    ClosedTest : the map behind ``policy="closed_test"``.

    Notes
    -----
    Use it when you do not want to choose. The evidence is out of fold on the calibration rows:
    strong, but no guarantee on new data, and none at all under a shift. Below 20 rows it returns
    the predictions unchanged; with one class only, it compares the class rates and class offsets
    alone with them. With clusters, n rows count as many as their independent number: the ratio of
    the variances of the stack's gain by clusters and by rows divides them. The
    comparison with no calibration counts one row more in gain and error, which has every class with
    equal weight: zeros that no row has contradicted yet are still a risk. Equal rows count as one
    of their summed weight, so that repetition and row order change nothing. If equal predictions
    differ in label, a row's weight is split over the folds like that number of rows.

    References
    ----------
    Yao, Vehtari, Simpson and Gelman, "Using stacking to average Bayesian predictive distributions",
    Bayesian Analysis 13, 2018; the stack among what it averages is ours. Learning rates: Vovk and
    Zhdanov, "Prediction with expert advice for the Brier game", 2009.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0.01, 0.99, 400)
    >>> y = rng.uniform(size=400) < 1 / (1 + np.sqrt((1 - p) / p))
    >>> cal = AutoCalibrator().fit(p, y)
    >>> cal.status_
    'pooled'
    >>> AutoCalibrator(policy="closed_test").fit(p, y).explain()
    '400 rows, 2 classes: the closed test chose intercept and slope.'
    """

    score_: float
    uncalibrated_score_: float
    status_: str
    weights_: np.ndarray

    def __init__(
        self,
        *,
        policy: Literal["average", "closed_test"] = "average",
        methods: str | Sequence[str] = "auto",
        objective: Literal["log_loss", "brier"] = "log_loss",
        cv: int = 5,
        max_cost: float | None = None,
        random_state: int = 0,
        verbose: bool = False,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.policy: Literal["average", "closed_test"] = policy
        self.methods: str | Sequence[str] = methods
        self.objective: Literal["log_loss", "brier"] = objective
        self.cv: int = cv
        self.max_cost: float | None = max_cost
        self.random_state: int = random_state
        self.verbose: bool = verbose

    @property
    def tags(self) -> Tags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Tags of the candidates' optional inputs; once fitted, of the inputs that its members
        need.
        """
        able = [
            tags
            for name, tags in (_candidate_tags() if self.policy == "average" else {}).items()
            if self.methods == "auto" or name in self.methods
        ]
        own = [m.tags for m in getattr(self, "members_", [])]
        return Tags(
            random=True,
            soft_labels=True,
            label="automatic choice",
            may_use_features=any(t.takes_features for t in able),
            may_use_groups=any(t.takes_groups for t in able),
            uses_features=any(t.uses_features for t in own),
            uses_groups=any(t.uses_groups for t in own),
        )

    @classmethod
    def _examples(cls) -> "list[AutoCalibrator]":
        cheap = ["temperature scaling", "structured vector scaling", "sigmoid of the log-odds"]
        return [cls(methods=cheap), cls(methods=cheap[:1], objective="brier", inputs="logit")]

    def _fit(self, record: Predictions) -> None:
        self._fit_in_folds(record)

    def fit_out_of_fold(self, record: Predictions) -> tuple[np.ndarray, np.ndarray, str] | None:
        """Fit on a record, and return the predictions of its rows out of the folds of this fit.

        The predictions of a fold come from candidates fitted without it. Their weights come from
        their scores on other rows, by fits without these and without the fold. From 2,000 rows on,
        those fits are extrapolated from the ones without a fold ("extrapolated"); if the choice
        holds out some rows only, each half of the rows chooses for the other ("halves").

        Parameters
        ----------
        record : Predictions with labels

        Returns
        -------
        (n, K) probabilities, (n,) folds, and "pairs", "extrapolated" or "halves"; or None
            None where the fit does not yield them: with soft labels, under 20 rows, with
            ``policy="closed_test"``, with fewer than three folds, or if weighted rows are tied.
        """
        if record.shares is not None:
            return None
        self._begin(record)
        rows = record.above(self.least_)
        found = self._fit_in_folds(rows)
        return None if found is None else found.predictions(rows)

    def _fit_in_folds(self, record: Predictions) -> FoldFits | None:
        self._option("objective", "log_loss", "brier")
        self._option("policy", "average", "closed_test")
        names = names_of(self.methods, CANDIDATES)
        pieces = canonical(record)
        self.n_fit_: float = float(pieces.weight.sum())
        if min(self.n_fit_, len(pieces.row)) < LEAST_ROWS:
            self._do_nothing(pieces.record, "too few rows")
            return None
        if self.policy == "closed_test":
            self._test(record)
            return None
        counts = np.bincount(pieces.labels, pieces.weight)
        if counts.max() == counts.sum():
            names = ONE_CLASS.intersection(names or ONE_CLASS)
        candidates = candidates_for(
            self.n_fit_,
            record.n_classes,
            names,
            self.max_cost,
            self.given_,
            1.0 - float(counts.max() / counts.sum()),
        )
        trials, held_out, notes = self._try(pieces, candidates)
        self._choose(pieces.record, trials, held_out, notes)
        return FoldFits(pieces, trials, held_out, self.objective, self.random_state)

    def _do_nothing(self, record: Predictions, why: str) -> None:
        self.members_, self.weights_ = [fit_clone(CANDIDATES[0].make(), record)], np.ones(1)
        self.table_, self.status_ = [], f"identity: {why}"
        self.gain_in_errors_: float = 0.0
        all_rows = np.arange(len(record))
        held = HeldOut(Pieces(record, all_rows, record.weights, all_rows), 1, self.objective)
        held.add(all_rows >= 0, all_rows, [record.probabilities])
        self.score_ = self.uncalibrated_score_ = float(
            np.average(held.losses(np.ones(1)), weights=record.weights)
        )

    def _test(self, record: Predictions) -> None:
        if record.n_classes > 2 or record.cluster is not None:
            raise InputError(
                'policy="closed_test" needs two classes and independent rows; got'
                f" {record.n_classes:,} classes"
                f"{'' if record.cluster is None else ' and clusters'}; leave policy out."
            )
        self._do_nothing(record, "")
        member: Any = fit_clone(OneVsRest(ClosedTest()), record)
        self.members_, self.status_ = [member], f"closed test: {member.maps_[0].chosen_}"

    def _try(
        self, pieces: Pieces, candidates: list[Candidate]
    ) -> tuple[list[Trial], HeldOut, dict[Any, Any]]:
        n_folds = min(
            self.cv if self.n_fit_ >= FEW_ROWS else max(self.cv, FOLDS_OF_FEW), len(pieces.row)
        )
        n_rows = len(pieces.row)
        enough = min(EVIDENCE_ROWS, max(EVIDENCE_ENTRIES // pieces.record.n_classes, 1))
        n_parts = max(n_folds, n_rows // enough)
        folds = folds_of(pieces.labels, pieces.cluster, n_parts, self.random_state)
        # Clusters stay whole, so that few of them make fewer folds.
        n_folds = min(n_folds, int(folds.max()) + 1)
        trials, held_out, notes = tried(
            candidates,
            pieces,
            np.where(folds < n_folds, folds, -1),
            self.objective,
            Progress(self.verbose),
            min(n_folds, -(-enough * n_parts // n_rows)),
        )
        held_out.folds = folds
        return trials, held_out, notes

    def _choose(
        self, record: Predictions, trials: list[Trial], held_out: HeldOut, notes: dict[Any, Any]
    ) -> None:
        weight, grouped = held_out.weight, [t.candidate.uses_groups for t in trials]
        found = evidence_pool(held_out, grouped, weight.sum(), self.random_state)
        means = [float(np.average(row, weights=weight)) for row in found.losses]
        self.uncalibrated_score_, self.gain_in_errors_, self.weights_ = (
            means[0],
            found.gain_in_errors,
            found.weights,
        )
        self.score_ = float(np.average(held_out.losses(found.shares), weights=weight))
        self.status_ = "identity: no evidence" if found.members == [0] else "pooled"
        record.work.open = False
        self.members_: list[Calibrator] = [
            t.member for t in fitted([trials[j].candidate for j in found.members], record)[0]
        ]
        self.table_: list[dict[str, Any]] = table_of(
            [t.candidate.name for t in trials], found, weight, notes
        )

    def _predict_proba(self, record: Predictions) -> np.ndarray:
        out = np.zeros((len(record), record.n_classes))
        for share, member in zip(self.weights_, self.members_, strict=True):
            out += share * member.predict_record(record)
        return self._at_use(out)

    def unseen_rows(self, groups: Any) -> dict[str, int]:
        """Count, for each column of groups, the rows with a level that is new since the fit, as
        read by the members.
        """
        require_fitted(self, "members_")
        return next(
            (found for member in self.members_ if (found := member.unseen_rows(groups))), {}
        )

    def group_levels(self) -> GroupLevels | None:
        """Return the levels of each column of groups, in which its expression reads positions; None
        if no member has any.
        """
        require_fitted(self, "members_")
        return same_levels(member.group_levels() for member in self.members_)

    def _expression(self, record: Any) -> Any:
        out = weighted_sum([member.express(record) for member in self.members_], self.weights_)
        return out if self.shift_ is None else self.shift_.express(out)

    def explain(self) -> str:
        """Describe in one sentence the data, the pool with its weights, and the evidence against no
        calibration.
        """
        require_fitted(self, "members_")
        data = f"{self.n_fit_:,.0f} rows, {len(self.classes_):,} classes"
        if self.status_.startswith("closed test: "):
            return f"{data}: the closed test chose {self.status_.removeprefix('closed test: ')}."
        if self.status_ != "pooled":
            return f"{data}: kept as is ({self.status_.removeprefix('identity: ')})."
        return (
            f"{data}: {weights_told(self.table_)}; improvement over no calibration:"
            f" {self.gain_in_errors_:.1f} standard errors."
        )


def default_calibrator() -> AutoCalibrator:
    """Return a new, unfitted default calibrator, for all functions that need one.

    Examples
    --------
    >>> default_calibrator()
    AutoCalibrator()
    """
    return AutoCalibrator()
