"""Measures that peers have, theirs beside ours: a table of largest differences, and their numbers
for the tests, which need no peers.

    python -m benchmarks.metrics.peers            # ours beside the stored numbers
    python -m benchmarks.metrics.peers --store  # ask the peers anew; needs mapie==1.6.0
    uncertainty-toolbox==0.1.1 scoringrules==0.10.0
                                                  # properscoring==0.1 pycalib==0.1.0.dev6
                                                  scikit-learn==1.9.1

mcgrad's numbers are those of its own tests. Nothing of the peers is copied here; they are called.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np

STORED = Path(__file__).with_name("peers.json")
LEVEL = 0.9


def classes(seed):
    """(labels, probabilities (n, 3)) that are a little too sharp."""
    rng = np.random.default_rng([seed, 22])
    logits = 1.5 * rng.normal(size=(300, 3))
    P, truth = (
        np.exp(s * logits) / np.exp(s * logits).sum(axis=1, keepdims=True) for s in (1.0, 0.6)
    )
    return (rng.random((300, 1)) > np.cumsum(truth, axis=1)[:, :-1]).sum(axis=1), P


def numbers(seed):
    """(y, mean, std, samples (n, 20)) that are too narrow."""
    rng = np.random.default_rng([seed, 23])
    mean, std = 3.0 * rng.normal(size=300), np.exp(0.5 * rng.normal(size=300))
    return (
        mean + 1.4 * std * rng.normal(size=300),
        mean,
        std,
        mean[:, None] + std[:, None] * rng.normal(size=(300, 20)),
    )


def ours(seed):
    """{name of the measure: number}"""
    from calibrant import metrics as m
    from calibrant.regression import SampleForecast

    y, P = classes(seed)
    yb, pb = (y == 1).astype(int), P[:, 1]
    t, mean, std, samples = numbers(seed)
    drawn, crps = SampleForecast(samples), m.continuous_ranked_probability_score
    # Theirs takes mean - y for y - mean: what lies above the mirrored level.
    mirrored = m.interval_curve(t, mean, std, n_levels=11, kind="quantile")
    groups = m.adversarial_group_calibration(t, mean, std, n_sizes=2, n_groups=1, n_trials=2)
    return {
        "mapie.kolmogorov_smirnov_p_value": (
            m.cumulative_test(yb, pb, statistic="ks", method="brownian").p_value
        ),
        "mapie.kuiper_p_value": m.cumulative_test(yb, pb, method="brownian").p_value,
        "mapie.spiegelhalter_p_value": 0.5 * m.spiegelhalter_test(yb, pb).p_value,
        "mapie.top_label_ece": m.per_label_calibration_error(y, P, n_bins=10, average="label"),
        "mapie.regression_ssc_score": m.size_stratified_coverage(t, mean, std),
        "mapie.hsic": m.width_dependence(t, mean, std),
        "mapie.coverage_width_based": m.coverage_width_criterion(t, mean, std),
        "pycalib.full_ECE": m.full_calibration_error(y, P, n_bins=5),
        "pycalib.full_ECE, power 2": m.full_calibration_error(y, P, n_bins=5, power=2),
        "pycalib.pECE": (
            m.calibration_error_test(
                m.full_calibration_error.with_options(n_bins=5), y, P, n_draws=999
            ).p_value
        ),
        "scoringrules.rps_score": m.ranked_probability_score(y, P),
        "scoringrules.crps_ensemble, nrg": crps(t, drawn),
        "scoringrules.crps_ensemble, fair": crps(t, drawn, estimator="fair"),
        "scoringrules.crps_ensemble, pwm": crps(t, drawn, estimator="fair"),
        "scoringrules.interval_score, weighted": m.weighted_interval_score(
            t, mean, std, levels=(0.5, LEVEL)
        ),
        "properscoring.threshold_brier_score": m.threshold_brier_score(t, drawn, threshold=1.0),
        "uncertainty_toolbox.mdae": m.median_absolute_error(t, mean),
        "uncertainty_toolbox.marpd": m.mean_absolute_relative_difference(t, mean),
        "uncertainty_toolbox.root_mean_squared_calibration_error": (
            m.root_mean_square_interval_calibration_error(t, mean, std)
        ),
        "uncertainty_toolbox.miscalibration_area": m.miscalibration_area(t, mean, std),
        "uncertainty_toolbox.miscalibration_area, quantile": m.miscalibration_area(
            t, mean, std, kind="quantile"
        ),
        "uncertainty_toolbox.get_proportion_lists, interval": float(
            m.interval_curve(t, mean, std, n_levels=11).coverage[4]
        ),
        "uncertainty_toolbox.get_proportion_lists, quantile": 1.0 - mirrored.coverage[6],
        "uncertainty_toolbox.adversarial_group_calibration, all rows": float(groups.error[-1]),
    }


def full_ece(y, P):
    """PyCalib's of five bins, where its worker processes find it."""
    from pycalib.metrics import full_ECE

    return full_ECE(y, P, bins=5)


