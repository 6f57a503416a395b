"""Rows that come one by one: logistic and isotonic recursions that forget, their mixtures, and bets
against a claim.

The recursions run at several rates of forgetting, in blocks; mixtures weigh the rates by their own
log loss. The rate is the first axis of all arrays and the row the last: parameters are (J, M),
gradients (J, M, B). A block is a run of rows whose limits depend only on their number since the
start, so the result does not depend on how the rows were batched.

A bet against a claim on the rates of hits is a test martingale over recalibrations, with an unknown
time of change. Each alternative is a recalibration q = sigmoid(a + b logit(rate)). Its stake on a
bucket of rows is multiplied by the likelihood of the hits at q over that at the claimed rate r
nearest to q, one q and r for each bin of scores. A row whose true rate is p multiplies the stake by
p q/r + (1 - p) (1 - q)/(1 - r) on average, which is linear in p and 1 at p = r; the product over
the rows of a bin is at most that with every p at their mean (inequality of the means). So the
expected factor is at most 1 under the claim, however coarse the bins are, and exactly 1 where the
scores of a bin are equal and one rate is claimed.

A bet against forecasts goes by the cells between levels in which their probability integral
transforms (PIT) fall. A forecast claims that its PIT is uniform, so that it falls between two
levels as often as they are apart. The cells are the leaves of a tree: first, is the PIT at most the
level nearest a half; then, level by level outwards, is it beyond the next one. Each node is an
event of stated probability, with the log factors of ``rate_bets``. A row's factor is the product
along its path. Its expected value, over rows whose cells have the claimed rates on average, is at
most 1, by the same inequality and because the expected factor at each node is. Counts are (C, C):
``counts[a, b]`` rows whose PIT is known to be in cells a to b. For ties, each alternative gets the
factor of the cell that pays it least, so that no way of breaking the tie makes the factor too
large.
"""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
import scipy
from scipy import special

from calibrant._numerics.logistic import log_odds

