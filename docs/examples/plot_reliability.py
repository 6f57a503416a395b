"""
Before and after
================

A reliability diagram sets what a model says beside how often it is right. Here a random forest
reads handwritten digits: it is right far more often than it says. One number, the temperature,
repairs it.
"""

# %%
# Three parts of the data: to train the forest, to calibrate it, and to test the result.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import calibrant as cb
from calibrant import metrics

X, y = load_digits(return_X_y=True)
X_train, X_rest, y_train, y_rest = train_test_split(
    X, y, train_size=0.15, random_state=0, stratify=y
)
X_cal, X_test, y_cal, y_test = train_test_split(
    X_rest, y_rest, train_size=0.5, random_state=0, stratify=y_rest
)
forest = RandomForestClassifier(random_state=0).fit(X_train, y_train)
P_cal, P_test = forest.predict_proba(X_cal), forest.predict_proba(X_test)

# %%
# A temperature below 1 sharpens.

cal = cb.TemperatureScaling().fit(P_cal, y_cal)
Q = cal.predict_proba(P_test)
print(f"temperature {cal.temperature_:.3f}")

# %% The bars are 95 % intervals of the accuracy in each bin; the counts below say how many
# predictions stand behind each point.

left, right = plt.figure(figsize=(9, 5)).subplots(1, 2)
cb.displays.ReliabilityDisplay.from_predictions(
    y_test, P_test, n_bins=10, ax=left, name="As the forest says it"
)
cb.displays.ReliabilityDisplay.from_predictions(y_test, Q, n_bins=10, ax=right, name="Calibrated")
plt.show()

# %%
# The same in numbers, each with its interval.

for metric in (
    metrics.accuracy,
    metrics.log_loss,
    metrics.brier_score,
    metrics.expected_calibration_error,
):
    print(f"{metric.name:12s} {metric.interval(y_test, P_test)}  ->  {metric.interval(y_test, Q)}")
