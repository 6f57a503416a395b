from calibrant.forecasts.forecast import Forecast as Forecast
from calibrant.forecasts.joint_normal import JointNormalForecast as JointNormalForecast
from calibrant.forecasts.normal import NormalForecast as NormalForecast
from calibrant.forecasts.quantiles import QuantileForecast as QuantileForecast
from calibrant.forecasts.quantiles import SampleForecast as SampleForecast

__all__: list[str]
