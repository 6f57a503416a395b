"""Risk control: sets, ranks and thresholds whose expected loss on a new row is bounded, and the
certified choice among many settings of a rule.

The rule must control one risk, or several at once.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal, Self, cast

import numpy as np

from calibrant._numerics.certificates import binomial_p_value, fixed_sequence, hoeffding_bentkus
from calibrant._numerics.conformal import least_parameter
from calibrant.core import arrays
from calibrant.core.arrays import ArrayLike, to_array, weights
from calibrant.core.calibrator import Calibrator, require_fitted
from calibrant.core.estimators import BaseEstimator, require_count, require_option
from calibrant.core.given import Inputs
from calibrant.core.groups import read_clusters
from calibrant.core.guarantee import Guarantee, Promised
from calibrant.core.map import Signal
from calibrant.core.predictions import Predictions, read
from calibrant.core.saving import Saved
from calibrant.decisions.certificates import confidence_of, repetitions, require_share
from calibrant.errors import InputError

__all__ = ["CertifiedSettings", "ConformalRiskControl", "certified_settings"]


#: Controlled quantity -> its name in the promise.
QUANTITIES: dict[str, str] = {
    "missed_labels": "mean share of a row's true labels that its set misses",
    "top_k": "share of rows whose label is not in the set",
    "accepted_and_wrong": "share of rows that are accepted and wrong",
    "given": "mean loss",
}


class ConformalRiskControl(Promised, Saved, BaseEstimator):
    r"""The least cautious parameter whose expected loss on a new row is at most ``risk``, for
    losses that never rise with it.

    .. math:: \hat\lambda = \inf \left\{ \lambda : \frac{1}{n + 1} \left( \sum_i L_i(\lambda) + 1
        \right) \le \text{risk} \right\},
        \qquad E\, L_{n + 1}(\hat\lambda) \le \text{risk}

    Parameters
    ----------
    risk : float, default 0.1
        Upper limit of the mean loss of a new row, over calibration sets and new rows.
    controls : {"missed_labels", "top_k", "accepted_and_wrong"}
        "missed_labels": sets of labels of which several may be true, ``{k: P_k >= threshold}``; the
        loss is the share of a row's true labels that is missed, 0 if it has none. "top_k": the k
        most probable labels, one k for all rows; the loss is a miss. "accepted_and_wrong": a
        threshold on the score of the answer; the loss is 1 if an answer is accepted *and* wrong.
    signal : Signal or fitted Calibrator, optional
        The score of "accepted_and_wrong"; default the largest probability.
    inputs : {"probability", "logit"}
        For "top_k" and "accepted_and_wrong"; several labels need probabilities.
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    parameter_ : float
        The threshold, or k.
    mean_loss_ : float
        Mean loss of the rows that chose it.
    n_ : float
        Number of rows, or clusters.
    guarantee_ : Guarantee

    See Also
    --------
    SelectiveClassifier : the error rate *among* accepted answers, which this does not control.

    Notes
    -----
    The promise is an average, over calibration sets too: a single one may lose more
    (``SelectiveClassifier`` holds for most of them, and accepts less). The share accepted and wrong
    is not the share wrong of those accepted: if few are accepted, most of these may be wrong. With
    ``cluster=`` the loss of a cluster is the mean of its rows, and n counts clusters.
    ``fit_losses`` reads losses of your own.

    References
    ----------
    Angelopoulos, Bates, Fisch, Lei and Schuster, "Conformal risk control", ICLR 2024.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random((1000, 4))
    >>> y = (rng.random((1000, 4)) < p).astype(int)
    >>> rule = ConformalRiskControl(0.1).fit(p, y)
    >>> rule.predict_set([[0.9, 0.5, 0.3, 0.1]]).tolist()
    [[True, True, False, False]]
    """

    signal_: Signal | Calibrator | None

    def __init__(
        self,
        risk: float = 0.1,
        controls: Literal["missed_labels", "top_k", "accepted_and_wrong"] = "missed_labels",
        *,
        signal: Signal | Calibrator | None = None,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        self.risk: float = risk
        self.controls: Literal["missed_labels", "top_k", "accepted_and_wrong"] = controls
        self.signal: Signal | Calibrator | None = signal
        self.inputs: Inputs = inputs
        self.classes: ArrayLike | None = classes

    def fit(
        self,
        P: ArrayLike,
        y: ArrayLike,
        *,
        cluster: Any = None,
        sample_weight: ArrayLike | None = None,
        X: Any = None,
        reference: Any = None,
    ) -> Self:
        """Choose the parameter on held-out predictions (n, K) and labels: (n,), or (n, K) of 0 and
        1 where several may be true.

        ``cluster`` names clusters of dependent rows; ``X`` and ``reference`` are for signals.
        ``sample_weight`` are whole numbers, how often each row was observed. Weights of a sampling
        design are refused, because the promise would concern other rows.
        """
        self._check()
        if self.controls == "missed_labels":
            values, labels = _unit_columns(P, "P"), _unit_columns(y, "y")
            if labels.shape != values.shape or not np.isin(labels, (0.0, 1.0)).all():
                raise InputError(
                    f"y must be 0 or 1 for each row and label, of shape {values.shape}; got shape"
                    f" {labels.shape}; pass one column for each label."
                )
            record = read(np.zeros(len(values)), sample_weight=sample_weight)
            selection = slice(None) if record.kept is None else record.kept
            values, labels = values[selection], labels[selection]
            row, label = np.nonzero(labels)
            count = labels.sum(axis=1)
            self._choose(
                record, cluster, row, -values[row, label], 1.0 / count[row], np.minimum(count, 1.0)
            )
            return self
        record = read(
            P,
            y,
            inputs=self.inputs,
            classes=self.classes,
            sample_weight=sample_weight,
            X=X,
            reference=reference,
        )
        if record.labels is None:
            raise InputError("y must be the true labels, one a row; got None; pass them.")
        rows, ones = np.arange(len(record)), np.ones(len(record))
        if self.controls == "top_k":
            label_values = record.values[rows, record.labels]
            # Labels as probable as the true one may be listed before it.
            self._choose(
                record,
                cluster,
                rows,
                (record.values >= label_values[:, None]).sum(axis=1).astype(np.float64),
                ones,
                ones,
            )
            self.parameter_ = max(self.parameter_, 1.0)
        else:
            self.signal_, score = confidence_of(self.signal, record)
            errors = np.flatnonzero(record.correct == 0.0)
            self._choose(record, cluster, errors, score[errors], ones[errors], 1.0 - record.correct)
        self.classes_: np.ndarray = record.classes
        return self

    def fit_losses(
        self,
        parameters: ArrayLike,
        losses: ArrayLike,
        *,
        cluster: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Choose among ascending parameters (m,) by losses (n, m) in [0, 1] that do not rise in any
        row.
        """
        self._check()
        grid, table = arrays.scores(parameters, "parameters"), _unit_columns(losses, "losses")
        if table.shape[1] != len(grid) or (np.diff(grid) <= 0.0).any():
            raise InputError(
                f"losses must have a column for each of the {len(grid)} ascending parameters; got"
                f" shape {table.shape}; pass parameters in ascending order."
            )
        if (np.diff(table, axis=1) > 1e-12).any():
            row = int(np.flatnonzero((np.diff(table, axis=1) > 1e-12).any(axis=1))[0])
            raise InputError(
                f"losses must not rise with the parameter in any row; row {row} rises; the"
                " expected loss cannot be controlled otherwise."
            )
        record = read(np.zeros(len(table)), sample_weight=sample_weight)
        table = table if record.kept is None else table[record.kept]
        row, step = np.nonzero(np.diff(table, axis=1) < 0.0)
        drop = table[row, step] - table[row, step + 1]
        self._choose(record, cluster, row, grid[step + 1], drop, table[:, 0])
        self.parameter_, self.quantity_ = max(self.parameter_, float(grid[0])), "given"
        return self

    def predict_set(self, P: ArrayLike) -> np.ndarray:
        """Return (n, K) booleans, whether each label is in the set of its row."""
        require_fitted(self, "parameter_")
        self._refuse_fit_losses()
        if self.controls == "missed_labels":
            return _unit_columns(P, "P") >= -self.parameter_
        self._require_control("top_k")
        values = read(P, inputs=self.inputs, classes=self.classes_).values
        first = np.argsort(-values, axis=1, kind="stable")[:, : int(self.parameter_)]
        sets = np.zeros(values.shape, dtype=bool)
        np.put_along_axis(sets, first, True, axis=1)
        return sets

    def accept(self, P: ArrayLike, *, X: Any = None) -> np.ndarray:
        """Return (n,) booleans, whether each answer is accepted, for "accepted_and_wrong"."""
        require_fitted(self, "parameter_")
        self._refuse_fit_losses()
        self._require_control("accepted_and_wrong")
        return (
            confidence_of(self.signal_, read(P, inputs=self.inputs, classes=self.classes_, X=X))[1]
            > self.parameter_
        )

    @property
    def guarantee_(self) -> Guarantee:
        """The promise, with its assumptions."""
        require_fitted(self, "parameter_")
        return Guarantee(
            "marginal",
            QUANTITIES[self.quantity_],
            f"new {self.unit_}",
            f"{self.unit_} are exchangeable",
            self.n_,
            most=self.risk,
            unit=self.unit_,
            method="conformal risk control",
        )

    def _check(self) -> None:
        require_share("risk", self.risk)
        require_option("controls", self.controls, [name for name in QUANTITIES if name != "given"])

    def _require_control(self, controls: str) -> None:
        if self.controls != controls:
            raise InputError(f'this method needs controls="{controls}"; got "{self.controls}".')

    def _refuse_fit_losses(self) -> None:
        if self.quantity_ == "given":
            raise InputError(
                "parameter_ was chosen by fit_losses among parameters of your own; got"
                f" {self.parameter_:g}, which is not a threshold on predictions; apply your own"
                " rule, or call fit."
            )

    def _choose(
        self,
        record: Predictions,
        cluster: Any,
        row: np.ndarray,
        parameter: np.ndarray,
        drop: np.ndarray,
        start: np.ndarray,
    ) -> None:
        """Choose the parameter. A row's loss is ``start`` (n,) at first and falls by ``drop`` (m,)
        at ``parameter`` (m,) of ``row`` (m,).
        """
        times = repetitions(record.weights)
        self.unit_: Any = "rows" if cluster is None else "clusters"
        if cluster is not None:
            index = read_clusters(cluster, record)
            times = times / np.bincount(index, times)[index]
        self.n_: float = float(round(times.sum()))
        least = math.ceil(1.0 / self.risk - 1.0 - 1e-9)
        if self.n_ < least:
            raise InputError(
                f"a risk of {self.risk:g} needs at least {least:,} {self.unit_}; got"
                f" {self.n_:,.0f}; pass more, or allow more risk."
            )
        best, total_loss = least_parameter(
            parameter, drop * times[row], float(times @ start), self.n_, self.risk
        )
        if math.isnan(best):
            raise InputError(
                f"no parameter has a mean loss of {self.risk:g} or less; allow more risk, or pass"
                " a more cautious parameter."
            )
        self.parameter_: float = best
        self.mean_loss_: float = total_loss / self.n_
        self.quantity_: str = self.controls


