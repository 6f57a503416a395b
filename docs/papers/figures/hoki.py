"""Figures 5 and 6 of the paper from stored numbers: the ECE against the variance of the
confidence, a panel for each network.
"""

import matplotlib.pyplot as plt
from benchmarks.papers.stored import read

from calibrant.displays.axes import COLOURS

_, *rows = read("hoki", "figures_4_to_6")
networks = {
    "densenet-bc-100-cifar100": "DenseNet, CIFAR-100",
    "wideresnet-16-4-cifar10": "WideResNet, CIFAR-10",
    "lenet-5-cifar10": "LeNet-5, CIFAR-10",
}
BELOW = (0.5, -0.2)
METHODS = ("TempS", "VecS", "MS-ODIR", "Dir-ODIR", "ETS", "IRM", "IROvA-TS", "Hoki")
figure, axes = plt.subplots(1, 3, figsize=(10.2, 4), layout="constrained")
for ax, (network, title) in zip(axes, networks.items(), strict=True):
    points = {row[1]: [float(cell) for cell in row[2:]] for row in rows if row[0] == network}
    for k, method in enumerate(METHODS):
        shape, colour = ("o", COLOURS["other"]) if method == "Hoki" else ("s", f"C{k}")
        ax.plot(*points[method], shape, color=colour, markersize=7, label=method)
    ax.set(title=title, xlabel="variance of the confidence", ylabel="ECE, 15 bins")
    ax.set_ylim(0, None)
    ax.locator_params(axis="x", nbins=5)
    ax.legend(frameon=False, fontsize="x-small", ncols=4, loc="upper center", bbox_to_anchor=BELOW)
