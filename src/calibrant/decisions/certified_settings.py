"""Certified choice among many settings of a rule that must control one risk, or several at once."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from calibrant._numerics.certificates import binomial_p_value, fixed_sequence, hoeffding_bentkus
from calibrant.core.arrays import to_array, weights
from calibrant.core.estimators import require_count
from calibrant.core.guarantee import Guarantee
from calibrant.decisions.certainty import repetitions, require_share
from calibrant.errors import InputError

__all__ = ["CertifiedSettings", "certified_settings"]


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
    tables = [_table(each) for each in several]
    risks = (
        [float(each) for each in cast(Any, risk)]
        if np.ndim(risk)
        else [float(cast(Any, risk))] * len(tables)
    )
    for each in risks:
        require_share("risk", each)
    if len(risks) != len(tables) or len({table.shape for table in tables}) != 1:
        raise InputError(
            "risk must be one number, or one for each array of losses, all of one shape; got"
            f" {len(risks)} for arrays of shapes {[table.shape for table in tables]}; pass lists"
            " of equal length."
        )
    weight, kept = weights(sample_weight, len(tables[0]))
    times = np.ones(len(tables[0])) if weight is None else repetitions(weight)
    found = [
        _tested(table if kept is None else table[kept], times, each)
        for table, each in zip(tables, risks, strict=True)
    ]
    p_values, means, n = (np.stack(part) for part in zip(*found, strict=True))
    together = p_values.max(axis=0)
    return CertifiedSettings(
        fixed_sequence(together, 1.0 - confidence, n_starts),
        together,
        means,
        n,
        _promise(risks, confidence, float(times.sum()), n_starts),
    )


def _table(values: Any) -> np.ndarray:
    table = to_array(values, "losses").astype(np.float64)
    if table.ndim != 2 or not table.size or (table < 0.0).any() or (table > 1.0).any():
        raise InputError(
            "losses must be (n, m) numbers in [0, 1], a column a setting; got shape"
            f" {table.shape}; divide by the largest possible loss."
        )
    return table


def _tested(
    table: np.ndarray, times: np.ndarray, risk: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (p-values, mean losses, rows), (m,) each; a setting without rows has a
    p-value of 1.
    """
    known = ~np.isnan(table)
    loss = np.where(known, table, 0.0)
    n, total = times @ known, times @ loss
    test = binomial_p_value if np.isin(loss, (0.0, 1.0)).all() else hoeffding_bentkus
    met = np.maximum(n, 1.0)
    return np.where(n > 0.0, test(total, met, risk), 1.0), np.where(n > 0.0, total / met, np.nan), n


def _promise(risks: list[float], confidence: float, n: float, n_starts: int) -> Guarantee:
    said = (
        "mean loss"
        if len(risks) == 1
        else f"mean losses (the others at most {', '.join(f'{each:g}' for each in risks[1:])})"
    )
    assumes = (
        "rows are independent draws of one distribution, and the order of the settings is not"
        " from them"
    )
    method = f"learn then test, fixed sequence with {n_starts} start{'s' * (n_starts > 1)}"
    over = "new rows at all certified settings together"
    return Guarantee(
        "pac", said, over, assumes, n, None, risks[0], confidence=confidence, method=method
    )
