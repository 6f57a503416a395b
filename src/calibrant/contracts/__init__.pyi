from calibrant._support.registry import register as register
from calibrant.contracts.base_metric import SumState as SumState
from calibrant.contracts.calibrator import Calibrator as Calibrator
from calibrant.contracts.compiled import Compiled as Compiled
from calibrant.contracts.expression import Expression as Expression
from calibrant.contracts.guarantee import Guarantee as Guarantee
from calibrant.contracts.map import Map as Map
from calibrant.contracts.metric import MeanMetric as MeanMetric
from calibrant.contracts.metric import Metric as Metric
from calibrant.contracts.metric import RatioMetric as RatioMetric
from calibrant.contracts.metric import RegressionMeanMetric as RegressionMeanMetric
from calibrant.contracts.metric import RegressionMetric as RegressionMetric
from calibrant.contracts.metric import RegressionSumMetric as RegressionSumMetric
from calibrant.contracts.metric import SumMetric as SumMetric
from calibrant.contracts.metric import WholeMetric as WholeMetric
from calibrant.contracts.regression_calibrator import RegressionCalibrator as RegressionCalibrator
from calibrant.contracts.signal import Signal as Signal
from calibrant.contracts.tags import MapTags as MapTags
from calibrant.contracts.tags import Promises as Promises
from calibrant.contracts.tags import SignalTags as SignalTags
from calibrant.contracts.tags import Tags as Tags

__all__: list[str]
