"""The map of ``benchmarks.experiments.amortised``: a Bayesian average over a grid of monotone maps
under a learned prior, the network that gives the prior, and its training.
"""

import numpy as np
from benchmarks.small_network import SmallNetwork, adam
from scipy.special import expit, logit, logsumexp, ndtri, softmax

from calibrant.contracts.calibrator import Calibrator
from calibrant.predictions import Predictions

SLOPES = np.array(
    [
        *(0.02, 0.04, 0.07, 0.11, 0.16, 0.22, 0.3, 0.38, 0.47, 0.57),
        *(0.68, 0.8, 0.9, 1.0, 1.12, 1.27, 1.5, 1.85, 2.4, 3.2),
    ]
)
OFFSETS = np.array([-3, -2, -1.4, -1, -0.7, -0.45, -0.2, 0, 0.2, 0.45, 0.7, 1, 1.4, 2, 3])
N_SHAPES, BEND, ROOT, POWER = 6, 0.5, 0.6, 1.5
GRID = (len(SLOPES), N_SHAPES, len(OFFSETS))
SMALLEST, LARGEST = 1e-12, 27.6
#: Trial intercepts, dense near 0, between which the one of an offset is interpolated.
INTERCEPTS = np.sign(np.linspace(-1, 1, 49)) * np.abs(np.linspace(-1, 1, 49)) ** 1.5 * 30.0
MOST_PIECES, MOST_FOR_RATE = 200, 64
N_NEW, EPOCHS, HIDDEN, BATCH = 48, 8, 26, 32
#: Added to losses before their ratio, so that near-perfect models do not decide the training.
NATS = 0.003


def log_odds(p):
    """Log-odds of probabilities, bounded."""
    return np.clip(logit(np.clip(p, SMALLEST, 1.0 - SMALLEST)), -LARGEST, LARGEST)


def shapes(x, scores):
    """The six shapes of log-odds ``x``, (6, m): straight, two bends at the median of the sorted
    ``scores``, two powers of the distance to it, and the normal score of the rank.
    """
    u, spread = x - np.median(scores), max(scores.std(), 0.05)
    scale = max(np.median(np.abs(scores - np.median(scores))) * 1.4826, 0.25 * scores.std(), 0.05)
    up, down = (np.logaddexp(0.0, s * u / scale) * scale - np.log(2.0) * scale for s in (1, -1))
    k, v = np.exp(BEND), np.abs(u) / scale
    powers = [np.sign(u) * scale * ((v + 0.1) ** g - 0.1**g) for g in (ROOT, POWER)]
    rank = 0.5 * (np.searchsorted(scores, x, "left") + np.searchsorted(scores, x, "right"))
    least = 0.5 / (len(scores) + 1)
    normal = ndtri(np.clip((rank + 0.5) / (len(scores) + 1), least, 1.0 - least)) * spread
    return np.stack([u, k * up - down / k, up / k - k * down, *powers, normal])


class Maps:
    """The grid of maps of calibration rows ``p``, ``y``: log likelihoods ``fits``, (20, 6, 15), and
    ``own`` of the unchanged predictions.
    """

    def __init__(self, p, y):
        x = log_odds(p)
        self.scores, own = np.sort(x), shapes(x, np.sort(x))
        parts = np.array_split(np.argsort(x, kind="stable"), min(len(x), MOST_PIECES))
        means = np.stack([own[:, i].mean(axis=1) for i in parts], axis=1)
        rows, events = np.array([len(i) for i in parts]), np.array([y[i].sum() for i in parts])
        self.intercepts = self._intercepts(means, logit(np.clip(expit(x).mean(), 1e-6, 1 - 1e-6)))
        odds = SLOPES[:, None, None, None] * means[:, None] + self.intercepts[..., None]
        self.fits = odds @ events - np.logaddexp(0.0, odds) @ rows
        self.own = float(y @ x - np.logaddexp(0.0, x).sum())

    def _intercepts(self, means, rate):
        """Intercepts (20, 6, 15) at which the mean probability is the model's, moved by an
        offset of its log-odds.
        """
        some = means[:, np.linspace(0, means.shape[1] - 1, MOST_FOR_RATE).astype(int)]
        odds = SLOPES[:, None, None] * some
        found = expit(odds[..., None, :] + INTERCEPTS[:, None]).mean(axis=-1)
        found = logit(np.clip(found, 1e-9, 1.0 - 1e-9)).reshape(-1, len(INTERCEPTS))
        return np.stack([np.interp(rate + OFFSETS, f, INTERCEPTS) for f in found]).reshape(GRID)

    def chances(self, p, used=None):
        """Probabilities (maps, m) of new rows by the maps ``used`` (positions), or all."""
        used = np.arange(np.prod(GRID)) if used is None else used
        slope, shape, _ = np.unravel_index(used, GRID)
        x = shapes(log_odds(p), self.scores)
        return expit(SLOPES[slope, None] * x[shape] + self.intercepts.ravel()[used, None])


def numbers(p):
    """The prior's 16 inputs: what is known of the scores without their labels."""
    x, n = log_odds(p), len(p)
    e, levels = expit(x), len(np.unique(p)) / n
    rate = np.clip(e.mean(), 1e-4, 1.0 - 1e-4)
    skew = ((x - x.mean()) ** 3).mean() / (x.std() + 1e-3) ** 3
    shape = (np.log(x.std() + 0.02), np.log((e * (1.0 - e)).mean() + 1e-4), np.arcsinh(skew))
    spread = np.log(((e - rate) ** 2).mean() / (rate * (1.0 - rate)) + 1e-3)
    ends = ((e < 1e-3).mean(), (e > 1.0 - 1e-3).mean(), (np.abs(x) > 12.0).mean())
    quantiles = np.arcsinh(np.quantile(x, [0.05, 0.25, 0.5, 0.75, 0.95]))
    ties = (levels, float(levels < 0.6), np.log(n))
    return np.array([logit(rate), *quantiles, *shape, spread, *ends, *ties])


