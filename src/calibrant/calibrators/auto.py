"""Automatic choice of a calibrator: candidates that fit the data, averaged by out-of-fold evidence,
or none.
"""

import sys
import time
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, Self

import numpy as np

from calibrant.calibrators.candidates import (
    CANDIDATES,
    ONE_CLASS,
    Candidate,
    candidates_for,
    names_of,
)
from calibrant.calibrators.evidence import (
    EvidencePool,
    FoldFits,
    choice_told,
    evidence_pool,
    learned,
)
from calibrant.calibrators.held_out import HeldOut, Pieces, canonical, fitted, tried
from calibrant.calibrators.label_shift import LabelShift, likely_rates
from calibrant.calibrators.look_alike import caution_look_alike
from calibrant.calibrators.maps.closed_test import ClosedTest
from calibrant.calibrators.multiclass import OneVsRest
from calibrant.calibrators.trust import LEAST_ROWS
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import Calibrator, Tags, of_predictions, require_fitted
from calibrant.core.expression import weighted_sum
from calibrant.core.folds import fit_clone, folds_of
from calibrant.core.given import Inputs
from calibrant.core.group_levels import GroupLevels, same_levels
from calibrant.core.groups import cluster_numbers, in_clusters
from calibrant.core.predictions import Predictions, read
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


@cache
def _tags_of(candidates: tuple[Candidate, ...]) -> dict[str, Tags]:
    """Tags by name, made once: a prediction of one row would otherwise make every candidate."""
    return {one.name: one.tags for one in candidates}


#: Number of folds below this number of rows.
FEW_ROWS, FOLDS_OF_FEW = 500, 10
#: Rows, and entries of their predictions, in a fold at most; as many are held out if there are more
#: in all. On 20 simulated sets more evidence lowered the log loss by .001 % (by .012 % at most).
EVIDENCE_ROWS, EVIDENCE_ENTRIES = 10_000, 4_000_000


