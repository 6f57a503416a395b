"""The paper's claims, judged by the stored tables; nothing is run.

    python -m benchmarks.papers.exploratory.claims    # after the runs that store the tables

The 95 % interval of the stored difference decides where the claim is about one shared temperature
(STS). Elsewhere the sign of a mean does, without an interval, or ``SMALL``. What the paper claims
of PhANNs is judged by the variants of unequal classes, what it claims of MNIST by its variant.
"""

from benchmarks.papers import stored

__all__ = ["HEADING", "main", "rows"]

HEADING = ["claim", "where", "number", "holds"]
VARIANTS = ("shifted", "imbalanced", "balanced")
#: A change of the NLL below this is "minimal", "almost identical" and not "much"; our choice.
SMALL = 1e-3
PER_CLASS = {
    'a temperature for each class beats one shared, "much better" (CSTS, section 11)': "CSTS",
    'awards beat one shared temperature, "much better" (TSwA, section 11)': "TSwA",
    "densities on the score are as good as or better than one shared temperature"
    " (section 14, of PhANNs)": "KDE b_mon2",
    "densities on the log odds of the score are better (not in the paper)": (
        "KDE b_mon2 on log odds"
    ),
}
HISTOGRAMS = (
    "densities on the score are comparable with or better than histograms (section 14, of PhANNs)"
)
AWARDS = "awards beat temperatures for each class (section 11, of PhANNs)"
#: Methods of K, K + 1 and 2 K parameters.
ALIKE = ("CSTS", "TSwA", "CSTSwA")
HELPS = ("histogram", "CwOC", "KDE b_mon2, c = 0 (the paper's)", "STS", "CSTS", "TSwA")
#: Section 6 says it of densities and of temperatures.
NOT_CLAIMED = ("histogram", "CwOC")


def rows():
    """The rows of the stored table of claims, without the heading; a claim is shown once."""
    parts = (_shared, _histograms, _awards, _alike, _ensembles, _helps, _negatives, _boundary)
    found = [row for part in parts for row in part()]
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


def _signed(number):
    return f"{number:+.4f}".replace("0.", ".")


def _shared():
    """On MNIST, each method less the shared temperature, with its interval."""
    for claim, method in PER_CLASS.items():
        for variant in VARIANTS:
            number, gap, half = _less(method, variant)
            verdict = _verdict(claim, variant, gap, half)
            yield [claim, f"MNIST, {variant}", f"NLL {number}", verdict]


def _verdict(claim, variant, gap, half):
    """Where a method stands beside the shared temperature; what the paper lacks cannot fail."""
    if "of PhANNs" in claim and variant == "balanced":
        return "not claimed"
    if "not in the paper" in claim:
        return "yes" if gap + half < 0.0 else "no"
    if abs(gap) <= half:
        return "no difference"
    if gap > 0.0:
        return "**fails**" + " (c = 1; the paper's 0 not run)" * ("densities" in claim)
    if "much" in claim and gap > -SMALL:
        reached = " (at 96 %; the paper's 88 % not reached)" * (variant == "balanced")
        return f'holds; "much" **fails**{reached}'
    return "holds"


def _histograms():
    """The means of densities and histograms, c = 1 of both but where it is named."""
    for variant in VARIANTS:
        densities, histogram = (
            float(stored.cell(f"exploratory/mnist; {method}; {variant}"))
            for method in ("KDE b_mon2", "histogram, 10 bins")
        )
        gap = round(densities - histogram, 4)
        row = _row(HISTOGRAMS, f"MNIST, {variant}, c = 1", f"NLL {_signed(gap)}", gap < SMALL)
        yield [*row[:3], "not claimed"] if variant == "balanced" else row
    heading, *body = stored.read("exploratory", "beyond")
    for method in ("KDE b_mon2, c = 1", "KDE b_mon2, c = 0 (the paper's)"):
        densities, histogram = (
            [float(row[heading.index(name)].split()[0].strip("*")) for row in body]
            for name in (method, "histogram")
        )
        lower = sum(a < b for a, b in zip(densities, histogram, strict=True))
        number = f"lower on {lower} of {len(body)}"
        yield _row(HISTOGRAMS, f"ten outputs, {method}", number, lower == len(body))


