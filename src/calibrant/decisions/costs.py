"""Cheapest action for each row, from its probabilities and the cost of each action in
each class.
"""

import hashlib
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from calibrant._numerics.fixed_order import multiply_rows
from calibrant.core import arrays
from calibrant.core.arrays import ArrayLike
from calibrant.core.cards import Card, Shown
from calibrant.core.estimators import require_count
from calibrant.core.given import Inputs
from calibrant.core.guarantee import Result
from calibrant.core.labels import label_array
from calibrant.core.predictions import Predictions, read
from calibrant.core.reading import read_labelled
from calibrant.core.saving import Saved
from calibrant.errors import InputError

__all__ = ["CostsOfDecisions", "ExpectedCost"]

ABSTAIN = -1


@dataclass(frozen=True, repr=False)
class CostsOfDecisions(Shown, Result):
    """Mean cost of the decisions, beside the cost that the probabilities predicted.

    Attributes
    ----------
    n : float
        Sum of the weights.
    said : float
        Expected cost under the probabilities.
    cost : float
        Mean cost observed. If it is far from ``said``, the probabilities are miscalibrated where
        decisions depend on them.
    best_constant : float
        Mean cost of the one action that would have been cheapest for all rows.
    regret : float
        Saving if each action were replaced, on all its rows, by the best one for them: at least 0,
        and near 0 for calibrated probabilities.
    actions : list of dict
        For each action: its rows, its predicted and its observed cost, the best action for these
        rows and the cost of that one.

    See Also
    --------
    ExpectedCost : makes this result.
    metrics.calibration_decision_loss : the regret for the worst possible costs.
    """

    n: float
    said: float
    cost: float
    best_constant: float
    regret: float
    actions: list[dict[str, float]]

    def _card(self) -> Card:
        head = ("action", "rows", "predicted cost", "observed cost", "best action", "its cost")
        names = ("action", "n", "said", "cost", "best", "best_cost")
        return Card(
            f"A row costs {self.cost:.4g}, predicted {self.said:.4g}; the best one action for all"
            f" would cost {self.best_constant:.4g}, and {self.regret:.4g} could be saved by better"
            " actions.",
            f"Costs of decisions on {self.n:g} rows",
            head=head,
            rows=[[_cell_text(action[name]) for name in names] for action in self.actions],
        )


