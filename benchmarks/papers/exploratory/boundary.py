"""Section 13.5: "at any reasonable bandwidth the effect [of the boundary] is minimal and can be
ignored", and when it is not.

    python -m benchmarks.papers.exploratory.boundary        # about a CPU minute; needs no torch

For each predicted class of the stored outputs, the ratio of kernel densities with its scores
mirrored at both ends, and without. Dividing both densities by the kernel's mass inside the
interval, the other usual correction, changes nothing at all: true and false positives share a
bandwidth, so that the mass at S is the same in numerator and denominator.
"""

import argparse
import warnings

import numpy as np
from benchmarks.papers.exploratory import measure, stored
from benchmarks.papers.exploratory.negatives import bandwidth
from benchmarks.papers.stored import keep
from scipy.special import log_softmax

import calibrant as cb
from calibrant.errors import CalibrationWarning

#: Bandwidths tried, as multiples of b_mon2.
MULTIPLES = (0.25, 0.5, 1.0, 2.0, 4.0)


def both(score, correct, at, width, prior_weight):
    """Confidences at ``at`` (without, with the correction)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        maps = [
            cb.calibrators.KernelDensity(
                bandwidth=width, boundary=b, prior_weight=prior_weight
            ).fit(score, correct)
            for b in (None, "reflect")
        ]
    return [m.predict(at) for m in maps]


def changes(said, labels, signal, prior_weight):
    """{multiple: (NLL without, NLL with, mean and largest change of a confidence)} over the
    second half's positives.
    """
    score = {t: signal().score(z) for t, z in said.items()}
    predicted = {t: z.argmax(axis=1) for t, z in said.items()}
    correct = {t: predicted[t] == labels[t] for t in said}
    parts = {multiple: [] for multiple in MULTIPLES}
    for k in np.unique(predicted["test1"]):
        fit, test = predicted["test1"] == k, predicted["test2"] == k
        width = bandwidth(score["test1"][fit], correct["test1"][fit])
        for multiple in MULTIPLES if width is not None and test.any() else ():
            told = both(
                score["test1"][fit],
                correct["test1"][fit],
                score["test2"][test],
                multiple * width,
                prior_weight,
            )
            parts[multiple].append((*told, correct["test2"][test]))
    return {
        multiple: _summary(*map(np.concatenate, zip(*found, strict=True)))
        for multiple, found in parts.items()
        if found
    }


def _summary(without, reflected, right):
    moved = np.abs(without - reflected)
    return measure.nll(without, right), measure.nll(reflected, right), moved.mean(), moved.max()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--prior-weight", type=float, default=0.0, help="0 is the paper's; calibrant's default is 1"
    )
    options = parser.parse_args()
    scales = {
        "score": lambda: cb.calibrators.TopProbability(inputs="logit"),
        "log odds": lambda: cb.calibrators.LogOdds(inputs="logit"),
    }
    table = {}
    for name, path in stored.names().items():
        logits, labels = stored.read(path)
        logits = log_softmax(logits, axis=1)
        for scale, signal in scales.items():
            runs = [
                changes(*half, signal, options.prior_weight)
                for half in stored.halves(logits, labels)
            ]
            for multiple in MULTIPLES:
                found = np.array([run[multiple] for run in runs if multiple in run]).reshape(-1, 4)
                if len(found):
                    print(
                        f"{name:28s} {scale:9s} {multiple:4.2f} b_mon2: NLL"
                        f" {found[:, 0].mean():.4f}, mirrored"
                        f" {stored.spread(found[:, 1] - found[:, 0])}; confidence moves"
                        f" {found[:, 2].mean():.4f} on average, {found[:, 3].max():.3f} at most",
                        flush=True,
                    )
                    if multiple == 1.0:
                        table.setdefault(stored.title(path), {})
                        table[stored.title(path)] |= {
                            f"{scale}: NLL": f"{np.mean(found[:, 1] - found[:, 0]):+.4f}",
                            f"{scale}: confidence moves": f"{found[:, 2].mean():.4f}",
                        }
    keep("exploratory", "boundary", table, "" if options.prior_weight == 0.0 else "c is not 0")


if __name__ == "__main__":
    main()
