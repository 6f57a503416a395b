"""The score that calibrators of each domain are chosen by."""

from calibrant import metrics
from calibrant.core.reading import CLASSIFICATION, REGRESSION
from calibrant.metrics.several import CHOSEN_BY


def test_each_domain_has_a_proper_score_of_its_own():
    for domain, score in (
        (CLASSIFICATION, metrics.log_loss),
        (REGRESSION, metrics.continuous_ranked_probability_score),
    ):
        assert CHOSEN_BY[domain].score is score
        assert score.proper
        assert score.domain is domain
        assert all(hasattr(metrics, name) for name in CHOSEN_BY[domain].proper.split(" or "))
