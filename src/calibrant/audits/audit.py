"""Audit of calibration in every group, of all families of groups: those named, and those that a
search finds in one half of the rows, to be tested on the other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from scipy import special  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from calibrant._numerics.bins import equal_mass_groups
from calibrant._numerics.bootstrap import numbered_by_content, row_codes
from calibrant._numerics.clusters import membership
from calibrant._numerics.intervals import normal_quantile
from calibrant.audits.nulls import Tested, gaps, sorted_gaps, tested_groups
from calibrant.audits.result import Audit, GroupGap, MulticalibrationError
from calibrant.audits.sample import (
    Column,
    Family,
    Sample,
    ScoreSample,
    cells,
    columns_of,
    everyone,
    family,
    of_forecasts,
    of_outcomes,
    of_predictions,
)
from calibrant.core.arrays import ArrayLike
from calibrant.core.domain import Facet, columns_named, domain_of, domain_of_input, outcomes_apart
from calibrant.core.estimators import (
    on_one_blas_thread,
    one_openmp_thread,
    require_count,
    require_not_negative,
    require_option,
    seeded,
)
from calibrant.core.forecast_record import read_forecast
from calibrant.core.given import Inputs
from calibrant.core.groups import WeightKind, clustered, coded, label_columns
from calibrant.core.labels import array_of
from calibrant.core.metric import require_level
from calibrant.core.reading import CLASSIFICATION, REGRESSION, read_labelled
from calibrant.errors import InputError
from calibrant.tables.evaluation import Evaluation
from calibrant.tables.sample import ScoreSketch
from calibrant.tables.state import GroupState

__all__ = ["audit", "audit_record", "audited", "found_groups", "number_features"]


#: Maximum number of levels of a column of names, the most common ones.
MOST_LEVELS = 20
TREE_DEPTH, LEAST_ROWS, TAIL_PARTS = 3, 50, 5


def number_features(
    labelled: Sequence[tuple[str | None, np.ndarray]],
) -> tuple[list[str], np.ndarray]:
    """Return (names (d,), numbers (n, d)) of columns: numbers unchanged, and for names a column of
    0 and 1 for each of the most common levels.
    """
    names, columns = list[str](), list[np.ndarray]()
    for j, (name, labels) in enumerate(labelled):
        called = f"feature {j + 1}" if name is None else name
        if labels.dtype.kind in "iuf":
            names.append(called)
            columns.append(labels.astype(np.float64))
            continue
        found = coded(labels)
        count = np.bincount(found.index)
        for k in np.argsort(-count, kind="stable")[:MOST_LEVELS].tolist():
            names.append(f"{called} is {found.texts[k]}")
            columns.append((found.index == k).astype(np.float64))
    return names, np.column_stack(columns)


def found_groups(
    kind: str, names: Sequence[str], features: np.ndarray, sample: Sample, random_state: int
) -> list[tuple[np.ndarray, Family]]:
    """Return for each half its units, and the groups of them that the errors of the other half
    suggest; clusters stay whole.

    "tree" uses the nodes of a tree of depth 3 on the errors, "boosting" the fifths of the rows by
    predicted error.
    """
    units = np.arange(len(sample)) if sample.cluster is None else sample.cluster
    rng = np.random.default_rng(random_state)
    first = (rng.permutation(int(units.max()) + 1) % 2 == 0)[units]
    out = list[tuple[np.ndarray, Family]]()
    for here in (first, ~first):
        other, at = np.flatnonzero(~here), np.flatnonzero(here)
        if min(len(other), len(at)) < 2 * LEAST_ROWS:
            continue
        off = (sample.came - sample.said)[other]
        make = _tree if kind == "tree" else _boosted
        out.append(
            (
                at,
                make(names, features[other], off, sample.weight[other], features[at], random_state),
            )
        )
    return out


def _tree(
    names: Sequence[str],
    X: np.ndarray,
    off: np.ndarray,
    weight: np.ndarray,
    at: np.ndarray,
    seed: int,
) -> Family:
    from sklearn.tree import DecisionTreeRegressor  # pyright: ignore

    model = cast(Any, DecisionTreeRegressor)(
        max_depth=TREE_DEPTH, min_samples_leaf=LEAST_ROWS, random_state=seed
    )
    model.fit(X, off, sample_weight=weight)
    rules = _rules(model.tree_, names)
    # The root holds all rows.
    row, node = model.decision_path(at).nonzero()
    return Family(
        [{"group": rule} for rule in rules[1:]], membership(node, row, (len(rules), len(at)))[1:]
    )


def _rules(tree: Any, names: Sequence[str]) -> list[str]:
    """Return the rules that lead to each node, the root's first."""
    rules = [""] * tree.node_count
    for node in range(tree.node_count):
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left < 0:
            continue
        name, cut = names[tree.feature[node]], float(tree.threshold[node])
        ways = (
            (f"not {name}", name)
            if " is " in name
            else (f"{name} <= {cut:.4g}", f"{name} > {cut:.4g}")
        )
        for child, way in zip((left, right), ways, strict=True):
            rules[child] = f"{rules[node]} and {way}" if rules[node] else way
    return rules


