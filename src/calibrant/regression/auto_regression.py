"""Automatic choice of a forecast calibrator: candidates that fit the data, averaged by out-of-fold
evidence, or none.
"""

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np

from calibrant.calibrators.candidates import Candidate, names_of
from calibrant.calibrators.evidence import (
    EvidencePool,
    choice_told,
    forecast_pool,
    learned,
)
from calibrant.calibrators.held_out import SCORES, HeldOutForecasts, canonical_forecasts, fitted
from calibrant.calibrators.trust import LEAST_ROWS
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import Tags, require_fitted
from calibrant.core.conformal_forecast import averaged
from calibrant.core.estimators import require_count
from calibrant.core.expression import SymbolicAverage
from calibrant.core.folds import folds_of
from calibrant.core.forecast import NormalForecast
from calibrant.core.groups import cluster_numbers, in_clusters
from calibrant.core.regression_calibrator import RegressionCalibrator
from calibrant.errors import CalibrationWarning, InputError
from calibrant.regression.regression_candidates import (
    REGRESSION_CANDIDATES,
    regression_candidates_for,
)
from calibrant.regression.scaling import ForecastIdentity

__all__ = ["AutoRegressionCalibrator", "default_regression_calibrator"]

#: Rows in which a candidate must keep a standard deviation.
FIRST_ROWS = 100


