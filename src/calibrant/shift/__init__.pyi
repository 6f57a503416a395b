from calibrant.shift.estimated_performance import PerformanceEstimate as PerformanceEstimate
from calibrant.shift.estimated_performance import estimate_performance as estimate_performance
from calibrant.shift.importance_weights import ImportanceWeights as ImportanceWeights
from calibrant.shift.shift_test import ChangedColumn as ChangedColumn
from calibrant.shift.shift_test import ShiftTest as ShiftTest
from calibrant.shift.shift_test import shift_test as shift_test

__all__: list[str]