def _boosted(
    names: Sequence[str],
    X: np.ndarray,
    off: np.ndarray,
    weight: np.ndarray,
    at: np.ndarray,
    seed: int,
) -> Family:
    from sklearn.ensemble import HistGradientBoostingRegressor  # pyright: ignore

    where, part_of = list[dict[str, str]](), list[np.ndarray]()
    for q in range(off.shape[1]):
        model = cast(Any, HistGradientBoostingRegressor)(
            max_iter=100, learning_rate=0.05, max_leaf_nodes=8, random_state=seed
        )
        with one_openmp_thread(len(X)):
            expected = model.fit(X, off[:, q], sample_weight=weight).predict(at)
        part = equal_mass_groups(expected, TAIL_PARTS)
        count = int(part.max()) + 1
        if count > 1:
            part_of.append(part + len(where))
            where += [
                {"group": f"part {k + 1} of {count} by the error that boosting expects"}
                for k in range(count)
            ]
    rows = np.tile(np.arange(len(at)), len(part_of))
    return Family(
        where,
        membership(
            np.concatenate([*part_of, np.zeros(0, dtype=np.intp)]), rows, (len(where), len(at))
        ),
    )


#: Critical value for a single row, or cluster, whose spread is unknown: wider than any.
LEAST_FREEDOM = 0.5


@on_one_blas_thread
def audited(
    sample: Sample,
    columns: Sequence[Column],
    features: Any,
    target: str,
    level: float,
    null: Any,
    found: Any,
    depth: int,
    tolerance: float,
    control: Any,
    n_draws: int,
    random_state: int,
) -> Audit:
    """Test the named and the found groups, each family at its share of the error rate, and sort the
    results.
    """
    given = family(columns, depth)
    both = found is not None and len(given) > 0
    looked: list[tuple[Sample, Family, int]] = (
        [(sample, given, 2 if both else 1)] if len(given) else []
    )
    if found is not None:
        halves = found_groups(found, features[0], features[1], sample, random_state)
        looked += [(sample.take(units), one, 4 if both else 2) for units, one in halves if len(one)]
    if not looked:
        raise InputError(
            "groups must hold at least two levels in some column; got one group of all rows; pass"
            " other columns."
        )
    rows, multicalibration = list[GroupGap](), None
    for one, family_, share in looked:
        tested = tested_groups(one, family_, null, n_draws, random_state, control)
        alpha = (1.0 - level) / share
        critical = _critical(tested, alpha, null, one)
        rows += gaps(
            one,
            family_,
            tested,
            np.minimum(share * tested.p_value, 1.0),
            critical,
            1.0 - level,
            tolerance,
            one is not sample,
        )
        if one is sample and len(tested.maxima):
            multicalibration = _multicalibration(tested)
    whole = everyone(len(sample))
    tested = tested_groups(sample, whole, null, 1, random_state, "any")
    nothing = np.full(tested.p_value.shape, np.nan)
    overall = gaps(
        sample,
        whole,
        tested,
        nothing,
        np.full(nothing.shape, normal_quantile(level)),
        1.0 - level,
        tolerance,
        False,
    )
    return Audit(
        sorted_gaps(rows), overall, multicalibration, null, level, tolerance, control, target
    )


def _critical(tested: Tested, alpha: float, null: str, sample: Sample) -> np.ndarray:
    """Return the critical value of the interval of each group and question, (G, q), so that those
    of the tested groups hold together.

    For a tested group it is the upper alpha quantile of the largest statistic, as for the p-values.
    The other groups are not part of that maximum: their values are for independent tests, by
    Student's t if their few rows, or clusters, determine the variance.
    """
    each = alpha / max(int((tested.totals.n > 0.0).sum()), 1)
    # The standard deviations of the strong null are known, and are a lower limit.
    known = null == "strong" and not isinstance(sample, ScoreSample)
    freedom = (
        np.full(tested.tested.shape, np.inf) if known else np.maximum(tested.freedom, LEAST_FREEDOM)
    )
    critical: np.ndarray = cast(Any, special).stdtrit(freedom, 1.0 - 0.5 * each)
    if len(tested.maxima) == 0:
        return critical
    place = int(np.ceil((1.0 - alpha) * (len(tested.maxima) + 1.0)))
    return np.where(
        tested.tested, np.sort(tested.maxima)[min(place, len(tested.maxima)) - 1], critical
    )


