"""Calibrators by group: offsets by level and by crossing, shrunk by how much groups differ, and
multicalibration of class probabilities by boosted trees.

The trees split on features, groups and score; held-out rows stop the boosting early.
"""

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from calibrant._numerics.boosting import Shares
from calibrant.calibrators.multiclass import as_calibrator
from calibrant.calibrators.offsets import (
    LEAST_ERRORS,
    BoostedOffsets,
    CellCodes,
    PooledOffsets,
    counted,
    distinct_rows,
    express_probabilities,
    express_scores,
    hits_of,
    probabilities_of,
    require_options,
    scores_of,
)
from calibrant.calibrators.pool import LikelihoodPool
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import Calibrator, Tags, require_fitted
from calibrant.core.estimators import (
    require_count,
    require_not_negative,
    require_valid,
    trial,
    trial_rows,
)
from calibrant.core.folds import fit_clone
from calibrant.core.given import Inputs
from calibrant.core.group_levels import ColumnCodes, GroupLevels, cell_codes, crossings, same_levels
from calibrant.core.groups import clustered
from calibrant.core.predictions import Predictions, read
from calibrant.errors import InputError

__all__ = ["GroupCalibrator", "Multicalibration"]


#: A crossing needs as much information, the sum of p (1 - p), as 20 rows of probability 1/2.
LEAST_INFORMATION = 5.0
#: Whole numbers up to this are exact in float32.
MOST_CELLS = 2**24


