"""The safe default for forecasts: try what fits the data, take what helps out of fold, and do nothing without evidence."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import special

from calibrant.contracts.calibrator import require_fitted
from calibrant.contracts.regression_calibrator import RegressionCalibrator
from calibrant.contracts.tags import Tags
from calibrant.errors import CalibrationWarning, InputError
from calibrant.folds.out_of_fold import stratified_folds
from calibrant.forecasts.read import ForecastRecord
from calibrant.metrics.regression.continuous_ranked_probability_score import continuous_ranked_probability_score
from calibrant.metrics.regression.negative_log_likelihood import negative_log_likelihood
from calibrant.regression.identity import ForecastIdentity
from calibrant.select.auto import FEW_ROWS, FOLDS_OF_FEW
from calibrant.select.evidence import EVIDENCE, LEAST_ROWS, score_difference
from calibrant.select.held_out import MOST_PIECES
from calibrant.select.regression_candidates import REGRESSION_CANDIDATES, RegressionCandidate, regression_candidates_for

__all__ = ["AutoRegressionCalibrator"]

SCORES: dict[Any, Any] = {"nll": negative_log_likelihood, "crps": continuous_ranked_probability_score}
#: What a nat is worth in CRPS, as a share of the mean CRPS: for a normal forecast whose std is off by a factor exp(d), the NLL is
#: d^2 nats above its minimum and the CRPS a quarter of d^2 times its own, to second order.
NAT = 0.25
#: Where two forecasts are compared to find rows that are equal.
COMPARED_AT: np.ndarray = special.ndtri(np.array([0.001, 0.01, 0.05, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.95, 0.99, 0.999]))


@dataclass(frozen=True)
class ForecastTrial:
    """One candidate's out-of-fold row scores, their mean, and the mean with what its complexity costs."""

    candidate: RegressionCandidate
    losses: np.ndarray
    mean: float
    penalised: float