def _unit_columns(values: ArrayLike, name: str) -> np.ndarray:
    """(n, K) float64 numbers in [0, 1]."""
    out = arrays.to_array(values, name).astype(np.float64)
    if out.ndim != 2 or 0 in out.shape or not ((out >= 0.0) & (out <= 1.0)).all():
        raise InputError(
            f"{name} must be (n, K) numbers in [0, 1]; got shape {out.shape}; pass one column for"
            " each label."
        )
    return out


@dataclass(frozen=True, eq=False)
class CertifiedSettings:
    """Certified settings, with the numbers behind them.

    Attributes
    ----------
    settings : (r,) positions of the certified settings in their order; may be empty.
    p_values : (m,) largest p-value over the risks, for each setting.
    losses : (J, m) mean loss of each risk and setting
    n : (J, m) number of rows behind each mean
    guarantee : core.Guarantee

    See Also
    --------
    certified_settings : makes this result.
    """

    settings: np.ndarray
    p_values: np.ndarray
    losses: np.ndarray
    n: np.ndarray
    guarantee: Guarantee


def certified_settings(
    losses: Any,
    risk: float | list[float] = 0.05,
    confidence: float = 0.95,
    *,
    n_starts: int = 1,
    sample_weight: ArrayLike | None = None,
) -> CertifiedSettings:
    r"""Test settings in order, and certify those whose risks are all proved, with one error
    probability for all together.

    .. math:: p_\lambda = \max_j p_{\lambda, j}

    A setting passes where its p-value is at most :math:`\delta / m`, the start's share of the
    failure probability. Each start continues until the first setting that fails.

    Parameters
    ----------
    losses : (n, m), or a list of J of them
        Loss of each row at each setting, in [0, 1], with one array for each risk. NaN where the
        risk does not concern the row: misses concern rows with the event, false alarms those
        without. The order of the settings must not come from these rows.
    risk : float, or list of J
        Upper limit of the mean loss of a new row.
    confidence : float, default 0.95
    n_starts : int, default 1
        Number of evenly spread settings at which a test begins; use more where the place of good
        settings is unknown.
    sample_weight : (n,), optional
        Whole numbers: how often each row was observed. Weights of a sampling design or of
        importance are refused, and must not be rounded.

    Returns
    -------
    CertifiedSettings
        ``settings`` is empty if nothing can be certified.

    Raises
    ------
    InputError
        When losses are outside [0, 1], or risks and losses do not match.

    See Also
    --------
    SelectiveClassifier : certifies one threshold of accepted answers, with less loss of power.
    ConformalRiskControl : bounds the expectation, for losses that never rise with the setting.

    Notes
    -----
    Losses of 0 and 1 are tested by the exact binomial tail, others by the smaller of Hoeffding's
    and Bentkus's bounds. Put the settings that should be safest first, or find the order on other
    rows: an order by the losses of these rows has no proof. Any certified setting may be chosen,
    also by its results on these rows.

    References
    ----------
    Angelopoulos, Bates, Candes, Jordan and Lei, "Learn then test: calibrating predictive algorithms
    to achieve risk control", Annals of Applied Statistics, 2025. Bauer, "Multiple testing in
    clinical trials", Statistics in Medicine, 1991.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.random.default_rng(0).random(1000)
    >>> event = np.random.default_rng(1).random(1000) < p
    >>> low = np.linspace(0.01, 0.3, 30)  # a row is let go below it: missed, if the event comes
    >>> missed = np.where(event[:, None], p[:, None] < low, np.nan)
    >>> found = certified_settings(missed, risk=0.05)
    >>> round(float(low[found.settings[-1]]), 2)
    0.18
    """
    require_share("confidence", confidence)
    require_count("n_starts", n_starts, 1)
    several: list[Any] = [losses]
    if (
        isinstance(losses, list | tuple)
        and len(cast(Any, losses))
        and np.ndim(cast(Any, losses)[0]) == 2
    ):
        several = [*cast(Any, losses)]
    tables = [_loss_table(item) for item in several]
    risks = (
        [float(item) for item in cast(Any, risk)]
        if np.ndim(risk)
        else [float(cast(Any, risk))] * len(tables)
    )
    for item in risks:
        require_share("risk", item)
    if len(risks) != len(tables) or len({table.shape for table in tables}) != 1:
        raise InputError(
            "risk must be one number, or one for each array of losses, all of one shape; got"
            f" {len(risks)} for arrays of shapes {[table.shape for table in tables]}; pass lists"
            " of equal length."
        )
    weight, mask = weights(sample_weight, len(tables[0]))
    times = np.ones(len(tables[0])) if weight is None else repetitions(weight)
    results = [
        _test_settings(table if mask is None else table[mask], times, item)
        for table, item in zip(tables, risks, strict=True)
    ]
    p_values, means, n = (np.stack(part) for part in zip(*results, strict=True))
    together = p_values.max(axis=0)
    return CertifiedSettings(
        fixed_sequence(together, 1.0 - confidence, n_starts),
        together,
        means,
        n,
        _promise(risks, confidence, float(times.sum()), n_starts),
    )


