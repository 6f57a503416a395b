"""Ensembles of ten drawn from the pool: softmax of the summed log-probabilities (Appendix A.3)."""

import numpy as np

MEMBERS = 10


def draw(pool, number):
    """{"test1", "test2"} -> summed log-probabilities (n, 10) float64 of ensemble ``number``, its
    members drawn with that seed.
    """
    size = len(pool["test1"])
    members = np.random.default_rng(number).choice(size, min(MEMBERS, size), replace=False)
    return {name: log_p[members].sum(axis=0, dtype=np.float64) for name, log_p in pool.items()}
