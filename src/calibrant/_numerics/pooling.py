r"""Parameters shared over groups, and weights shared over forecasts.

Group g has parameters X_g b + v_g: shared ones b, and its own v_g ~ N(0, diag(t^2)) for the first
of its entries, with spreads t by their marginal likelihood. The log-likelihood of a group is
approximated by its gradient and information.

Where rows are ragged lists of options under a softmax or cumulative logits, a row's linear
predictors are :math:`\eta_j = \beta_t l_j + (\beta - \beta_t)(l_j - m_j) + o_j` with the slope
:math:`\beta_t = e^{-a - b x}` of its type and :math:`\beta = \beta_t e^{-v}` of its group, which
turns about the group's centre :math:`m_j`, and offsets :math:`o_j` by slot.

Forecasts are pooled with weights by evidence or by stacking, or by a logistic regression that rises
in every column.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from calibrant._numerics.logistic import sigmoid

__all__ = [
    "Pooled",
    "RaggedRows",
    "Shares",
    "best_spreads",
    "cumulative_logits",
    "exponential_weights",
    "fit_monotone_additive",
    "pooled_step",
    "row_sums",
    "running_sums",
    "stacking_weights",
]


#: Limits of a spread, and the scale of its half-normal prior.
SMALLEST, LARGEST, USUAL = 1e-3, 3.0, 0.5


@dataclass(frozen=True)
class Shares:
    """Shared parameters of the groups, and the spread of every parameter.

    Attributes
    ----------
    design : (G, E, f), X of each group
    shared : (f,) intp, the spread of each shared parameter; -1 for the prior N(0, 1)
    own : (B,) intp, the spread of each of a group's own parameters, the first B of E
    """

    design: np.ndarray
    shared: np.ndarray
    local: np.ndarray

    def scales(self, spreads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Standard deviations of the shared (f,) and of the own parameters (B,)."""
        return np.append(spreads, 1.0)[self.shared], spreads[self.local]


@dataclass(frozen=True)
class Pooled:
    """The quadratic model of all groups around their present parameters.

    Attributes
    ----------
    A : (f, f); C : (G, B, f); D : (G, B, B), blocks of the information
    a : (f,); d : (G, B), the information times the parameters, plus the gradient
    """

    A: np.ndarray
    C: np.ndarray
    D: np.ndarray
    a: np.ndarray
    d: np.ndarray

    @classmethod
    def around(
        cls,
        gradient: np.ndarray,
        information: np.ndarray,
        shares: Shares,
        shared: np.ndarray,
        local: np.ndarray,
    ) -> "Pooled":
        """Build from (G, E) gradients and (G, E, E) information at some parameters."""
        X, B = shares.design, local.shape[1]
        theta = X @ shared
        theta[:, :B] += local
        pull = gradient + np.einsum("gij,gj->gi", information, theta)
        bent = information @ X
        return cls(
            np.einsum("gif,gih->fh", X, bent, optimize=True),
            bent[:, :B],
            information[:, :B, :B],
            np.einsum("gif,gi->f", X, pull),
            pull[:, :B],
        )


