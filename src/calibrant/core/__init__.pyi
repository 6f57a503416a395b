from calibrant._numerics.threads import get_threads as get_threads
from calibrant._numerics.threads import set_threads as set_threads
from calibrant._numerics.threads import threads as threads
from calibrant.core.calibrator import Calibrator as Calibrator
from calibrant.core.calibrator import MapTags as MapTags
from calibrant.core.calibrator import Promises as Promises
from calibrant.core.calibrator import SignalTags as SignalTags
from calibrant.core.calibrator import Tags as Tags
from calibrant.core.compiled import Compiled as Compiled
from calibrant.core.estimators import register as register
from calibrant.core.expression import Expression as Expression
from calibrant.core.guarantee import Guarantee as Guarantee
from calibrant.core.labels import SoftLabels as SoftLabels
from calibrant.core.map import Map as Map
from calibrant.core.map import Signal as Signal
from calibrant.core.metric import SumState as SumState
from calibrant.core.metric_kinds import MeanMetric as MeanMetric
from calibrant.core.metric_kinds import Metric as Metric
from calibrant.core.metric_kinds import RatioMetric as RatioMetric
from calibrant.core.metric_kinds import RegressionMeanMetric as RegressionMeanMetric
from calibrant.core.metric_kinds import RegressionMetric as RegressionMetric
from calibrant.core.metric_kinds import RegressionSumMetric as RegressionSumMetric
from calibrant.core.metric_kinds import SumMetric as SumMetric
from calibrant.core.metric_kinds import WholeMetric as WholeMetric
from calibrant.core.regression_calibrator import RegressionCalibrator as RegressionCalibrator

__all__: list[str]
