from calibrant.decisions.decision_threshold import DecisionThreshold as DecisionThreshold
from calibrant.decisions.decision_threshold import decision_threshold as decision_threshold

__all__: list[str]
