"""Shares and votes of several raters in tables: measured and fitted, and refused by the rest."""

import json

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.core import SoftLabels

pytest.importorskip("click")
pytest.importorskip("rich")

CLASSES = ["cat", "dog", "eel"]
RATERS = 5


@pytest.fixture
def votes():
    """(P twice as sure as it should be, numbers of votes), (n, 3) each."""
    rng = np.random.default_rng(4)
    honest = rng.dirichlet(np.ones(3), 300)
    P = (honest**2 / (honest**2).sum(axis=1, keepdims=True)).round(6)
    P[:, 0] = 1.0 - P[:, 1] - P[:, 2]
    return P, np.array([rng.multinomial(RATERS, p) for p in honest])


def write(path, **columns):
    """Write columns as CSV."""
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(repr, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def table(path, P, counts, word, order=(0, 1, 2)):
    """A table of three classes, whose columns of raters may be in another order."""
    raters = {f"{word}_{CLASSES[k]}": counts[:, k].tolist() for k in order}
    own = {f"p_{name}": P[:, k].tolist() for k, name in enumerate(CLASSES)}
    write(path, **raters, **own, site=(np.arange(len(P)) % 20).tolist())


def values_of(run, *arguments):
    """The values of ``evaluate`` by their keys."""
    found = json.loads(run("evaluate", *arguments, "--json").stdout)
    return {row["key"]: row["before"] for row in found["metrics"]}


def test_shares_are_measured_as_the_library_does(run, tmp_path, votes):
    P, counts = votes
    soft = SoftLabels(counts / RATERS)
    table(tmp_path / "share.csv", P, counts / RATERS, "share", order=(2, 0, 1))
    found = values_of(run, "share.csv")
    assert list(found) == ["log_loss", "brier_score", "ece"]
    # By hand: the mean of the losses over the raters' labels.
    loss = -(counts / RATERS * np.log(P)).sum(axis=1).mean()
    assert found["log_loss"]["value"] == pytest.approx(loss)
    for metric in (metrics.log_loss, metrics.brier_score, metrics.expected_calibration_error):
        interval = metric.interval(soft, P)
        assert found[metric.key]["value"] == pytest.approx(metric(soft, P))
        assert found[metric.key]["low"] == pytest.approx(interval.low)
    assert values_of(run, "share.csv", "--label", "share_*") == found
    of_sites = values_of(run, "share.csv", "--cluster", "site")["log_loss"]
    expected = metrics.log_loss.interval(soft, P, cluster=np.arange(300) % 20)
    assert (of_sites["low"], of_sites["high"]) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("kind", ["csv", "npz", "npy"])
def test_votes_are_shares_once_divided_by_their_sums(run, tmp_path, votes, kind):
    P, counts = votes
    counts = counts.copy()
    counts[:100] *= 3  # a row counts once, however many raters it had
    arguments = [f"votes.{kind}"]
    if kind == "csv":
        table(tmp_path / "votes.csv", P, counts, "votes")
    elif kind == "npz":
        np.savez(tmp_path / "votes.npz", probabilities=P, labels=counts)
    else:
        np.save(tmp_path / "votes.npy", P)
        np.save(tmp_path / "labels.npy", counts)
        arguments += ["--label", "labels.npy"]
    said = run("evaluate", *arguments).output
    assert "are shares of raters, which no test takes" in said
    assert "are divided by their sums: a row counts once" in said
    expected = metrics.log_loss(SoftLabels(counts / counts.sum(axis=1, keepdims=True)), P)
    assert values_of(run, *arguments)["log_loss"]["value"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("columns", "risk"),
    [
        ("share_no,share_yes", "p"),
        ("share_yes,share_no", "p"),
        ("share_yes", "p"),
        ("share_yes,share_no", "p_yes,p_no"),
        ("share_yes,share_no", "p_no,p_yes"),
    ],
)
def test_the_event_is_found_by_its_name(run, tmp_path, columns, risk):
    rng = np.random.default_rng(1)
    p = rng.beta(2, 3, 200).round(6)
    s = rng.binomial(RATERS, p) / RATERS
    raters = {name: (s if name == "share_yes" else 1.0 - s).tolist() for name in columns.split(",")}
    own = {name: (p if name != "p_no" else 1.0 - p).tolist() for name in risk.split(",")}
    write(tmp_path / "two.csv", **raters, **own)
    found = values_of(run, "two.csv")
    assert found["event_brier_score"]["value"] == pytest.approx(((p - s) ** 2 + s * (1 - s)).mean())
    assert found["observed_expected_ratio"]["value"] == pytest.approx(s.sum() / p.sum())
    expected = metrics.positive_class_calibration_error(SoftLabels(s), p)
    assert found["event_ece"]["value"] == pytest.approx(expected)
    expected = metrics.positive_class_calibration_error(SoftLabels(s), p, n_bins=5)
    shown = values_of(run, "two.csv", "--bins", "5")["event_ece"]["value"]
    assert shown == pytest.approx(expected)


def test_one_class_of_several_is_the_event(run, tmp_path, votes):
    P, counts = votes
    table(tmp_path / "share.csv", P, counts / RATERS, "share")
    found = values_of(run, "share.csv", "--target", "dog")
    s, p = counts[:, 1] / RATERS, P[:, 1]
    assert found["event_brier_score"]["value"] == pytest.approx(((p - s) ** 2 + s * (1 - s)).mean())


def test_a_calibrator_is_fitted_to_shares_and_applied(run, tmp_path, votes):
    P, counts = votes
    table(tmp_path / "share.csv", P, counts / RATERS, "share", order=(1, 2, 0))
    run("fit", "share.csv", "--method", "temperature", "-o", "m.calibrant")
    fitted = cb.load(tmp_path / "m.calibrant")
    direct = cb.TemperatureScaling().fit(P, SoftLabels(counts / RATERS))
    assert fitted.temperature_ == pytest.approx(direct.temperature_)
    assert fitted.temperature_ > 1.5
    run("apply", "m.calibrant", "share.csv", "-o", "out.csv")
    before, after = (values_of(run, name)["log_loss"] for name in ("share.csv", "out.csv"))
    assert after["high"] < before["low"]
    header = (tmp_path / "out.csv").read_text().splitlines()[0]
    assert header.startswith("share_dog,share_eel,share_cat,p_cat")
    run("evaluate", "out.csv", "--fail-if", "log_loss>0.1", code=3)


def test_a_large_table_of_shares_is_sampled(run, tmp_path, votes, monkeypatch):
    P, counts = votes
    table(tmp_path / "share.csv", P, counts / RATERS, "share")
    monkeypatch.setenv("CALIBRANT_STREAMED_ROWS", "100")
    assert "a seeded sample of" in run("evaluate", "share.csv").output
    assert "fitted on" in run("fit", "share.csv", "-o", "m.calibrant").output


def test_labels_come_before_shares_unless_these_are_named(run, tmp_path, votes):
    P, counts = votes
    table(tmp_path / "t.csv", P, counts / RATERS, "share")
    lines = (tmp_path / "t.csv").read_text().splitlines()
    text = [f"label,{lines[0]}", *(f"cat,{line}" for line in lines[1:])]
    (tmp_path / "t.csv").write_text("\n".join(text), encoding="utf-8")
    assert values_of(run, "t.csv")["log_loss"]["value"] == pytest.approx(-np.log(P[:, 0]).mean())
    soft = metrics.log_loss(SoftLabels(counts / RATERS), P)
    found = values_of(run, "t.csv", "--label", "share_*")
    assert found["log_loss"]["value"] == pytest.approx(soft)


def test_rows_without_shares_are_skipped_on_demand(run, tmp_path, votes):
    P, counts = votes
    table(tmp_path / "share.csv", P, counts / RATERS, "share")
    head, first, *lines = (tmp_path / "share.csv").read_text().splitlines()
    text = [head, ",".join(["", *first.split(",")[1:]]), *lines]
    (tmp_path / "share.csv").write_text("\n".join(text), encoding="utf-8")
    assert (
        "'share_cat' must hold a number in every row" in run("evaluate", "share.csv", code=1).stderr
    )
    found = values_of(run, "share.csv", "--skip-missing")
    expected = metrics.log_loss(SoftLabels(counts[1:] / RATERS), P[1:])
    assert found["log_loss"]["value"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("report", "share.csv"), 1, "takes one label per row; got soft labels"),
        (("decide", "share.csv"), 1, "takes one label per row; got soft labels"),
        (("audit", "share.csv", "--groups", "site"), 1, "takes one label per row"),
        (("compare", "share.csv", "votes.csv"), 1, "takes one label per row"),
        (("evaluate", "share.csv", "--by", "site"), 1, "slices need one label a row"),
        (("evaluate", "share.csv", "--method", "isotonic"), 2, "--method needs one label a row"),
        (("fit", "share.csv", "--method", "isotonic", "--target", "answer"), 1, "takes one label"),
        (("evaluate", "few.csv"), 1, "row 7 is [0. 0. 0.]"),
        (("evaluate", "other.csv"), 1, "must be named by the classes ['cat', 'dog', 'eel']"),
        (("evaluate", "ab.csv"), 1, "do not show which is the event"),
        (("evaluate", "share.csv", "--label", "n_*"), 1, "holds no 'n_*'"),
    ],
)
def test_what_takes_no_shares_refuses_them(run, tmp_path, votes, arguments, code, words):
    P, counts = votes
    table(tmp_path / "share.csv", P, counts / RATERS, "share")
    table(tmp_path / "votes.csv", P, counts, "votes")
    few = counts.copy()
    few[7] = 0
    table(tmp_path / "few.csv", P, few, "votes")
    text = (tmp_path / "share.csv").read_text().replace("share_eel", "share_ant", 1)
    (tmp_path / "other.csv").write_text(text, encoding="utf-8")
    write(tmp_path / "ab.csv", p=[0.2, 0.7], share_a=[0.2, 1.0], share_b=[0.8, 0.0])
    said = " ".join(run(*arguments, code=code).output.split())
    assert words in said
    assert "bug" not in said
