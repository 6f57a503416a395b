from calibrant.scalings.constant import ClassOffsets as ClassOffsets
from calibrant.scalings.constant import ClassRates as ClassRates
from calibrant.scalings.constant import Identity as Identity
from calibrant.scalings.ensembles import EnsembleMatrixScaling as EnsembleMatrixScaling
from calibrant.scalings.ensembles import EnsembleTemperature as EnsembleTemperature
from calibrant.scalings.ensembles import PretrainedAverage as PretrainedAverage
from calibrant.scalings.gaussian_process import (
    GaussianProcessCalibration as GaussianProcessCalibration,
)
from calibrant.scalings.matrix import DirichletCalibration as DirichletCalibration
from calibrant.scalings.matrix import MatrixScaling as MatrixScaling
from calibrant.scalings.matrix import StructuredMatrixScaling as StructuredMatrixScaling
from calibrant.scalings.order_preserving import IntraOrderPreserving as IntraOrderPreserving
from calibrant.scalings.order_preserving import IsotonicOneVsRest as IsotonicOneVsRest
from calibrant.scalings.order_preserving import IsotonicPreserving as IsotonicPreserving
from calibrant.scalings.temperature import AwardTemperature as AwardTemperature
from calibrant.scalings.temperature import CategoryTemperature as CategoryTemperature
from calibrant.scalings.temperature import TemperatureScaling as TemperatureScaling
from calibrant.scalings.vector import StructuredVectorScaling as StructuredVectorScaling
from calibrant.scalings.vector import VectorScaling as VectorScaling

__all__: list[str]
