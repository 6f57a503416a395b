"""Numbers with their uncertainty: ``metric(y, P)``, ``metric.interval(y, P)``, ``metric.state(y, P)``."""

from calibrant._base.metric import Interval as Interval
from calibrant.metrics.curves.confidence_histogram import confidence_histogram as confidence_histogram
from calibrant.metrics.curves.interval_curve import interval_curve as interval_curve
from calibrant.metrics.curves.isotonic_curve import isotonic_curve as isotonic_curve
from calibrant.metrics.curves.joint_distribution import joint_distribution as joint_distribution
from calibrant.metrics.curves.real_std_curve import real_std_curve as real_std_curve
from calibrant.metrics.curves.reliability_curve import reliability_curve as reliability_curve
from calibrant.metrics.curves.reliability_curves import reliability_curves as reliability_curves
from calibrant.metrics.curves.risk_coverage_curve import risk_coverage_curve as risk_coverage_curve
from calibrant.metrics.curves.rmse_rmv_curve import rmse_rmv_curve as rmse_rmv_curve
from calibrant.metrics.curves.smooth_curve import smooth_curve as smooth_curve
from calibrant.metrics.label.accuracy import accuracy as accuracy
from calibrant.metrics.label.area_under_risk_coverage import area_under_risk_coverage as area_under_risk_coverage
from calibrant.metrics.label.confidence_auroc import confidence_auroc as confidence_auroc
from calibrant.metrics.label.coverage_at_risk import coverage_at_risk as coverage_at_risk
from calibrant.metrics.label.excess_area_under_risk_coverage import excess_area_under_risk_coverage as excess_area_under_risk_coverage
from calibrant.metrics.label.overconfidence import overconfidence as overconfidence
from calibrant.metrics.label.underconfidence import underconfidence as underconfidence
from calibrant.metrics.per_group import per_group as per_group
from calibrant.metrics.per_group import worst_group as worst_group
from calibrant.metrics.probability.adaptive_calibration_error import adaptive_calibration_error as adaptive_calibration_error
from calibrant.metrics.probability.brier_score import brier_score as brier_score
from calibrant.metrics.probability.calibration_error_bound import calibration_error_bound as calibration_error_bound
from calibrant.metrics.probability.calibration_intercept import calibration_intercept as calibration_intercept
from calibrant.metrics.probability.calibration_slope import calibration_slope as calibration_slope
from calibrant.metrics.probability.classwise_calibration_error import classwise_calibration_error as classwise_calibration_error
from calibrant.metrics.probability.confidence_spread import confidence_spread as confidence_spread
from calibrant.metrics.probability.debiased_calibration_error import debiased_calibration_error as debiased_calibration_error
from calibrant.metrics.probability.expected_calibration_error import expected_calibration_error as expected_calibration_error
from calibrant.metrics.probability.integrated_calibration_index import calibration_e50 as calibration_e50
from calibrant.metrics.probability.integrated_calibration_index import calibration_e90 as calibration_e90
from calibrant.metrics.probability.integrated_calibration_index import integrated_calibration_index as integrated_calibration_index
from calibrant.metrics.probability.kde_calibration_error import kde_calibration_error as kde_calibration_error
from calibrant.metrics.probability.kernel_calibration_error import kernel_calibration_error as kernel_calibration_error
from calibrant.metrics.probability.ks_calibration_error import ks_calibration_error as ks_calibration_error
from calibrant.metrics.probability.log_loss import log_loss as log_loss
from calibrant.metrics.probability.maximum_calibration_error import maximum_calibration_error as maximum_calibration_error
from calibrant.metrics.probability.maximum_mean_calibration_error import maximum_mean_calibration_error as maximum_mean_calibration_error
from calibrant.metrics.probability.positive_class_calibration_error import (
    positive_class_calibration_error as positive_class_calibration_error,
)
from calibrant.metrics.probability.refinement_error import refinement_error as refinement_error
from calibrant.metrics.probability.root_mean_square_calibration_error import (
    root_mean_square_calibration_error as root_mean_square_calibration_error,
)
from calibrant.metrics.probability.score_decomposition import brier_decomposition as brier_decomposition
from calibrant.metrics.probability.score_decomposition import log_loss_decomposition as log_loss_decomposition
from calibrant.metrics.probability.smooth_calibration_error import smooth_calibration_error as smooth_calibration_error
from calibrant.metrics.probability.spherical_score import spherical_score as spherical_score
from calibrant.metrics.probability.sweep_calibration_error import sweep_calibration_error as sweep_calibration_error
from calibrant.metrics.probability.variational_calibration_error import (
    variational_calibration_error as variational_calibration_error,
)
from calibrant.metrics.regression.coefficient_of_variation import coefficient_of_variation as coefficient_of_variation
from calibrant.metrics.regression.continuous_ranked_probability_score import (
    continuous_ranked_probability_score as continuous_ranked_probability_score,
)
from calibrant.metrics.regression.expected_normalized_calibration_error import (
    expected_normalized_calibration_error as expected_normalized_calibration_error,
)
from calibrant.metrics.regression.group_coverage import group_coverage as group_coverage
from calibrant.metrics.regression.interval_calibration_error import interval_calibration_error as interval_calibration_error
from calibrant.metrics.regression.interval_coverage import interval_coverage as interval_coverage
from calibrant.metrics.regression.interval_width import interval_width as interval_width
from calibrant.metrics.regression.mean_absolute_error import mean_absolute_error as mean_absolute_error
from calibrant.metrics.regression.negative_log_likelihood import negative_log_likelihood as negative_log_likelihood
from calibrant.metrics.regression.pinball_loss import pinball_loss as pinball_loss
from calibrant.metrics.regression.pit_test import pit_histogram as pit_histogram
from calibrant.metrics.regression.pit_test import pit_test as pit_test
from calibrant.metrics.regression.quantile_calibration_error import quantile_calibration_error as quantile_calibration_error
from calibrant.metrics.regression.root_mean_squared_error import root_mean_squared_error as root_mean_squared_error
from calibrant.metrics.regression.sharpness import sharpness as sharpness
from calibrant.metrics.regression.uncertainty_calibration_error import uncertainty_calibration_error as uncertainty_calibration_error
from calibrant.metrics.scorer import scorer as scorer
from calibrant.metrics.several import compute as compute
from calibrant.metrics.significance.hosmer_lemeshow import hosmer_lemeshow_test as hosmer_lemeshow_test
from calibrant.metrics.significance.kernel import kernel_calibration_test as kernel_calibration_test
from calibrant.metrics.significance.spiegelhalter import spiegelhalter_test as spiegelhalter_test
from calibrant.metrics.significance.t_cal import t_cal_test as t_cal_test

