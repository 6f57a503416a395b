from calibrant.datasets.bundled import BUNDLED as BUNDLED
from calibrant.datasets.bundled import Dataset as Dataset
from calibrant.datasets.bundled import breast_cancer as breast_cancer
from calibrant.datasets.bundled import digits as digits
from calibrant.datasets.bundled import three_parts as three_parts

__all__: list[str]
