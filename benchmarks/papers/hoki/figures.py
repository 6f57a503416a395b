"""Figures 3 to 6: log10 of the ECE against the variance of the confidences, one panel a network
(3, ImageNet, needs data not at hand).
"""

import math

from benchmarks.papers import stored

FIGURE = {
    "lenet-5-mnist": 4,
    "lenet-5-cifar10": 5,
    "wideresnet-16-4-cifar10": 5,
    "densenet-bc-100-cifar100": 6,
}


def draw(summaries, folder):
    """One SVG with a panel for each network in ``summaries``; the points are stored
    unless a stored network is missing.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0 * len(summaries), 4.5), layout="constrained")
    for axes, (name, methods) in zip(
        figure.subplots(1, len(summaries), squeeze=False)[0], summaries.items(), strict=True
    ):
        for method, values in methods.items():
            if method.startswith("top probability"):
                continue
            x, y = values["spread"] ** 2, math.log10(max(values["ECE"], 1e-6))
            axes.plot(x, y, "o" if method.startswith(("Hoki", "stability")) else "s", markersize=6)
            axes.annotate(method, (x, y), fontsize=7, xytext=(4, 2), textcoords="offset points")
        axes.set(
            title=f"{name} (figure {FIGURE[name]})",
            xlabel="variance of the confidence",
            ylabel="log10 ECE-15",
        )
    if set(FIGURE) - set(summaries) <= {"lenet-5-mnist"}:
        stored.write("hoki", "figures_4_to_6", points(summaries))
    figure.savefig(folder / "ece_against_variance.svg")
    print(f"\nfigures 4 to 6: {folder / 'ece_against_variance.svg'}")


def points(summaries):
    """Rows of each network and method: the variance of the confidence and the ECE."""
    rows = [["network", "method", "variance", "ECE-15"]]
    for name, methods in summaries.items():
        for method, values in methods.items():
            rows.append([name, method, f"{values['spread'] ** 2:.5f}", f"{values['ECE']:.4f}"])
    return rows