class AutoCalibrator(
    Calibrator,
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

    members_: list[Any]
    weights_: np.ndarray
    table_: list[dict[str, Any]]
    score_: float
    uncalibrated_score_: float
    gain_in_errors_: float
    status_: str

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
            for name, tags in _tags_of(CANDIDATES if self.policy == "average" else ()).items()
            if self.methods == "auto" or name in self.methods
        ]
        used = [m.tags for m in getattr(self, "members_", [])]
        return Tags(
            random=True,
            soft_labels=True,
            label="automatic choice",
            may_use_features=any(t.takes_features for t in able),
            may_use_groups=any(t.takes_groups for t in able),
            uses_features=any(t.uses_features for t in used),
            uses_groups=any(t.uses_groups for t in used),
        )

    @classmethod
    def _examples(cls) -> "list[AutoCalibrator]":
        cheap = ["temperature scaling", "structured vector scaling", "sigmoid of the log-odds"]
        return [cls(methods=cheap), cls(methods=cheap[:1], objective="brier", inputs="logit")]

    @of_predictions
    def fit(
        self,
        P: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        X: Any = None,
        reference: Any = None,
        groups: Any = None,
        cluster: ArrayLike | None = None,
        unlabeled: ArrayLike | None = None,
    ) -> Self:
        """Fit on held-out predictions and the true labels.

        Parameters
        ----------
        P : (n, K), or (n,) for binary: probability of the second class
            Probabilities, or logits with ``inputs="logit"``.
        y : (n,) labels, or SoftLabels
        sample_weight : (n,), optional
            Weight 2 means the row twice, weight 0 no row.
        X, reference : (n, ...) features of the rows, and (X_train, y_train), for candidates that
            use them; refused if none does.
        groups : (n,) labels or a frame of n rows, for candidates that correct groups; refused if
            none does.
        cluster : (n,) labels of any kind, optional
            Clusters of dependent rows (views of one image, visits of one patient); folds keep them
            whole. Without it, consecutive rows of one class that look alike cause a warning.
        unlabeled : (m, K) or (m,), optional
            Predictions where the calibrator will be used, without labels. Their class rates are
            estimated and shrunk towards those of ``y`` by their uncertainty, and the calibrated
            predictions are shifted to them. Each class must look the same there. If the rates have
            not changed, about 3 of 100 fits on 300 rows become worse by half a percent.

        Returns
        -------
        self
        """
        beside = {"X": X, "reference": reference, "groups": groups}
        self._refuse_unused(**beside)
        if unlabeled is not None and any(value is not None for value in beside.values()):
            raise InputError(
                "unlabeled holds predictions alone, so a choice by X or groups does not apply to"
                " it; leave one of them out."
            )
        options = {"inputs": self.inputs, "classes": self.classes, "sample_weight": sample_weight}
        record = read(P, y, **options, **beside, soft=self.tags.soft_labels)
        if cluster is not None:
            record = in_clusters(record, cluster_numbers(cluster, record))
        if record.shares is not None:
            record = record.one_label_each()[0]
        elif cluster is None:
            caution_look_alike(record)
        self.fit_record(record)
        if unlabeled is not None:
            use = self.predict_record(read(unlabeled, inputs=self.inputs, classes=self.classes_))
            counts = np.bincount(record.labels, record.weights, record.n_classes)
            rates = likely_rates(use, counts, self.predict_record(record), record.weights)
            y = self.classes_[record.labels]
            self.shift_: LabelShift | None = LabelShift(rates, classes=self.classes_).fit(
                record.probabilities, y, sample_weight=record.weight
            )
        return self

    def _begin(self, record: Any) -> None:
        # The inputs of an earlier fit's members do not apply to this one.
        vars(self).pop("members_", None)
        super()._begin(record)
        self.shift_ = None
        #: Inputs that came with the rows of the fit.
        self.given_: tuple[str, ...] = tuple(
            name for name in ("X", "reference", "groups") if getattr(record, name) is not None
        )

    def _read(self, P: Any, X: Any = None, groups: Any = None) -> Any:
        """Return the record to predict; inputs that the fit did not have are refused."""
        record = super()._read(P, X, groups)
        for name, value in (("X", X), ("groups", groups)):
            if value is not None and name not in self.given_:
                raise InputError(
                    f"{name} was not passed to the fit of this {type(self).__name__}; leave it"
                    f" out, or fit with {name}=."
                )
        return record

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
        fits = self._fit_in_folds(rows)
        return None if fits is None else fits.predictions(rows)

    def _fit_in_folds(self, record: Predictions) -> FoldFits | None:
        self._option("objective", "log_loss", "brier")
        self._option("policy", "average", "closed_test")
        methods = names_of(self.methods, CANDIDATES)
        pieces = canonical(record)
        self.n_fit_: float = float(pieces.weight.sum())
        if min(self.n_fit_, len(pieces.row)) < LEAST_ROWS:
            return self._do_nothing(pieces.record, "too few rows")
        if self.policy == "closed_test":
            return self._test(record)
        counts = np.bincount(pieces.labels, pieces.weight)
        others = 1.0 - float(counts.max() / counts.sum())
        if counts.max() == counts.sum():
            methods = ONE_CLASS.intersection(methods or ONE_CLASS)
        held_out, notes = self._try(
            pieces,
            candidates_for(
                self.n_fit_, record.n_classes, methods, self.max_cost, self.given_, others
            ),
        )
        pool = evidence_pool(held_out, held_out.weight.sum(), self.random_state)
        record = pieces.record
        record.work.open = False
        members, _ = fitted([held_out.candidates[j] for j in pool.members], record)
        self.members_ = list(members.values())
        names = [one.name for one in held_out.candidates]
        vars(self).update(learned(pool, held_out, names, notes))
        return FoldFits(pieces, held_out, self.random_state)

    def _do_nothing(self, record: Predictions, why: str) -> None:
        rows = np.arange(len(record))
        pieces = Pieces(record, rows, record.weights, rows)
        held_out = HeldOut(pieces, CANDIDATES[:1], self.objective)
        held_out.add(rows >= 0, rows, [record.probabilities])
        losses = held_out.losses(np.ones(1))[None]
        self.members_ = [fit_clone(CANDIDATES[0].make(), record)]
        vars(self).update(learned(EvidencePool.of_nothing(losses), held_out, why=why))

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

    def _try(self, pieces: Pieces, candidates: list[Candidate]) -> tuple[HeldOut, dict[str, str]]:
        n_rows = len(pieces.row)
        n_folds = min(self.cv if self.n_fit_ >= FEW_ROWS else max(self.cv, FOLDS_OF_FEW), n_rows)
        enough = min(EVIDENCE_ROWS, max(EVIDENCE_ENTRIES // pieces.record.n_classes, 1))
        n_parts = max(n_folds, n_rows // enough)
        folds = folds_of(pieces.labels, pieces.cluster, n_parts, self.random_state)
        # Clusters stay whole, so that few of them make fewer folds.
        n_folds = min(n_folds, int(folds.max()) + 1)
        held_out, notes = tried(
            candidates,
            pieces,
            np.where(folds < n_folds, folds, -1),
            self.objective,
            Progress(self.verbose),
            min(n_folds, -(-enough * n_parts // n_rows)),
        )
        held_out.folds = folds
        return held_out, notes

    def _predict_proba(self, record: Predictions) -> np.ndarray:
        pairs = zip(self.weights_, self.members_, strict=True)
        out: Any = sum(share * member.predict_record(record) for share, member in pairs)
        return out if self.shift_ is None else self.shift_.predict_proba(out)

    def unseen_rows(self, groups: Any) -> dict[str, int]:
        """Count, for each column of groups, the rows with a level that is new since the fit, as
        read by the members.
        """
        require_fitted(self, "members_")
        counts = (member.unseen_rows(groups) for member in self.members_)
        return next((count for count in counts if count), {})

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
        state, _, why = self.status_.partition(": ")
        if state == "closed test":
            return f"{data}: the closed test chose {why}."
        return choice_told(data, self.table_, self.gain_in_errors_, why)


def default_calibrator() -> AutoCalibrator:
    """Return a new, unfitted default calibrator, for all functions that need one.

    Examples
    --------
    >>> default_calibrator()
    AutoCalibrator()
    """
    return AutoCalibrator()