def _multicalibration(tested: Tested) -> MulticalibrationError:
    value, draws = tested.range_
    p = (1.0 + float(np.sum(draws >= value * (1.0 - 1e-10)))) / (1.0 + len(draws))
    return MulticalibrationError(value, float(draws.mean()), p)


#: Defaults of ``audit``.
DEPTH, N_PARTS, TOLERANCE = 2, 5, 0.05


@seeded
def audit(
    y_true: Any,
    P: Any = None,
    groups: Any = None,
    *,
    std: ArrayLike | None = None,
    X: Any = None,
    target: Any = None,
    level: float = 0.95,
    null: Literal["strong", "weak"] | None = None,
    found: Literal["tree", "boosting"] | None = None,
    depth: int = 2,
    n_bins: int = 5,
    tolerance: float = 0.05,
    control: Literal["any", "share"] = "any",
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
    n_draws: int = 1000,
    random_state: int = 0,
) -> Audit:
    r"""Test whether a model is calibrated in every group, named or found, with correction for their
    number.

    .. math:: T_g = \frac{|\sum_{i \in g} (y_i - p_i)|}{\sqrt{V_g}}, \qquad
        p_g = P\Big(\max_{h: T_h \le T_g} T^*_h \ge T_g\Big)

    The strong null, :math:`y_i \sim p_i` in every row, draws outcomes from the probabilities;
    :math:`V_g = \sum p_i (1 - p_i)`. The weak null, :math:`E[y - p \mid g] = 0`, flips the signs of
    the errors; :math:`V_g = \sum (y_i - p_i)^2`.

    Parameters
    ----------
    y_true : (n,) labels; outcomes, for forecasts; a log of answers from ``read_questions``, whose
        groups are then its types and questions; or an ``Evaluation`` or ``ScoreSketch``
        For an ``Evaluation`` or ``ScoreSketch``, as :func:`calibrant.evaluate` and
        :func:`calibrant.tables.sketch` compute them from a table of any size, the columns of ``by``
        are the groups.
    P : (n, K), or (n,) for binary; for regression the means, with ``std``, or a forecast of one
        output
    groups : frame, mapping or (n, c) array of columns, or (n,) labels, optional
        The levels of each column are groups, so groups may overlap or be nested. Missing values are
        a level. Fractional numbers, or more than 20 different values, are cut into ``n_bins``
        parts; whole numbers without a column name are labels.
    std : (n,), for regression
    X : (n, d) features or frame, optional
        Features in which ``found`` searches for groups; default ``groups``.
    target : {"event", "answer", "classes"} or a class label, optional
        The audited probability: of class 1 of two (the default there), of the predicted label (the
        default with more), of every class, or of one. For forecasts the audit tests the normal
        score of the outcome, with mean 0 under calibration ("mean"), and the level of the central
        interval that just holds it, 0.5 on average ("spread"): more if errors are larger than
        predicted.
    level : float, default 0.95
        Probability that no calibrated group is flagged, and that the intervals of all tested groups
        hold together.
    null : {"strong", "weak"}, optional
        Default: strong, and weak with ``cluster`` or for forecasts. The strong null is the stricter
        claim, and its test is exact at any sizes.
    found : {"tree", "boosting"}, optional
        Search for groups in the features as well: by a tree of depth 3 on the errors, or by
        boosting them. Half of the rows finds groups and the other half tests them, and then the
        reverse; so each test has half of the rows and a quarter of the error rate.
    depth : int, default 2
        Maximum number of crossed columns.
    n_bins : int, default 5
    tolerance : float, default 0.05
        A group "holds" if its interval lies within this distance of 0. A group that neither is off
        nor holds has too few rows.
    control : {"any", "share"}, default "any"
        The quantity that ``1 - level`` bounds: the probability of any false finding ("any"), or the
        expected share of false ones among the findings ("share"). "share" finds every group that
        "any" does, and more if many groups are off.
    cluster : (n,) labels of any kind, optional
        Clusters of dependent rows; only the weak null supports them.
    sample_weight : (n,), optional
    weight_kind : {"frequency", "sampling"}
        Whether a weight is a number of rows, or one row represents others ("sampling"), as with
        weights of a sampling design or of importance.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}
    n_draws : int, default 1000
        Number of draws of the null. The smallest p-value is its inverse.
    random_state : int, default 0

    Returns
    -------
    Audit
        ``print`` it for one line; its attributes are ``.groups`` (worst first), ``.frame()``,
        ``.to_dict()``, ``.worst``, ``.multicalibration``.

    Raises
    ------
    InputError
        Where there are no groups, or the strong null is combined with clusters.

    See Also
    --------
    metrics.per_group : any metric in each group.
    metrics.worst_group : one metric, where it is significantly worst.
    worst_slices : the slices of an evaluation, bin by bin.

    Notes
    -----
    Audit on rows that are new to the model and its calibrator. Under the weak null a group needs 30
    events and 30 rows without; under the strong null errors with a total variance of 5; others have
    "not enough data". To audit prediction sets and intervals, pass whether they covered:
    ``audit(held, np.full(n, 0.9), groups)``. A calibration error within a group appears beside its
    expectation under perfect calibration. It has no test of its own; the ``multicalibration``
    error, the largest at any cut of any group, has one. With weighted rows the halves of ``found``
    depend on how rows are merged. Of 50,000 rows or more in few enough groups, rows with the same
    groups and near predictions are drawn together, as binomial numbers with the mean and the
    variance of their sum.

    With ``control="share"`` the findings are the :math:`r` groups of the step-down test, and those
    from the statistic :math:`c` on at which :math:`2 E[N_c / (N_c + r)] \le 1 - level`, where
    :math:`N_c` counts the statistics of a draw that reach :math:`c`. No proof covers every kind of
    overlap between groups: the share is at most half of :math:`1 - level`, if false findings are
    independent of the r, plus the errors of the step-down test itself. It was at most 3.6 % of the
    5 % allowed on seven laws (true groups only, one group off among 200 near-copies of a true one,
    crossings, disjoint groups).

    References
    ----------
    Westfall and Young, "Resampling-Based Multiple Testing", 1993. Hébert-Johnson, Kim, Reingold and
    Rothblum, "Multicalibration", ICML 2018. Yekutieli and Benjamini, "Resampling-based false
    discovery rate controlling multiple test procedures for correlated test statistics", Journal of
    Statistical Planning and Inference 82, 1999.

    Examples
    --------
    >>> import numpy as np
    >>> import calibrant as cb
    >>> p, site = np.full(400, 0.3), np.repeat(["a", "b"], 200)
    >>> y = np.concatenate([np.arange(200) < 60, np.arange(200) < 100]).astype(int)
    >>> print(cb.audit(y, p, {"site": site}))
    1 of 2 groups is miscalibrated; the worst is site b: predicted 30.0 %, observed 50.0 % (n =
    200); 1 has too few rows to tell.
    """
    for name, value in (("depth", depth), ("n_bins", n_bins), ("n_draws", n_draws)):
        require_count(name, value)
    require_level(level)
    require_not_negative("tolerance", tolerance)
    require_option("null", "strong" if null is None else null, ("strong", "weak"))
    require_option("control", control, ("any", "share"))
    if found is not None:
        require_option("found", found, ("tree", "boosting"))
    if isinstance(y_true, Evaluation | ScoreSketch):
        if P is not None or groups is not None or found is not None or cluster is not None:
            raise InputError(
                "an audit of sums uses their own columns; leave out P, groups, found and cluster,"
                " or pass rows."
            )
        sample, columns, features, asked = _of_sums(y_true.state, n_bins)
    else:
        given = outcomes_apart(y_true, P)
        read = _read(*given, std, target, cluster, sample_weight, weight_kind, classes, inputs)
        sample, columns, features, asked = _of_rows(*read, groups, X, found, n_bins)
    if null == "strong" and sample.cluster is not None:
        raise InputError(
            'null="strong" needs independent rows; got cluster; leave null out, or pass'
            ' null="weak".'
        )
    if null is None:
        null = "weak" if sample.cluster is not None or isinstance(sample, ScoreSample) else "strong"
    return audited(
        sample,
        columns,
        features,
        asked,
        level,
        null,
        found,
        depth,
        tolerance,
        control,
        n_draws,
        random_state,
    )


