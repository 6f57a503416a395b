"""Write regression.json: numbers of uncertainty-toolbox and scoringrules on one made problem.

Run with a Python that has both: ``python tests/reference/make_regression.py``.
"""

import json
from pathlib import Path

import numpy as np


def problem():
    """(y, mean, std, samples): overconfident normal forecasts, and draws from them."""
    rng = np.random.default_rng(20)
    mean, std = 3.0 * rng.normal(size=400), np.exp(0.5 * rng.normal(size=400))
    y = mean + 1.4 * std * rng.normal(size=400)
    return y, mean, std, mean[:, None] + std[:, None] * rng.normal(size=(400, 30))


def main():
    """Compute and write."""
    import scoringrules
    import uncertainty_toolbox as uct

    y, mean, std, samples = problem()
    m = uct.metrics
    out = {
        "versions": {"uncertainty-toolbox": "0.1.1", "scoringrules": "0.10.0"},
        "uncertainty-toolbox": {
            "nll": m.nll_gaussian(mean, std, y),
            "crps": m.crps_gaussian(mean, std, y),
            "sharpness": m.sharpness(std),
            "mace_interval": m.mean_absolute_calibration_error(
                mean, std, y, num_bins=100, prop_type="interval"
            ),
            "mace_quantile": m.mean_absolute_calibration_error(
                mean, std, y, num_bins=100, prop_type="quantile"
            ),
            "check_score": m.check_score(mean, std, y),
            "rmse": m.prediction_error_metrics(mean, y)["rmse"],
            "mae": m.prediction_error_metrics(mean, y)["mae"],
        },
        "scoringrules": {
            "crps_normal": float(np.mean(scoringrules.crps_normal(y, mean, std))),
            "crps_ensemble": float(
                np.mean(scoringrules.crps_ensemble(y, samples, estimator="nrg"))
            ),
            "logs_normal": float(np.mean(scoringrules.logs_normal(y, mean, std))),
            "quantile_score": float(
                np.mean(scoringrules.quantile_score(y, mean + std * 1.2815515655446004, 0.9))
            ),
        },
    }
    path = Path(__file__).with_name("regression.json")
    path.write_text(json.dumps(out, indent=1, default=float) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