def _loss_table(values: Any) -> np.ndarray:
    table = to_array(values, "losses").astype(np.float64)
    if table.ndim != 2 or not table.size or (table < 0.0).any() or (table > 1.0).any():
        raise InputError(
            "losses must be (n, m) numbers in [0, 1], a column a setting; got shape"
            f" {table.shape}; divide by the largest possible loss."
        )
    return table


def _test_settings(
    table: np.ndarray, times: np.ndarray, risk: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (p-values, mean losses, rows), (m,) each; a setting without rows has a
    p-value of 1.
    """
    observed = ~np.isnan(table)
    loss = np.where(observed, table, 0.0)
    n, total = times @ observed, times @ loss
    test = binomial_p_value if np.isin(loss, (0.0, 1.0)).all() else hoeffding_bentkus
    count = np.maximum(n, 1.0)
    return (
        np.where(n > 0.0, test(total, count, risk), 1.0),
        np.where(n > 0.0, total / count, np.nan),
        n,
    )


def _promise(risks: list[float], confidence: float, n: float, n_starts: int) -> Guarantee:
    quantity = (
        "mean loss"
        if len(risks) == 1
        else f"mean losses (the others at most {', '.join(f'{limit:g}' for limit in risks[1:])})"
    )
    assumes = (
        "rows are independent draws of one distribution, and the order of the settings is not"
        " from them"
    )
    method = f"learn then test, fixed sequence with {n_starts} start{'s' * (n_starts > 1)}"
    over = "new rows at all certified settings together"
    return Guarantee(
        "pac", quantity, over, assumes, n, None, risks[0], confidence=confidence, method=method
    )
