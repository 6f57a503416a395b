"""Random numbers for nulls, apart from those a user draws with the same seed."""

import numpy as np

__all__ = ["null_generator"]

#: Mixed into every seed: data simulated with ``default_rng(0)`` must not share its numbers with a null drawn from seed 0.
OWN = 0xCA11B8A7


def null_generator(random_state: int) -> np.random.Generator:
    """Generator for draws under a null hypothesis; a seed gives a stream of its own, a Generator or None goes through."""
    return np.random.default_rng([OWN, random_state] if isinstance(random_state, int | np.integer) else random_state)
