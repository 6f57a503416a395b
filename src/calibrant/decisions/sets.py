"""Conformal prediction sets, which hold several classes where one is too uncertain."""

from dataclasses import replace
from typing import Any, Self

import numpy as np

from calibrant.calibrators.look_alike import caution_look_alike
from calibrant.calibrators.multiclass import as_calibrator
from calibrant.core.arrays import ArrayLike, new_weights
from calibrant.core.calibrator import Calibrator, DomainCalibrator, require_fitted
from calibrant.core.estimators import BaseEstimator, trial, trial_rows
from calibrant.core.given import Inputs
from calibrant.core.groups import WeightKind, clustered
from calibrant.core.guarantee import Guarantee, Promised
from calibrant.core.labels import array_of
from calibrant.core.metric import require_level
from calibrant.core.model_outputs import is_fitted
from calibrant.core.predictions import Predictions, read
from calibrant.core.reading import read_labelled
from calibrant.core.saving import Saved
from calibrant.decisions.cells import By, ScoreCounts, rows_of_cells, set_promise, short_cells
from calibrant.decisions.set_rows import (
    SetRows,
    SetRule,
    counted,
    fitted,
    inputs_for,
    is_weighted,
    n_units,
    require_options,
)
from calibrant.decisions.set_scores import ScoreName
from calibrant.errors import InputError

__all__ = ["ConformalSets"]

#: Settings that determine the scores of a state.
SETTINGS = ("score", "by", "randomised", "penalty", "k_reg", "n_bins", "random_state")


