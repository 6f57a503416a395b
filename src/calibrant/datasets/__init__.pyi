from calibrant.datasets.sets import BUNDLED as BUNDLED
from calibrant.datasets.sets import Dataset as Dataset
from calibrant.datasets.sets import breast_cancer as breast_cancer
from calibrant.datasets.sets import digits as digits
from calibrant.datasets.sets import three_parts as three_parts

__all__: list[str]
