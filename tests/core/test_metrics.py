"""Every exported metric, of any task, keeps the contract of a metric."""

import pytest

from calibrant.testing import all_metrics, metric_checks, parameters


@pytest.mark.parametrize(
    "check", parameters(c for example in all_metrics() for c in metric_checks(example))
)
def test_metric_keeps_the_contract(check):
    check()
