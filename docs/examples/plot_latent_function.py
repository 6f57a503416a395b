"""
The latent function of Gaussian-process calibration
===================================================

A naive Bayes model of handwritten digits is overconfident. Gaussian-process calibration learns one
function of the score for all classes; the prior mean, dashed, is what the model said.
"""

# %%
# Half of the held-out digits fit, half test.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

import calibrant as cb
from calibrant import metrics

X, y = load_digits(return_X_y=True)
X_train, X_rest, y_train, y_rest = train_test_split(
    X, y, train_size=0.3, random_state=0, stratify=y
)
P = np.maximum(GaussianNB().fit(X_train, y_train).predict_proba(X_rest), 1e-12)
P /= P.sum(axis=1, keepdims=True)
fit, test = np.arange(len(y_rest)) % 2 == 0, np.arange(len(y_rest)) % 2 == 1
logits = np.log(P)

cal = cb.calibrators.GaussianProcessCalibration(inputs="logit", monotone=True).fit(
    logits[fit], y_rest[fit]
)
cb.displays.LatentFunctionDisplay.from_calibrator(cal, logits[fit], name="Naive Bayes on digits")
plt.show()

# %% The function is flatter than the model's: differences between log probabilities count for less,
# and the log loss falls.

for name, Q in (("as it was", P[test]), ("calibrated", cal.predict_proba(logits[test]))):
    print(
        f"{name:10s} log loss {metrics.log_loss(y_rest[test], Q):.3f}, accuracy"
        f" {metrics.accuracy(y_rest[test], Q):.3f}"
    )
