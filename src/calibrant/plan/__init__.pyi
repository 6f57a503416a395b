from calibrant.plan.sample_size import Criterion as Criterion
from calibrant.plan.sample_size import SampleSize as SampleSize
from calibrant.plan.updating_size import updating_size as updating_size
from calibrant.plan.validation_size import validation_size as validation_size
