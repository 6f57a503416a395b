from calibrant.decisions.certificates import Certificate as Certificate
from calibrant.decisions.certificates import ErrorCounts as ErrorCounts
from calibrant.decisions.conditional_sets import ConditionalSets as ConditionalSets
from calibrant.decisions.costs import CostsOfDecisions as CostsOfDecisions
from calibrant.decisions.costs import ExpectedCost as ExpectedCost
from calibrant.decisions.risk_control import CertifiedSettings as CertifiedSettings
from calibrant.decisions.risk_control import ConformalRiskControl as ConformalRiskControl
from calibrant.decisions.risk_control import certified_settings as certified_settings
from calibrant.decisions.selective import SelectiveClassifier as SelectiveClassifier
from calibrant.decisions.sets import ConformalSets as ConformalSets
from calibrant.decisions.thresholds import DecisionThreshold as DecisionThreshold
from calibrant.decisions.thresholds import NeymanPearsonClassifier as NeymanPearsonClassifier
from calibrant.decisions.thresholds import decision_threshold as decision_threshold

__all__: list[str]