class ConformalSets(Promised, Saved, BaseEstimator):
    r"""Prediction sets that hold the true class with at least the stated probability, for any
    model.

    .. math:: \{y : s(x, y) \le \hat q\}, \qquad \hat q = s_{(\lceil (n + 1)\,\text{level} \rceil)}

    where :math:`s_{(k)}` are the ordered scores of the true classes of n calibration rows, and
    infinite if n is too small.

    Parameters
    ----------
    score : {"lac", "aps", "raps", "margin", "top_k", "ordered"}
        "lac": one minus the probability of the class; the smallest sets. "aps": the mass of the
        more likely classes and a random part of its own; sets grow where the row is hard. "raps":
        the same with low ranks penalised. "margin": the lead of the most likely other class.
        "top_k": the rank; sets of one size. "ordered": the mass of the interval that grows from the
        most likely level until it holds the level, with a random part of its own; sets without gaps
        for levels in column order. It needs one limit for all levels, so it refuses ``by="class"``
        and ``by="similar_classes"``.
    level : float, default 0.9
    calibrator : Calibrator or Map, optional
        A fitted one must come from other rows and is used as it is. For an unfitted one, ``fit``
        sets aside ``fit_share`` of its rows, and the promise rests on the others. Default none: the
        promise holds for any score, and a calibrator would take rows from it.
    by : {None, "class", "similar_classes", "groups", "overlapping"}
        Where the promise holds: over all rows; in each class; in clusters of classes with similar
        scores, where classes are too rare for limits of their own; in each group; in each of
        several overlapping groups, (n, G) booleans, by the largest limit of a row's groups.
    randomised : bool, default True
        Whether "aps", "raps" and "ordered" are randomised. Sets are larger without it.
    never_empty : bool, default False
        Whether empty sets receive the most likely class. Coverage can only rise; the mean size
        rises by the share of empty sets.
    penalty, k_reg : float and int, optional
        For "raps": the penalty of each rank beyond ``k_reg``. None: chosen for small sets on rows
        that ``fit`` sets aside.
    fit_share : float, default 0.5
        Share of the rows for the parts to fit or choose, if any, in equal parts.
    n_bins : int, default 65536
        Number of bins of ``state``.
    random_state : int, default 0
        Seed of the split and of the draws. A row's draw depends on it and on the row's prediction,
        so it is the same at every level.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    guarantee_ : core.Guarantee
    rule_ : the calibration scores (``held``) of each class or group (``cells``), and the scoring of
        rows (``raps``, ``calibrator``)
    n_ : float, number of rows, or clusters, behind the promise; of weighted rows the effective
        number
    weighted_ : bool, whether rows have sampling weights, so that new rows need theirs
    too_few_ : list of the classes or groups with too few rows for the level; such classes are in
        every set, and such groups have sets of every class
    split_ : dict, number of rows for each use: "calibrator", "penalty", "similar classes",
        "certificate"
    classes_ : (K,)

    See Also
    --------
    ConformalIntervals : the same for numbers.
    metrics.set_coverage, metrics.set_sizes : check the coverage, and the size that it costs.
    decision_threshold : one answer, from its costs.

    Notes
    -----
    Use them where a person, or a second model, examines the remaining classes. The promise is an
    average over rows and over calibration sets: with one set of n rows the coverage varies by about
    sqrt(level (1 - level) / n). It does not cover another population, nor, with ``by=None``, a
    single class or group. With ``cluster=`` it concerns a row of a new cluster. For a population
    with other inputs, pass :class:`ImportanceWeights` of the calibration rows, as
    ``sample_weight`` with ``weight_kind="sampling"``, and of the new rows: with known weights the
    promise is exact, estimated ones cost half of their mean absolute error. A row whose weight
    dominates the others' has every class in its set, with a warning.

    References
    ----------
    Vovk et al., "Algorithmic learning in a random world", 2005. Ding et al., "Class-conditional
    conformal prediction with many classes", NeurIPS 2023. Lee, Barber and Willett,
    "Distribution-free inference with hierarchical data", 2023. Lu, Angelopoulos and Pomerantz,
    "Improving trustworthiness of AI disease severity rating in medical imaging with ordinal
    conformal prediction sets", MICCAI 2022. Tibshirani, Foygel Barber, Candes and Ramdas,
    "Conformal prediction under covariate shift", NeurIPS 2019.

    Examples
    --------
    >>> P, y = (
    ...     [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]] * 5,
    ...     [0, 1, 2, 0, 1, 2, 1, 1, 2, 0, 1, 2, 0, 1, 1],
    ... )
    >>> sets = ConformalSets(level=0.9).fit(P, y)
    >>> sets.labels([[0.5, 0.4, 0.1], [0.05, 0.9, 0.05]])
    [[0, 1], [1]]
    >>> sets.guarantee_.least, sets.guarantee_.n
    (0.9, 15.0)

    Sets of ordered levels have no gap, where other sets may have one:

    >>> ordered = ConformalSets("ordered", randomised=False).fit(P, y)
    >>> sets.labels([[0.5, 0.1, 0.4]]), ordered.labels([[0.5, 0.1, 0.4]])
    ([[0, 2]], [[0, 1]])
    """

    #: Older files lack it.
    weighted_: bool = False

    def __init__(
        self,
        score: ScoreName = "lac",
        level: float = 0.9,
        *,
        calibrator: Any = None,
        by: By | None = None,
        randomised: bool = True,
        never_empty: bool = False,
        penalty: float | None = None,
        k_reg: int | None = None,
        fit_share: float = 0.5,
        n_bins: int = 65_536,
        random_state: int = 0,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        self.score: ScoreName = score
        self.level: float = level
        self.calibrator: Any = calibrator
        self.by: By | None = by
        self.randomised: bool = randomised
        self.never_empty: bool = never_empty
        self.penalty: float | None = penalty
        self.k_reg: int | None = k_reg
        self.fit_share: float = fit_share
        self.n_bins: int = n_bins
        self.random_state: int = random_state
        self.inputs: Inputs = inputs
        self.classes: ArrayLike | None = classes

    @classmethod
    def _examples(cls) -> list["ConformalSets"]:
        """Instances for the contract suite."""
        several = [
            cls(),
            cls("aps"),
            cls("aps", randomised=False, never_empty=True),
            cls("margin", by="class"),
            cls("top_k"),
            cls("ordered"),
        ]
        return [*several, cls("raps"), cls("raps", penalty=0.01, k_reg=2)]

    def fit(
        self,
        P: ArrayLike,
        y: ArrayLike,
        *,
        groups: Any = None,
        cluster: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        weight_kind: WeightKind = "frequency",
        X: Any = None,
    ) -> Self:
        """Fit on predictions for rows that the model did not learn from, and the true labels.

        Parameters
        ----------
        P : (n, K), or (n,) for binary: probability of the second class
        y : (n,) labels
        groups : (n,) labels of any kind, a frame, or (n, G) booleans, as ``by`` requires
        cluster : (n,), optional
            Clusters of dependent rows: the promise concerns rows of new clusters, and n counts
            clusters.
        sample_weight : (n,), optional
            Whole numbers: how often each row was observed; or any weights, by their kind.
        weight_kind : {"frequency", "sampling"}
            "sampling": importance weights, learned from other rows, or those of a design. The new
            rows then need theirs too (weighted conformal prediction).
        X : (n, ...) features of the rows, for calibrators that use them
        """
        record = self._labelled(P, y, cluster, sample_weight, X)
        self.fit_record(record, groups, weighted=is_weighted(weight_kind, sample_weight, cluster))
        if cluster is None:
            caution_look_alike(record, "the promise")
        return self

    def fit_record(
        self, record: Predictions, groups: Any = None, *, weighted: bool = False
    ) -> Self:
        """Fit on a record of predictions and labels; ``weighted`` says that its weights do not
        count rows.
        """
        calibrator = self._checked_calibrator()
        uses = {
            "calibrator": calibrator is not None and not is_fitted(calibrator),
            "penalty": self.score == "raps" and self.penalty is None,
            "similar classes": self.by == "similar_classes",
        }
        cells = rows_of_cells(self.by, record, groups)
        split = SetRows.of(
            record,
            [use for use, needed in uses.items() if needed],
            self.fit_share,
            self.random_state,
            weighted=weighted,
        )
        unfitted = SetRule.unfitted(self, calibrator, self.by)
        rule = fitted(unfitted, split, cells, self.level, weighted=weighted)
        n = n_units(split.parts["certificate"], weighted=weighted)
        self.weighted_ = weighted
        return self._keep(rule, record.classes, split.sizes, n)

    def state(
        self,
        P: ArrayLike,
        y: ArrayLike,
        *,
        groups: Any = None,
        cluster: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        X: Any = None,
    ) -> ScoreCounts:
        """Return additive counts: ``fit_state(state(part 1) + state(part 2))`` equals the fit of
        all rows, except that scores are rounded up to their bins.

        One pass fits nothing: pass a fitted calibrator and a penalty. Each cluster must lie within
        one part.
        """
        record = self._labelled(P, y, cluster, sample_weight, X)
        return counted(
            self._one_pass_rule(), record, rows_of_cells(self.by, record, groups), _settings(self)
        )

    def fit_state(self, state: ScoreCounts) -> Self:
        """Fit on the sum of the results of ``state`` for any number of parts, with the same
        options.
        """
        self.weighted_ = False
        rule = replace(
            self._one_pass_rule(), cells=state.cells, held=state.cell_scores(_settings(self))
        )
        return self._keep(
            rule, array_of(state.settings["classes"]), {"certificate": state.n}, state.n
        )

    def predict_set(
        self,
        P: ArrayLike,
        *,
        groups: Any = None,
        level: float | None = None,
        sample_weight: ArrayLike | None = None,
        X: Any = None,
    ) -> np.ndarray:
        """Return (n, K) booleans, whether a class is in the set, at another ``level`` if passed; a
        higher level removes no class.

        ``sample_weight`` (n,) are the weights of these rows, where ``fit`` took sampling weights.
        """
        return self.set_record(self._read(P, X), groups, level, sample_weight)

    def set_record(
        self,
        record: Predictions,
        groups: Any = None,
        level: float | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> np.ndarray:
        """Return the sets of a record."""
        require_fitted(self, "rule_")
        level = self.level if level is None else level
        require_level(level)
        mass = new_weights(sample_weight, len(record), weighted=self.weighted_)
        return self.rule_.sets(record, groups, level, never_empty=self.never_empty, mass=mass)

    def labels(
        self,
        P: ArrayLike,
        *,
        groups: Any = None,
        level: float | None = None,
        sample_weight: ArrayLike | None = None,
        X: Any = None,
    ) -> list[list[Any]]:
        """Return the sets as lists of labels."""
        sets = self.predict_set(P, groups=groups, level=level, sample_weight=sample_weight, X=X)
        return [self.classes_[row].tolist() for row in sets]

    def p_values(
        self,
        P: ArrayLike,
        *,
        groups: Any = None,
        smoothed: bool = False,
        sample_weight: ArrayLike | None = None,
        X: Any = None,
    ) -> np.ndarray:
        """Return (n, K) shares of the calibration scores that are at least as strange as the class;
        a set holds the classes above 1 - level.

        With ``smoothed``, only a random part of equal scores counts. These p-values are uniform for
        the true class and never larger, so they may omit classes that the set holds.
        ``never_empty`` adds the class of the largest p-value to an empty set.
        """
        record = self._read(P, X)
        mass = new_weights(sample_weight, len(record), weighted=self.weighted_)
        return self.rule_.p_values(record, groups, smoothed=smoothed, mass=mass)

    @property
    def guarantee_(self) -> Guarantee:
        """The coverage that the sets promise, with its assumptions."""
        require_fitted(self, "rule_")
        prefitted = self.rule_.calibrator is not None and "calibrator" not in self.split_
        return set_promise(
            self.rule_.held,
            self.level,
            self.by,
            self.n_,
            exact=not self.never_empty,
            prefitted=prefitted,
            weighted=self.weighted_,
        )

    def _checked_calibrator(self) -> Calibrator | None:
        require_options(
            self.score,
            self.level,
            self.penalty,
            self.k_reg,
            self.fit_share,
            self.n_bins,
            self.random_state,
        )
        if self.score == "ordered" and self.by in ("class", "similar_classes"):
            raise InputError(
                'score="ordered" needs one limit for all levels of a row, or its sets would have'
                f' gaps; got by={self.by!r}; choose by=None, "groups" or "overlapping", or another'
                " score."
            )
        return None if self.calibrator is None else as_calibrator(self.calibrator, fitted=True)

    def _one_pass_rule(self) -> SetRule:
        calibrator = self._checked_calibrator()
        if (
            (calibrator is not None and not is_fitted(calibrator))
            or (self.score == "raps" and self.penalty is None)
            or self.by == "similar_classes"
        ):
            raise InputError(
                "state fits nothing, so it needs a fitted calibrator, penalty= and k_reg= for"
                " raps, and no similar classes; pass these, or call fit."
            )
        return SetRule.unfitted(self, calibrator, self.by)

    def _keep(self, rule: SetRule, classes: np.ndarray, sizes: dict[str, float], n: float) -> Self:
        self.rule_: SetRule = rule
        self.classes_: np.ndarray = classes
        self.split_: dict[str, float] = sizes
        self.n_: float = n
        self.too_few_: list[Any] = (
            [] if self.weighted_ else short_cells(rule.cells, rule.held, self.level, self.by)
        )
        self.status_: str = "exact"
        return self

    def _labelled(self, P: Any, y: Any, cluster: Any, sample_weight: Any, X: Any) -> Predictions:
        # Without a calibrator the scoring pass checks the rows too.
        options: dict[str, Any] = {
            "classes": self.classes,
            "X": X,
            "sample_weight": sample_weight,
            "called": "y",
        }
        inputs = inputs_for(self.inputs, self.calibrator)
        return clustered(
            read_labelled(y, P, inputs=inputs, check_values=self.calibrator is not None, **options),
            cluster,
        )

    def _read(self, P: ArrayLike, X: Any) -> Predictions:
        require_fitted(self, "rule_")
        inputs = inputs_for(self.inputs, self.rule_.calibrator)
        return read(
            P,
            inputs=inputs,
            classes=self.classes_,
            X=X,
            check_values=self.rule_.calibrator is not None,
        )


def _settings(sets: ConformalSets) -> dict[str, Any]:
    return {name: getattr(sets, name) for name in SETTINGS}


@trial.register
def _(sets: ConformalSets) -> None:
    rule = sets.rule_
    calibrator: Any = rule.calibrator
    # An InputError would pass: a trial may refuse its made rows.
    if not (calibrator is None or isinstance(calibrator, DomainCalibrator)):
        raise ValueError(f"its calibrator is a {type(calibrator).__name__}")
    str(sets.guarantee_)
    inputs = inputs_for(sets.inputs, rule.calibrator)
    P = trial_rows(len(sets.classes_), inputs)
    rule.scorer.of_all(read(P, inputs=inputs, classes=sets.classes_))
    if sets.by not in ("groups", "overlapping") and sets.predict_set(P).shape != P.shape:
        raise ValueError("its sets do not have the shape of the predictions")
