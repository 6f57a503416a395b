from calibrant.plan.sample_size import Criterion as Criterion
from calibrant.plan.sample_size import SampleSize as SampleSize
from calibrant.plan.sizes import updating_size as updating_size
from calibrant.plan.sizes import validation_size as validation_size
from calibrant.validation.validate import validate as validate

__all__: list[str]