def audit_record(
    record: Any, target: Any, columns: Any, *, level: float, n_draws: int, random_state: int
) -> Audit | None:
    """Audit a record by columns as returned by ``groups.label_columns``, or None if all rows are
    one group.

    ``target`` is as for ``audit``, or "forecast".
    """
    sample, cut, _, asked = _of_labelled(record, target, columns, None, None, N_PARTS)
    if not len(family(cut, DEPTH)):
        return None
    null = "weak" if sample.cluster is not None or isinstance(sample, ScoreSample) else "strong"
    return audited(
        sample,
        cut,
        None,
        asked,
        level,
        null,
        None,
        DEPTH,
        TOLERANCE,
        "any",
        n_draws,
        random_state,
    )


def _read(
    y_true: Any,
    P: Any,
    std: Any,
    target: Any,
    cluster: Any,
    sample_weight: Any,
    weight_kind: WeightKind,
    classes: Any,
    inputs: Any,
) -> tuple[Any, Any]:
    """Return (record, target)."""
    by = AUDITED[domain_of_input(P, std)]
    record, asked = by.read(y_true, P, std, target, sample_weight, classes, inputs)
    return clustered(record, cluster, weight_kind), asked


def _numbers(y: Any, P: Any, std: Any, target: Any, weight: Any, classes: Any, inputs: Any) -> Any:
    if target is not None:
        raise InputError(
            "target= applies to predictions of classes; leave it out for regression forecasts."
        )
    return read_forecast(P, std, y, sample_weight=weight).one_output(), "forecast"


