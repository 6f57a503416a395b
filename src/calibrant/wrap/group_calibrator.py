"""A calibrator that sets each group right: offsets by level and by crossing, shrunk by how much
groups differ.
"""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from calibrant._support.group_levels import GroupLevels, cell_codes, crossings, same_levels
from calibrant._support.options import require_count
from calibrant._support.trial import require_valid, trial, trial_rows
from calibrant.arrays import whole_rows
from calibrant.contracts.calibrator import Calibrator, require_fitted
from calibrant.contracts.tags import Tags
from calibrant.errors import InputError
from calibrant.folds.splits import fit_clone
from calibrant.pools.likelihood_pool import LikelihoodPool
from calibrant.predictions import Inputs, Predictions
from calibrant.wrap.offsets import CellCodes, PooledOffsets
from calibrant.wrap.one_vs_rest import as_calibrator

__all__ = ["GroupCalibrator"]

#: A crossing is learned with as much information, sum of p (1 - p), as 20 rows of probability 1/2
#: have.
LEAST_INFORMATION = 5.0
#: Whole numbers up to this are themselves in float32.
MOST_CELLS = 2**24


class GroupCalibrator(Calibrator, examples=[{"depth": 1, "slopes": False, "inputs": "logit"}]):
    r"""Calibrate on the whole, then move each group as far as the rows say that groups differ.

    .. math:: \mathrm{logit}\, q_i = l_i + \sum_f \left[ b_{f, g_f(i)} + s_{f, g_f(i)} (l_i - c_{f,
        g_f(i)}) \right],
        \qquad b_{f, g} \sim N(0, \tau_f^2), \quad s_{f, g} \sim N(0, \sigma_f^2)

    where :math:`l` are the log-odds of the base calibrator and the families f are the levels of
    each column of ``groups``, and their crossings of up to ``depth`` columns and of all. Each
    family's variance is the one of most likelihood (empirical Bayes), 0 included; a crossing adds
    to the sum of its parents' effects, so only what the parents do not say is shrunk. Several
    classes have an offset for each class.

    Parameters
    ----------
    calibrator : Calibrator or Map, optional
        The base, fitted on all rows first. Default :class:`LikelihoodPool`, which is right on the
        whole, so that an error of all rows is not taken for a difference between groups; a map goes
        one-vs-rest (:class:`OneVsRest`). A base that can do without groups, such as
        :class:`AutoCalibrator`, is not told them.
    depth : int >= 1, default 2
        Most columns that are crossed; the crossing of all columns is always tried as well.
    slopes : bool, default True
        Whether the slope may differ by level too; of two classes only.
    n_bins : int >= 2, default 10
        Quantile bins of columns of numbers that are not whole, or of more than 20 different values.
        Other whole numbers, whole numbers given as labels (without the name of a column), texts and
        missing values are levels.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    calibrator_ : the fitted base.
    levels_ : the columns' levels.
    offsets_ : what was learned of each family: ``offsets_.families_``, ``gain_`` (log loss a row,
        rows left out), ``gain_error_``.
    status_ : "converged" or "max steps", and "base" where the groups gave no evidence that they
        differ.

    See Also
    --------
    audit : finds the groups that are off, before and after.
    AutoCalibrator : tries it among others where groups are given.
    PerClass : by predicted class.

    Notes
    -----
    Use it when rows are of groups that a model may treat unequally (hospitals, languages, age and
    job) and a decision is taken in each. A level not seen in the fit, a crossing with little
    information and a missing value not seen before have their parents' effects only: with one
    column the risk of the base, to the bit; ``unseen_rows`` counts such rows. Nothing is added
    unless the rows, each judged as if left out (to first order), gain more than 1.5 standard errors
    of log loss; otherwise it is the base exactly. A weight counts rows; weights that are not whole
    numbers, as those of a design, count as many rows in all as their effective size, (sum w)^2 /
    sum w^2. It does not help where errors depend on features that no group says. Within a group the
    order is kept as far as the base keeps it, unless a slope is below -1. Exported, it takes the
    positions of levels behind P: see the page on export.

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
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.calibrator: Any = calibrator
        self.depth: int = depth
        self.slopes: bool = slopes
        self.n_bins: int = n_bins

    def _fit(self, record):
        require_count("depth", self.depth)
        require_count("n_bins", self.n_bins, 2)
        record = _counted(record)
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
        self.offsets_: PooledOffsets = PooledOffsets().fit(self._base(record), record, cells)
        self.status_ = (
            self.offsets_.status_ if self.offsets_.used else "base: no evidence that groups differ"
        )

    def _base(self, record):
        """What the base alone says, (n, K)."""
        return self.calibrator_.predict_record(_for(self.calibrator_, record))

    def explain(self) -> str:
        """What groups add beyond the base: the gain, how far the levels of each family differ,
        and the groups that move most.
        """
        require_fitted(self, "offsets_")
        gain = (
            f"{self.offsets_.gain_:.4g} of log loss a row (s.e. {self.offsets_.gain_error_:.2g},"
            " each row left out)"
        )
        if not self.offsets_.used:
            return (
                "No evidence that groups differ, so every row gets the risk of the base: moving"
                f" groups would gain {gain}."
            )
        lines = [f"Groups differ: moving them apart gains {gain}, beyond the base."]
        for family in sorted(self.offsets_.families_, key=lambda f: -f["std"]):
            if family["std"] > 0.0:
                lines.append(
                    f"{family['name']}: offsets of {len(family['codes'])} cells spread by"
                    f" {family['std']:.2f} in log-odds; {self._most(family)}."
                )
        return "\n".join(lines)

    def _most(self, family):
        """The three cells of a family that move most."""
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

    def _names(self):
        return [" x ".join(self.levels_.names[j] for j in columns) for columns in self.crossings_]

    def _codes(self, codes):
        return [cell_codes(self.levels_, codes, columns) for columns in self.crossings_]

    def _predict_proba(self, record):
        Q = self._base(record)
        if not self.offsets_.used:
            return Q
        learned = {family["name"] for family in self.offsets_.families_}
        codes = self._codes(self.levels_.codes(record.groups))
        return self.offsets_.added(
            Q, [code for name, code in zip(self._names(), codes, strict=True) if name in learned]
        )

    def unseen_rows(self, groups: Any) -> dict[str, int]:
        """Count by column of groups the rows whose level the fit had not seen, a missing value
        among them.
        """
        require_fitted(self, "levels_")
        return self.levels_.unseen_rows(groups)

    def group_levels(self) -> GroupLevels | None:
        """The levels of each column of groups that its expression takes positions of."""
        require_fitted(self, "levels_")
        return same_levels([self.levels_, self.calibrator_.group_levels()])

    def _expression(self, record):
        base = self.calibrator_.express(record)
        if not self.offsets_.used:
            return base
        if not record.groups:
            raise InputError(
                "groups inside another calibrator, which does not hand them on, cannot be said;"
                " export the GroupCalibrator alone."
            )
        learned = {family["name"] for family in self.offsets_.families_}
        cells = [
            self._cell(record.groups, columns)
            for name, columns in zip(self._names(), self.crossings_, strict=True)
            if name in learned
        ]
        return self.offsets_.express(base, cells)

    def _cell(self, codes, columns):
        """``cell_codes`` of one row, as an expression; -1 where a level is unknown, or no
        position of one.
        """
        sizes = [len(self.levels_.levels[j]) for j in columns]
        if np.prod(np.array(sizes, dtype=np.float64)) > MOST_CELLS:
            raise InputError(
                f"the crossing of {', '.join(self.levels_.names[j] for j in columns)} has too many"
                f" cells to be said as an expression; it has {np.prod(sizes):,}, at most"
                f" {MOST_CELLS:,} are numbers in every language; fit with a smaller depth."
            )
        cell, known = codes[columns[0]], codes[columns[0]].step([0.0, sizes[0]], [0.0, 1.0, 0.0])
        for j, size in zip(columns[1:], sizes[1:], strict=True):
            cell, known = (
                cell * float(size) + codes[j],
                known * codes[j].step([0.0, size], [0.0, 1.0, 0.0]),
            )
        return known.where(cell, -1.0)


def _for(base: Calibrator, record: Predictions) -> Predictions:
    """The record as the base needs it: an automatic choice that is told the groups would try
    this class again.
    """
    return (
        replace(record, groups=None)
        if base.tags.may_use_groups and not base.tags.uses_groups
        else record
    )


@trial.register
def _(calibrator: GroupCalibrator):
    P = trial_rows(len(calibrator.classes_), calibrator.inputs)
    for at in (0, -1):
        require_valid(
            calibrator.predict_proba(P, groups=calibrator.levels_.known_rows(len(P), at)),
            P.shape,
            0.0,
            1.0,
        )


def _counted(record: Predictions) -> Predictions:
    """The record with weights that count rows: those that are no whole numbers stand for other
    rows, and are worth fewer (Kish).
    """
    weight = record.weights
    if whole_rows(weight).all():
        return record
    return replace(record, weight=weight * (weight.sum() / (weight @ weight)))
