"""What the fit of Hoki costs beside temperature scaling, at the sizes of the paper's table 3.

    python -m benchmarks.papers.hoki.cost      # half a CPU minute, no data

CPU seconds of one process, turn about on the same simulated logits, the best of five turns; the
search of the noise's width is part of the fit. The published times are those of the paper's
networks.
"""

from benchmarks.papers import stored
from benchmarks.papers.hoki.published import TIMES
from benchmarks.speed.label_stability import cpu_seconds, sample

import calibrant as cb

#: Data of table 3 -> validation rows and classes (sections 7.1 and 7.2).
SIZES = {
    "MNIST": (10_000, 10),
    "CIFAR-10": (5_000, 10),
    "CIFAR-100": (5_000, 100),
    "ImageNet": (25_000, 1_000),
}
TURNS = 5


def measure(n, n_classes):
    """CPU seconds of temperature scaling and of Hoki."""
    logits, y = sample(n, n_classes)
    fits = (
        cb.TemperatureScaling(inputs="logit"),
        cb.calibrators.HokiCalibrator(inputs="logit"),
    )
    turns = [[cpu_seconds(lambda f=fit: f.fit(logits, y)) for fit in fits] for _ in range(TURNS)]
    return [min(times) for times in zip(*turns, strict=True)]


def cells(temperature, hoki, published):
    """One row of the stored table; ``published`` are pairs of seconds."""
    times = [theirs / base for base, theirs in published]
    return {
        "temperature, s": f"{temperature:.3f}",
        "Hoki, s": f"{hoki:.3f}",
        "times": f"{hoki / temperature:.1f}",
        "temperature, published s": _range(base for base, _ in published),
        "Hoki, published s": _range(theirs for _, theirs in published),
        "times, published": _range(times, ".1f"),
    }


def _range(values, form=".2f"):
    values = list(values)
    return stored.spread(values, form) or f"{values[0]:{form}}"


def main():
    """Measure every size, print and store."""
    measured = {}
    for data, (n, n_classes) in SIZES.items():
        name = f"{data}: {n:,} rows of {n_classes:,} classes"
        measured[name] = cells(*measure(n, n_classes), TIMES[data])
        print(name, measured[name], flush=True)
    stored.keep("hoki", "cost", measured)


if __name__ == "__main__":
    main()
