"""Figure 6: what counting the samples that were not predicted as the class does to the confidence
in a prediction of it.

    python -m benchmarks.papers.exploratory.negatives        # about a CPU minute; needs no torch

For each predicted class the ratio of kernel densities of equation 9, b_mon2 of its positives
throughout, three times: over positives (blue in the figure), with all negatives in the denominator
(red), and with every sample of the class in the numerator too, predicted or not, which is
one-versus-rest calibration (Zhang et al. in section 6). All are read on the positives of the other
half.
"""

import warnings

import numpy as np
from benchmarks.papers.exploratory import measure, stored
from benchmarks.papers.stored import keep
from scipy.special import log_softmax

import calibrant as cb
from calibrant._numerics.kernel_sums import direct_log_sums
from calibrant.errors import CalibrationWarning

COUNTED = ("positives", "negatives in the denominator", "one against the rest")
TITLES = dict(zip(COUNTED, ("positives", "all negatives", "one-vs-rest"), strict=True))
#: A score above this is the largest of its row, so that no negative has one.
SURE = 0.5


def ratio(at, right, wrong, bandwidth):
    """Confidence at each score: the density of the right among that of the right and the wrong,
    point by point.
    """
    sums = [direct_log_sums(at, score, np.ones(len(score)), bandwidth) for score in (right, wrong)]
    return np.exp(sums[0] - np.logaddexp(*sums))


def confidences(at, score, predicted, true, bandwidth):
    """{way of counting: confidence at each score ``at``} from (n,) scores of one class, whether
    it was predicted, whether it is true.
    """
    numerators = {COUNTED[0]: predicted & true, COUNTED[1]: predicted & true, COUNTED[2]: true}
    denominators = {
        COUNTED[0]: predicted,
        COUNTED[1]: np.ones_like(predicted),
        COUNTED[2]: np.ones_like(predicted),
    }
    return {
        name: ratio(at, score[right], score[denominators[name] & ~right], bandwidth)
        for name, right in numerators.items()
    }


def bandwidth(score, correct):
    """b_mon2 of one class's positives; None with fewer than 5 right or 5 wrong of them."""
    if not len(score):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        found = cb.calibrators.KernelDensity(prior_weight=0.0).fit(score, correct).bandwidth_
    return None if np.isnan(found) else found


def read_on_positives(said, labels):
    """({way: confidences}, scores, right) of the second half's positives, all classes that have
    a bandwidth together.
    """
    P = {t: np.exp(log_softmax(z, axis=1)) for t, z in said.items()}
    predicted = {t: z.argmax(axis=1) for t, z in said.items()}
    parts = []
    for k in range(P["test1"].shape[1]):
        fit, test = predicted["test1"] == k, predicted["test2"] == k
        score, true, at = P["test1"][:, k], labels["test1"] == k, P["test2"][test, k]
        width = bandwidth(score[fit], true[fit])
        if width is not None and len(at):
            parts.append((confidences(at, score, fit, true, width), at, labels["test2"][test] == k))
    told = (
        {name: np.concatenate([c[name] for c, _, _ in parts]) for name in COUNTED} if parts else {}
    )
    return told, *(np.concatenate([p[i] for p in parts]) if parts else np.empty(0) for i in (1, 2))


def main():
    table = {}
    for name, path in stored.names().items():
        runs = [read_on_positives(*half) for half in stored.halves(*stored.read(path))]
        runs = [run for run in runs if run[0]]
        share = np.mean([(score <= SURE).mean() for _, score, _ in runs]) if runs else np.nan
        print(
            f"\n{name}: {len(runs)} splits with a class to measure; {share:.1%} of the positives"
            f" score {SURE} or less"
        )
        for part, inside in (("at most", np.less_equal), ("above", np.greater)):
            rows = [(told, inside(score, SURE), right) for told, score, right in runs]
            rows = [
                (told, here, right) for told, here, right in rows if here.sum() >= measure.FEWEST
            ]
            for way in COUNTED if rows else ():
                nll = [measure.nll(told[way][here], right[here]) for told, here, right in rows]
                gap = [np.mean(told[way][here] - right[here]) for told, here, right in rows]
                print(
                    f"  score {part:7s} {SURE}, {way:29s} NLL {stored.spread(nll)}  confidence less"
                    f" share right {stored.spread(gap)}",
                    flush=True,
                )
                if inside is np.less_equal:
                    cells = table.setdefault(
                        stored.title(path), {"low scores": f"{100 * share:.1f} %"}
                    )
                    cells[f"{TITLES[way]}: confidence less share right"] = f"{np.mean(gap):+.2f}"
                    cells[f"{TITLES[way]}: NLL"] = f"{np.mean(nll):.2f}"
    keep("exploratory", "negatives", table)


if __name__ == "__main__":
    main()
