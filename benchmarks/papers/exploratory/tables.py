"""The numbers as text: per class and method, class-macro with paired intervals against the
shared temperature, and the paper's claims.
"""

from itertools import pairwise

import numpy as np
from benchmarks.papers.exploratory.measure import FEWEST, MEASURES, macro
from benchmarks.papers.exploratory.methods import BANDWIDTHS, BANDWIDTHS_LOG_ODDS, METHODS
from scipy import stats

NAMES = tuple(METHODS)
#: Rows of the stored table, and the networks and ensembles of each of its variants.
STORED = {
    "uncalibrated": "uncalibrated",
    "histogram, 10 bins": "histogram",
    "CwOC": "CwOC",
    "KDE b_mon2": "KDE b_mon2",
    "KDE b_mon2 on log odds": "KDE b_mon2, log odds",
    **{name: name for name in ("STS", "CSTS", "TSwA", "CSTSwA")},
}
SIZES = {"shifted": (50, 20), "imbalanced": (50, 20), "balanced": (30, 20)}


def paired(values, level=0.95):
    """(mean, half width) of the t interval of the mean of differences, one an ensemble."""
    half = (
        stats.t.ppf(0.5 + 0.5 * level, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    )
    return values.mean(), half


def macros(scores, positives):
    """(ensembles, methods, 2 sets, 3 measures): means over the classes with enough positives in
    that ensemble's two sets.
    """
    return np.stack([macro(s, p)[0] for s, p in zip(scores, positives, strict=True)])


def macro_table(scores, positives):
    """Class-macro values of every method, with the difference of its NLL on test set 2 from that
    of STS and its 95 % interval.
    """
    values, base = macros(scores, positives), NAMES.index("STS")
    lines = [
        f"{'':22s} {'NLL, set 1':>10s} {'NLL, set 2':>10s} {'ECE1, 2':>8s} {'ECE2, 2':>8s}  NLL on"
        " set 2 less that of STS"
    ]
    for m, name in enumerate(NAMES):
        mean = values[:, m].mean(axis=0)
        gap, half = paired(values[:, m, 1, 0] - values[:, base, 1, 0])
        verdict = (
            ""
            if m == base
            else "below"
            if gap + half < 0
            else "above"
            if gap - half > 0
            else "no difference"
        )
        told = f"{gap:+.4f} [{gap - half:+.4f}, {gap + half:+.4f}] {verdict}" if m != base else ""
        lines.append(
            f"{name:22s} {mean[0, 0]:10.4f} {mean[1, 0]:10.4f} {mean[1, 1]:8.4f} {mean[1, 2]:8.4f} "
            f" {told}"
        )
    return "\n".join(lines)


def cells(variant, scores, positives):
    """{row: {column: cell}} of the stored table: the NLL on test set 2, the lowest in bold, and its
    difference from STS, in bold where the interval lies below 0.
    """
    nll = dict(zip(NAMES, macros(scores, positives)[:, :, 1, 0].T, strict=True))
    lowest = min(nll[name].mean() for name in STORED.values())
    out = {}
    for row, name in STORED.items():
        gap, half = paired(nll[name] - nll["STS"]) if name != "STS" else (0.0, 0.0)
        texts = [f"{nll[name].mean():.4f}", f"{gap:+.4f} ∓ {half:.4f}".replace("0.", ".")]
        bold = (nll[name].mean() == lowest, gap + half < 0.0)
        value, less = (f"**{t}**" if b else t for t, b in zip(texts, bold, strict=True))
        out[row] = {
            variant: value.replace("0.", ".", 1),
            f"{variant}, less STS": less if name != "STS" else "",
        }
    return out


def class_table(scores, positives, measure, test_set):
    """Medians over ensembles, a row a method, a column a class; classes apart are marked."""
    j, t = MEASURES.index(measure), test_set - 1
    apart = apart_classes(positives)
    head = " ".join(f"{str(k) + ('*' if k in apart else ''):>7s}" for k in range(10))
    lines = [
        f"{measure}, test set {test_set}, median over {len(scores)} ensembles",
        f"{'':22s} {head}",
    ]
    for m, name in enumerate(NAMES):
        row = [
            np.median(column[np.isfinite(column)]) if np.isfinite(column).any() else np.nan
            for column in scores[:, m, t, :, j].T
        ]
        lines.append(f"{name:22s} " + " ".join(f"{v:7.4f}" for v in row))
    return "\n".join(lines)


def apart_classes(positives):
    """Classes with fewer than 20 positives in either set in some ensemble -> how many of the
    ensembles.
    """
    few = (positives < FEWEST).any(axis=1).sum(axis=0)
    return {int(k): int(few[k]) for k in np.flatnonzero(few)}


def claims(variant, scores, positives):
    """The paper's claims about its comparison, each with its numbers."""
    values = macros(scores, positives)
    nll = {name: values[:, m, 1, 0] for m, name in enumerate(NAMES)}
    seen = {name: values[:, m, 0, 0] for m, name in enumerate(NAMES)}
    out = []

    def say(text, better, worse):
        gap, half = paired(nll[better] - nll[worse])
        verdict = "holds" if gap + half < 0 else "fails" if gap - half > 0 else "cannot be told"
        out.append(
            f"{verdict:>14s}: {text}: {better} {nll[better].mean():.4f}, {worse}"
            f" {nll[worse].mean():.4f} ({gap:+.4f} -+ {half:.4f})"
        )

    for name in ("histogram", "KDE b_mon2", "STS", "CSTS", "TSwA", "CwOC"):
        say("calibrating helps", name, "uncalibrated")
    for name in ("KDE b_mon2", "KDE b_mon2, log odds", "CSTS", "TSwA"):
        say("better than one shared temperature", name, "STS")
    say("awards beat temperatures per class", "TSwA", "CSTS")
    say("K + 1 parameters do no worse than 2 K", "TSwA", "CSTSwA")
    for name in ("KDE b_mon2", "KDE b_mon2, log odds"):
        say("as good as or better than histograms", name, "histogram")
        say("better than the cumulative with optimal cutoff", name, "CwOC")
    for family in (BANDWIDTHS, BANDWIDTHS_LOG_ODDS):
        for wide, narrow in pairwise(family):
            say("a narrower bandwidth has the smaller NLL", narrow, wide)
    for name in ("STS", "CSTS", "TSwA", "CSTSwA", "KDE b_mon2", "KDE b_mon2, log odds"):
        gap, half = paired(nll[name] - seen[name])
        verdict = (
            "no bias seen"
            if abs(gap) <= half
            else "worse on set 2"
            if gap > 0
            else "better on set 2"
        )
        out.append(
            f"{verdict:>14s}: test set 2 less test set 1 (fitted on it), {name}: {gap:+.4f} -+"
            f" {half:.4f}"
        )
    return f"Claims of the paper on the {variant} variant\n" + "\n".join(out)
