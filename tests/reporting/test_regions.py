import numpy as np
import pytest

from calibrant.calibrators.temperature import Identity
from calibrant.core.groups import read_groups
from calibrant.core.predictions import read
from calibrant.errors import InputError
from calibrant.reporting.report import report
from calibrant.reporting.states import Seen, by_group, by_region, confidence_gaps, confidence_sums


@pytest.fixture(scope="module")
def half_wrong():
    """Group "b", and confidences above 0.9, are overconfident by construction; the rest is
    honest.
    """
    rng = np.random.default_rng(0)
    confidence = rng.uniform(0.5, 1.0, 4000)
    group = np.where(np.arange(4000) % 4 == 0, "b", "a")
    right = rng.random(4000) < np.where(
        (group == "b") | (confidence > 0.9), confidence - 0.3, confidence
    )
    return read(np.column_stack([confidence, 1 - confidence]), np.where(right, 0, 1)), group


def test_the_group_that_is_wrong_leads(half_wrong):
    record, group = half_wrong
    groups = read_groups(group, record)
    rows = by_group(
        confidence_gaps(confidence_sums(record, groups.index, len(groups)), 0.95), groups.texts
    )
    own = group == "b"
    assert [row.where["group"] for row in rows] == ["b", "a"]
    assert rows[0].found.rows == 1000
    assert rows[0].found.gap == pytest.approx(
        record.confidence[own].mean() - record.correct[own].mean()
    )
    assert 0.2 < rows[0].found.low < rows[0].found.gap < rows[0].found.high < 0.4


def test_the_region_that_is_wrong_leads(half_wrong):
    seen = Seen.of([half_wrong[0]], 15, 0.95)
    rows = by_region(seen.regions, confidence_gaps(seen.region_sums, 0.95))
    assert len(rows) == 10
    assert {row.found.rows for row in rows} == {400.0}
    assert rows[0].where["from"] > 0.89
    assert rows[1].where["from"] > 0.89
    assert sum(row.found.rows * row.found.accuracy for row in rows) == pytest.approx(
        half_wrong[0].correct.sum()
    )


def test_groups_belong_to_the_rows_measured(half_wrong):
    record, group = half_wrong
    y, P = record.labels, record.values
    weight = (np.arange(4000) % 2).astype(float)
    summary = report(
        y, P, calibrator=Identity(), groups=group, sample_weight=weight, n_resamples=100
    ).to_dict()
    assert [row["group"] for row in summary["groups"]] == ["a"]
    assert summary["groups"][0]["rows"] == 2000
    with pytest.raises(InputError, match="groups"):
        report(y, P, calibrator=Identity(), groups=group[:10], n_resamples=100)


def test_sums_of_parts_make_the_rows_of_the_whole(half_wrong):
    """So a table of any size can feed the same rows."""
    record, group = half_wrong
    groups = read_groups(group, record)
    halves = [slice(0, 1500), slice(1500, None)]
    merged = sum(
        confidence_sums(record.take(rows), groups.index[rows], len(groups)) for rows in halves
    )
    whole = confidence_sums(record, groups.index, len(groups))
    for ours, theirs in zip(
        confidence_gaps(merged, 0.95), confidence_gaps(whole, 0.95), strict=True
    ):
        assert vars(ours) == pytest.approx(vars(theirs), rel=1e-12)
