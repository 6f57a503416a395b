"""One result is one npz: (run, method) -> losses row by row, what it cost, and the code that
made it.
"""

import os
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results"


def path_of(folder, run_name, method):
    """Where a result lies."""
    return Path(folder) / run_name / f"{method}.npz"


def save(folder, run_name, method, **values):
    """Write one result, whole or not at all."""
    path = path_of(folder, run_name, method)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{os.getpid()}.part.npz")
    np.savez_compressed(part, **values)
    part.replace(path)


def load(folder, run_name, method):
    """One result as a dict of arrays."""
    with np.load(path_of(folder, run_name, method), allow_pickle=False) as z:
        return {key: z[key] for key in z.files}


def done(folder, run_name, method):
    """Whether the result is there and was made with the code that the method has now."""
    if not path_of(folder, run_name, method.name).exists():
        return False
    with np.load(path_of(folder, run_name, method.name), allow_pickle=False) as z:
        return str(z["code"]) == method.code


def methods_in(folder, runs):
    """Names of the methods that have a result in any of the runs, sorted."""
    return sorted(
        {path.stem for run in runs for path in (Path(folder) / run.name).glob("[!.]*.npz")}
    )