__all__ = [
    "Interval",
    "accuracy",
    "adaptive_calibration_error",
    "area_under_risk_coverage",
    "brier_decomposition",
    "brier_score",
    "calibration_e50",
    "calibration_e90",
    "calibration_error_bound",
    "calibration_intercept",
    "calibration_slope",
    "classwise_calibration_error",
    "coefficient_of_variation",
    "compute",
    "confidence_auroc",
    "confidence_histogram",
    "confidence_spread",
    "continuous_ranked_probability_score",
    "coverage_at_risk",
    "debiased_calibration_error",
    "excess_area_under_risk_coverage",
    "expected_calibration_error",
    "expected_normalized_calibration_error",
    "group_coverage",
    "hosmer_lemeshow_test",
    "integrated_calibration_index",
    "interval_calibration_error",
    "interval_coverage",
    "interval_curve",
    "interval_width",
    "isotonic_curve",
    "joint_distribution",
    "kde_calibration_error",
    "kernel_calibration_error",
    "kernel_calibration_test",
    "ks_calibration_error",
    "log_loss",
    "log_loss_decomposition",
    "maximum_calibration_error",
    "maximum_mean_calibration_error",
    "mean_absolute_error",
    "negative_log_likelihood",
    "overconfidence",
    "per_group",
    "pinball_loss",
    "pit_histogram",
    "pit_test",
    "positive_class_calibration_error",
    "quantile_calibration_error",
    "real_std_curve",
    "refinement_error",
    "reliability_curve",
    "reliability_curves",
    "risk_coverage_curve",
    "rmse_rmv_curve",
    "root_mean_square_calibration_error",
    "root_mean_squared_error",
    "scorer",
    "sharpness",
    "smooth_calibration_error",
    "smooth_curve",
    "spherical_score",
    "spiegelhalter_test",
    "sweep_calibration_error",
    "t_cal_test",
    "uncertainty_calibration_error",
    "underconfidence",
    "variational_calibration_error",
    "worst_group",
]
