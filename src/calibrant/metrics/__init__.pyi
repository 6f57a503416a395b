from calibrant.core.metric_kinds import Interval as Interval
from calibrant.metrics.all_classes import accepted_share as accepted_share
from calibrant.metrics.all_classes import accuracy as accuracy
from calibrant.metrics.all_classes import confidence_spread as confidence_spread
from calibrant.metrics.all_classes import full_calibration_error as full_calibration_error
from calibrant.metrics.all_classes import overconfidence as overconfidence
from calibrant.metrics.all_classes import per_label_calibration_error as per_label_calibration_error
from calibrant.metrics.all_classes import selective_risk as selective_risk
from calibrant.metrics.all_classes import underconfidence as underconfidence
from calibrant.metrics.binless import calibration_e50 as calibration_e50
from calibrant.metrics.binless import calibration_e90 as calibration_e90
from calibrant.metrics.binless import integrated_calibration_index as integrated_calibration_index
from calibrant.metrics.binless import ks_calibration_error as ks_calibration_error
from calibrant.metrics.binless import (
    maximum_mean_calibration_error as maximum_mean_calibration_error,
)
from calibrant.metrics.binless import smooth_calibration_error as smooth_calibration_error
from calibrant.metrics.binned import adaptive_calibration_error as adaptive_calibration_error
from calibrant.metrics.binned import classwise_calibration_error as classwise_calibration_error
from calibrant.metrics.binned import debiased_calibration_error as debiased_calibration_error
from calibrant.metrics.binned import expected_calibration_error as expected_calibration_error
from calibrant.metrics.binned import maximum_calibration_error as maximum_calibration_error
from calibrant.metrics.binned import (
    positive_class_calibration_error as positive_class_calibration_error,
)
from calibrant.metrics.binned import (
    root_mean_square_calibration_error as root_mean_square_calibration_error,
)
from calibrant.metrics.bounds import calibration_equivalence_test as calibration_equivalence_test
from calibrant.metrics.bounds import calibration_error_bound as calibration_error_bound
from calibrant.metrics.by_group import per_group as per_group
from calibrant.metrics.by_group import worst_group as worst_group
from calibrant.metrics.comparison import Comparison as Comparison
from calibrant.metrics.comparison import compare as compare
from calibrant.metrics.curves.decision import decision_curve as decision_curve
from calibrant.metrics.curves.decision import gain_curve as gain_curve
from calibrant.metrics.curves.decision import threshold_table as threshold_table
from calibrant.metrics.curves.distribution import joint_distribution as joint_distribution
from calibrant.metrics.curves.distribution import risk_coverage_curve as risk_coverage_curve
from calibrant.metrics.curves.distribution import risk_distribution as risk_distribution
from calibrant.metrics.curves.forecasts import interval_curve as interval_curve
from calibrant.metrics.curves.forecasts import interval_width_curve as interval_width_curve
from calibrant.metrics.curves.forecasts import ordered_intervals as ordered_intervals
from calibrant.metrics.curves.forecasts import real_std_curve as real_std_curve
from calibrant.metrics.curves.forecasts import rmse_rmv_curve as rmse_rmv_curve
from calibrant.metrics.curves.isotonic import CorpState as CorpState
from calibrant.metrics.curves.isotonic import corp_state as corp_state
from calibrant.metrics.curves.isotonic import isotonic_curve as isotonic_curve
from calibrant.metrics.curves.murphy import murphy_curve as murphy_curve
from calibrant.metrics.curves.reliability import confidence_histogram as confidence_histogram
from calibrant.metrics.curves.reliability import reliability_curve as reliability_curve
from calibrant.metrics.curves.reliability import reliability_curves as reliability_curves
from calibrant.metrics.curves.reliability import smooth_curve as smooth_curve
from calibrant.metrics.curves.smooth import loess_curve as loess_curve
from calibrant.metrics.curves.smooth import spline_curve as spline_curve
from calibrant.metrics.decisions import calibration_decision_loss as calibration_decision_loss
from calibrant.metrics.decisions import lift as lift
from calibrant.metrics.decisions import net_benefit as net_benefit
from calibrant.metrics.decisions import standardised_net_benefit as standardised_net_benefit
from calibrant.metrics.decomposition import brier_decomposition as brier_decomposition
from calibrant.metrics.decomposition import log_loss_decomposition as log_loss_decomposition
from calibrant.metrics.decomposition import refinement_error as refinement_error
from calibrant.metrics.event_calibration import calibration_in_the_large as calibration_in_the_large
from calibrant.metrics.event_calibration import calibration_slope as calibration_slope
from calibrant.metrics.event_calibration import (
    joint_calibration_intercept as joint_calibration_intercept,
)
from calibrant.metrics.event_calibration import observed_expected_ratio as observed_expected_ratio
from calibrant.metrics.events import calibration_bias as calibration_bias
from calibrant.metrics.events import event_brier_score as event_brier_score
from calibrant.metrics.events import mean_risk as mean_risk
from calibrant.metrics.events import (
    threshold_weighted_brier_score as threshold_weighted_brier_score,
)
from calibrant.metrics.events import threshold_weighted_log_loss as threshold_weighted_log_loss
from calibrant.metrics.forecast_calibration import (
    adversarial_group_calibration as adversarial_group_calibration,
)
from calibrant.metrics.forecast_calibration import (
    coverage_width_criterion as coverage_width_criterion,
)
from calibrant.metrics.forecast_calibration import (
    interval_calibration_error as interval_calibration_error,
)
from calibrant.metrics.forecast_calibration import interval_coverage as interval_coverage
from calibrant.metrics.forecast_calibration import interval_width as interval_width
from calibrant.metrics.forecast_calibration import miscalibration_area as miscalibration_area
from calibrant.metrics.forecast_calibration import (
    root_mean_square_interval_calibration_error as root_mean_square_interval_calibration_error,
)
from calibrant.metrics.forecast_joint import box_coverage as box_coverage
from calibrant.metrics.forecast_joint import ellipse_coverage as ellipse_coverage
from calibrant.metrics.forecast_joint import energy_score as energy_score
from calibrant.metrics.forecast_joint import joint_pit as joint_pit
from calibrant.metrics.forecast_joint import variogram_score as variogram_score
from calibrant.metrics.forecast_pit import pit_histogram as pit_histogram
from calibrant.metrics.forecast_pit import pit_test as pit_test
from calibrant.metrics.forecast_pit import randomised_pit as randomised_pit
from calibrant.metrics.forecast_scores import coefficient_of_variation as coefficient_of_variation
from calibrant.metrics.forecast_scores import (
    continuous_ranked_probability_score as continuous_ranked_probability_score,
)
from calibrant.metrics.forecast_scores import mean_absolute_error as mean_absolute_error
from calibrant.metrics.forecast_scores import (
    mean_absolute_relative_difference as mean_absolute_relative_difference,
)
from calibrant.metrics.forecast_scores import median_absolute_error as median_absolute_error
from calibrant.metrics.forecast_scores import negative_log_likelihood as negative_log_likelihood
from calibrant.metrics.forecast_scores import pinball_loss as pinball_loss
from calibrant.metrics.forecast_scores import root_mean_squared_error as root_mean_squared_error
from calibrant.metrics.forecast_scores import sharpness as sharpness
from calibrant.metrics.forecast_scores import threshold_brier_score as threshold_brier_score
from calibrant.metrics.forecast_scores import weighted_interval_score as weighted_interval_score
from calibrant.metrics.forecast_spread import (
    expected_normalized_calibration_error as expected_normalized_calibration_error,
)
from calibrant.metrics.forecast_spread import group_coverage as group_coverage
from calibrant.metrics.forecast_spread import (
    quantile_calibration_error as quantile_calibration_error,
)
from calibrant.metrics.forecast_spread import size_stratified_coverage as size_stratified_coverage
from calibrant.metrics.forecast_spread import (
    uncertainty_calibration_error as uncertainty_calibration_error,
)
from calibrant.metrics.forecast_spread import width_dependence as width_dependence
from calibrant.metrics.pool import OverSites as OverSites
from calibrant.metrics.pool import Pooled as Pooled
from calibrant.metrics.pool import over_sites as over_sites
from calibrant.metrics.pool import pool as pool
from calibrant.metrics.proper import brier_score as brier_score
from calibrant.metrics.proper import d2_brier as d2_brier
from calibrant.metrics.proper import d2_log_loss as d2_log_loss
from calibrant.metrics.proper import d2_of_classes as d2_of_classes
from calibrant.metrics.proper import log_loss as log_loss
from calibrant.metrics.proper import ranked_probability_score as ranked_probability_score
from calibrant.metrics.proper import spherical_score as spherical_score
from calibrant.metrics.ranking import area_under_risk_coverage as area_under_risk_coverage
from calibrant.metrics.ranking import confidence_auroc as confidence_auroc
from calibrant.metrics.ranking import coverage_at_risk as coverage_at_risk
from calibrant.metrics.ranking import event_auroc as event_auroc
from calibrant.metrics.ranking import (
    excess_area_under_risk_coverage as excess_area_under_risk_coverage,
)
from calibrant.metrics.sample_size import Criterion as Criterion
from calibrant.metrics.sample_size import SampleSize as SampleSize
from calibrant.metrics.sample_size import updating_size as updating_size
from calibrant.metrics.sample_size import validation_size as validation_size
from calibrant.metrics.sets import SetSizes as SetSizes
from calibrant.metrics.sets import conditional_coverage_gap as conditional_coverage_gap
from calibrant.metrics.sets import set_coverage as set_coverage
from calibrant.metrics.sets import set_coverage_by as set_coverage_by
from calibrant.metrics.sets import set_sizes as set_sizes
from calibrant.metrics.sets import worst_slab_coverage as worst_slab_coverage
from calibrant.metrics.several import compute as compute
from calibrant.metrics.several import scorer as scorer
from calibrant.metrics.tests import calibration_error_test as calibration_error_test
from calibrant.metrics.tests import cumulative_test as cumulative_test
from calibrant.metrics.tests import hosmer_lemeshow_test as hosmer_lemeshow_test
from calibrant.metrics.tests import spiegelhalter_test as spiegelhalter_test
from calibrant.metrics.validation import validate as validate

__all__: list[str]
