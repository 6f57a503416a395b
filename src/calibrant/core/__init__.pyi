from calibrant._numerics.threads import get_threads as get_threads
from calibrant._numerics.threads import set_threads as set_threads
from calibrant._numerics.threads import threads as threads
from calibrant.core.base_metric import SumState as SumState
from calibrant.core.calibrator import Calibrator as Calibrator
from calibrant.core.compiled import Compiled as Compiled
from calibrant.core.expression import Expression as Expression
from calibrant.core.guarantee import Guarantee as Guarantee
from calibrant.core.labels import SoftLabels as SoftLabels
from calibrant.core.map import Map as Map
from calibrant.core.metric import MeanMetric as MeanMetric
from calibrant.core.metric import Metric as Metric
from calibrant.core.metric import RatioMetric as RatioMetric
from calibrant.core.metric import RegressionMeanMetric as RegressionMeanMetric
from calibrant.core.metric import RegressionMetric as RegressionMetric
from calibrant.core.metric import RegressionSumMetric as RegressionSumMetric
from calibrant.core.metric import SumMetric as SumMetric
from calibrant.core.metric import WholeMetric as WholeMetric
from calibrant.core.registry import register as register
from calibrant.core.regression_calibrator import RegressionCalibrator as RegressionCalibrator
from calibrant.core.signal import Signal as Signal
from calibrant.core.tags import MapTags as MapTags
from calibrant.core.tags import Promises as Promises
from calibrant.core.tags import SignalTags as SignalTags
from calibrant.core.tags import Tags as Tags

__all__: list[str]
