"""Two signals of a forest: its top probability, and the separation from the training set."""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import calibrant as cb

X, y = load_digits(return_X_y=True)
X_train, X_new, y_train, y_new = train_test_split(X, y, train_size=600, random_state=0)
P = RandomForestClassifier(30, random_state=0).fit(X_train, y_train).predict_proba(X_new)
left, right = plt.subplots(1, 2, figsize=(9.6, 4), layout="constrained")[1]
draw = cb.displays.SignalAccuracyDisplay.from_predictions
draw(y_new, P, cb.calibrators.TopProbability(), n_bins=10, ax=left)
given = {"X": X_new, "reference": (X_train, y_train)}
draw(y_new, P, cb.calibrators.FastSeparation(), n_bins=10, ax=right, **given)
left.set_xlabel("Top probability of the forest")
right.set_xlabel("Separation from the training set")
