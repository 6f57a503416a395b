"""CPU seconds and size of the page of a finished report, by kind of prediction:
``python benchmarks/speed/report_page.py``.

The first page of a process also imports Matplotlib and compiles the templates; the others are what
a server or a notebook pays. Exits with 1 if a page is above its limits.
"""

import sys
import time

import numpy as np

import calibrant as cb

ROWS, CLASSES, REPEATS = 5000, 10, 5
#: Of each page after the first: CPU seconds, and thousands of bytes.
LIMITS = (0.5, 300.0)


def reports(n=ROWS, seed=0):
    """{kind: report} of overconfident predictions."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    event = (rng.random(n) < 1 / (1 + np.exp(-z))).astype(int)
    logits = 2.0 * rng.normal(size=(n, CLASSES))
    label = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    std = np.exp(0.4 * rng.normal(size=n))
    outcome = z + 1.5 * std * rng.normal(size=n)
    return {
        "event": cb.report(event, 1 / (1 + np.exp(-1.7 * z)), calibrator=cb.Platt()),
        "classes": cb.report(label, 1.7 * logits, inputs="logit", calibrator=cb.TemperatureScaling),
        "error bars": cb.report(outcome, z, std, calibrator=cb.StdScaling),
    }


def measure(report, repeats=REPEATS):
    """(CPU seconds of the first page, of the fastest of the others, thousands of bytes)."""
    seconds = []
    for _ in range(repeats + 1):
        start = time.process_time()
        page = report.to_html()
        seconds.append(time.process_time() - start)
    return seconds[0], min(seconds[1:]), len(page.encode()) / 1000.0


def main():
    """Print the table."""
    print(f"{'page':12} {'first s':>8} {'then s':>8} {'kB':>6}")
    good = True
    for kind, report in reports().items():
        first, then, size = measure(report)
        good &= then <= LIMITS[0] and size <= LIMITS[1]
        print(f"{kind:12} {first:8.2f} {then:8.2f} {size:6.0f}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
