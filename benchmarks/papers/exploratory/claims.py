"""The paper's claims, judged by the stored tables; nothing is run.

    python -m benchmarks.papers.exploratory.claims    # after the runs that store the tables

The 95 % interval of the stored difference decides where the claim is about one shared temperature
(STS); elsewhere the sign of the mean does.
"""

from benchmarks.papers import stored

__all__ = ["HEADING", "main", "rows"]

HEADING = ["claim", "where", "number", "holds"]
VARIANTS = ("shifted", "imbalanced", "balanced")
PER_CLASS = {
    "a temperature for each class beats one shared (CSTS, section 11)": "CSTS",
    "awards beat one shared temperature (TSwA, section 11)": "TSwA",
    "densities on the score beat one shared temperature (section 14, of PhANNs)": "KDE b_mon2",
    "densities on the log odds of the score do (not in the paper)": "KDE b_mon2 on log odds",
}
AGAINST = {
    "awards beat temperatures for each class (section 11, of PhANNs)": ("TSwA", "CSTS"),
    "K + 1 parameters do no worse than 2 K (sections 11 and A.5)": ("TSwA", "CSTSwA"),
}
HELPS = ("histogram", "CwOC", "KDE b_mon2, c = 0 (the paper's)", "STS", "CSTS", "TSwA")


def rows():
    """The rows of the stored table of claims, without the heading; a claim is shown once."""
    found = [*_shared(), *_pairs(), *_ensembles(), *_helps(), *_negatives(), *_boundary()]
    before = ["", *(claim for claim, *_ in found)]
    return [
        ["" if claim == last else claim, *row]
        for (claim, *row), last in zip(found, before, strict=False)
    ]


def _row(claim, where, number, verdict):
    return [claim, where, number, "holds" if verdict else "**fails**"]


def _less(method, variant):
    """A method's difference from the shared temperature on MNIST: as text, mean, half width."""
    text = stored.cell(f"exploratory/mnist; {method}; {variant}, less STS")
    return text, *map(float, text.split(" ∓ "))


def _shared():
    """On MNIST, each method less the shared temperature, with its interval."""
    for claim, method in PER_CLASS.items():
        for variant in VARIANTS:
            number, gap, half = _less(method, variant)
            row = _row(claim, f"MNIST, {variant}", f"NLL {number}", gap + half < 0.0)
            yield row if abs(gap) > half else [*row[:3], "no difference"]


def _pairs():
    """On MNIST, the means of two methods, each less the shared temperature."""
    for claim, (better, worse) in AGAINST.items():
        for variant in VARIANTS:
            gap = round(_less(better, variant)[1] - _less(worse, variant)[1], 4)
            number = f"NLL {gap:+.4f}".replace("0.", ".")
            yield _row(claim, f"MNIST, {variant}", number, gap <= 0.0)


def _ensembles():
    """Is a method worse than nothing on MNIST?"""
    heading, base, *body = stored.read("exploratory", "mnist")
    columns = [heading.index(variant) for variant in VARIANTS]
    worse = [float(row[k].strip("*")) > float(base[k]) for row in body for k in columns]
    number = f"worse in {sum(worse)} of {len(worse)}"
    where = "MNIST, eight methods, three variants"
    yield _row("calibrating cannot hurt (section 6)", where, number, not any(worse))


def _helps():
    """Is a method worse than nothing on any of the stored outputs?"""
    heading, *body = stored.read("exploratory", "beyond")
    for method in HELPS:
        harmed = sum("**" in row[heading.index(method)] for row in body)
        number = f"worse on {harmed} of {len(body)}"
        yield _row(
            "calibrating cannot hurt (section 6)", f"ten outputs, {method}", number, not harmed
        )


def _negatives():
    """Figure 6, on the rows whose score is at most 1/2."""
    heading, *body = stored.read("exploratory", "negatives")
    gaps = [
        [float(row[heading.index(f"{way}: confidence less share right")]) for row in body if row[1]]
        for way in ("positives", "all negatives")
    ]
    lower = sum(all_ < min(own, 0.0) for own, all_ in zip(*gaps, strict=True))
    yield _row(
        "negatives in the denominator make low confidences too low (figure 6)",
        f"{len(gaps[0])} outputs, scores of at most 1/2",
        f"lower on {lower}, by {-max(gaps[1]):.2f} to {-min(gaps[1]):.2f}".replace("0.", "."),
        lower == len(gaps[0]),
    )


def _boundary():
    """Section 13.5: the largest change of the NLL by the correction at the boundary."""
    heading, *body = stored.read("exploratory", "boundary")
    for scale in ("score", "log odds"):
        moved = max(abs(float(row[heading.index(f"{scale}: NLL")])) for row in body)
        number = f"NLL by at most {moved:.4f}".replace("0.", ".")
        yield _row(
            "the boundary can be ignored (section 13.5)",
            f"ten outputs, {scale}",
            number,
            moved < 1e-3,
        )


def main():
    """Store the table of claims and print it."""
    stored.write("exploratory", "claims", [HEADING, *rows()])
    for claim, where, number, verdict in rows():
        print(f"{verdict:13s}  {where}: {number}  {claim}")


if __name__ == "__main__":
    main()