class AutoRegressionCalibrator(RegressionCalibrator):
    r"""Choose the calibrator of forecasts with the best out-of-fold score, doing nothing among the choices.

    .. math:: \min_j \; \frac1n \sum_i S\big(F^{(j)}_{-i}, y_i\big) + \frac{u\, c_j}{n}

    over every candidate j that fits the number of rows, each predicting row i by a fit on other folds, with the complexities :math:`c_j` of
    :mod:`calibrant.select.regression_candidates` in nats (u = 1 for the NLL, a quarter of the least mean CRPS for the CRPS), so that
    simpler maps win when rows are few. It is used only if it beats the uncalibrated forecasts out of fold by half a standard error of
    the difference, and is then fitted on all rows. Each output is decided on its own.

    Parameters
    ----------
    methods : "auto", or a list of names from ``calibrant.select.regression_candidates.REGRESSION_CANDIDATES``
    objective : {"nll", "crps"}
        Conformal intervals have no density and are tried with "crps" only.
    cv : int, default 5
        Number of folds; ten below 500 rows.
    max_cost : float, optional
        Most relative cost of one fit of all candidates, STD scaling being 1; the dearest are dropped first.
    random_state : int, default 0
        Seed of the folds.

    Attributes
    ----------
    calibrator_ : the chosen calibrator, fitted on all rows; for d outputs a list, as are the following (the numbers (d,) arrays).
    table_ : list of dicts, one a candidate: name, score (out of fold), standard_error (of its difference to uncalibrated), chosen, note.
    score_, uncalibrated_score_, gain_in_errors_ : of the choice, of doing nothing, and their difference in standard errors.
    n_fit_ : float, sum of the weights.
    n_outputs_ : int
        0 for forecasts of shape (n,).
    status_ : "chosen", "identity: too few rows", "identity: no error", or "identity: no evidence".

    See Also
    --------
    AutoCalibrator : the same for class probabilities.
    CalibratedRegressor : a model together with its calibrator.

    Notes
    -----
    Use it when you do not want to choose. The evidence is out of fold on the calibration rows: strong, but no guarantee on new data, and
    none at all under a shift; choose :class:`ConformalIntervals` yourself where a stated coverage must hold. Below 20 rows, or where every
    outcome is exactly the mean, the forecasts are left as they are. One calibrator is chosen, not a pool: a linear pool of calibrated
    distributions is too wide (Gneiting and Ranjan), has no quantiles in closed form, and conformal intervals have no density to pool.
    Equal rows count as one of their summed weight, so that repetition and row order change nothing; where equal forecasts have different
    outcomes, a row's weight is dealt out over the folds as so many rows would be.

    References
    ----------
    Gneiting and Raftery, "Strictly proper scoring rules, prediction, and estimation", JASA 102, 2007; Gneiting and Ranjan, "Combining
    predictive distributions", Electronic Journal of Statistics 7, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import AutoRegressionCalibrator
    >>> rng = np.random.default_rng(0)
    >>> mean, std = rng.normal(size=300), rng.uniform(0.5, 2.0, 300)
    >>> cal = AutoRegressionCalibrator().fit(mean, mean + 2.0 * std * rng.normal(size=300), std=std)
    >>> cal.status_, cal.calibrator_
    ('chosen', StdScaling())
    """

    tags: ClassVar[Tags] = Tags(output="distribution", random=True, label="automatic choice of forecasts")
    learns: ClassVar[tuple[str, ...]] = ("calibrator_", "table_", "score_", "uncalibrated_score_", "gain_in_errors_", "n_fit_")

    def __init__(
        self, *, methods: str | Sequence[str] = "auto", objective: Literal["nll", "crps"] = "nll", cv: int = 5,
        max_cost: float | None = None, random_state: int = 0,
    ) -> None:  # fmt: skip
        self.methods: str | Sequence[str] = methods
        self.objective: Literal["nll", "crps"] = objective
        self.cv: int = cv
        self.max_cost: float | None = max_cost
        self.random_state: int = random_state

    @classmethod
    def _examples(cls):
        return [cls(), cls(objective="crps", methods=["STD scaling", "quantile recalibration"])]

    def _check(self):
        self._option("objective", *SCORES)
        if not (isinstance(self.cv, int | np.integer) and self.cv >= 2):
            raise InputError(f"cv must be a whole number of at least 2 folds; got {self.cv!r}.")
        known = [c.name for c in REGRESSION_CANDIDATES]
        unknown = [] if isinstance(self.methods, str) and self.methods == "auto" else sorted(set(self.methods) - set(known))
        if unknown:
            raise InputError(f'methods must be "auto" or names among {known}; got {unknown}.')

    def _fit_output(self, record):
        record = _canonical(record)
        n = float(record.weights.sum())
        if min(n, len(record)) < LEAST_ROWS:
            return self._nothing(record, "too few rows")
        if (record.y == record.forecast.mean).all():
            return self._nothing(record, "no error")
        n_folds = min(self.cv if n >= FEW_ROWS else max(self.cv, FOLDS_OF_FEW), len(record))
        folds = stratified_folds(np.zeros(len(record)), n_folds, self.random_state)
        names = None if isinstance(self.methods, str) else set(self.methods)
        return self._choose(record, *self._try(record, folds, regression_candidates_for(n, self.objective, names, self.max_cost)))

    def _nothing(self, record, why):
        score = float(np.average(self._losses(record), weights=record.weights))
        return self._learned(record, ForecastIdentity(), [], score, score, 0.0, f"identity: {why}")

    def _learned(self, record, calibrator, table, score, before, gain_in_errors, status):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CalibrationWarning)
            fitted = calibrator.fit(record.forecast, record.y, sample_weight=record.weight)
        return {
            "calibrator_": fitted, "table_": table, "score_": score, "uncalibrated_score_": before, "gain_in_errors_": gain_in_errors,
            "n_fit_": float(record.weights.sum()), "status": status,
        }  # fmt: skip

    def _losses(self, record):
        return SCORES[self.objective].losses_of(record)

    def _try(self, record, folds, candidates):
        """Out-of-fold scores of every candidate; one that fails is left out with a note."""
        found, notes = [], {}
        for candidate in candidates:
            try:
                # Scores that are not finite are found below; they need no warning on the way.
                with warnings.catch_warnings(), np.errstate(invalid="ignore", over="ignore"):
                    warnings.simplefilter("ignore", CalibrationWarning)
                    losses = self._held_out_losses(candidate, record, folds)
            except (InputError, np.linalg.LinAlgError) as error:
                notes[candidate.name] = str(error)
                continue
            if np.isfinite(losses).all() or candidate.cost == 0.0:
                found.append((candidate, losses, float(np.average(losses, weights=record.weights))))
            else:
                notes[candidate.name] = "its score is not finite in some rows"
        nat = 1.0 if self.objective == "nll" else NAT * min(mean for _, _, mean in found)
        share = nat / record.weights.sum()
        return [ForecastTrial(c, losses, mean, mean + share * c.complexity) for c, losses, mean in found], notes

    def _held_out_losses(self, candidate, record, folds):
        out = np.empty(len(record))
        for k in range(int(folds.max()) + 1):
            rest, part = record.take(folds != k), record.take(folds == k)
            fitted = candidate.make().fit(rest.forecast, rest.y, sample_weight=rest.weight)
            out[folds == k] = self._losses(ForecastRecord(fitted.predict(part.forecast), part.y))
        return out

    def _choose(self, record, trials, notes):
        before, best = trials[0], min(trials, key=lambda trial: trial.penalised)
        gain, error = score_difference(before.losses, best.losses, record.weights)
        enough = best is not before and gain > EVIDENCE * error
        chosen = best if enough else before
        table = [_row(trial, before, record.weights, trial is chosen) for trial in trials]
        table += [{"name": n, "score": np.nan, "standard_error": np.nan, "chosen": False, "note": t} for n, t in notes.items()]
        status = "chosen" if enough else "identity: no evidence"
        in_errors = gain / error if error > 0.0 else float("inf") if enough else 0.0
        return self._learned(record, chosen.candidate.make(), table, chosen.mean, before.mean, in_errors, status)

    def _predict_output(self, forecast, calibrator, **_):
        return calibrator.predict(forecast)

    def explain(self) -> str:
        """One sentence an output: the data, what was chosen, and how strong the evidence against doing nothing is."""
        require_fitted(self, "n_outputs_")
        said = [self._explained(**{name.rstrip("_"): self._of(name, j) for name in self.learns}) for j in range(max(self.n_outputs_, 1))]
        names = self.output_names_ or [f"Output {j}" for j in range(self.n_outputs_)]
        return "\n".join(f"{name}: {each}" for name, each in zip(names, said, strict=True)) if self.n_outputs_ else said[0]

    def _explained(self, calibrator, table, score, uncalibrated_score, gain_in_errors, n_fit):
        rows = f"{n_fit:,.0f} rows"
        name = next((row["name"] for row in table if row["chosen"]), None)
        if name is None:
            return f"{rows}: left uncalibrated (fewer than {LEAST_ROWS} different rows, or no error in any of them)."
        if isinstance(calibrator, ForecastIdentity):
            return f"{rows}: left uncalibrated (no candidate is better by {EVIDENCE:g} standard errors out of fold)."
        what = SCORES[self.objective].name
        against = f"{what} {score:.4g} out of fold against {uncalibrated_score:.4g}"
        return f"{rows}: {name}, {against}; uncalibrated rejected by {gain_in_errors:.1f} standard errors."


def _canonical(record):
    """Equal rows merged, in an order of their own, so that repetition and row order change nothing.

    Where forecasts are discrete the same one comes with several outcomes. Each merged row is then taken apart into pieces of about one row,
    which are dealt out over the folds: a fit from which all rows of one outcome were held out would be misled.
    """
    keys = np.column_stack([record.forecast.at(COMPARED_AT), record.y])
    order = np.lexsort(keys.T[::-1])
    differs = np.diff(keys[order], axis=0) != 0.0
    new = np.append(True, differs.any(axis=1))
    weight = np.bincount(np.cumsum(new) - 1, weights=record.weights[order])
    discrete = (new[1:] & ~differs[:, :-1].any(axis=1)).any()
    pieces = np.clip(np.round(weight), 1, MOST_PIECES if discrete else 1).astype(int)
    merged = replace(record, weight=None).take(np.repeat(order[new], pieces))
    return replace(merged, weight=np.repeat(weight / pieces, pieces))


def _row(trial, before, weight, chosen):
    _, error = score_difference(before.losses, trial.losses, weight)
    return {"name": trial.candidate.name, "score": trial.mean, "standard_error": error, "chosen": chosen, "note": ""}
