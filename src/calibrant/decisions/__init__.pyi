from calibrant.decisions.certificate import Certificate as Certificate
from calibrant.decisions.certified_settings import CertifiedSettings as CertifiedSettings
from calibrant.decisions.certified_settings import certified_settings as certified_settings
from calibrant.decisions.conditional_sets import ConditionalSets as ConditionalSets
from calibrant.decisions.conformal_risk_control import ConformalRiskControl as ConformalRiskControl
from calibrant.decisions.conformal_sets import ConformalSets as ConformalSets
from calibrant.decisions.decision_threshold import DecisionThreshold as DecisionThreshold
from calibrant.decisions.decision_threshold import decision_threshold as decision_threshold
from calibrant.decisions.error_counts import ErrorCounts as ErrorCounts
from calibrant.decisions.expected_cost import CostsOfDecisions as CostsOfDecisions
from calibrant.decisions.expected_cost import ExpectedCost as ExpectedCost
from calibrant.decisions.neyman_pearson_classifier import (
    NeymanPearsonClassifier as NeymanPearsonClassifier,
)
from calibrant.decisions.selective_classifier import SelectiveClassifier as SelectiveClassifier

__all__: list[str]