class AutoRegressionCalibrator(
    RegressionCalibrator,
    family="automatic choice",
    use="Cross-validates methods; start here",
    common=True,
):
    r"""Average calibrators of forecasts by the evidence of their out-of-fold scores, including no
    calibration.

    .. math:: F^{-1}(q) = \sum_j w_j F_j^{-1}(q)

    over :class:`DistributionRecalibration` with a spread that depends on the std, with one that
    depends on the mean and, for forecasts that are not normal, from their mean and std. The weights
    are :math:`w_j \propto e^{-S_j / 4}` with the sum :math:`S_j` of the out-of-fold log losses (or
    the CRPS in their units). The members shrink towards no change. The pool is averaged with no
    calibration: its share is the normal probability of half of its mean gain in CRPS and in log
    loss, in standard errors. Its members are fitted on all rows. Each output is decided separately.

    Parameters
    ----------
    methods : "auto", or list of str
        Names from ``calibrant.regression.regression_candidates.REGRESSION_CANDIDATES``.
    objective : {"nll", "crps"}
    cv : int, default 5
        Number of folds.
    max_cost : float, optional
        Maximum total cost of fitting all candidates once, relative to STD scaling: cheaper ones are
        then tried too, and the most expensive are dropped first.
    random_state : int, default 0
        Seed of the folds.

    Attributes
    ----------
    members_, weights_ : the averaged calibrators, fitted on all rows, and their weights; for d
        outputs lists, as are the following (the numbers (d,) arrays).
    table_ : list of dicts, one a candidate: name, score (out of fold), standard_error (of its
        difference to uncalibrated), weight, note.
    score_, uncalibrated_score_, gain_in_errors_ : of the result and of no calibration, and the
        average's mean gain in CRPS and in log loss, each in its standard errors (at most 2 above
        that in CRPS).
    n_fit_ : float, sum of the weights.
    n_outputs_ : int
        0 for forecasts of shape (n,).
    status_ : "pooled", "identity: too few rows", "identity: no error", "identity: one outcome", or
        "identity: no evidence".

    See Also
    --------
    AutoCalibrator : the same for class probabilities.
    DistributionRecalibration : its members.
    CalibratedRegressor : a model together with its calibrator.

    Notes
    -----
    Use it when you do not want to choose. The evidence is out of fold on the calibration rows:
    strong, but no guarantee on new data, and none at all under a shift. Choose
    :class:`ConformalIntervals` where a stated coverage must hold. Below 20 rows, where every
    outcome equals the mean, or where all outcomes are equal, the forecasts stay unchanged.
    Quantiles are averaged, not probabilities: a linear pool of calibrated distributions is too wide
    (Gneiting and Ranjan; Lichtendahl et al.). Equal rows count as one of their summed weight, so
    that repetition and row order change nothing. If equal forecasts have different outcomes, a
    row's weight is split over the folds like that number of rows.

    References
    ----------
    Yao, Vehtari, Simpson and Gelman, "Using stacking to average Bayesian predictive distributions",
    Bayesian Analysis 13, 2018 (the weights are its pseudo-Bayesian model averaging); Gneiting and
    Ranjan, "Combining predictive distributions", Electronic Journal of Statistics 7, 2013;
    Lichtendahl, Grushka-Cockayne and Winkler, "Is it better to average probabilities or
    quantiles?", Management Science 59, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import AutoRegressionCalibrator
    >>> rng = np.random.default_rng(0)
    >>> mean, std = rng.normal(size=300), rng.uniform(0.5, 2.0, 300)
    >>> cal = AutoRegressionCalibrator().fit(mean, mean + 2.0 * std * rng.normal(size=300), std=std)
    >>> cal.status_, bool(abs(cal.predict([0.0], [1.0]).std[0] - 2.0) < 0.2)
    ('pooled', True)
    """

    tags: ClassVar[Tags] = Tags(
        output="distribution", random=True, label="automatic choice of forecasts"
    )
    learns: ClassVar[tuple[str, ...]] = (
        "members_",
        "weights_",
        "table_",
        "score_",
        "uncalibrated_score_",
        "gain_in_errors_",
        "n_fit_",
    )

    def __init__(
        self,
        *,
        methods: str | Sequence[str] = "auto",
        objective: Literal["nll", "crps"] = "nll",
        cv: int = 5,
        max_cost: float | None = None,
        random_state: int = 0,
    ) -> None:
        self.methods: str | Sequence[str] = methods
        self.objective: Literal["nll", "crps"] = objective
        self.cv: int = cv
        self.max_cost: float | None = max_cost
        self.random_state: int = random_state

    @classmethod
    def _examples(cls) -> "list[AutoRegressionCalibrator]":
        # Cheap ones; the expensive one has tests of its own.
        cheap = ["STD scaling", "quantile recalibration"]
        return [cls(methods=cheap), cls(objective="crps", methods=cheap)]

    def _check(self) -> None:
        self._option("objective", *SCORES)
        require_count("cv", self.cv, 2)
        names_of(self.methods, REGRESSION_CANDIDATES)

    def fit(
        self,
        forecast: Any,
        y: ArrayLike,
        *more: Any,
        std: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        cluster: ArrayLike | None = None,
    ) -> Self:
        """Fit as every calibrator of forecasts, and with ``cluster``, (n,) labels: folds keep
        clusters whole.

        Returns
        -------
        self
        """
        record = self._read_to_fit(forecast, y, more, std, sample_weight)
        if cluster is not None:
            record = in_clusters(record, cluster_numbers(cluster, record))
        return self.fit_record(record)

    def _fit_output(self, record: Any) -> dict[str, Any]:
        record = canonical_forecasts(record)
        n = float(record.weights.sum())
        why, folds, names, notes = self._why_not(record, n), np.zeros(len(record), int), [], {}
        if why:
            held = HeldOutForecasts(record, folds, [[record.forecast]], self.objective)
            pool = EvidencePool.of_nothing(held.scores)
            members = {"": ForecastIdentity().fit_record(record)}
        else:
            n_folds = min(self.cv, len(record))
            folds = folds_of(folds, record.cluster, n_folds, self.random_state)
            candidates, held, notes = self._try(record, folds, n)
            pool, names = forecast_pool(held), [one.name for one in candidates]
            members, _ = fitted([candidates[j] for j in pool.members], record)
        result = learned(pool, held, names, notes, why)
        more = {"members_": list(members.values()), "n_fit_": n, "status": result["status_"]}
        return {**result, **more}

    @staticmethod
    def _why_not(record: Any, n: float) -> str:
        """The reason why there is no choice, or "": with one outcome a bias correction would
        predict it everywhere, and nothing shows the distance of other outcomes.
        """
        if min(n, len(record)) < LEAST_ROWS:
            return "too few rows"
        if (record.y == record.forecast.mean).all():
            return "no error"
        return "one outcome" if (record.y == record.y[0]).all() else ""

    def _try(
        self, record: Any, folds: np.ndarray, n: float
    ) -> tuple[list[Candidate], HeldOutForecasts, dict[str, str]]:
        """Return (candidates, their forecasts of every fold, notes); a candidate that fails is left
        out with a note.
        """
        names = names_of(self.methods, REGRESSION_CANDIDATES)
        normal = isinstance(record.forecast, NormalForecast)
        candidates = regression_candidates_for(n, names, self.max_cost, normal=normal)
        forecasts, notes = [], dict[str, str]()
        for candidate in candidates:
            try:
                forecasts.append(_predicted(candidate, record, folds))
            except (InputError, np.linalg.LinAlgError) as error:
                notes[candidate.name] = str(error)
        candidates = [one for one in candidates if one.name not in notes]
        held = HeldOutForecasts(record, folds, forecasts, self.objective)
        # No calibration stays, whatever its score.
        good = [j for j, row in enumerate(held.scores) if j == 0 or np.isfinite(row).all()]
        bad = [one.name for j, one in enumerate(candidates) if j not in good]
        notes |= dict.fromkeys(bad, "its score is not finite in some rows")
        return [candidates[j] for j in good], held.only(good), notes

    def _predict_output(self, forecast: Any, members: Any, weights: np.ndarray, **_: Any) -> Any:
        return averaged([member.predict(forecast) for member in members], weights)

    def _expression(
        self, forecast: Any, members: list[Any], weights: np.ndarray, **_: Any
    ) -> SymbolicAverage:
        each = [member.express(forecast) for member in members]
        return each[0] if len(each) == 1 else SymbolicAverage(each, weights)

    def explain(self) -> str:
        """Describe in one sentence an output the data, the choice, and the evidence against no
        calibration.
        """
        require_fitted(self, "n_outputs_")
        sentences = [self._explained(j) for j in range(max(self.n_outputs_, 1))]
        if not self.n_outputs_:
            return sentences[0]
        names = self.output_names_ or [f"Output {j}" for j in range(self.n_outputs_)]
        return "\n".join(": ".join(pair) for pair in zip(names, sentences, strict=True))

    def _explained(self, j: int) -> str:
        members, _, table, score, before, gain, n = (self._of(name, j) for name in self.learns)
        why = ""
        if not table:
            why = f"fewer than {LEAST_ROWS} different rows, no error in any of them, or one outcome"
        elif len(members) == 1 and isinstance(members[0], ForecastIdentity):
            why = "calibration did not improve the out-of-fold score"
        scores = f"{SCORES[self.objective].name} {score:.4g} out of fold against {before:.4g}; "
        return choice_told(f"{n:,.0f} rows", table, gain, why, scores)