def _classes(y: Any, P: Any, std: Any, target: Any, weight: Any, classes: Any, inputs: Any) -> Any:
    record = read_labelled(y, P, sample_weight=weight, classes=classes, inputs=inputs)
    return record, record.default_target if target is None else target


@dataclass(frozen=True)
class Audited:
    """Audit of one kind of prediction.

    Attributes
    ----------
    read : (y, P, std, target, sample_weight, classes, inputs) -> (record, target)
    sample : (record, target, cell, tie, whether it is used) -> Sample
    """

    read: Callable[..., tuple[Any, Any]]
    sample: Callable[..., Sample]


AUDITED: Facet[Audited] = Facet("audits")
AUDITED.register(CLASSIFICATION, lambda: Audited(_classes, of_predictions))
AUDITED.register(REGRESSION, lambda: Audited(_numbers, of_forecasts))


def _of_rows(
    record: Any, target: Any, groups: Any, X: Any, found: Any, n_bins: int
) -> tuple[Sample, list[Column], Any, str]:
    labelled = columns_named(record) if groups is None else label_columns(groups, record)
    return _of_labelled(record, target, labelled, X, found, n_bins)


def _of_labelled(
    record: Any,
    target: Any,
    labelled: list[tuple[str | None, np.ndarray]],
    X: Any,
    found: Any,
    n_bins: int,
) -> tuple[Sample, list[Column], Any, str]:
    looked_in = labelled if X is None else label_columns(X, record, "X")
    if not labelled and (found is None or not looked_in):
        raise InputError(
            "groups must name the groups of the rows; got none; pass a frame of columns, or X="
            ' with found="tree".'
        )
    columns = columns_of(labelled, n_bins, record.weights)
    cell = numbered_by_content(cells(columns, len(record)), record.mark, record.weights)
    features = None if found is None else number_features(looked_in)
    tie = (
        np.zeros(len(record))
        if features is None
        else row_codes(np.nan_to_num(features[1], nan=-1.5e300)).astype(np.float64)
    )
    make = AUDITED[domain_of(record)].sample
    sample = make(record, target, cell, tie, features is not None)
    columns = [Column(one.name, one.levels, one.index[sample.rows]) for one in columns]
    features = None if features is None else (features[0], features[1][sample.rows])
    return sample, columns, features, str(target)


def _of_sums(state: GroupState, n_bins: int) -> tuple[Sample, list[Column], None, str]:
    """Audit sums, with the bins of the slices as units."""
    parts, sums, _ = state.by(_slice)
    if not state.settings["by"] or not parts:
        raise InputError(
            "the sums must be by groups; got some without by=; evaluate with by=[...]."
        )
    part, place = np.nonzero(sums[..., 0] > 0.0)
    n, total, hits = sums[part, place].T
    labelled = [
        (str(name), array_of([key[j] for key in parts])[part])
        for j, name in enumerate(state.settings["by"])
    ]
    columns = columns_of(labelled, n_bins, n)
    said = np.clip(total / n, 0.0, 1.0)
    cell = numbered_by_content(cells(columns, len(n)), said + hits / n, n)
    sample = of_outcomes(said, np.clip(hits / n, 0.0, 1.0), n, cell)
    return (
        sample,
        [Column(one.name, one.levels, one.index[sample.rows]) for one in columns],
        None,
        "event" if state.settings["mode"] == "event" else "answer",
    )


def _slice(group: tuple[Any, ...]) -> tuple[Any, ...]:
    """Drop the predicted class, which comes last."""
    return group[:-1]