def pooled_step(
    model: Pooled, shared_scale: np.ndarray, local_scale: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """(shared parameters (f,), own ones (G, B), log marginal likelihood) at given spreads.

    The constant of the marginal likelihood is left out. A spread of 0 is allowed.
    """
    t = local_scale[None, :, None] * local_scale[None, None, :]
    M = np.eye(len(local_scale)) + t * model.D
    right = np.concatenate([model.C, model.d[:, :, None]], axis=2) * local_scale[None, :, None]
    solved = np.linalg.solve(M, right) * local_scale[None, :, None]
    S = model.A + np.diag(shared_scale**-2.0)
    S = S - np.einsum("gbf,gbh->fh", model.C, solved[:, :, :-1], optimize=True)
    pull = model.a - np.einsum("gbf,gb->f", model.C, solved[:, :, -1])
    shared = np.linalg.solve(S, pull)
    local = solved[:, :, -1] - solved[:, :, :-1] @ shared
    fit = model.a @ shared + np.einsum("gb,gb->", model.d, local)
    volume = np.linalg.slogdet(S)[1] + np.linalg.slogdet(M)[1].sum()
    return shared, local, 0.5 * float(fit - volume) - float(np.log(shared_scale).sum())


def best_spreads(
    model: Pooled, shares: Shares, spreads: np.ndarray, free: Sequence[int]
) -> np.ndarray:
    """Spreads of most marginal likelihood, each of those ``free`` in turn, with a half-normal
    prior.
    """
    spreads = spreads.copy()

    def loss(log_spread: float, k: int) -> float:
        trial = spreads.copy()
        trial[k] = np.exp(log_spread)
        likelihood = pooled_step(model, *shares.scales(trial))[2]
        return 0.5 * (trial[k] / USUAL) ** 2 - likelihood

    for k in free:
        result = scipy.optimize.minimize_scalar(
            loss,
            bounds=(np.log(SMALLEST), np.log(LARGEST)),
            args=(k,),
            method="bounded",
            options={"xatol": 0.02},
        )
        if result.fun < loss(float(np.log(spreads[k])), k):
            spreads[k] = np.exp(result.x)
    return spreads


# -- Ragged rows -----------------------------------------------------------------------------------

#: Smallest probability of a level, whose logarithm is then finite.
LEAST = 1e-15
#: Largest size of a linear predictor, and of the logarithm of a slope.
FARTHEST, STEEPEST = 700.0, 5.0


def row_sums(values: np.ndarray, start: np.ndarray) -> np.ndarray:
    """(n,) sums over the options of each row."""
    return np.add.reduceat(values, start[:-1])


def running_sums(values: np.ndarray, start: np.ndarray) -> np.ndarray:
    """(m,) sums over the options of each row up to each, whose bits depend on no other row."""
    out, size = values.copy(), np.diff(start)
    for k in range(1, int(size.max(initial=0))):
        index = start[:-1][size > k] + k
        out[index] += out[index - 1]
    return out


def cumulative_logits(p: np.ndarray, start: np.ndarray, floor: float) -> np.ndarray:
    """(m,) log-odds of each level or a lower one; 0 for the last level, which is certain."""
    p = np.maximum(p, floor)
    downto = running_sums(p[::-1], start[-1] - start[::-1])[::-1]
    out = np.log(running_sums(p, start)) - np.log(np.append(downto[1:], 1.0))
    out[start[1:] - 1] = 0.0
    return out


@dataclass(frozen=True)
class RaggedRows:
    """Rows with outcomes.

    Attributes
    ----------
    l : (m,) logarithms of probabilities, log-odds of the event, or cumulative log-odds
    start : (n + 1,) first option of each row
    group : (n,) in 0..n_groups-1
    slot : (m,) in 0..n_slots, the offset of each option; 0 for none
    centre : (m,) of l in the group and slot, or None for zeros
    x : (n,) covariate of the log-slope
    mass : (m,) weighted outcome; weight : (n,)
    cumulative : whether l are cumulative log-odds of ordered levels
    n_groups, n_slots : int
    """

    l: np.ndarray  # noqa: E741
    start: np.ndarray
    group: np.ndarray
    slot: np.ndarray
    centre: np.ndarray | None
    x: np.ndarray
    mass: np.ndarray
    weight: np.ndarray
    cumulative: bool
    n_groups: int
    n_slots: int

    @cached_property
    def size(self) -> np.ndarray:
        """(n,) options of each row."""
        return np.diff(self.start)

    @cached_property
    def last(self) -> np.ndarray:
        """(n,) the last option of each row."""
        return self.start[1:] - 1

    @cached_property
    def cell(self) -> np.ndarray:
        """(m,) number of the group and the slot of each option."""
        return np.repeat(self.group, self.size) * (self.n_slots + 1) + self.slot

    @cached_property
    def slotted(self) -> list[tuple[int, np.ndarray, np.ndarray]]:
        """(group, its options with a slot, their rows within the group), for several slots."""
        row = np.repeat(np.arange(len(self.group)), self.size)
        options = np.flatnonzero(self.slot > 0)
        options = options[np.argsort(self.group[row[options]], kind="stable")]
        group = self.group[row[options]]
        ends = np.flatnonzero(np.diff(group, append=-1) != 0) + 1
        parts = np.split(options, ends[:-1])
        return [
            (int(self.group[row[part[0]]]), part, np.unique(row[part], return_inverse=True)[1])
            for part in parts
            if len(part)
        ]

    def predictors(
        self, shared: np.ndarray, local: np.ndarray, offset: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(eta, its derivatives by v and by a), (m,) each, from (n,) a + b x and (G,) v and the
        offsets (G, n_slots + 1), the first of them 0.
        """
        slope = np.exp(np.clip(-shared, -STEEPEST, STEEPEST))
        steep = np.repeat(
            np.exp(np.clip(-shared - local[self.group], -STEEPEST, STEEPEST)), self.size
        )
        if self.centre is None:
            eta = steep * self.l
            turned = along = -eta
        else:
            turned = -steep * (self.l - self.centre)
            along = turned - np.repeat(slope, self.size) * self.centre
            eta = -along
        if self.n_slots:
            eta = eta + offset.ravel()[self.cell]
        return np.clip(eta, -FARTHEST, FARTHEST), turned, along

    def probabilities(self, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(probabilities, slopes of the cumulative ones), (m,) each."""
        if not self.cumulative:
            top = np.maximum.reduceat(eta, self.start[:-1])
            e = np.exp(eta - np.repeat(top, self.size))
            return e / np.repeat(row_sums(e, self.start), self.size), e
        F = sigmoid(eta)
        slopes = F * (1.0 - F)
        F[self.last], slopes[self.last] = 1.0, 0.0
        return np.maximum(self.steps(F), LEAST), slopes

    def steps(self, values: np.ndarray) -> np.ndarray:
        """Each value less the one before it in its row."""
        out = np.diff(values, prepend=0.0)
        out[self.start[:-1]] = values[self.start[:-1]]
        return out

    def falls(self, values: np.ndarray) -> np.ndarray:
        """Each value less the one after it in its row."""
        out = -np.diff(values, append=0.0)
        out[self.last] = values[self.last]
        return out

    def likelihood(self, eta: np.ndarray) -> float:
        """Weighted log-likelihood."""
        return float(self.mass @ np.log(np.maximum(self.probabilities(eta)[0], LEAST)))

    def derivatives(
        self, eta: np.ndarray, turned: np.ndarray, along: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """(log-likelihood, gradients (G, E), information (G, E, E)) by group: of v, the slots, a
        and b.
        """
        P, f = self.probabilities(eta)
        value = float(self.mass @ np.log(np.maximum(P, LEAST)))
        weight = np.repeat(self.weight, self.size)
        pull = f * self.falls(self.mass / P) if self.cumulative else self.mass - weight * P
        # Levels that nearly cross would have so much information that the search stands still.
        inside = np.maximum(P, 0.1 * f) if self.cumulative else P
        lines = [turned, along, along * np.repeat(self.x, self.size)]
        places = [0, self.n_slots + 1, self.n_slots + 2]
        E, whole = self.n_slots + 3, self.n_groups * (self.n_slots + 1)
        gradient = np.zeros((self.n_groups, E))
        information = np.zeros((self.n_groups, E, E))
        if self.n_slots:
            by_slot = np.bincount(self.cell, pull, whole).reshape(self.n_groups, -1)
            gradient[:, 1 : self.n_slots + 1] = by_slot[:, 1:]
            information[:, 1:-2, 1:-2] = self._between_slots(inside, f, weight)
        for i, (line, at) in enumerate(zip(lines, places, strict=True)):
            gradient[:, at] = self._by_group(row_sums(pull * line, self.start))
            change = weight * self._curved(line, inside, f)
            for other, to in list(zip(lines, places, strict=True))[i:]:
                shared = self._by_group(row_sums(change * other, self.start))
                information[:, at, to] = information[:, to, at] = shared
            if self.n_slots:
                by_slot = np.bincount(self.cell, change, whole).reshape(self.n_groups, -1)[:, 1:]
                information[:, at, 1:-2] = information[:, 1:-2, at] = by_slot
        return value, gradient, information

    def _by_group(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self.group, values, self.n_groups)

    def _curved(self, line: np.ndarray, P: np.ndarray, f: np.ndarray) -> np.ndarray:
        """The information of a row's predictors times a direction, (m,)."""
        if self.cumulative:
            return f * self.falls(self.steps(f * line) / P)
        return P * (line - np.repeat(row_sums(P * line, self.start), self.size))

    def _between_slots(self, P: np.ndarray, f: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """(G, n_slots, n_slots) information of the offsets."""
        S = self.n_slots
        out = np.zeros((self.n_groups, S, S))
        whole = self.n_groups * (S + 1)
        if self.cumulative:
            after = np.append(P[1:], 1.0)
            diagonal = weight * f * f * (1.0 / P + 1.0 / after)
            beside = -weight * f * np.append(f[1:], 0.0) / after
            beside[self.last] = 0.0
            # Neighbours may have one offset.
            same = np.append(self.slot[1:], 0) == self.slot
            diagonal = diagonal + np.where(same, 2.0 * beside, 0.0)
            apart = np.where(same, 0.0, beside)
            pairs = np.bincount(self.cell, apart, whole).reshape(-1, S + 1)[:, 1:-1]
            k = np.arange(S - 1)
            out[:, k, k + 1] = out[:, k + 1, k] = pairs
        else:
            diagonal = weight * P * (1.0 - P) if S == 1 else weight * P
        k = np.arange(S)
        out[:, k, k] = np.bincount(self.cell, diagonal, whole).reshape(-1, S + 1)[:, 1:]
        if not self.cumulative and S > 1:
            for group, part, row in self.slotted:
                wide = np.zeros((row.max() + 1, S))
                wide[row, self.slot[part] - 1] = P[part] * np.sqrt(weight[part])
                out[group] -= wide.T @ wide
        return out


# -- Weights of forecasts --------------------------------------------------------------------------


def exponential_weights(
    losses: np.ndarray,
    row_weight: np.ndarray,
    rate: float,
    random_state: int,
    *,
    prior: np.ndarray | None = None,
    n_draws: int = 100,
) -> np.ndarray:
    """Weights (J,) proportional to prior * exp(-rate * total loss), averaged over draws of the
    Bayesian bootstrap of the rows.

    ``losses`` is (J, n), ``prior`` (J,) positive (None: equal). A row of weight w counts as w rows,
    whose shares of the bootstrap's Dirichlet law are one gamma(w).
    """
    rng, total = np.random.default_rng(random_state), row_weight.sum()
    weights = np.zeros(len(losses))
    ahead = np.zeros(len(losses)) if prior is None else np.log(prior) / rate
    for _ in range(n_draws):
        share = rng.standard_gamma(row_weight)
        sums = losses @ (share * (total / share.sum())) - ahead
        draw = np.exp(rate * (sums.min() - sums))
        weights += draw / draw.sum()
    return weights / n_draws


def stacking_weights(
    likelihood: np.ndarray, gram: np.ndarray | None, row_weight: np.ndarray
) -> np.ndarray:
    """Weights (J,) on the simplex with which a linear pool has the least mean score, a convex
    problem.

    ``likelihood`` is (J, n), the probability that each gives to the true class. The score is the
    log loss where ``gram`` is None; else the Brier score, and ``gram`` (J, J) holds the weighted
    means over rows of sum_k P_ik P_jk.
    """
    share, J = row_weight / row_weight.sum(), len(likelihood)
    loss = _log_loss(likelihood, share) if gram is None else _brier(gram, likelihood @ share)
    simplex = {"type": "eq", "fun": lambda w: w.sum() - 1.0, "jac": lambda w: np.ones(J)}
    options = {"maxiter": 100, "ftol": 1e-9}
    result = scipy.optimize.minimize(
        loss,
        np.full(J, 1.0 / J),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * J,
        constraints=simplex,
        options=options,
    )
    weights = np.clip(result.x, 0.0, None)
    return weights / weights.sum()


def _log_loss(likelihood: np.ndarray, share: np.ndarray) -> Any:
    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        mixed = np.maximum(w @ likelihood, 1e-300)
        return -float(share @ np.log(mixed)), -likelihood @ (share / mixed)

    return loss


def _brier(gram: np.ndarray, hits: np.ndarray) -> Any:
    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        return float(w @ gram @ w - 2.0 * hits @ w + 1.0), 2.0 * (gram @ w - hits)

    return loss


MAX_STEPS = 60


def fit_monotone_additive(
    design: np.ndarray,
    group: np.ndarray,
    n_groups: int,
    target: np.ndarray,
    weight: np.ndarray,
    ridge: np.ndarray,
    group_ridge: float,
) -> tuple[np.ndarray, float, np.ndarray, str]:
    """Coefficients (d,) at least 0, the level c, the groups' levels (n_groups,), and the status.

    Parameters
    ----------
    design : (n, d); group : (n,) in 0..n_groups-1; target : (n,) in [0, 1]; weight : (n,) positive
    ridge : (d,) and group_ridge : float, the positive penalties
    """
    d = design.shape[1]
    order = np.argsort(group, kind="stable")
    rows = (
        np.column_stack([design[order], np.ones(len(order))]),
        group[order],
        target[order],
        weight[order],
    )
    theta = np.zeros(d + 1 + n_groups)
    penalty = np.concatenate([ridge, [0.0], np.full(n_groups, group_ridge)])
    status = "max steps"
    value = _loss(theta, rows, penalty)
    for _ in range(MAX_STEPS):
        gradient, newton = _quadratic_model(theta, rows, penalty)
        step = newton - theta
        decrease = -float(gradient @ step)
        if decrease <= 1e-12 * (1.0 + abs(value)):
            status = "converged"
            break
        result = _descend(theta, step, value, decrease, rows, penalty)
        if result is None:
            status = "stalled"
            break
        theta, value = result
    return theta[:d], float(theta[d]), theta[d + 1 :], status


def _scores(theta: np.ndarray, X: np.ndarray, group: np.ndarray) -> np.ndarray:
    return X @ theta[: X.shape[1]] + theta[X.shape[1] :][group]


def _loss(
    theta: np.ndarray,
    rows: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    penalty: np.ndarray,
) -> float:
    X, group, target, weight = rows
    z = _scores(theta, X, group)
    return float(
        weight @ (np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z))) - target * z)
        + 0.5 * penalty @ theta**2
    )


def _descend(
    theta: np.ndarray,
    step: np.ndarray,
    value: float,
    decrease: float,
    rows: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    penalty: np.ndarray,
) -> Any:
    """The first of the steps 1, 1/2, 1/4, ... that descends enough, with the loss there; None
    when rounding allows none.
    """
    size = 1.0
    for _ in range(40):
        trial = theta + size * step
        reached = _loss(trial, rows, penalty)
        if reached <= value - 1e-4 * size * decrease:
            return trial, reached
        size *= 0.5
    return None


def _quadratic_model(
    theta: np.ndarray,
    rows: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    penalty: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient at theta, and the minimum of the quadratic model under the bounds."""
    X, group, target, weight = rows
    p = X.shape[1]
    n_groups = len(theta) - p
    z = _scores(theta, X, group)
    e = np.exp(-np.abs(z))
    residual = weight * (np.where(z >= 0.0, 1.0, e) / (1.0 + e) - target)
    curvature = weight * e / (1.0 + e) ** 2
    bent = X * curvature[:, None]
    gradient = (
        np.concatenate([residual @ X, np.bincount(group, residual, n_groups)]) + penalty * theta
    )
    diagonal = np.bincount(group, curvature, n_groups) + penalty[p:]
    cross = np.zeros((n_groups, p))
    present, first = np.unique(group, return_index=True)
    cross[present] = np.add.reduceat(bent, first, axis=0)
    top = np.diag(penalty[:p]) + X.T @ bent
    # The model in t = the new theta: half t' H t - pull' t.
    pull = (
        np.concatenate(
            [top @ theta[:p] + theta[p:] @ cross, cross @ theta[:p] + diagonal * theta[p:]]
        )
        - gradient
    )
    shared = top - cross.T @ (cross / diagonal[:, None])
    solved = _bounded_minimum(shared, pull[:p] - cross.T @ (pull[p:] / diagonal))
    return gradient, np.concatenate([solved, (pull[p:] - cross @ solved) / diagonal])


def _bounded_minimum(hessian: np.ndarray, pull: np.ndarray) -> np.ndarray:
    """The minimum of half t' H t - pull' t over t at least 0, the last entry free."""
    last, edge = hessian[-1, -1], hessian[:-1, -1]
    # A small ridge keeps the level defined if every row is certain, and the factor if columns
    # repeat.
    last = last + 1e-12 * (1.0 + last)
    inner = hessian[:-1, :-1] - np.outer(edge, edge) / last
    inner[np.diag_indices_from(inner)] += 1e-12 * inner.diagonal().max(initial=1.0)
    factor = np.linalg.cholesky(inner)
    right = pull[:-1] - edge * (pull[-1] / last)
    t, _ = scipy.optimize.nnls(
        factor.T, scipy.linalg.solve_triangular(factor, right, lower=True), maxiter=100 * len(right)
    )
    return np.append(t, (pull[-1] - edge @ t) / last)
