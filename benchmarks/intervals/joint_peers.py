"""The same by netcal, in an environment of its own:
``python joint_peers.py cases.npz found.npz``.
"""

import sys
import time
import warnings

import numpy as np
import torch
from netcal.regression import GPNormal


def calibrated(mean, cov, y, rows):
    """(method, covariances of the new rows, CPU seconds)."""
    n, d = mean.shape
    apart = not (cov * (1.0 - np.eye(d))).any()
    # Of stds it takes the correlations of the outcomes to begin with; of a covariance without any
    # it would learn none.
    said = np.sqrt(np.diagonal(cov, axis1=1, axis2=2)) if apart else cov
    name = f"netcal GP-Normal, of {'stds' if apart else 'covariances'}"
    torch.manual_seed(0)
    start = time.process_time()
    try:
        process = GPNormal(correlations=True)
        process.fit((mean[:rows], said[:rows]), y[:rows])
        found = np.asarray(process.transform((mean[rows:], said[rows:])))
    except Exception as error:  # its own failures are a result
        print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
        found = np.full((n - rows, d, d), np.nan)
    return name, found, time.process_time() - start


def main(source, target):
    """Every case of the file."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    with np.load(source) as file:
        held = {key: file[key] for key in file.files}
    out = {}
    for case in sorted({int(key.split("|")[0]) for key in held}):
        one = [held[f"{case}|{name}"] for name in ("mean", "cov", "y")]
        method, cov, seconds = calibrated(*one, int(held[f"{case}|rows"]))
        out[f"{case}|{method}|cov"], out[f"{case}|{method}|seconds"] = cov, np.array(seconds)
    np.savez(target, **out)


if __name__ == "__main__":
    main(*sys.argv[1:])
