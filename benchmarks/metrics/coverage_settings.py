"""The models, forecasts and true values of the simulation of coverage."""

import numpy as np

from calibrant import metrics


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def two(p, true=None):
    """Probabilities of two classes, as said and true."""
    true = p if true is None else true
    return np.column_stack([1.0 - p, p]), np.column_stack([1.0 - true, true])


def sharp(n, rng):
    """Finding F16: half the rows 1 - 10^U(-3, -1), half 10^U(-3, -1)."""
    low = 10.0 ** rng.uniform(-3.0, -1.0, n)
    return two(np.where(rng.random(n) < 0.5, low, 1.0 - low))


def of_logits(scale, stretch):
    def draw(n, rng):
        z = scale * rng.normal(size=n)
        return two(sigmoid(stretch * z), sigmoid(z))

    return draw


def dirichlet(n_classes, mass):
    return lambda n, rng: (rng.dirichlet(np.full(n_classes, mass), n),) * 2


#: Name -> draw(n, rng): (what the model says, what is true), (n, K) each.
MODELS = {
    "sharp": sharp,
    "constant .97": lambda n, rng: two(np.full(n, 0.97)),
    "constant .999": lambda n, rng: two(np.full(n, 0.999)),
    "rare event": lambda n, rng: two(0.02 * rng.beta(2.0, 2.0, n)),
    "perfect": lambda n, rng: two((rng.random(n) < 0.5).astype(float)),
    "sure, 2 % wrong": lambda n, rng: two(np.full(n, 0.9999), np.full(n, 0.98)),
    "overconfident": of_logits(1.5, 2.0),
    "underconfident": of_logits(1.5, 0.5),
    "calibrated": of_logits(1.5, 1.0),
    "Dirichlet, K = 3": dirichlet(3, 1.0),
    "Dirichlet, K = 100": dirichlet(100, 0.1),
}
#: Those whose outcomes count few: every interval of them moves in steps.
LATTICE = ("constant .97", "constant .999", "rare event", "perfect", "sure, 2 % wrong")


def normal(n, rng):
    std = rng.gamma(4.0, 0.25, n)
    return std, std * rng.normal(size=n)


#: Name -> draw(n, rng): (std, error), (n,) each.
FORECASTS = {
    "normal": normal,
    "std too small": lambda n, rng: (lambda s, e: (0.6 * s, e))(*normal(n, rng)),
    "heavy tails": lambda n, rng: (np.ones(n), rng.standard_t(4.0, n) / np.sqrt(2.0)),
    "one std": lambda n, rng: (np.ones(n), rng.normal(size=n)),
}


def chosen():
    """Every metric of the public list, once each, by its key."""
    found = {}
    for name in metrics.__all__:
        metric = getattr(metrics, name)
        if hasattr(metric, "interval_of"):
            found.setdefault(metric.key, metric)
    return found


def labels(true, rng):
    return (rng.random((len(true), 1)) > np.cumsum(true, axis=1)[:, :-1]).sum(axis=1)


def drawn(metric, model, n, rng):
    """Arguments of the metric: (y, P), or (y, mean, std)."""
    if metric.domain.name == "regression":
        std, error = FORECASTS[model](n, rng)
        return error, np.zeros(n), std
    P, true = MODELS[model](n, rng)
    return labels(true, rng), P


def true_value(metric, model):
    """The metric on very many rows, every label counted by its true probability; a function of
    what is given where its range matters.
    """
    rng = np.random.default_rng(99)
    if metric.key == "width_dependence":
        # In each of these forecasts whether an outcome is held does not depend on the width.
        return 0.0
    if metric.key == "coverage_width_criterion":
        return _at_range(metric, drawn(metric, model, 1_000_000, rng))
    if metric.domain.name == "regression":
        return metric(*drawn(metric, model, 1_000_000, rng))
    P, true = MODELS[model](2, rng)
    rows = 300_000 // P.shape[1]
    P, true = MODELS[model](rows, rng)
    K = P.shape[1]
    weight = true.ravel()
    return metric(np.tile(np.arange(K), rows), np.repeat(P, K, axis=0), sample_weight=weight)


def _at_range(metric, many):
    """The coverage-width criterion of the outcomes given, with the true coverage and width."""
    coverage = metrics.interval_coverage(*many, level=metric.level)
    width = metrics.interval_width(*many, level=metric.level)
    return lambda y, mean, std: (
        (1.0 - width / np.ptp(y)) * np.exp(-metric.eta * (coverage - metric.level) ** 2)
    )