def _predicted(candidate: Candidate, record: Any, folds: np.ndarray) -> list[Any]:
    """Return the forecasts of every fold by fits on the others, without warnings: infinite scores
    are handled later. InputError if they lose their standard deviation.
    """
    forecasts = []
    with warnings.catch_warnings(), np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        warnings.simplefilter("ignore", CalibrationWarning)
        for k in range(int(folds.max()) + 1):
            member = candidate.make().fit_record(record.take(folds != k))
            forecasts.append(member.predict(record.forecast.take(folds == k)))
        if not _keeps_std(record.forecast, forecasts[0]):
            raise InputError("it makes tails so heavy that there is no std")
    return forecasts


def _keeps_std(before: Any, after: Any) -> bool:
    """Whether the first calibrated rows have a standard deviation if those before have one."""
    if isinstance(before, NormalForecast):
        return True
    stds = (one.take(np.arange(min(FIRST_ROWS, len(one)))).std for one in (before, after))
    had, has = (bool(np.isfinite(std).all()) for std in stds)
    return has or not had


def default_regression_calibrator() -> AutoRegressionCalibrator:
    """Return a new, unfitted default calibrator of forecasts, for all functions that need one.

    Examples
    --------
    >>> default_regression_calibrator()
    AutoRegressionCalibrator()
    """
    return AutoRegressionCalibrator()