__all__ = [
    "CENTRES",
    "DEEPEST",
    "N_ALTERNATIVES",
    "N_RECALIBRATIONS",
    "SHARED",
    "Cells",
    "Design",
    "Line",
    "Softmax",
    "State",
    "Tempered",
    "begin_isotonic",
    "begin_logistic",
    "begin_mixture",
    "block_size",
    "cell_factors",
    "cell_shares",
    "forecast_of",
    "growth_since",
    "learn_batch",
    "learn_block",
    "likeliest_start",
    "log_evidence",
    "log_factors",
    "log_likelihood",
    "next_stakes",
    "node_sums",
    "pit_log_factors",
    "rate_bets",
    "read_block",
    "spread",
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
        retained = np.exp2(-B * rate)
        forgets = (rate > 0.0)[:, None, None]
        information = state["information"] + self.information(theta[:, :, None], q, forgets)
        gain = _gain(state, information)
        theta = theta - (gain @ sums[:, :, -1:])[:, :, 0]
        mass = state["left"] + B
        new = {
            "theta": theta,
            "information": retained[:, None, None] * information,
            "gain": gain,
            "pull": (1.0 - retained)[:, None] * ((theta - state["start"]) @ state["prior"]),
            "mass": mass,
            "left": retained * (mass - HEADSTART) + HEADSTART,
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


# -- Bets ------------------------------------------------------------------------------------------

#: Shifts on the logit scale, from a factor of 1.05 in the odds to one of 25, and slopes from 1/4 to
#: 4.
SHIFTS = np.concatenate([[0.0], *([size, -size] for size in 0.05 * 2.0 ** np.arange(7))])
SLOPES = 2.0 ** (0.5 * np.arange(-4, 5))
#: All pairs but the identity.
ALTERNATIVES = np.array([(a, b) for a in SHIFTS for b in SLOPES if (a, b) != (0.0, 1.0)])
N_ALTERNATIVES = len(ALTERNATIVES)
#: The rates of a claim stay this far from 0 and 1 on the side that would make a bet infinite or pay
#: for nothing.
NEAR = 1e-9


def log_factors(sums: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Log factor of each alternative's stake, (A,), for one bucket: ``sums`` (B, 3) weight, summed
    score, hits of each bin.

    The claim is that the rate of a bin is between its mean score + ``low`` and + ``high``, (B,)
    each.
    """
    filled = sums[:, 0] > 0.0
    (n, total, hits), low, high = sums[filled].T, low[filled], high[filled]
    score = np.clip(total / n, 0.0, 1.0)
    shift, slope = ALTERNATIVES.T[..., None]
    z = shift + slope * log_odds(np.clip(score + 0.5 * (low + high), NEAR, 1.0 - NEAR))
    hit, miss = rate_bets(score, low, high, z)
    return hit @ hits + miss @ (n - hits)


def rate_bets(
    rate: np.ndarray, low: np.ndarray, high: np.ndarray, z: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Log factors, (A, B) each, of one hit and of one miss: alternatives of log-odds ``z`` (A, B)
    against a claim on B rates.

    The claim is that each is between ``rate`` + ``low`` and ``rate`` + ``high``, (B,) each.
    """
    floor = np.minimum(np.clip(rate + low, 0.0, 1.0), 1.0 - NEAR)
    ceiling = np.maximum(np.clip(rate + high, 0.0, 1.0), NEAR)
    alternative = special.expit(z)
    nearest = np.clip(alternative, floor, ceiling)
    # Within the claim there is no bet.
    bet = alternative != nearest
    safe = np.where(bet, nearest, 0.5)
    hit = np.where(bet, special.log_expit(z) - np.log(safe), 0.0)
    miss = np.where(bet, special.log_expit(-z) - np.log1p(-safe), 0.0)
    return hit, miss


def next_stakes(log_stakes: np.ndarray, count: int, factors: np.ndarray) -> np.ndarray:
    """Log stakes (A,) after bucket ``count`` = 1, 2, ...: of the 1 at the start, 1 / (count
    (count + 1)) is first staked there, evenly.
    """
    fresh = -np.log(count * (count + 1.0) * len(factors))
    return np.logaddexp(log_stakes, fresh) + factors


def log_evidence(log_stakes: np.ndarray, count: int) -> float:
    """Log of the total capital after ``count`` buckets: the stakes, and the unstaked 1 /
    (count + 1).
    """
    return float(np.logaddexp(np.logaddexp.reduce(log_stakes), -np.log(count + 1.0)))


def growth_since(factors: np.ndarray) -> np.ndarray:
    """Log of the current value of the stakes placed at each bucket, (T,), from all ``factors`` (T,
    A).
    """
    return np.logaddexp.reduce(np.cumsum(factors[::-1], axis=0)[::-1], axis=1)


def likeliest_start(growth: np.ndarray) -> int:
    """The bucket, from 0, whose stakes have grown most; ``growth`` (T,): from ``growth_since``."""
    count = np.arange(1.0, len(growth) + 1.0)
    return int(np.argmax(growth - np.log(count * (count + 1.0))))


#: Factors of the std: 9 % and 19 % too narrow or wide, then by square roots of two to four times.
SCALES = 2.0 ** np.array([-2.0, -1.0, -0.5, -0.25, -0.125, 0.0, 0.125, 0.25, 0.5, 1.0, 2.0])
#: All means and std of the normal scores but (0, 1).
RECALIBRATIONS = np.array([(m, s) for m in SHIFTS for s in SCALES if (m, s) != (0.0, 1.0)])
N_RECALIBRATIONS = len(RECALIBRATIONS)


def _root(levels: np.ndarray) -> int:
    return int(np.argmin(np.abs(levels - 0.5)))


def _tree(levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(hit (C, L), miss (C, L)): the answers at each node on the path to each cell."""
    cell, node, root = np.arange(len(levels) + 1)[:, None], np.arange(len(levels)), _root(levels)
    hit = np.where(node <= root, cell <= node, cell > node)
    reached = np.where(node == root, True, np.where(node < root, cell <= node + 1, cell > node - 1))
    return hit.astype(np.float64), (reached & ~hit).astype(np.float64)


def _node_rates(z: np.ndarray, root: int) -> np.ndarray:
    """(..., L) logarithm of the hit rate of each node, for levels with normal scores ``z`` (...,
    L).
    """
    below, above = special.log_ndtr(z), special.log_ndtr(-z)
    inner = below[..., :root] - below[..., 1 : root + 1]
    outer = above[..., root + 1 :] - above[..., root:-1]
    return np.concatenate([inner, below[..., root : root + 1], outer], axis=-1)


def cell_factors(levels: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Log factors (A, C) of one row in each cell, where the rate of each node is claimed within
    ``low`` and ``high``, offsets (L,).
    """
    hits, misses = _tree(levels)
    z, root = special.ndtri(levels), _root(levels)
    mean, std = RECALIBRATIONS[:, :1], RECALIBRATIONS[:, 1:]
    rate, other = (
        np.clip(np.exp(_node_rates(each, root)), NEAR, 1.0 - NEAR) for each in (z, (z - mean) / std)
    )
    centre = np.clip(rate + 0.5 * (low + high), NEAR, 1.0 - NEAR)
    hit, miss = rate_bets(rate, low, high, log_odds(other) - log_odds(rate) + log_odds(centre))
    return hit @ hits.T + miss @ misses.T


def cell_shares(levels: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    """(A, C) probability of each cell, at least 1e-12, where normal scores have these means and
    stds, (A,) each.
    """
    z = (special.ndtri(levels) - mean[:, None]) / std[:, None]
    ends = np.pad(z, ((0, 0), (1, 1)), constant_values=((0, 0), (-np.inf, np.inf)))
    low, high = ends[:, :-1], ends[:, 1:]
    # Use the tail that is more accurate.
    return np.maximum(
        np.where(
            low < 0.0,
            special.ndtr(high) - special.ndtr(low),
            special.ndtr(-low) - special.ndtr(-high),
        ),
        1e-12,
    )


def pit_log_factors(counts: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Log factor of each alternative's stake, (A,), for the (C, C) counts of one bucket."""
    out = factors @ np.diagonal(counts)
    for first, last in np.argwhere(np.triu(counts, 1) > 0.0):
        out = out + counts[first, last] * factors[:, first : last + 1].min(axis=1)
    return out


def spread(counts: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """(..., C) rows by cell of (..., C, C) counts; ambiguous rows are distributed as the forecast
    predicts.
    """
    width = np.diff(levels, prepend=0.0, append=1.0)
    ends = np.concatenate([[0.0], np.cumsum(width)])
    # share[a, b, c]: of a row in cells a to b the part that belongs to cell c.
    cell = np.arange(len(width))
    inside = (cell[:, None, None] <= cell) & (cell <= cell[:, None])
    whole = np.maximum(ends[1:] - ends[:-1, None], np.finfo(np.float64).tiny)[..., None]
    return np.einsum("...ab,abc->...c", counts, inside * width / whole)


def node_sums(cells: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """(..., L, 3) rows, summed claimed rate and hits of each node of the tree, from rows by cell
    (..., C).
    """
    hits, misses = _tree(levels)
    rate = np.exp(_node_rates(special.ndtri(levels), _root(levels)))
    n = cells @ (hits + misses)
    return np.stack([n, n * rate, np.minimum(cells @ hits, n)], axis=-1)


# -- Isotonic regression in cells ------------------------------------------------------------------

#: Cells of the log-odds.
WIDTH, CENTRES = 0.2, 0.2 * np.arange(-32.0, 33.0)
#: Rows in a cell that the start counts as.
ROWS = 0.25


@dataclass(frozen=True)
class Cells:
    """Log-odds x (1, B) and outcomes y (1, B) of a block; the parameters are values of cells."""

    x: np.ndarray
    y: np.ndarray

    def forecast(self, theta: np.ndarray) -> np.ndarray:
        """Probabilities (J, 1, B), linear between the centres of the cells."""
        place = self._place()
        low = np.minimum(place.astype(np.intp), len(CENTRES) - 2)
        value, share = theta[:, :, 0], place - low
        return ((1.0 - share) * value[:, low] + share * value[:, low + 1])[:, None]

    def _place(self) -> np.ndarray:
        return np.clip((self.x[0] - CENTRES[0]) / WIDTH, 0.0, len(CENTRES) - 1.0)

    def ahead(self, state: State) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As of a :class:`Design`; the values change only at the end of a block."""
        path = state["theta"][:, :, None]
        return state["theta"], path, log_likelihood(self.forecast(path), self.y)

    def learnt(self, state: State) -> tuple[State, np.ndarray, np.ndarray]:
        """The state after a whole block, and the last two of :meth:`ahead`."""
        cell, retained = (
            np.rint(self._place()).astype(np.intp),
            np.exp2(-len(self.y.T) * state["rate"]),
        )
        new = {
            name: retained[:, None] * (state[name] + np.bincount(cell, weight, len(CENTRES)))
            for name, weight in (("rows", None), ("hits", self.y[0]))
        }
        # Offsets keep the fits of the rates apart, in one call.
        mass, offset = new["rows"] + ROWS, 2.0 * np.arange(len(retained))[:, None]
        mean = (new["hits"] + ROWS * state["start"]) / mass + offset
        fit = scipy.optimize.isotonic_regression(mean.ravel(), weights=mass.ravel()).x
        least = np.exp(-DEEPEST)
        new["theta"] = np.clip(fit.reshape(mean.shape) - offset, least, 1.0 - least)
        return state | new, *self.ahead(state)[1:]


def begin_isotonic(start: np.ndarray, rate: np.ndarray) -> State:
    """State before the first row, from probabilities at the centres of the cells; an infinite rate
    keeps them.
    """
    theta = np.tile(start, (len(rate), 1))
    none = np.zeros_like(theta)
    return {"start": start, "rate": rate, "rows": none, "hits": none, "theta": theta}


# -- Mixtures of rates -----------------------------------------------------------------------------

#: After a block of B rows, n in all, members share B / (n + this) of the weight equally.
SHARED = 256.0
#: Keeps logarithms of weights finite.
TINY = 1e-300


def block_size(n: int) -> int:
    """Rows of the block that begins after n rows: up to 64, and up to 256 far from the start."""
    return max(1, min(64, n // 8), min(256, n // 512))


def begin_mixture(count: int, n_bins: int) -> State:
    """Equal weights of rates, and empty bins."""
    sizes = {"rows_learnt": 1, "batches": 1, "bin_rows": n_bins, "bin_hits": n_bins}
    empty = {name: np.zeros(size) for name, size in sizes.items()}
    return empty | {"log_weight": np.full(count, -np.log(count))}


def learn_block(
    state: State, rows: Design | Cells, rule: str | None, with_predictions: bool
) -> tuple[State, np.ndarray]:
    """The state after a whole block, and the probabilities (k, B) before each row if wanted (else
    the outcomes).
    """
    new, path, likelihood = rows.learnt(state)
    out = rows.y
    if with_predictions or rule is not None:
        out, bins = _mixed(state, rows, path, likelihood, rule)
        new |= bins
    new["rows_learnt"] = state["rows_learnt"] + likelihood.shape[1]
    share = likelihood.shape[1] / float((new["rows_learnt"] + SHARED)[0])
    return new | {"log_weight": _shared(state, likelihood.sum(axis=1), share)}, out


def _shared(state: State, gained: np.ndarray, share: float) -> np.ndarray:
    """Logarithms of the weights (J,) after log-likelihoods, of which all but the start share some.

    A run of luck must not bring the start back once it has lost.
    """
    learns = np.isfinite(state["rate"])
    weight = (1.0 - share) * _weights(state["log_weight"] + gained) + share * learns / learns.sum()
    return np.log(np.maximum(weight, TINY))


def learn_batch(
    state: State, kind: type[Design] | type[Cells], x: np.ndarray, y: np.ndarray, most: int
) -> tuple[State, np.ndarray]:
    """The state after a batch of rows (m, b), (k, b) that were all predicted before it, and their
    probabilities (k, b).

    The members' losses are those of what they predicted, and count 1 / ``most`` each, b <= most:
    by Hoelder's inequality the losses of the mixture exceed those of a member by at most ``most``
    times the logarithm of its weight, whatever the rows.
    """
    rows = kind(x, y)
    theta = kind(x[:, :0], y[:, :0]).ahead(state)[0]
    each = rows.forecast(theta[:, :, None])
    weight = _weights(state["log_weight"])
    q = np.add.accumulate(weight[:, None, None] * each, axis=0)[-1]
    gained = log_likelihood(each, y).sum(axis=1) / most
    new, i = state, 0
    while i < x.shape[1]:
        size = block_size(int(new["rows_learnt"][0]))
        part = kind(x[:, i : i + size].copy(), y[:, i : i + size].copy())
        new = part.learnt(new)[0]
        new["rows_learnt"] = new["rows_learnt"] + part.x.shape[1]
        i += size
    batches = state["batches"] + 1.0
    share = 1.0 / float((batches + SHARED)[0])
    return new | {"batches": batches, "log_weight": _shared(state, gained, share)}, q


def read_block(state: State, rows: Design | Cells, rule: str | None) -> tuple[State, np.ndarray]:
    """Parameters ("theta"), weights ("weight") and bins after some rows of a block, and the
    probabilities (k, B) before each row.
    """
    theta, path, likelihood = rows.ahead(state)
    out, bins = _mixed(state, rows, path, likelihood, rule)
    weight = _weights(state["log_weight"] + likelihood.sum(axis=1))
    return {"theta": theta, "weight": weight} | bins, out


def forecast_of(rows: Design | Cells, now: State, rule: str | None) -> np.ndarray:
    """Probabilities (k, B) of rows by the parameters, weights and bins of :func:`read_block`."""
    each = now["weight"][:, None, None] * rows.forecast(now["theta"][:, :, None])
    q = np.add.accumulate(each, axis=0)[-1]
    if rule is None:
        return q
    place = _bin_of(q, len(now["bin_rows"]))
    return _in_bin(q, now["bin_hits"][place], now["bin_rows"][place], rule)


def _weights(log_weight: np.ndarray) -> np.ndarray:
    """Weights that sum to 1 over the first axis."""
    weight = np.exp(log_weight - log_weight.max(axis=0))
    return weight / weight.sum(axis=0)


def _mixed(
    state: State, rows: Design | Cells, path: np.ndarray, likelihood: np.ndarray, rule: str | None
) -> tuple[np.ndarray, State]:
    """Probabilities (k, B) before each row, and the bins after the last."""
    before = np.add.accumulate(likelihood, axis=1) - likelihood
    weight = _weights(state["log_weight"][:, None] + before)
    q = (weight[:, None] * rows.forecast(path)).sum(axis=0)
    if rule is None:
        return q, {}
    place, m = _bin_of(q[0], len(state["bin_rows"])), np.arange(len(state["bin_rows"]))[:, None]
    member, each = (m == place).astype(np.float64), np.arange(len(place))
    hits, count = (
        np.add.accumulate(np.column_stack([state[name], new]), axis=1)
        for name, new in (("bin_hits", member * rows.y), ("bin_rows", member))
    )
    out = _in_bin(q[0], hits[place, each], count[place, each], rule)
    return out[None], {"bin_hits": hits[:, -1], "bin_rows": count[:, -1]}


def _bin_of(q: np.ndarray, n_bins: int) -> np.ndarray:
    return np.minimum((q * n_bins).astype(np.intp), n_bins - 1)


def _in_bin(q: np.ndarray, hits: np.ndarray, rows: np.ndarray, rule: str) -> np.ndarray:
    """Probability from the outcomes of earlier rows in the bin of q: by "brier" their mean, or q
    before the first; by "log_loss" (hits + 1/2) / (rows + 1).
    """
    if rule == "log_loss":
        return (hits + 0.5) / (rows + 1.0)
    return np.where(rows > 0.0, hits / np.maximum(rows, 1.0), q)
