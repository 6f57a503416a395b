"""The paper's network: four layers with rectified linear units, SGD at rate 0.001 with momentum
0.9, in its two stages.

First the mean, by the L1 loss. Then everything is frozen and a branch of the same structure learns
the log variance by the NLL.
"""

import numpy as np
from benchmarks.small_network import SmallNetwork, momentum, train

WIDTHS = (1, 64, 64, 64, 1)
#: Passes over the 50,000 rows, in batches of 64; the paper does not say how many.
EPOCHS = 15


def trained(x, y, at, seed, epochs=EPOCHS):
    """(mean, std) at ``at`` of a network trained on (x, y)."""
    rng = np.random.default_rng(seed)
    X = x[:, None]
    of_mean, of_log_variance = SmallNetwork(WIDTHS, rng), SmallNetwork(WIDTHS, rng)
    train(
        of_mean,
        X,
        lambda rows, out: np.sign(out - y[rows, None]),
        momentum(of_mean.parameters),
        rng,
        epochs,
    )
    squared = np.square(y[:, None] - of_mean(X))

    def derivative(rows, out):
        return 0.5 * (1.0 - squared[rows] * np.exp(-out))

    train(of_log_variance, X, derivative, momentum(of_log_variance.parameters), rng, epochs)
    return of_mean(at[:, None])[:, 0], np.exp(0.5 * of_log_variance(at[:, None])[:, 0])
