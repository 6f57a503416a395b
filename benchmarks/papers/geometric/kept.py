"""Arrays that take long to compute, kept in cache/ under the name of what they were computed
with.
"""

import time
from pathlib import Path

import numpy as np

CACHE = Path(__file__).parent / "cache"


def kept(name, make):
    """{key: array} that ``make()`` gives, and the CPU seconds it took as "seconds"; read from
    cache/ where it was made before.
    """
    path = CACHE / f"{name}.npz"
    if not path.exists():
        CACHE.mkdir(exist_ok=True)
        began = time.process_time()
        arrays = make()
        half_written = path.with_suffix(".part.npz")
        np.savez_compressed(half_written, **arrays, seconds=time.process_time() - began)
        half_written.replace(path)
    with np.load(path) as archive:
        return dict(archive)
