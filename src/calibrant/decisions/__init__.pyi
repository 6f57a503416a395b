from calibrant.decisions.certificate import Certificate as Certificate
from calibrant.decisions.certified_settings import CertifiedSettings as CertifiedSettings
from calibrant.decisions.certified_settings import certified_settings as certified_settings
from calibrant.decisions.conditional_sets import ConditionalSets as ConditionalSets
from calibrant.decisions.conformal_risk_control import ConformalRiskControl as ConformalRiskControl
from calibrant.decisions.costs import CostsOfDecisions as CostsOfDecisions
from calibrant.decisions.costs import ExpectedCost as ExpectedCost
from calibrant.decisions.decision_threshold import DecisionThreshold as DecisionThreshold
from calibrant.decisions.decision_threshold import decision_threshold as decision_threshold
from calibrant.decisions.error_counts import ErrorCounts as ErrorCounts
from calibrant.decisions.neyman_pearson_classifier import (
    NeymanPearsonClassifier as NeymanPearsonClassifier,
)
from calibrant.decisions.selective import SelectiveClassifier as SelectiveClassifier
from calibrant.decisions.sets import ConformalSets as ConformalSets

__all__: list[str]
