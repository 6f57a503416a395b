"""Figures 3 to 6: log10 of the ECE against the variance of the confidences, one panel a network
(3, ImageNet, needs data not at hand).
"""

import math

FIGURE = {
    "lenet-5-mnist": 4,
    "lenet-5-cifar10": 5,
    "wideresnet-16-4-cifar10": 5,
    "densenet-bc-100-cifar100": 6,
}


def draw(summaries, folder):
    """One SVG with a panel for each network in ``summaries``."""
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
    figure.savefig(folder / "ece_against_variance.svg")
    print(f"\nfigures 4 to 6: {folder / 'ece_against_variance.svg'}")
