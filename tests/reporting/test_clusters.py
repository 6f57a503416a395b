"""A report on rows that hang together: every interval and test counts clusters, or is left out."""

import json

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.core.groups import clustered
from calibrant.core.predictions import read
from calibrant.errors import InputError
from calibrant.reporting.calibrate import compare
from calibrant.reporting.states import Seen
from calibrant.reporting.summary import chance_error


def draw(seed=0, n_clusters=60, size=6):
    """Calibrated risks; one number decides the outcomes of a cluster."""
    rng = np.random.default_rng(seed)
    cluster, n = np.repeat(np.arange(n_clusters), size), n_clusters * size
    p = np.clip(rng.beta(2, 3, n_clusters)[cluster] + rng.uniform(-0.15, 0.15, n), 0.02, 0.98)
    return (rng.random(n_clusters)[cluster] < p).astype(int), p, cluster


def errors(seed=0, n_clusters=60, size=6):
    """Outcomes of means of 0 and a std of 1, alike in their clusters."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(n_clusters), size)
    y = 0.9 * rng.normal(size=n_clusters)[cluster] + np.sqrt(1 - 0.81) * rng.normal(
        size=len(cluster)
    )
    return y, np.zeros(len(y)), np.exp(rng.uniform(-0.001, 0.001, len(y))), cluster


def found(y, *predictions, **options):
    return cb.report(
        y, *predictions, calibrator=cb.calibrators.Identity(), n_resamples=200, **options
    ).to_dict()


def widths(node):
    """{where: width} of every interval that a summary tells, by ends named low and high."""
    if isinstance(node, list):
        # A group has its name: the worst comes first, which clusters change.
        names = [one.get("group", i) if isinstance(one, dict) else i for i, one in enumerate(node)]
        return {
            f"{name}.{k}": w
            for name, one in zip(names, node, strict=True)
            for k, w in widths(one).items()
        }
    if not isinstance(node, dict):
        return {}
    out = {f"{name}.{k}": w for name, value in node.items() for k, w in widths(value).items()}
    for name, low in node.items():
        high = node.get(f"{name[:-3]}high") if name.endswith("low") else None
        if isinstance(low, int | float) and isinstance(high, int | float):
            out[name] = high - low
        elif isinstance(low, list) and isinstance(high, list):
            out[name] = float(np.mean([b - a for a, b in zip(low, high, strict=True)]))
    return out


@pytest.mark.parametrize("target", ["event", "answer"])
def test_every_interval_of_a_report_on_classes_is_wider_with_clusters(target):
    y, p, cluster = draw()
    alone, together = (
        widths(found(y, p, target=target, **options)) for options in ({}, {"cluster": cluster})
    )
    assert set(together) <= set(alone)
    narrower = [
        where
        for where, width in together.items()
        if width < alone[where] * 0.999 and "AUROC" not in where
    ]
    assert narrower == []
    # What clusters leave out: only errors that chance inflates, and the bound of independent rows.
    assert len(set(alone) - set(together)) <= 2
    assert np.mean([together[where] > 1.1 * alone[where] for where in together]) > 0.7


def test_every_interval_of_a_report_on_forecasts_is_wider_with_clusters():
    y, mean, std, cluster = errors()
    alone, together = (
        widths(found(y, mean, std, groups=np.arange(len(y)) % 3, **options))
        for options in ({}, {"cluster": cluster})
    )
    assert set(together) <= set(alone)
    # Intervals of groups hold together. Rows of a cluster share the sign of their errors and less
    # of their size, and as the groups share their clusters, fewer deviations are enough for all of
    # them: of the spread alone chance decides in one group, not over all three.
    spreads = [f"outputs.0.audit.worst.{k} × spread.before.low" for k in range(3)]
    assert np.mean([together[where] / alone[where] for where in spreads]) > 1.0
    assert [
        where
        for where, width in together.items()
        if width < alone[where] * 0.97 and where not in spreads
    ] == []


def test_the_report_says_how_many_clusters():
    y, p, cluster = draw()
    names = [f"patient {c}" for c in cluster]
    report = cb.report(y, p, calibrator=cb.calibrators.Identity(), cluster=names, n_resamples=200)
    assert report.to_dict()["data"]["clusters"] == 60
    assert "360 rows in 60 clusters" in report.to_html()
    assert "360 rows in 60 clusters" in report.to_markdown()
    assert json.loads(report.to_json())["data"]["clusters"] == 60
    assert found(y, p)["data"]["clusters"] is None


def test_a_score_has_the_interval_of_the_metric_with_clusters():
    y, p, cluster = draw()
    told = {row["key"]: row["before"] for row in found(y, p, cluster=cluster)["metrics"]}
    expected = metrics.log_loss.interval(y, p, cluster=cluster)
    assert (told["log_loss"]["low"], told["log_loss"]["high"]) == pytest.approx(
        (expected.low, expected.high), rel=1e-12
    )
    assert told["event_ece"]["low"] is None
    assert told["event_ece"]["method"] == "no interval counts clusters"


def test_the_changes_and_the_comparison_count_clusters_and_folds_cut_none():
    y, p, cluster = draw(n_clusters=40)
    options = {"n_resamples": 200, "n_splits": 3}
    alone, together = (
        cb.report(
            y,
            p**1.5,
            calibrator={"platt": cb.Platt(), "beta": cb.calibrators.Beta()},
            **options,
            **more,
        ).to_dict()
        for more in ({}, {"cluster": cluster})
    )
    for told in (alone, together):
        told["change"] = next(row["change"] for row in told["metrics"] if row["key"] == "log_loss")
        told["against"] = next(
            row["against"] for row in told["alternatives"] if row["against"] is not None
        )
    for name in ("change", "against"):
        width = [told[name]["high"] - told[name]["low"] for told in (alone, together)]
        assert width[1] > 1.2 * width[0]


def test_folds_cut_no_cluster():
    y, p, cluster = draw(n_clusters=30)
    held = []

    class Watched(cb.TemperatureScaling):
        def fit_record(self, record):
            held.append(set(range(30)) - set(record.cluster.tolist()))
            return super().fit_record(record)

    compare(clustered(read(p, y), cluster), Watched(), n_splits=5)
    assert sum(map(len, held)) == 30
    assert set.union(*held) == set(range(30))


def test_calibrated_risks_of_clusters_are_not_accused():
    """The chance of the error is drawn by clusters: of rows it would accuse far more than 5 of
    100.
    """
    accused, repeats = np.zeros(2), 40
    for seed in range(repeats):
        y, p, cluster = draw(seed, n_clusters=30)
        record = read(p, y).as_pair("event")
        for k, rows in enumerate((record, clustered(record, cluster))):
            accused[k] += chance_error(Seen.of([rows], 15, 0.95), n_resamples=100).p_value <= 0.05
    assert accused[0] > 0.3 * repeats
    assert accused[1] <= 0.05 * repeats + 2.0 * np.sqrt(0.05 * 0.95 * repeats)


def test_of_other_rows_the_clusters_are_those_of_the_rows_measured():
    y, p, cluster = draw()
    summary = cb.report(
        y, p, test=(y[:120], p[:120]), cluster=cluster[:120], calibrator=cb.Platt(), n_resamples=200
    ).to_dict()
    assert summary["data"]["clusters"] == 20
    shift = summary["quality"]["event_shift"]["p_value"]
    assert (
        shift
        > cb.report(
            y, p, test=(y[:120], p[:120]), calibrator=cb.Platt(), n_resamples=200
        ).to_dict()["quality"]["event_shift"]["p_value"]
    )


def test_times_and_clusters_exclude_each_other():
    y, p, cluster = draw()
    with pytest.raises(InputError, match="times and cluster exclude each other"):
        found(y, p, cluster=cluster, times=np.repeat(np.datetime64("2026-01-01"), len(y)))


@pytest.mark.filterwarnings("ignore:cluster names")
def test_a_report_of_two_clusters_is_refused_and_one_of_three_is_made():
    """Out of fold, a calibrator of two clusters has one to fit on, and none to be chosen on."""
    rng = np.random.default_rng(0)
    p = rng.random(300)
    y = (rng.random(300) < p).astype(int)
    with pytest.raises(
        InputError, match=r"needs at least 2 groups; got 1 in the rows of a fit; pass"
    ):
        cb.report(y, p, cluster=np.arange(300) % 2)
    assert cb.report(y, p, cluster=np.arange(300) % 3).to_dict()["verdict"]
