"""Conformal prediction sets: several classes where one would promise too much."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant._support.estimators import BaseEstimator
from calibrant._support.saving import Saved
from calibrant._support.trial import trial, trial_rows
from calibrant.contracts.calibrator import Calibrator, require_fitted
from calibrant.contracts.guarantee import Guarantee
from calibrant.contracts.interval import require_level
from calibrant.contracts.kinds import require_calibrator
from calibrant.contracts.reading import read_labelled
from calibrant.decisions.cells import By, ScoreCounts, rows_of_cells, set_promise, short_cells
from calibrant.decisions.set_rows import (
    SetRows,
    SetRule,
    counted,
    fitted,
    inputs_for,
    n_units,
    require_options,
)
from calibrant.decisions.set_scores import ScoreName
from calibrant.errors import InputError
from calibrant.folds.model_outputs import is_fitted
from calibrant.groups import clustered
from calibrant.labels import array_of
from calibrant.predictions import Inputs, Predictions, read
from calibrant.select.look_alike import caution_look_alike
from calibrant.wrap.one_vs_rest import as_calibrator

__all__ = ["ConformalSets"]

#: What the scores of a state depend on.
SETTINGS = ("score", "by", "randomised", "penalty", "k_reg", "n_bins", "random_state")


class ConformalSets(Saved, BaseEstimator):
    r"""Sets of classes that hold the true one with at least the probability they say, whatever the
    model is worth.

    .. math:: \{y : s(x, y) \le \hat q\}, \qquad \hat q = s_{(\lceil (n + 1)\,\text{level} \rceil)}

    with the order statistic of the scores of the true classes of n calibration rows, infinite where
    they are too few.

    Parameters
    ----------
    score : {"lac", "aps", "raps", "margin", "top_k"}
        "lac": one less the probability of the class; the smallest sets. "aps": the mass of the more
        likely classes and a drawn part of its own; sets that grow where the row is hard. "raps":
        the same, low ranks penalised. "margin": by how much another is more likely. "top_k": the
        rank; sets of one size.
    level : float, default 0.9
    calibrator : Calibrator or Map, optional
        Fitted, on other rows: used as it is. Unfitted: ``fit`` deals out ``fit_share`` of its rows
        to it, and promises by the others alone. Default none: the promise holds for any score, and
        a calibrator would take rows from it.
    by : {None, "class", "similar_classes", "groups", "overlapping"}
        For whom the promise holds: all rows together; each class; clusters of classes with like
        scores, where classes are too rare to have limits of their own; each group; each of the
        groups that a row may be in, (n, G) booleans, by the largest limit of a row's groups.
    randomised : bool, default True
        Whether "aps" and "raps" draw. Without, their sets are larger.
    never_empty : bool, default False
        Whether sets that would be empty get the likeliest class. Coverage can only rise; the mean
        size rises by the share of empty sets.
    penalty, k_reg : float and int, optional
        Of "raps": what a rank beyond ``k_reg`` costs. None: chosen for small sets on rows that
        ``fit`` deals out for it.
    fit_share : float, default 0.5
        Share of the rows that goes to what is fitted or chosen, if anything is, in equal parts.
    n_bins : int, default 65536
        Of ``state``.
    random_state : int, default 0
        Seed of the dealing and of the draws. A row's draw depends on it and on what the model said
        of the row: the same at every level.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    guarantee_ : contracts.Guarantee
    rule_ : the calibration scores (``held``) of each class or group (``cells``), and how rows are
        scored (``raps``, ``calibrator``)
    n_ : float, rows, or clusters, that the promise is bought with
    too_few_ : list of the classes or groups with too few rows for the level: in every set, or with
        sets of every class
    split_ : dict, how many rows went where: "calibrator", "penalty", "similar classes",
        "certificate"
    classes_ : (K,)

    See Also
    --------
    ConformalIntervals : the same for numbers.
    metrics.set_coverage, metrics.set_sizes : whether sets hold what they say, and what it costs.
    decision_threshold : one answer, by its costs.

    Notes
    -----
    Use them where a person, or a second model, looks at the classes left. The promise is an average
    over rows and over calibration sets: with one set of n rows the coverage varies by about
    sqrt(level (1 - level) / n). It says nothing of rows from another population, and with
    ``by=None`` nothing of a single class or group. With ``cluster=`` it is of a row of a new
    cluster.

    References
    ----------
    Vovk et al., "Algorithmic learning in a random world", 2005. Ding et al., "Class-conditional
    conformal prediction with many classes", NeurIPS 2023. Lee, Barber and Willett,
    "Distribution-free inference with hierarchical data", 2023.

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
    """

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
        X: Any = None,
    ) -> Self:
        """Fit on predictions for rows that the model did not learn from, and the true labels.

        Parameters
        ----------
        P : (n, K), or (n,) for binary: probability of the second class
        y : (n,) labels
        groups : (n,) labels of any kind, a frame, or (n, G) booleans, as ``by`` asks
        cluster : (n,), optional
            Which rows hang together: the promise is of rows of new clusters, and counts clusters.
        sample_weight : (n,), optional
            Whole numbers: how often each row was met. Weights of a sampling design or of importance
            are refused, and must not be rounded: the promise would be of other rows, and needs
            weighted conformal prediction, with weights learned from other rows.
        X : (n, ...) features of the rows, for calibrators that use them
        """
        record = self._labelled(P, y, cluster, sample_weight, X)
        self.fit_record(record, groups)
        if cluster is None:
            caution_look_alike(record, "the promise")
        return self

    def fit_record(self, record: Predictions, groups: Any = None) -> Self:
        """``fit`` on a record that has been read already."""
        given = self._given()
        new, choose = (
            given is not None and not is_fitted(given),
            self.score == "raps" and self.penalty is None,
        )
        uses = {
            "calibrator": new,
            "penalty": choose,
            "similar classes": self.by == "similar_classes",
        }
        cells = rows_of_cells(self.by, record, groups)
        found = SetRows.of(
            record,
            [use for use, needed in uses.items() if needed],
            self.fit_share,
            self.random_state,
        )
        rule = fitted(SetRule.unfitted(self, given, self.by), found, cells, self.level)
        return self._keep(rule, record.classes, found.sizes, n_units(found.parts["certificate"]))

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
        """What adds up: ``fit_state(state(part 1) + state(part 2))`` is the fit of all rows, but
        for scores rounded up to their bins.

        One pass fits nothing: a calibrator must be fitted, a penalty be given. Clusters must be
        whole in each part.
        """
        record = self._labelled(P, y, cluster, sample_weight, X)
        return counted(
            self._one_pass(), record, rows_of_cells(self.by, record, groups), _settings(self)
        )

    def fit_state(self, state: ScoreCounts) -> Self:
        """Fit on the sum of what ``state`` of this object, or of others with the same options,
        made of any number of parts.
        """
        rule = replace(self._one_pass(), cells=state.cells, held=state.cell_scores(_settings(self)))
        return self._keep(
            rule, array_of(state.settings["classes"]), {"certificate": state.n}, state.n
        )

    def predict_set(
        self, P: ArrayLike, *, groups: Any = None, level: float | None = None, X: Any = None
    ) -> np.ndarray:
        """(n, K) booleans, whether a class is in the set; at another ``level`` if given: a
        higher one takes no class away.
        """
        return self.set_record(self._read(P, X), groups, level)

    def set_record(
        self, record: Predictions, groups: Any = None, level: float | None = None
    ) -> np.ndarray:
        """``predict_set`` of a record that has been read already."""
        require_fitted(self, "rule_")
        level = self.level if level is None else level
        require_level(level)
        return self.rule_.sets(record, groups, level, never_empty=self.never_empty)

    def labels(
        self, P: ArrayLike, *, groups: Any = None, level: float | None = None, X: Any = None
    ) -> list[list[Any]]:
        """The sets as lists of labels."""
        return [
            self.classes_[row].tolist()
            for row in self.predict_set(P, groups=groups, level=level, X=X)
        ]

    def p_values(
        self, P: ArrayLike, *, groups: Any = None, smoothed: bool = False, X: Any = None
    ) -> np.ndarray:
        """(n, K): share of the calibration scores that are at least as strange as the class would
        be; a set holds those above 1 - level.

        With ``smoothed`` equal scores count a drawn part only: these p-values are uniform for the
        true class and never larger, so that they may leave out classes that the set holds.
        ``never_empty`` adds the class of the largest p-value to a set without any.
        """
        return self.rule_.p_values(self._read(P, X), groups, smoothed=smoothed)

    @property
    def guarantee_(self) -> Guarantee:
        """What the sets promise."""
        require_fitted(self, "rule_")
        given = self.rule_.calibrator is not None and "calibrator" not in self.split_
        return set_promise(
            self.rule_.held, self.level, self.by, self.n_, exact=not self.never_empty, given=given
        )

    def _given(self) -> Calibrator | None:
        require_options(
            self.score,
            self.level,
            self.penalty,
            self.k_reg,
            self.fit_share,
            self.n_bins,
            self.random_state,
        )
        return None if self.calibrator is None else as_calibrator(self.calibrator, fitted=True)

    def _one_pass(self) -> SetRule:
        given = self._given()
        if (
            (given is not None and not is_fitted(given))
            or (self.score == "raps" and self.penalty is None)
            or self.by == "similar_classes"
        ):
            raise InputError(
                "state fits nothing: give a fitted calibrator, penalty= and k_reg= for raps, no"
                " similar classes; or call fit."
            )
        return SetRule.unfitted(self, given, self.by)

    def _keep(self, rule: SetRule, classes: np.ndarray, sizes: dict[str, float], n: float) -> Self:
        self.rule_: SetRule = rule
        self.classes_: np.ndarray = classes
        self.split_: dict[str, float] = sizes
        self.n_: float = n
        self.too_few_: list[Any] = short_cells(rule.cells, rule.held, self.level, self.by)
        self.status_: str = "exact"
        return self

    def _labelled(
        self,
        P: ArrayLike,
        y: ArrayLike,
        cluster: ArrayLike | None,
        sample_weight: ArrayLike | None,
        X: Any,
    ) -> Predictions:
        # Without a calibrator one pass scores the rows, and checks them on the way.
        known: dict[str, Any] = {
            "classes": self.classes,
            "X": X,
            "sample_weight": sample_weight,
            "called": "y",
        }
        inputs = inputs_for(self.inputs, self.calibrator)
        return clustered(
            read_labelled(y, P, inputs=inputs, check_values=self.calibrator is not None, **known),
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
def _(sets: ConformalSets):
    rule = sets.rule_
    held: Any = rule.calibrator
    if held is not None:
        require_calibrator(held, "its calibrator")
    str(sets.guarantee_)
    inputs = inputs_for(sets.inputs, rule.calibrator)
    P = trial_rows(len(sets.classes_), inputs)
    rule.scorer.of_all(read(P, inputs=inputs, classes=sets.classes_))
    if sets.by not in ("groups", "overlapping") and sets.predict_set(P).shape != P.shape:
        raise ValueError("its sets are not of the shape of the predictions")