def _awards():
    """On MNIST, the means of two methods, each less the shared temperature."""
    for variant in VARIANTS:
        gap = round(_less("TSwA", variant)[1] - _less("CSTS", variant)[1], 4)
        row = _row(AWARDS, f"MNIST, {variant}", f"NLL {_signed(gap)}", gap <= 0.0)
        yield [*row[:3], "not claimed"] if variant == "balanced" else row


def _alike():
    """On MNIST, the means of the methods with more than one temperature or with awards."""
    for variant in VARIANTS:
        cells = [stored.cell(f"exploratory/mnist; {method}; {variant}") for method in ALIKE]
        losses = [float(cell) for cell in cells]
        row = _row(
            "CSTS, TSwA and CSTSwA (K, K + 1 and 2 K parameters) perform almost identically"
            " (sections 11 and A.5, of MNIST)",
            f"MNIST, {variant}",
            f"NLL {', '.join(cells)}",
            max(losses) - min(losses) < SMALL,
        )
        yield row if variant == "balanced" else [*row[:3], "not claimed"]


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
        harmed = [cell for row in body if "**" in (cell := row[heading.index(method)])]
        within = sum("[" in cell for cell in harmed)
        number = f"worse on {len(harmed)} of {len(body)}"
        number += f", {within} of them within noise" if within else ""
        row = _row(
            "calibrating cannot hurt (section 6)", f"ten outputs, {method}", number, not harmed
        )
        yield [*row[:3], "not claimed"] if method in NOT_CLAIMED else row


def _negatives():
    """Figure 6, on the rows whose score is at most 1/2; one-versus-rest is not the paper's."""
    heading, *body = stored.read("exploratory", "negatives")
    body = [row for row in body if row[1]]
    where = f"{len(body)} outputs, scores of at most 1/2"

    def column(name):
        return [float(row[heading.index(name)]) for row in body]

    positives, negatives = (
        column(f"{way}: confidence less share right") for way in ("positives", "all negatives")
    )
    lower = sum(all_ < min(alone, 0.0) for alone, all_ in zip(positives, negatives, strict=True))
    yield _row(
        "negatives in the denominator make low confidences too low (figure 6)",
        where,
        f"lower on {lower}, by {-max(negatives):.2f} to {-min(negatives):.2f}".replace("0.", "."),
        lower == len(body),
    )
    pairs = list(zip(column("positives: NLL"), column("all negatives: NLL"), strict=True))
    lower = sum(a < b for a, b in pairs)
    yield _row(
        "positives alone are better than with all negatives in the denominator (section 6)",
        where,
        f"NLL lower on {lower} of {len(pairs)}",
        lower == len(pairs),
    )
    pairs = list(zip(column("positives: NLL"), column("one-vs-rest: NLL"), strict=True))
    better, equal = sum(a < b for a, b in pairs), sum(a == b for a, b in pairs)
    yield [
        "positives alone are better than all scores on the class, in the numerator too"
        " (one-versus-rest)",
        where,
        f"NLL lower on {better}, equal on {equal}, higher on {len(pairs) - better - equal}",
        "not claimed",
    ]


def _boundary():
    """Section 13.5: what mirroring the scores at the boundary does to the NLL."""
    heading, *body = stored.read("exploratory", "boundary")
    moved = {
        scale: [float(row[heading.index(f"{scale}: NLL")]) for row in body]
        for scale in ("score", "log odds")
    }
    for scale, changes in moved.items():
        number = f"mirroring changes the NLL by {_signed(min(changes))} to {_signed(max(changes))}"
        claim = "the boundary can be ignored (section 13.5)"
        yield _row(claim, f"ten outputs, {scale}", number, min(changes) > -SMALL)
    for scale, changes in moved.items():
        number = f"NLL by at most {max(map(abs, changes)):.4f}".replace("0.", ".")
        yield _row(
            "its effect is minimal (section 13.5)",
            f"ten outputs, {scale}",
            number,
            max(map(abs, changes)) < SMALL,
        )


def main():
    """Store the table of claims and print it."""
    stored.write("exploratory", "claims", [HEADING, *rows()])
    for claim, where, number, verdict in rows():
        print(f"{verdict:13s}  {where}: {number}  {claim}")


if __name__ == "__main__":
    main()
