import numpy as np
from scipy import special, stats

from calibrant._kernels.intervals import auroc_limits


def test_written_out():
    """Half a row of which nothing is known, with mean 1/2 and variance 1/12, joins either side;
    Student's t by the smaller one.
    """
    sides = [
        (np.array([1.0, 0.5, 0.75]), np.array([1.0, 2.0, 1.0])),
        (np.array([0.9, 0.6]), np.array([3.0, 2.0])),
    ]
    means, variances, sizes = [], [], []
    for placement, weight in sides:
        n = weight.sum() + 0.5
        mean = (placement @ weight + 0.25) / n
        square = weight @ (placement - mean) ** 2 + 0.5 * (0.5 - mean) ** 2 + 0.5 / 12
        means.append(mean)
        variances.append(square / n / (n - 1))
        sizes.append(n)
    area = means[0]
    half = stats.t.ppf(0.95, sizes[0]) * np.sqrt(sum(variances)) / (area * (1 - area))
    expected = special.expit(special.logit(area) + np.array([-half, half]))
    np.testing.assert_allclose(auroc_limits(*sides, 0.9), expected)
    # Whichever side is first, it is the smaller one's mean; equal sizes take the first.
    np.testing.assert_allclose(auroc_limits(*sides[::-1], 0.9), expected)
    same = (np.array([0.9]), np.array([1.0])), (np.array([0.2]), np.array([1.0]))
    assert sum(auroc_limits(*same, 0.5)) > 1.0 > sum(auroc_limits(*same[::-1], 0.5))