class Prior:
    """Log prior of the maps and of the unchanged predictions, from the scores' numbers."""

    def __init__(self, centre, spread, rng):
        self.centre, self.spread = centre, spread
        self.network = SmallNetwork((len(centre), HIDDEN, sum(GRID) + 1), rng)
        self.network.weights[-1][:] = 0.0
        slope = -0.5 * ((np.log(SLOPES) + 0.1) / 0.8) ** 2
        self.start = [*slope, 1.0, *np.zeros(N_SHAPES - 1), *(-2.0 * np.abs(OFFSETS)), 0.0]

    def inputs(self, known):
        """Standardised numbers, bounded."""
        return np.clip((known - self.centre) / self.spread, -4.0, 4.0)

    def split(self, output):
        """(1,801,) log prior of an output of the network, the unchanged predictions last."""
        a, b, c, own = np.split(output + self.start, np.cumsum(GRID))
        joint = (a[:, None, None] + b[:, None] + c).ravel()
        return np.append(joint - logsumexp(joint), own)

    def __call__(self, p):
        return self.split(self.network(self.inputs(numbers(p))[None])[0])

    def derivative(self, output, task):
        """Of the logarithm of the task's relative loss, by the network's output."""
        log_prior = self.split(output)
        weight = softmax(log_prior + task["fits"])
        mean = np.clip(weight @ task["chances"], SMALLEST, 1.0 - 1e-7)
        truth = task["truth"]
        slope = -(truth / mean - (1.0 - truth) / (1.0 - mean)) / len(mean)
        each = task["chances"] @ slope
        own = weight * (each - weight @ each) / (loss(mean, truth) + NATS) * task["weight"]
        grid = (own[:-1] - np.exp(log_prior[:-1]) * own[:-1].sum()).reshape(GRID)
        sums = [grid.sum(axis=tuple({0, 1, 2} - {k})) for k in range(3)]
        return np.concatenate([*sums, own[-1:]])


def loss(q, truth):
    """Mean expected log loss of probabilities."""
    q = np.clip(q, SMALLEST, 1.0 - SMALLEST)
    return float(-(truth * np.log(q) + (1.0 - truth) * np.log1p(-q)).mean())


def prepared(p, y, p_new, truth, weight=1.0):
    """A task as training reads it."""
    maps = Maps(p, y)
    fits = np.append(maps.fits.ravel(), maps.own)
    chances = np.vstack([maps.chances(p_new), p_new]).astype(np.float32)
    return {
        "numbers": numbers(p),
        "fits": fits - fits.max(),
        "chances": chances,
        "truth": truth.astype(np.float32),
        "weight": weight,
    }


def trained(tasks, seed=0):
    """The prior, by stochastic descent over the tasks."""
    rng = np.random.default_rng(seed)
    known = np.array([task["numbers"] for task in tasks])
    prior = Prior(known.mean(axis=0), known.std(axis=0) + 1e-3, rng)
    X, step = prior.inputs(known), adam(prior.network.parameters, rate=2e-3)
    scale = np.mean([task["weight"] for task in tasks])
    for _ in range(EPOCHS):
        for rows in np.array_split(rng.permutation(len(X)), len(X) // BATCH):

            def derivative(outputs, rows=rows):
                pairs = zip(outputs, rows, strict=True)
                return np.array([prior.derivative(o, tasks[i]) for o, i in pairs]) / scale

            step(prior.network.gradients(X[rows], derivative))
    return prior


class Amortised(Calibrator):
    """The Bayesian average under a learned ``prior``, for two classes."""

    def __init__(self, prior=None, *, inputs="probability", classes=None):
        super().__init__(inputs=inputs, classes=classes)
        self.prior = prior

    def _fit(self, record: Predictions) -> None:
        times = np.maximum(np.round(record.weights), 1.0).astype(int)
        p = np.repeat(record.probabilities[:, 1], times)
        y = np.repeat(record.labels, times).astype(float)
        self.maps_ = Maps(p, y)
        weight = softmax(self.prior(p) + np.append(self.maps_.fits.ravel(), self.maps_.own))
        self.used_ = np.flatnonzero(weight[:-1] > 1e-5 * weight.max())
        self.share_, self.weight_ = weight[-1], weight[self.used_]
        self.weight_ *= (1.0 - self.share_) / max(self.weight_.sum(), SMALLEST)
        self.gain_in_errors_ = self._gain(p, y)

    def _gain(self, p, y):
        """Gain over the unchanged predictions in standard errors, each row predicted from all
        others, exactly.
        """
        chances = np.where(y == 1.0, *(q for q in self._both(self.maps_.chances(p, self.used_))))
        own = np.where(y == 1.0, *self._both(p))
        inverse = self.weight_ @ (1.0 / chances) + self.share_ / own
        gains = -np.log(inverse) - np.log(own)
        return gains.mean() / (gains.std() / len(p) ** 0.5 + 1e-4)

    @staticmethod
    def _both(q):
        q = np.clip(q, 1e-9, 1.0 - 1e-9)
        return q, 1.0 - q

    def _predict_proba(self, record: Predictions) -> np.ndarray:
        p, place = np.unique(record.probabilities[:, 1], return_inverse=True)
        q = (self.weight_ @ self.maps_.chances(p, self.used_) + self.share_ * p)[place]
        return np.column_stack([1.0 - q, q])
