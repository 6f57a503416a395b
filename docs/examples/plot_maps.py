"""
The maps side by side
=====================

Every map takes a score to the probability of being right. Here are all that calibrant has, fitted
to the same confidences: those of a random forest that reads handwritten digits. The forest is
underconfident, so honest maps lie above the diagonal.
"""

# %%
# A forest trained on 15 % of the digits; its confidence on the rest, and whether it was right.

import inspect

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import calibrant as cb

X, y = load_digits(return_X_y=True)
X_train, X_rest, y_train, y_rest = train_test_split(
    X, y, train_size=0.15, random_state=0, stratify=y
)
forest = RandomForestClassifier(random_state=0).fit(X_train, y_train)
P = forest.predict_proba(X_rest)
score, correct = P.max(axis=1), (P.argmax(axis=1) == y_rest).astype(int)

# %%
# All exported maps with their defaults, drawn over the confidences that occur.

maps = [
    cls
    for cls in vars(cb).values()
    if inspect.isclass(cls) and issubclass(cls, cb.core.Map) and cls is not cb.core.Map
]
grid = np.linspace(score.min(), score.max(), 400)
columns = 3
figure, axes = plt.subplots(
    -(-len(maps) // columns),
    columns,
    figsize=(9, 2.6 * -(-len(maps) // columns)),
    sharex=True,
    sharey=True,
)
for ax, cls in zip(axes.flat, maps, strict=False):
    fitted = cls().fit(score, correct)
    ax.plot([0, 1], [0, 1], color="0.8", linewidth=1)
    ax.plot(grid, fitted.predict(grid), color="#0b6e99")
    ax.plot(score, correct, "|", color="0.4", alpha=0.15)
    ax.set_title(cls.__name__, fontsize=10)
for ax in axes.flat[len(maps) :]:
    ax.set_axis_off()
figure.supxlabel("the forest's confidence")
figure.supylabel("probability that it is right")
figure.tight_layout()
plt.show()