def theirs(seed):
    """The same of the peers, each called as its documentation says."""
    import properscoring
    import scoringrules as sr
    import uncertainty_toolbox.metrics_accuracy as accuracy
    import uncertainty_toolbox.metrics_calibration as ut
    from mapie.metrics import calibration as mc
    from mapie.metrics import regression as mr
    from pycalib import metrics as pc
    from scipy.stats import norm

    y, P = classes(seed)
    yb, pb = (y == 1).astype(int), P[:, 1]
    t, mean, std, samples = numbers(seed)
    reach = norm.ppf(0.5 + 0.5 * LEVEL) * std
    both = np.stack([mean - reach, mean + reach], axis=1)[:, :, None]
    scores = [
        sr.interval_score(t, mean - r, mean + r, a) * a / 2
        for a in (0.5, 1 - LEVEL)
        for r in [norm.ppf(1 - a / 2) * std]
    ]
    error, (_, inside), (_, below) = (
        accuracy.prediction_error_metrics(mean, t),
        ut.get_proportion_lists(mean, std, t, 11),
        ut.get_proportion_lists(mean, std, t, 11, prop_type="quantile"),
    )
    groups = ut.adversarial_group_calibration(
        mean, std, t, cali_type="mean_abs", num_group_bins=2, num_group_draws=1, num_trials=2
    )
    return {
        "mapie.kolmogorov_smirnov_p_value": mc.kolmogorov_smirnov_p_value(yb, pb),
        "mapie.kuiper_p_value": mc.kuiper_p_value(yb, pb),
        "mapie.spiegelhalter_p_value": mc.spiegelhalter_p_value(yb, pb),
        "mapie.top_label_ece": mc.top_label_ece(y, P, num_bins=11, split_strategy="uniform"),
        "mapie.regression_ssc_score": mr.regression_ssc_score(t, both)[0],
        "mapie.hsic": mr.hsic(t, both)[0],
        "mapie.coverage_width_based": mr.coverage_width_based(
            t, both[:, 0, 0], both[:, 1, 0], 30.0, LEVEL
        ),
        "pycalib.full_ECE": pc.full_ECE(y, P, bins=5),
        "pycalib.full_ECE, power 2": pc.full_ECE(y, P, bins=5, power=2),
        "pycalib.pECE": pc.pECE(y, P, samples=2000, ece_function=full_ece),
        "scoringrules.rps_score": np.mean(sr.rps_score(y + 1, P)),
        **{
            f"scoringrules.crps_ensemble, {e}": np.mean(sr.crps_ensemble(t, samples, estimator=e))
            for e in ("nrg", "fair", "pwm")
        },
        "scoringrules.interval_score, weighted": (
            np.mean(0.5 * np.abs(t - mean) + sum(scores)) / 2.5
        ),
        "properscoring.threshold_brier_score": np.mean(
            properscoring.threshold_brier_score(t, samples, 1.0)
        ),
        "uncertainty_toolbox.mdae": error["mdae"],
        "uncertainty_toolbox.marpd": error["marpd"],
        "uncertainty_toolbox.root_mean_squared_calibration_error": (
            ut.root_mean_squared_calibration_error(mean, std, t)
        ),
        "uncertainty_toolbox.miscalibration_area": ut.miscalibration_area(mean, std, t),
        "uncertainty_toolbox.miscalibration_area, quantile": ut.miscalibration_area(
            mean, std, t, prop_type="quantile"
        ),
        "uncertainty_toolbox.get_proportion_lists, interval": inside[4],
        "uncertainty_toolbox.get_proportion_lists, quantile": below[4],
        "uncertainty_toolbox.adversarial_group_calibration, all rows": groups.score_mean[-1],
    }


