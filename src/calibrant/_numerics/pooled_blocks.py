"""Parameters of many groups that are shrunk towards shared ones, their spreads by marginal
likelihood.

Group g has parameters X_g b + v_g: shared ones b, and its own v_g ~ N(0, diag(t^2)) for the first
of its entries. The log-likelihood of a group is approximated by its gradient and information.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

__all__ = ["Pooled", "Shares", "best_spreads", "pooled_step"]

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
    own: np.ndarray

    def scales(self, spreads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Standard deviations of the shared (f,) and of the own parameters (B,)."""
        return np.append(spreads, 1.0)[self.shared], spreads[self.own]


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
        own: np.ndarray,
    ) -> "Pooled":
        """Build from (G, E) gradients and (G, E, E) information at some parameters."""
        X, B = shares.design, own.shape[1]
        theta = X @ shared
        theta[:, :B] += own
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
    model: Pooled, shared_scale: np.ndarray, own_scale: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """(shared parameters (f,), own ones (G, B), log marginal likelihood) at given spreads.

    The constant of the marginal likelihood is left out. A spread of 0 is allowed.
    """
    t = own_scale[None, :, None] * own_scale[None, None, :]
    M = np.eye(len(own_scale)) + t * model.D
    right = np.concatenate([model.C, model.d[:, :, None]], axis=2) * own_scale[None, :, None]
    solved = np.linalg.solve(M, right) * own_scale[None, :, None]
    S = model.A + np.diag(shared_scale**-2.0)
    S = S - np.einsum("gbf,gbh->fh", model.C, solved[:, :, :-1], optimize=True)
    pull = model.a - np.einsum("gbf,gb->f", model.C, solved[:, :, -1])
    shared = np.linalg.solve(S, pull)
    own = solved[:, :, -1] - solved[:, :, :-1] @ shared
    fit = model.a @ shared + np.einsum("gb,gb->", model.d, own)
    volume = np.linalg.slogdet(S)[1] + np.linalg.slogdet(M)[1].sum()
    return shared, own, 0.5 * float(fit - volume) - float(np.log(shared_scale).sum())


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
        found = minimize_scalar(
            loss,
            bounds=(np.log(SMALLEST), np.log(LARGEST)),
            args=(k,),
            method="bounded",
            options={"xatol": 0.02},
        )
        if found.fun < loss(float(np.log(spreads[k])), k):
            spreads[k] = np.exp(found.x)
    return spreads
