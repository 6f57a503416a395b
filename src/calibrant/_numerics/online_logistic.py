"""Logistic recursions at several rates of forgetting, in blocks, for rows that come one by one.

The rate is the first axis of all arrays and the row the last: parameters are (J, M), gradients
(J, M, B). A block is a run of rows whose limits depend only on their number since the start, so the
result does not depend on how the rows were batched.
"""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

__all__ = [
    "DEEPEST",
    "Design",
    "Line",
    "Softmax",
    "State",
    "Tempered",
    "begin_logistic",
    "log_likelihood",
]

State = dict[str, np.ndarray]

#: Rows counted beside those remembered, which shortens the first steps.
HEADSTART = 4.0
#: Scores closer to 0 have the curvature of 0.
FLAT = 1e-6
#: Log-odds of the most certain probabilities, 1 in 500 million, which no outcome refutes for ever.
DEEPEST = 20.0
#: Share of the uniform distribution in the curvature of rates that forget.
BLUR = 0.25


def log_likelihood(q: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(J, B) of outcomes (k, B) by probabilities (J, k, B); the largest error is that of the true
    class.
    """
    return np.log(1.0 - np.abs(q - y).max(axis=1))


@dataclass(frozen=True)
class Design:
    """Features x (m, B) and outcomes y (k, B) of a block of rows."""

    x: np.ndarray
    y: np.ndarray

    @abstractmethod
    def forecast(self, theta: np.ndarray) -> np.ndarray:
        """Probabilities (J, k, B) by parameters (J, M, B) or (J, M, 1)."""

    @abstractmethod
    def gradient(self, residual: np.ndarray) -> np.ndarray:
        """(J, M, B) from residuals (J, k, B)."""

    @abstractmethod
    def information(self, theta: np.ndarray, q: np.ndarray, forgets: np.ndarray) -> np.ndarray:
        """Curvature (J, M, M); ``forgets`` (J, 1, 1) says which rates need a larger one.

        Confident rows have little curvature, after which a change would move the parameters of a
        short memory too far.
        """

    def ahead(self, state: State) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Parameters after the rows (J, M), those before each row (J, M, B), and the
        log-likelihood of each row by the parameters before it (J, B).
        """
        path, likelihood = self._path(state)[2:]
        return path[:, :, -1], path[:, :, :-1], likelihood

    def learnt(self, state: State) -> tuple[State, np.ndarray, np.ndarray]:
        """The state after a whole block, and the last two of :meth:`ahead`."""
        q, sums, path, likelihood = self._path(state)
        theta, rate, B = state["theta"], state["rate"], likelihood.shape[1]
        kept = np.exp2(-B * rate)
        forgets = (rate > 0.0)[:, None, None]
        seen = state["information"] + self.information(theta[:, :, None], q, forgets)
        gain = _gain(state, seen)
        theta = theta - (gain @ sums[:, :, -1:])[:, :, 0]
        mass = state["left"] + B
        new = {
            "theta": theta,
            "information": kept[:, None, None] * seen,
            "gain": gain,
            "pull": (1.0 - kept)[:, None] * ((theta - state["start"]) @ state["prior"]),
            "mass": mass,
            "left": kept * (mass - HEADSTART) + HEADSTART,
        }
        return state | new, path[:, :, :-1], likelihood

    def _path(self, state: State) -> tuple[np.ndarray, ...]:
        """Probabilities by the parameters at the start of the block; gradients there, summed
        before each row and after the last (J, M, B + 1); parameters after so many rows, by one
        step of Newton; log-likelihoods.
        """
        theta = state["theta"][:, :, None]
        q = self.forecast(theta)
        each = np.concatenate([state["pull"][:, :, None], self.gradient(q - self.y)], axis=2)
        sums = np.add.accumulate(each, axis=2)
        share = state["mass"][:, None] / (state["left"][:, None] + np.arange(sums.shape[2]))
        path = theta - (state["gain"] @ sums) * share[:, None]
        return q, sums, path, log_likelihood(self.forecast(path[:, :, :-1]), self.y)


class Line(Design):
    """Two classes: M features, and outcomes (1, B) of 0 and 1."""

    def forecast(self, theta: np.ndarray) -> np.ndarray:
        scores = (theta * self.x).sum(axis=1, keepdims=True)
        return 1.0 / (1.0 + np.exp(np.clip(-scores, -DEEPEST, DEEPEST)))

    def gradient(self, residual: np.ndarray) -> np.ndarray:
        return residual * self.x

    def information(self, theta: np.ndarray, q: np.ndarray, forgets: np.ndarray) -> np.ndarray:
        """For rates that forget, the curvature of Jaakkola and Jordan's quadratic bound."""
        size = np.abs((theta * self.x).sum(axis=1, keepdims=True))
        bound = (np.abs(q - 0.5) + 0.25 * FLAT) / (size + FLAT)
        return (np.where(forgets, bound, q * (1.0 - q)) * self.x) @ self.x.T


class Softmax(Design):
    """K classes with scores a x + b: x are log-probabilities, y indicators, parameters (a, b)."""

    def forecast(self, theta: np.ndarray) -> np.ndarray:
        scores = self._scores(theta)
        each = np.exp(np.maximum(scores - scores.max(axis=1, keepdims=True), -DEEPEST))
        # In sequence, so that the sum of a row does not depend on the others.
        return each / np.add.accumulate(each, axis=1)[:, -1:]

    def _scores(self, theta: np.ndarray) -> np.ndarray:
        K = len(self.x)
        return theta[:, :K] * self.x + theta[:, K:]

    def gradient(self, residual: np.ndarray) -> np.ndarray:
        return np.concatenate([residual * self.x, residual], axis=1)

    def information(self, theta: np.ndarray, q: np.ndarray, forgets: np.ndarray) -> np.ndarray:
        """For rates that forget, the curvature at probabilities nearer to uniform ones."""
        K, k, q = len(self.x), np.arange(len(self.x)), _blurred(q, forgets)
        each = np.concatenate([q * self.x, q], axis=1)
        out = -(each @ each.transpose(0, 2, 1))
        out[:, k, k] += (each[:, :K] * self.x).sum(axis=2)
        out[:, k, K + k] += each[:, :K].sum(axis=2)
        out[:, K + k, k] += each[:, :K].sum(axis=2)
        out[:, K + k, K + k] += q.sum(axis=2)
        return out


class Tempered(Softmax):
    """K classes with one parameter, the inverse temperature."""

    def _scores(self, theta: np.ndarray) -> np.ndarray:
        return theta * self.x

    def gradient(self, residual: np.ndarray) -> np.ndarray:
        return (residual * self.x).sum(axis=1, keepdims=True)

    def information(self, theta: np.ndarray, q: np.ndarray, forgets: np.ndarray) -> np.ndarray:
        q = _blurred(q, forgets)
        mean = (q * self.x).sum(axis=1, keepdims=True)
        return (q * (self.x - mean) ** 2).sum(axis=(1, 2)).reshape(-1, 1, 1)


def begin_logistic(start: np.ndarray, precision: float, rate: np.ndarray) -> State:
    """State before the first row, from parameters (M,) and rates, the inverses of half-lives (J,);
    an infinite rate keeps the parameters.
    """
    J, M = len(rate), len(start)
    state = {
        "start": start,
        "prior": precision * np.eye(M),
        "rate": rate,
        "theta": np.tile(start, (J, 1)),
        "information": np.zeros((J, M, M)),
        "pull": np.zeros((J, M)),
        "mass": np.full(J, HEADSTART),
        "left": np.full(J, HEADSTART),
    }
    return state | {"gain": _gain(state, state["information"])}


def _gain(state: State, information: np.ndarray) -> np.ndarray:
    """Inverse of the information with the prior, (J, M, M); 0 where nothing is learnt."""
    out = np.linalg.inv(information + state["prior"])
    out[state["rate"] == np.inf] = 0.0
    return out


def _blurred(q: np.ndarray, forgets: np.ndarray) -> np.ndarray:
    return np.where(forgets, (1.0 - BLUR) * q + BLUR / q.shape[1], q)
