"""Error bars that are too small, before and after one factor: both questions about them."""

import matplotlib.pyplot as plt
import numpy as np

import calibrant as cb

rng = np.random.default_rng(0)
mean, std = rng.normal(size=4000), np.exp(rng.normal(-0.3, 0.5, 4000))
y = mean + 1.6 * std * rng.normal(size=4000)
fit, new = slice(2000), slice(2000, None)
after = cb.StdScaling().fit(mean[fit], y[fit], std=std[fit]).predict(mean[new], std[new])
before = cb.NormalForecast(mean[new], std[new])
_, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained")
for forecast, name in ((before, "model"), (after, "calibrated")):
    cb.displays.IntervalCalibrationDisplay.from_predictions(y[new], forecast, ax=left, name=name)
    cb.displays.RmseRmvDisplay.from_predictions(y[new], forecast, ax=right, name=name)
