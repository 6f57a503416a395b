"""Boosting from calibrated scores on features, groups and the score itself: what is wrong anywhere is repaired where rows show it."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.ensemble import HistGradientBoostingRegressor