class ExpectedCost(Saved):
    r"""Decide each row by the lowest expected cost, :math:`\arg\min_a \sum_k C_{ak} P_k`, with
    abstaining as one more action.

    Parameters
    ----------
    costs : (A, K) array, optional
        Cost of each action in each class, 0 or more. By default the actions are the labels: a right
        one costs 0, a wrong one 1.
    abstain : float, optional
        Cost of deferring a row, whatever its class. With the default costs this is Chow's rule:
        abstain where the largest probability is below ``1 - abstain``.

    See Also
    --------
    decision_threshold : for two classes and two actions, with the threshold on the raw score and
        its interval.
    SelectiveClassifier : where an error rate is prescribed rather than a cost.
    metrics.net_benefit : for two actions.

    Notes
    -----
    The probabilities must be calibrated, because they determine every comparison of actions.
    Calibrate first, then look at ``costs_of`` on other rows. A ``regret`` is the saving from better
    calibration at these costs; ``metrics.calibration_decision_loss`` bounds it for all costs.
    Adding one number to a whole column of costs changes no decision, so gains can be shifted to 0
    or more. Among equally cheap actions it takes the first, and abstains last.

    References
    ----------
    Chow, "On optimum recognition error and reject tradeoff", IEEE Transactions on Information
    Theory 1970; Elkan, "The foundations of cost-sensitive learning", IJCAI 2001.

    Examples
    --------
    >>> rule = ExpectedCost([[0, 10, 10], [1, 0, 4], [2, 3, 0]], abstain=1.5)
    >>> rule.decide([[0.95, 0.03, 0.02], [0.2, 0.7, 0.1], [0.4, 0.3, 0.3]]).tolist()
    [0, 1, -1]
    >>> ExpectedCost(abstain=0.2).decide([[0.85, 0.15], [0.6, 0.4]]).tolist()
    [0, -1]
    """

    def __init__(self, costs: ArrayLike | None = None, *, abstain: float | None = None) -> None:
        self.costs: np.ndarray | None = (
            None if costs is None else arrays.to_array(costs, "costs").astype(np.float64)
        )
        self.abstain: float | None = abstain
        if self.costs is not None and (self.costs.ndim != 2 or 0 in self.costs.shape):
            raise InputError(f"costs must be (actions, classes); got shape {self.costs.shape}.")
        values = ([] if self.costs is None else self.costs.ravel().tolist()) + (
            [] if abstain is None else [abstain]
        )
        odd = next(
            (
                value
                for value in values
                if not (isinstance(value, float | int) and 0.0 <= value < np.inf)
            ),
            None,
        )
        if odd is not None:
            raise InputError(
                f"costs must be finite and at least 0; got {odd!r}; where an action gains, add one"
                " number to the whole column of its class, which changes no decision."
            )

    def expected(self, P: ArrayLike, *, inputs: Inputs = "probability") -> np.ndarray:
        """Return the expected cost of each action, (n, A), abstaining last."""
        return self._expected(read(P, inputs=inputs))

    def decide(
        self,
        P: ArrayLike,
        *,
        capacity: int | None = None,
        limited: int | Literal["abstain"] | None = None,
        key: ArrayLike | None = None,
        random_state: int = 0,
        inputs: Inputs = "probability",
    ) -> np.ndarray:
        """Return the cheapest action of each row, (n,) int, -1 for abstaining.

        Parameters
        ----------
        P : (n, K), or (n,) for binary
        capacity : int, optional
            Maximum number of rows in this batch with the action ``limited``; it takes those that
            save most. A threshold would respect it only on average over batches.
        limited : int or "abstain", optional
            The limited action; default abstaining where that is an action, else the last.
        key : (n,) labels, optional
            Names of the rows, which break ties for the last places independently of their order.
            Default: their positions.
        random_state : int, default 0
            Seed of these draws.
        inputs : {"probability", "logit"}
        """
        expected = self._expected(read(P, inputs=inputs))
        decisions: np.ndarray = expected.argmin(axis=1)
        if capacity is not None:
            require_count("capacity", capacity, 0)
            action = self._limited_action(limited, expected.shape[1])
            alternatives = expected.copy()
            alternatives[:, action] = np.inf
            saved = alternatives.min(axis=1) - expected[:, action]
            allowed = _largest(
                saved, np.flatnonzero(decisions == action), int(capacity), key, random_state
            )
            decisions = np.where(
                allowed | (decisions != action), decisions, alternatives.argmin(axis=1)
            )
        return self._codes(decisions, expected.shape[1])

    def costs_of(
        self,
        y_true: ArrayLike,
        P: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        inputs: Inputs = "probability",
    ) -> CostsOfDecisions:
        """Return the cost of deciding by P on labelled rows, beside its prediction."""
        record = read_labelled(
            y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs
        )
        expected, costs = self._expected(record), self._costs(record.n_classes)
        rows, decisions, weight = np.arange(len(record)), expected.argmin(axis=1), record.weights
        observed = costs[:, record.labels].T
        n = float(weight.sum())
        actions: list[dict[str, float]] = []
        for action in np.unique(decisions).tolist():
            mask = decisions == action
            mass, totals = float(weight[mask].sum()), weight[mask] @ observed[mask]
            names = self._codes(np.array([action, int(totals.argmin())]), len(costs)).tolist()
            actions.append(
                {
                    "action": names[0],
                    "n": mass,
                    "said": float(weight[mask] @ expected[mask, action]) / mass,
                    "cost": float(totals[action]) / mass,
                    "best": names[1],
                    "best_cost": float(totals.min()) / mass,
                }
            )
        return CostsOfDecisions(
            n,
            float(weight @ expected[rows, decisions]) / n,
            float(weight @ observed[rows, decisions]) / n,
            float((weight @ observed).min()) / n,
            sum(entry["n"] * (entry["cost"] - entry["best_cost"]) for entry in actions) / n,
            actions,
        )

    def __repr__(self) -> str:
        arguments = [] if self.costs is None else [str(self.costs.tolist())]
        arguments += [] if self.abstain is None else [f"abstain={self.abstain!r}"]
        return f"ExpectedCost({', '.join(arguments)})"

    def _costs(self, n_classes: int) -> np.ndarray:
        """Return the costs, (A, K), abstaining last."""
        costs = 1.0 - np.eye(n_classes) if self.costs is None else self.costs
        if costs.shape[1] != n_classes:
            raise InputError(
                f"costs must have a column for each of the {n_classes} classes; got"
                f" {costs.shape[1]}."
            )
        return (
            costs if self.abstain is None else np.vstack([costs, np.full(n_classes, self.abstain)])
        )

    def _expected(self, record: Predictions) -> np.ndarray:
        return multiply_rows(record.probabilities, self._costs(record.n_classes).T)

    def _limited_action(self, limited: int | Literal["abstain"] | None, count: int) -> int:
        n_actions = count - (self.abstain is not None)
        if limited == "abstain" or (limited is None and self.abstain is not None):
            if self.abstain is None:
                raise InputError('limited="abstain" needs its cost; got None.')
            return count - 1
        action: Any = n_actions - 1 if limited is None else limited
        if not (isinstance(action, int | np.integer) and 0 <= action < n_actions):
            raise InputError(
                f'limited must be "abstain" or an action, 0 to {n_actions - 1}; got {limited!r}.'
            )
        return int(cast(int, action))

    def _codes(self, decisions: np.ndarray, count: int) -> np.ndarray:
        return (
            decisions
            if self.abstain is None
            else np.where(decisions == count - 1, ABSTAIN, decisions)
        )


def _largest(
    saved: np.ndarray, rows: np.ndarray, count: int, key: ArrayLike | None, random_state: int
) -> np.ndarray:
    """Return (n,) booleans, whether a row is among the ``count`` of ``rows`` that save most; keys
    break ties for the last places.
    """
    selected = np.zeros(len(saved), dtype=bool)
    selected[rows] = True
    if len(rows) <= count:
        return selected
    last = np.partition(saved[rows], len(rows) - count)[len(rows) - count] if count else np.inf
    tied = rows[saved[rows] == last]
    selected[rows[saved[rows] <= last]] = False
    names: list[Any] = (tied if key is None else _keys(key, len(saved))[tied]).tolist()
    draw = sorted(
        range(len(tied)),
        key=lambda j: hashlib.blake2b(f"{random_state}:{names[j]!r}".encode()).digest(),
    )
    selected[tied[draw[: count - int(selected.sum())]]] = True
    return selected


def _keys(key: ArrayLike, n: int) -> np.ndarray:
    names = label_array(key, "key")
    if names.shape != (n,):
        raise InputError(
            f"key must have one name for each of the {n} rows; got shape {names.shape}."
        )
    return names


def _cell_text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