class GroupCalibrator(
    Calibrator,
    examples=[{"depth": 1, "slopes": False, "inputs": "logit"}],
    family="with groups or features",
    use="An offset for each group, shrunken",
    common=True,
):
    r"""Calibrate all rows together, then shift each group as far as the groups differ.

    .. math:: \mathrm{logit}\, q_i = l_i + \sum_f \left[ b_{f, g_f(i)} + s_{f, g_f(i)} (l_i - c_{f,
        g_f(i)}) \right],
        \qquad b_{f, g} \sim N(0, \tau_f^2), \quad s_{f, g} \sim N(0, \sigma_f^2)

    where :math:`l` are the log-odds of the base calibrator. The families f are the levels of each
    column of ``groups``, and their crossings of up to ``depth`` columns and of all. Each family's
    variance maximises the likelihood (empirical Bayes), 0 included. A crossing adds to the sum of
    its parents' effects, so only the difference from these is shrunk. With several classes there is
    an offset for each.

    Parameters
    ----------
    calibrator : Calibrator or Map, optional
        The base, fitted on all rows first. Default :class:`LikelihoodPool`, which is unbiased
        overall, so that an error common to all rows does not appear as a difference between groups.
        A map is applied one-vs-rest (:class:`OneVsRest`). A base with optional groups, such as
        :class:`AutoCalibrator`, does not receive them.
    depth : int >= 1, default 2
        Maximum number of crossed columns; the crossing of all columns is always tried too.
    slopes : bool, default True
        Whether the slope may differ by level too, for two classes only.
    n_bins : int >= 2, default 10
        Number of quantile bins of columns with fractional numbers, or with more than 20 different
        values. Other whole numbers, whole numbers given as labels (without a column name), texts
        and missing values are levels.
    least_errors : float or None, default 1.5
        Leave-one-out gain, in its standard errors, from which the offsets are used. None always
        uses them; where groups do not differ, their variances are then 0 or small.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    calibrator_ : the fitted base.
    levels_ : the columns' levels.
    offsets_ : the fitted offsets: ``offsets_.families_``, ``gain_`` (log loss a row,
        leave-one-out), ``gain_error_``.
    status_ : "converged" or "max steps", or "base" if there is no evidence that groups differ.

    See Also
    --------
    audit : finds miscalibrated groups, before and after.
    AutoCalibrator : includes it as a candidate where groups are passed.
    PerClass : one calibrator for each predicted class.

    Notes
    -----
    Use it when a model may treat groups of rows unequally (hospitals, languages, age and job) and
    decisions are made in each. A level that is new, a crossing with little information and a
    missing value not seen before have only their parents' effects: with one column exactly the risk
    of the base; ``unseen_rows`` counts such rows. It equals the base unless the leave-one-out gain
    (to first order) exceeds ``least_errors`` standard errors of log loss. A weight counts rows;
    fractional weights, as of a sampling design, count as their effective size, (sum w)^2 / sum w^2.
    It does not help where errors depend on features outside the groups. Within a group it keeps the
    order as far as the base does, unless a slope is below -1. Exported, it reads the positions of
    levels after P: see the page on export.

    References
    ----------
    Efron and Morris, "Data analysis using Stein's estimator and its generalizations", JASA 70,
    1975. Breslow and Clayton, "Approximate inference in generalized linear mixed models", JASA 88,
    1993.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> group, p = rng.integers(0, 20, 4000), rng.uniform(0.1, 0.9, 4000)
    >>> y = rng.uniform(size=4000) < 1 / (1 + (1 - p) / p * np.exp(rng.normal(size=20)[group]))
    >>> cal = GroupCalibrator().fit(p, y, groups=group)
    >>> cal.offsets_.used, cal.predict_proba([0.5, 0.5], groups=[3, 99]).shape
    (True, (2, 2))
    """

    tags: ClassVar[Tags] = Tags(uses_groups=True, label="offsets by group")
    status_: str

    def __init__(
        self,
        calibrator: Any = None,
        *,
        depth: int = 2,
        slopes: bool = True,
        n_bins: int = 10,
        least_errors: float | None = LEAST_ERRORS,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.calibrator: Any = calibrator
        self.depth: int = depth
        self.slopes: bool = slopes
        self.n_bins: int = n_bins
        self.least_errors: float | None = least_errors

    def _fit(self, record: Predictions) -> None:
        require_count("depth", self.depth)
        require_count("n_bins", self.n_bins, 2)
        if self.least_errors is not None:
            require_not_negative("least_errors", self.least_errors)
        record = counted(record)
        base = as_calibrator(self.calibrator, default=LikelihoodPool)
        self.calibrator_: Calibrator = fit_clone(base, _for(base, record))
        self.levels_: GroupLevels = GroupLevels(record.groups, record.weights, self.n_bins)
        self.levels_.warn_of_outcome(record.groups, record.labels)
        codes = self.levels_.codes(record.groups)
        self.crossings_: list[tuple[int, ...]] = crossings(self.levels_, codes, self.depth)
        cells = [
            CellCodes(
                name,
                code,
                LEAST_INFORMATION if len(columns) > 1 else 0.0,
                self.slopes and len(columns) == 1,
            )
            for name, code, columns in zip(
                self._names(), self._codes(codes), self.crossings_, strict=True
            )
        ]
        self.offsets_: PooledOffsets = PooledOffsets(self.least_errors).fit(
            self._base(record), record, cells
        )
        self.status_ = (
            self.offsets_.status_ if self.offsets_.used else "base: no evidence that groups differ"
        )

    def _base(self, record: Predictions) -> np.ndarray:
        """Return the probabilities (n, K) of the base alone."""
        return self.calibrator_.predict_record(_for(self.calibrator_, record))

    def explain(self) -> str:
        """Describe the gain of the groups beyond the base, how much the levels of each family
        differ, and the largest offsets.
        """
        require_fitted(self, "offsets_")
        gain = (
            f"{self.offsets_.gain_:.4g} of log loss a row (s.e. {self.offsets_.gain_error_:.2g},"
            " each row left out)"
        )
        if not self.offsets_.used:
            return (
                "No evidence that groups differ, so every row gets the risk of the base: offsets"
                f" by group would gain {gain}."
            )
        lines = [f"Groups differ: offsets by group gain {gain}, beyond the base."]
        for family in sorted(self.offsets_.families_, key=lambda f: -f["std"]):
            if family["std"] > 0.0:
                lines.append(
                    f"{family['name']}: offsets of {len(family['codes'])} cells spread by"
                    f" {family['std']:.2f} in log-odds; {self._most(family)}."
                )
        return "\n".join(lines)

    def _most(self, family: dict[str, Any]) -> str:
        """Describe the three cells of a family with the largest offsets."""
        size = np.abs(family["offset"]).max(axis=1)
        most = np.argsort(-size, kind="stable")[:3]
        columns = self.crossings_[self._names().index(family["name"])]
        parts = []
        for g in most.tolist():
            code, texts = int(family["codes"][g]), []
            for j in reversed(columns):
                code, level = divmod(code, len(self.levels_.levels[j]))
                texts.append(self.levels_.text(j, level))
            k = int(np.argmax(np.abs(family["offset"][g])))
            of = f" of {self.classes_[k]}" if family["offset"].shape[1] > 1 else ""
            parts.append(
                f"{', '.join(reversed(texts))} {family['offset'][g, k]:+.2f}{of} (n ="
                f" {family['n'][g]:,.0f})"
            )
        return "; ".join(parts)

    def _names(self) -> list[str]:
        return [" x ".join(self.levels_.names[j] for j in columns) for columns in self.crossings_]

    def _codes(self, codes: np.ndarray) -> list[np.ndarray]:
        return [cell_codes(self.levels_, codes, columns) for columns in self.crossings_]

    def _predict_proba(self, record: Predictions) -> np.ndarray:
        Q = self._base(record)
        if not self.offsets_.used:
            return Q
        learned = {family["name"] for family in self.offsets_.families_}
        codes = self._codes(self.levels_.codes(record.groups))
        return self.offsets_.added(
            Q, [code for name, code in zip(self._names(), codes, strict=True) if name in learned]
        )

    def unseen_rows(self, groups: Any) -> dict[str, int]:
        """Count, for each column of groups, the rows with a level that is new since the fit,
        missing values included.
        """
        require_fitted(self, "levels_")
        return self.levels_.unseen_rows(groups)

    def group_levels(self) -> GroupLevels | None:
        """Return the levels of each column of groups; its expression reads positions in these."""
        require_fitted(self, "levels_")
        return same_levels([self.levels_, self.calibrator_.group_levels()])

    def _expression(self, record: Any) -> Any:
        base = self.calibrator_.express(record)
        if not self.offsets_.used:
            return base
        if not record.groups:
            raise InputError(
                "the expression of groups inside another calibrator cannot be exported, because"
                " that does not pass groups on; export the GroupCalibrator alone."
            )
        learned = {family["name"] for family in self.offsets_.families_}
        cells = [
            self._cell(record.groups, columns)
            for name, columns in zip(self._names(), self.crossings_, strict=True)
            if name in learned
        ]
        return self.offsets_.express(base, cells)

    def _cell(self, codes: tuple[Any, Any], columns: tuple[Any, ...]) -> Any:
        """Return ``cell_codes`` of one row as an expression; -1 where a level is unknown or its
        position is missing.
        """
        sizes = [len(self.levels_.levels[j]) for j in columns]
        if np.prod(np.array(sizes, dtype=np.float64)) > MOST_CELLS:
            raise InputError(
                f"the crossing of {', '.join(self.levels_.names[j] for j in columns)} has too many"
                f" cells for an expression; it has {np.prod(sizes):,}, at most {MOST_CELLS:,} are"
                " exact in every language; fit with a smaller depth."
            )
        cell, known = codes[columns[0]], codes[columns[0]].step([0.0, sizes[0]], [0.0, 1.0, 0.0])
        for j, size in zip(columns[1:], sizes[1:], strict=True):
            cell, known = (
                cell * float(size) + codes[j],
                known * codes[j].step([0.0, size], [0.0, 1.0, 0.0]),
            )
        return known.where(cell, -1.0)


def _for(base: Calibrator, record: Predictions) -> Predictions:
    """Return the record for the base without groups, because an automatic choice with groups would
    try this class again.
    """
    return (
        replace(record, groups=None)
        if base.tags.may_use_groups and not base.tags.uses_groups
        else record
    )


@trial.register
def _(calibrator: GroupCalibrator) -> None:
    P = trial_rows(len(calibrator.classes_), calibrator.inputs)
    for at in (0, -1):
        require_valid(
            calibrator.predict_proba(P, groups=calibrator.levels_.known_rows(len(P), at)),
            P.shape,
            0.0,
            1.0,
        )


class Multicalibration(
    Calibrator,
    family="with groups or features",
    use="Boosted trees on features and groups",
):
    r"""Calibrate all rows together, then find remaining miscalibration with boosted trees on
    features, groups and score.

    .. math:: \mathrm{logit}\, q_i = l_i + \frac{1}{M} \sum_{m=1}^{M} \sum_{t=1}^{T} \nu\, h_{m,
        t}(x_i, g_i, z_i), \qquad
        h_{\text{leaf}} = \frac{\sum_i w_i (y_i - q_i)}{\sum_i w_i q_i (1 - q_i) + \lambda}

    where l are the log-odds of the base calibrator, x the features, g the groups and z the model's
    predictions. Member m learns on all folds but the m-th, and T is the number of rounds with the
    lowest log loss on held-out rows. The trees are symmetric: one split a level. With several
    classes each has a tree, on the gradients of the softmax.

    Parameters
    ----------
    calibrator : Calibrator or Map, optional
        The base. Default :class:`LikelihoodPool`, which is unbiased overall; a map is applied
        one-vs-rest. Use :class:`GroupCalibrator` where small groups differ much.
        :class:`AutoCalibrator` as a base receives neither features nor groups.
    depth : int from 1 to 8, default 4
        Number of splits along a path of a tree, and so of columns that can interact.
    learning_rate : float, default 0.15
        The factor :math:`\nu` on the values of each tree.
    max_rounds : int, default 300
    cv : int, default 5
        Number of folds and members; folds keep clusters whole.
    keep_order : bool, default False
        Never split on the score: rows that differ only in their prediction then keep its order, as
        far as the base does, and the default base of two classes does. Within a group the order is
        kept if only ``groups`` is passed.
    random_state : int, default 0
        Seed of the folds.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    calibrator_ : the fitted base.
    columns_ : the columns and their codes.
    trees_ : the fitted trees, with ``gain_`` (log loss a row, out of fold), ``gain_error_``,
        ``rounds_``, ``used`` and ``importance``.
    status_ : the number of rounds, or "base" if there is no evidence of miscalibration.

    See Also
    --------
    GroupCalibrator : shrunken offsets by group; better where many small groups are the only
        difference.
    ForecastMulticalibration : the same for forecasts of numbers.
    audit : finds miscalibrated groups, before and after.

    Notes
    -----
    Use it with thousands of rows and features or groups that interact, or numbers with nonlinear
    errors. ``groups`` and ``X`` are columns of numbers or of names. Whole numbers of at most 20
    different values are levels in ``groups``; in ``X`` all are numbers. A missing value is a level
    of its own if it was in the fit; a new level counts with the rare ones. With neither, the trees
    split on the score alone. Without ``X`` it can be exported as a few thousand look-ups. It equals
    the base unless the out-of-fold gain exceeds 1.5 standard errors of log loss, and below 50 rows.
    Equal rows are merged first, so that a weight means repetition.

    References
    ----------
    Hebert-Johnson, Kim, Reingold and Rothblum, "Multicalibration: calibration for the
    (computationally-identifiable) masses", ICML 2018. Friedman, "Greedy function approximation: a
    gradient boosting machine", Annals of Statistics 29, 2001. Symmetric trees: Prokhorenkova et
    al., "CatBoost: unbiased boosting with categorical features", NeurIPS 2018.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, p = rng.normal(size=(4000, 2)), rng.uniform(0.1, 0.9, 4000)
    >>> y = rng.uniform(size=4000) < 1 / (1 + (1 - p) / p * np.exp(-np.sign(X[:, 0] * X[:, 1])))
    >>> cal = Multicalibration().fit(p, y, X=X)
    >>> low, high = cal.predict_proba([0.5, 0.5], X=[[-1.0, 1.0], [1.0, 1.0]])[:, 1]
    >>> bool(low < 0.35 < 0.65 < high)
    True
    """

    status_: str

    def __init__(
        self,
        calibrator: Any = None,
        *,
        depth: int = 4,
        learning_rate: float = 0.15,
        max_rounds: int = 300,
        cv: int = 5,
        keep_order: bool = False,
        random_state: int = 0,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.calibrator: Any = calibrator
        self.depth: int = depth
        self.learning_rate: float = learning_rate
        self.max_rounds: int = max_rounds
        self.cv: int = cv
        self.keep_order: bool = keep_order
        self.random_state: int = random_state

    @property
    def tags(self) -> Tags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Tags of its optional inputs; once fitted, of the inputs that it needs."""
        given = self.columns_.tables if hasattr(self, "columns_") else {}
        return Tags(
            may_use_features=True,
            may_use_groups=True,
            uses_features="X" in given,
            uses_groups="groups" in given,
            for_features_or_groups=True,
            label="boosted trees on features and groups",
        )

    @classmethod
    def _examples(cls) -> "list[Multicalibration]":
        return [
            cls(max_rounds=3, cv=2, depth=2, learning_rate=0.5),
            cls(max_rounds=2, cv=2, depth=1, inputs="logit"),
        ]

    def fit(
        self,
        P: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        X: Any = None,
        reference: Any = None,
        groups: Any = None,
        cluster: Any = None,
    ) -> Self:
        """Fit on held-out predictions and the true labels.

        Parameters
        ----------
        P : (n, K), or (n,) for binary: probability of the second class
            Probabilities, or logits with ``inputs="logit"``.
        y : (n,) labels
        sample_weight : (n,), optional
            Weight 2 means the row twice, weight 0 no row.
        X, groups : (n,) or (n, d) columns, or a frame of n rows, optional
        reference : not used.
        cluster : (n,) labels of any kind, optional
            Clusters of dependent rows; folds keep them whole.

        Returns
        -------
        self
        """
        self._refuse_unused(X=X, groups=groups)
        record = read(
            P,
            y,
            inputs=self.inputs,
            classes=self.classes,
            sample_weight=sample_weight,
            X=X,
            groups=groups,
        )
        return self.fit_record(clustered(record, cluster))

    def _begin(self, record: Predictions) -> None:
        # The inputs of an earlier fit do not apply to this one.
        vars(self).pop("columns_", None)
        super()._begin(record)

    def _fit(self, record: Predictions) -> None:
        require_options(self)
        base = as_calibrator(
            self.calibrator, default=partial(LikelihoodPool, keep_order=self.keep_order)
        )
        self.calibrator_: Calibrator = fit_clone(base, _multicalibrator_for(base, record))
        numbers = self._numbers(record)
        names = (
            ["score"]
            if numbers.shape[1] == 1
            else [f"score of {label}" for label in self.classes_.tolist()]
        )
        self.columns_: ColumnCodes = ColumnCodes(numbers, names, _beside(record), record.weights)
        if record.groups is not None:
            self.columns_.tables["groups"].warn_of_outcome(record.groups, record.labels)
        merged, codes = _merged(record, self.columns_.codes(numbers, _beside(record)))

        def start(rows: np.ndarray) -> tuple[Shares, np.ndarray]:
            fitted = fit_clone(base, _multicalibrator_for(base, merged.take(rows)))
            return Shares(hit), scores_of(fitted.predict_record(_multicalibrator_for(base, merged)))

        hit = hits_of(merged)
        self.trees_: BoostedOffsets = BoostedOffsets().fit(
            self.columns_, codes, start, merged, self
        )
        self.status_ = (
            f"{self.trees_.rounds_} rounds"
            if self.trees_.used
            else "base: no evidence of miscalibration"
        )

    def _numbers(self, record: Predictions) -> np.ndarray:
        """Return (n, m) scores of each row for the trees to split on."""
        if self.keep_order:
            return np.zeros((len(record), 0))
        logs = record.log_probabilities.astype(np.float64)
        return logs[:, 1:] - logs[:, :1] if record.n_classes == 2 else logs

    def _predict_proba(self, record: Predictions) -> np.ndarray:
        codes = self.columns_.codes(self._numbers(record), _beside(record))
        Q = self.calibrator_.predict_record(_multicalibrator_for(self.calibrator_, record))
        if not self.trees_.used:
            return Q
        eta = scores_of(Q)
        return probabilities_of(eta + self.trees_.added(codes, eta.shape[1]))

    def unseen_rows(self, groups: Any) -> dict[str, int]:
        """Count, for each column of groups, the rows with a level that is new since the fit,
        missing values included.
        """
        require_fitted(self, "columns_")
        levels = self.columns_.tables.get("groups")
        return {} if levels is None else levels.unseen_rows(groups)

    def group_levels(self) -> GroupLevels | None:
        """Return the levels of each column of groups; its expression reads positions in these."""
        require_fitted(self, "columns_")
        return same_levels([self.columns_.tables.get("groups"), self.calibrator_.group_levels()])

    def _expression(self, record: Any) -> Any:
        base, tables = self.calibrator_.express(record), self.columns_.tables
        if not self.trees_.used:
            return base
        if "X" in tables:
            raise InputError(
                "trees on features have no expression of the predictions; fit with groups= alone."
            )
        if "groups" in tables and not record.groups:
            raise InputError(
                "the expression of groups inside another calibrator cannot be exported, because"
                " that does not pass groups on; export it alone."
            )
        numbers = []
        if not self.keep_order:
            logs = [record.log_probabilities.column(k) for k in range(record.n_classes)]
            numbers = [logs[1] - logs[0]] if record.n_classes == 2 else logs
        codes = self.columns_.express(numbers, record.groups if "groups" in tables else ())
        eta = express_scores(base)
        return express_probabilities(eta + self.trees_.express(codes, eta.width))

    def explain(self) -> str:
        """Describe the gain of the trees and the columns behind it, or that there are none."""
        require_fitted(self, "trees_")
        return self.trees_.explain("log loss")


def _beside(record: Predictions) -> dict[str, None]:
    return {"X": record.X, "groups": record.groups}


def _multicalibrator_for(base: Calibrator, record: Predictions) -> Predictions:
    """Return the record with the inputs that the base requires, because an automatic choice inside
    would try this class again.
    """
    tags = base.tags
    return replace(
        record,
        X=record.X if tags.uses_features else None,
        groups=record.groups if tags.uses_groups else None,
    )


def _merged(record: Predictions, codes: np.ndarray) -> tuple[Predictions, np.ndarray]:
    """Return (the record, codes) of the rows to learn from."""
    apart = (
        record.labels
        if record.cluster is None
        else record.labels + record.n_classes * record.cluster
    )
    rows, weight = distinct_rows(
        np.column_stack([record.log_probabilities, codes.T]), apart, record.weights
    )
    return record.take(rows).weighted(weight), np.ascontiguousarray(codes[:, rows])


@trial.register
def _(calibrator: Multicalibration) -> None:
    P = trial_rows(len(calibrator.classes_), calibrator.inputs)
    require_valid(
        calibrator.predict_proba(P, **calibrator.columns_.made_rows(len(P))), P.shape, 0.0, 1.0
    )
