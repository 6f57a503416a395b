"""The models: each is fit(X, y, seed) and gives predict(X) -> what it says of new rows, as a dict
of ``mean`` and ``std``, (n,) each.

Inputs and outcomes are standardised. Quantile boosting says ``levels`` and ``values`` (n, levels)
instead.
"""

import numpy as np
from benchmarks.small_network import SmallNetwork, adam, train
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.neural_network import MLPRegressor

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
#: A spread of 0 would be a density without bound; outcomes have standard deviation 1.
SMALLEST = 1e-3


def network_ensemble(X, y, seed, members=5):
    """Five networks: their spread and, added to it, the error on the training rows."""
    nets = [
        MLPRegressor(hidden_layer_sizes=(50,), max_iter=150, random_state=10 * seed + k).fit(X, y)
        for k in range(members)
    ]
    noise = np.std(y - np.mean([net.predict(X) for net in nets], axis=0))
    return lambda Z: _spread(np.stack([net.predict(Z) for net in nets], axis=1), noise)


def random_forest(X, y, seed):
    """The spread over 60 trees, and nothing else: what many take for its uncertainty."""
    forest = RandomForestRegressor(60, min_samples_leaf=2, random_state=seed).fit(X, y)
    return lambda Z: _spread(
        np.stack([tree.predict(Z) for tree in forest.estimators_], axis=1), 0.0
    )


def gaussian_process(X, y, seed, most=600):
    """A Gaussian process with one length scale and noise, on at most 600 rows."""
    rows = np.random.default_rng(seed).permutation(len(y))[:most]
    process = GaussianProcessRegressor(
        ConstantKernel() * RBF(np.sqrt(X.shape[1])) + WhiteKernel(0.1), random_state=seed
    )
    process.fit(X[rows], y[rows])

    def predict(Z):
        mean, std = process.predict(Z, return_std=True)
        return {"mean": mean, "std": np.maximum(std, SMALLEST)}

    return predict


def quantile_boosting(X, y, seed):
    """Gradient boosting, one model a quantile."""
    settings = {"loss": "quantile", "n_estimators": 200, "subsample": 0.7, "random_state": seed}
    models = [GradientBoostingRegressor(alpha=level, **settings).fit(X, y) for level in LEVELS]
    return lambda Z: {
        "levels": np.array(LEVELS),
        "values": np.sort([model.predict(Z) for model in models], axis=0).T,
    }


def mean_variance_network(X, y, seed, beta=0.5, epochs=150):
    r"""One network with a mean and a log variance, trained by the beta-NLL (Seitzer et al. 2022),
    as NGBoost's normal is by boosting.

    The derivative of each row's negative log likelihood is multiplied by :math:`\sigma^{2 \beta}`,
    which keeps the mean from being given up where the variance is large.
    """
    rng = np.random.default_rng(seed)
    network = SmallNetwork((X.shape[1], 50, 50, 2), rng)

    def derivative(rows, outputs):
        error, log_variance = outputs[:, 0] - y[rows], np.clip(outputs[:, 1], -12.0, 6.0)
        weight = np.exp((beta - 1.0) * log_variance)
        return np.column_stack(
            [weight * error, 0.5 * (np.exp(beta * log_variance) - weight * error**2)]
        )

    train(network, X, derivative, adam(network.parameters), rng, epochs)

    def predict(Z):
        mean, log_variance = network(Z).T
        return {
            "mean": mean,
            "std": np.maximum(np.exp(0.5 * np.clip(log_variance, -12.0, 6.0)), SMALLEST),
        }

    return predict


def _spread(samples, noise):
    std = np.sqrt(samples.var(axis=1, ddof=1) + noise**2)
    return {"mean": samples.mean(axis=1), "std": np.maximum(std, SMALLEST)}