#: Where the definitions differ, or the number is drawn: how far apart they may be, and why.
APART = {
    "mapie.kuiper_p_value": (
        5e-3,
        "theirs leaves out the sum over no rows, from which the curve starts",
    ),
    "pycalib.pECE": (0.05, "drawn; theirs has no 1 above and below the bar"),
}
OURS = {
    "mapie.kolmogorov_smirnov_p_value": 'cumulative_test(statistic="ks")',
    "mapie.kuiper_p_value": "cumulative_test",
    "mapie.spiegelhalter_p_value": "spiegelhalter_test, half: theirs is one-sided",
    "mapie.top_label_ece": 'per_label_calibration_error(average="label")',
    "mapie.regression_ssc_score": "size_stratified_coverage",
    "mapie.hsic": "width_dependence",
    "mapie.coverage_width_based": "coverage_width_criterion",
    "pycalib.full_ECE": "full_calibration_error",
    "pycalib.full_ECE, power 2": "full_calibration_error(power=2)",
    "pycalib.pECE": "calibration_error_test",
    "scoringrules.rps_score": "ranked_probability_score",
    "scoringrules.crps_ensemble, nrg": "continuous_ranked_probability_score",
    "scoringrules.crps_ensemble, fair": 'continuous_ranked_probability_score(estimator="fair")',
    "scoringrules.crps_ensemble, pwm": 'continuous_ranked_probability_score(estimator="fair")',
    "scoringrules.interval_score, weighted": "weighted_interval_score",
    "properscoring.threshold_brier_score": "threshold_brier_score",
    "uncertainty_toolbox.mdae": "median_absolute_error",
    "uncertainty_toolbox.marpd": "mean_absolute_relative_difference",
    "uncertainty_toolbox.root_mean_squared_calibration_error": (
        "root_mean_square_interval_calibration_error"
    ),
    "uncertainty_toolbox.miscalibration_area": "miscalibration_area",
    "uncertainty_toolbox.miscalibration_area, quantile": 'miscalibration_area(kind="quantile")',
    "uncertainty_toolbox.get_proportion_lists, interval": "interval_curve",
    "uncertainty_toolbox.get_proportion_lists, quantile": 'interval_curve(kind="quantile")',
    "uncertainty_toolbox.adversarial_group_calibration, all rows": "adversarial_group_calibration",
}
SEEDS = range(3)


def differences():
    """{name: largest difference from the stored numbers}"""
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    mine = [ours(seed) for seed in SEEDS]
    return {
        name: max(abs(own[name] - theirs) for own, theirs in zip(mine, known, strict=True))
        for name, known in stored.items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--store", action="store_true")
    if parser.parse_args().store:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [theirs(seed) for seed in SEEDS]
        STORED.write_text(
            json.dumps({name: [float(each[name]) for each in found] for name in found[0]}, indent=1)
            + "\n",
            encoding="utf-8",
        )
        return
    print(f"{'theirs':60} {'ours':62} {'largest difference':>18}  note")
    for name, far in differences().items():
        print(f"{name:60} {OURS[name]:62} {far:18.1e}  {APART.get(name, (0, ''))[1]}")


if __name__ == "__main__":
    main()
