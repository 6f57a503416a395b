"""Report on forecasts of a number, two criteria of calibrated error bars, and the joint test of
their calibration.

The criteria are coverage on average, and errors as large as each std.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.special import ndtr

from calibrant import metrics
from calibrant._numerics.bins import enough_bins, equal_mass_groups, grouped_sums
from calibrant._numerics.bootstrap import null_generator, score_drawer
from calibrant._numerics.clusters import mean_worth
from calibrant._numerics.intervals import normal_quantile, squared_limits, wilson
from calibrant._numerics.normal_scores import smallest_p
from calibrant.core.forecast import NormalForecast, require_order
from calibrant.core.forecast_record import read_forecast
from calibrant.core.groups import in_order
from calibrant.core.guarantee import Known
from calibrant.core.metric import Interval
from calibrant.core.metric_kinds import MeanMetric, Metric, RootMeanMetric, SumMetric
from calibrant.core.reading import REGRESSION as DOMAIN
from calibrant.core.text_table import percent
from calibrant.errors import InputError
from calibrant.metrics.bounds import equivalence
from calibrant.metrics.curves.forecasts import interval_curve
from calibrant.reporting.calibrate import Compared
from calibrant.reporting.compared_scores import Gain, Measure, as_it_is, gain_of
from calibrant.reporting.judge import Words
from calibrant.reporting.miscalibration import ALPHA, MARGIN, Miscalibration, draws_of
from calibrant.reporting.options import Settings
from calibrant.reporting.regression.quality import cautions, quality, vetoes
from calibrant.reporting.regression.states import (
    CLAIMED,
    Curves,
    ForecastSeen,
    chance_errors,
    curves,
    drawn_outcomes,
)
from calibrant.reporting.report_table import ReportTable
from calibrant.reporting.states import REGIONS, Place, Worth, alone, by_region, together, worth_of
from calibrant.reporting.summary import Chance
from calibrant.reporting.verdict import words_of_error_bars

__all__ = ["METRICS", "REGRESSION", "Criteria", "criteria", "miscalibration_of_forecasts"]


#: ENCE that would not matter: such a std changes the coverage of 90 % intervals by below 2 points.
STD_MARGIN = 0.05
#: Rank correlation of calibrated std with |error| below which std that hardly differ say nothing.
TELLING = 0.1
#: Draws for the rank correlation under perfect calibration, and rows times draws, at most.
DRAWS, DRAWN_ROWS = 20, 20_000


@dataclass(frozen=True)
class Criteria(Known):
    """Results of one output under both criteria, before or after calibration.

    Attributes
    ----------
    interval_error, ence : Chance
    passes : whether each criterion, "interval" and "std", is met within chance or within a margin
    flawed : whether intervals pass although the std hardly tell large errors from small
    sentence : both in words
    correlation : Spearman's rank correlation of std with absolute error, or None if all std are
        equal
    expected : its value under perfect calibration
    smallest, largest : coverage in the rows of the smallest and of the largest std
    """

    interval_error: Chance
    ence: Chance
    passes: dict[str, bool]
    flawed: bool
    sentence: str
    correlation: Interval | None = None
    expected: float | None = None
    smallest: Any = None
    largest: Any = None


def criteria(
    rows: Any,
    chance: dict[str, Chance],
    gaps: list[Any],
    margin: float | None,
    *,
    level: float,
    random_state: int,
) -> Criteria:
    """Judge one output by both criteria.

    Parameters
    ----------
    rows : record of one output
    chance : from ``chance_errors``
    gaps : coverage by equal parts of the rows, from the smallest std to the largest
    margin : interval calibration error that would not matter; None: two points
    level : level of the interval of the rank correlation
    random_state : int
    """
    interval, ence = chance["interval_calibration_error"], chance["ence"]
    passes = {
        "interval": not interval.beyond or interval.observed <= (margin or MARGIN),
        "std": not ence.beyond or ence.observed <= STD_MARGIN,
    }
    if len(gaps) < 2:
        words = "All std are equal or nearly so, so they cannot tell large errors from small."
        return Criteria(interval, ence, passes, False, words)
    own, expected = _correlation(rows, level, random_state)
    vague = (
        not passes["std"]
        and expected >= TELLING
        and own.value < 0.5 * expected
        and own.high < expected
    )
    flawed = vague and passes["interval"]
    lead = (
        "The intervals pass on average, but the std hardly tell large errors from small"
        if flawed
        else "The std hardly tell large errors from small"
        if vague
        else "Rows with larger std have larger errors"
        if own.low > 0.0
        else "These rows do not show whether larger std mean larger errors"
    )
    sentence = (
        f"{lead}: interval calibration error {interval.observed:.3f} (up to {interval.high:.3f} by"
        f" chance), ENCE {ence.observed:.3f} (up to {ence.high:.3f} by chance), rank correlation of"
        f" std with |error| {own.value:z.2f} ({own.low:z.2f} to {own.high:z.2f}; calibrated std"
        f" show {expected:.2f}). The 90 % intervals hold {percent(gaps[0].coverage)} of the"
        " outcomes in"
        f" the {gaps[0].rows:,.0f} rows with the smallest std, and {percent(gaps[-1].coverage)} in"
        f" the {gaps[-1].rows:,.0f} with the largest."
    )
    return Criteria(interval, ence, passes, flawed, sentence, own, expected, gaps[0], gaps[-1])


def _correlation(rows: Any, level: float, random_state: int) -> tuple[Interval, float]:
    """Compute the rank correlation with the interval of Bonett and Wright (2000), and its mean over
    outcomes drawn from the forecasts; a row of weight w counts w times (rounded, at least once).
    """
    rows, rng = in_order(rows), null_generator(random_state)
    times = np.maximum(np.rint(rows.weights), 1.0)
    drawn = [
        drawn_outcomes(rows, rng.standard_normal(len(rows))) - rows.mean
        for _ in range(min(max(DRAWN_ROWS // len(rows), 1), DRAWS))
    ]
    sizes = np.repeat(np.abs([rows.std, rows.error, *drawn]), times.astype(np.intp), axis=1)
    ranks = scipy.stats.rankdata(sizes, axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    products = ranks @ ranks[0] / np.maximum(np.linalg.norm(ranks, axis=1), 1e-300)
    value, *expected = (products[1:] / np.linalg.norm(ranks[0])).tolist()
    n = float(len(sizes[0]))
    if rows.cluster is not None:
        cluster = np.repeat(rows.cluster, times.astype(np.intp), axis=0)
        n *= mean_worth(ranks[0] * ranks[1], np.ones(len(cluster)), cluster, level)
    half = normal_quantile(level) * np.sqrt((1.0 + 0.5 * value**2) / max(n - 3.0, 1.0))
    at = np.arctanh(np.clip(value, -1.0 + 1e-12, 1.0 - 1e-12))
    low, high = np.tanh([at - half, at + half]).tolist()
    return Interval(value, low, high, level, "analytic", n), float(np.mean(expected))


#: Parts of the probabilities of the outcomes, and of the rows by their std.
PARTS, STD_PARTS = 10, 5
#: Rows of a part by std, of which coverages at all levels make the typical error.
COVERED_ROWS = 200
#: An error counts as so many std at most: one outlier must not be the whole evidence.
FARTHEST = 6.0
#: How the checks are called, in their order.
CHECKS = ("offset", "spread", "shape", "coverage", "std")
#: Levels of the intervals whose coverages make the typical error.
COVERAGES = np.arange(0.05, 0.96, 0.05)


def miscalibration_of_forecasts(
    rows: Any, margin: float | None, *, random_state: int
) -> Miscalibration:
    r"""Test forecasts for miscalibration by their normal scores.

    The checks are the mean score (``offset``), the mean squared score less 1 (``spread``), counts
    of the probabilities in ten parts (``shape``), the intervals of 90 % (``coverage``) and squared
    scores by the log of the std (``std``), each against scores that are standard normal, alike in
    a cluster as those seen.

    Parameters
    ----------
    rows : record of one output with score, std, weights and cluster
    margin : the largest error of the coverage that would not matter; None: two points
    random_state : int
    """
    rows = in_order(rows)
    times = np.maximum(np.rint(rows.weights), 1.0).astype(np.intp)
    row = np.repeat(np.arange(len(rows)), times)
    score, cluster = rows.score[row], None if rows.cluster is None else rows.cluster[row]
    by_std = np.log(rows.std[row])
    by_std = by_std - by_std.mean()
    draw, rng = score_drawer(score, cluster), null_generator(random_state)
    drawn = np.array([_checks(draw(rng), by_std) for _ in range(draws_of(len(score)))])
    own, p_value = smallest_p(_checks(score, by_std), drawn)
    held = (2.0 * ndtr(abs(score)) - 1.0 <= CLAIMED).astype(np.float64)
    claimed, ones = np.full(len(score), CLAIMED), np.ones(len(score))
    part = equal_mass_groups(by_std, STD_PARTS)
    margin = MARGIN if margin is None else margin
    worth = 1.0 if cluster is None else mean_worth(held, ones, cluster, 1.0 - ALPHA)
    low, high = coverage_error(score, by_std, len(held) * worth)
    return Miscalibration(
        p_value=p_value,
        checks=dict(zip(CHECKS, own.tolist(), strict=True)),
        equivalence=equivalence(claimed, held, ones, cluster, margin, part)[1],
        margin=margin,
        wanted=_rows_wanted(margin) / worth,
        rows=float(len(held)),
        n=len(held) * worth,
        low=low,
        high=high,
    )


def coverage_error(score: np.ndarray, std: np.ndarray, n: float) -> tuple[float, float]:
    r"""Limits (95 %) of the root mean square, over levels and parts of the rows by their std, of
    the coverage of central intervals less the level.

    The coverages of n rows at levels a < b have the covariance a (1 - b) / n.

    Parameters
    ----------
    score : (n,) normal scores
    std : (n,) standard deviations, or anything in their order
    n : rows that count as independent
    """
    part = equal_mass_groups(std, int(np.clip(n / COVERED_ROWS, 1, STD_PARTS)))
    inside, total = abs(2.0 * ndtr(score) - 1.0), 0.0
    for k in range(int(part.max()) + 1):
        rows = np.sort(inside[part == k])
        gap = np.searchsorted(rows, COVERAGES, side="right") / len(rows) - COVERAGES
        total += float(gap @ gap) * len(rows) / (len(score) * len(COVERAGES))
    low, high = squared_limits(total, np.tile(_coverage_noise() / n, int(part.max()) + 1))
    return min(low, 1.0), min(high, 1.0)


def _coverage_noise() -> np.ndarray:
    """Weighted variances of the coverages of one row."""
    covariance = np.minimum.outer(COVERAGES, COVERAGES) - np.outer(COVERAGES, COVERAGES)
    return np.clip(np.linalg.eigvalsh(covariance), 0.0, None) / len(COVERAGES)


def _rows_wanted(margin: float) -> float:
    """Rows after which the upper limit of the coverage error of right error bars is the margin on
    average.
    """
    noise = np.tile(_coverage_noise(), STD_PARTS)
    return (squared_limits(float(noise.sum()), noise)[1] / margin) ** 2


def _proved(score: Any) -> Gain | None:
    """The gain that an interval of a change proves, as nats: half of the squared distance from 0
    in standard errors.
    """
    change = score.change
    if change is None or change.low is None:
        return None
    error = max((change.high - change.low) / (2.0 * normal_quantile(0.95)), 1e-300)
    share = -change.value / max(score.before.value, 1e-300)
    nats = np.sign(share) * 0.5 * (change.value / error) ** 2
    return Gain(float(nats), share, f"the {score.name} falls by {percent(share)}")


def _checks(score: np.ndarray, by_std: np.ndarray) -> np.ndarray:
    """(5,) the checks, larger where more speaks against the forecasts."""
    probability = ndtr(score)
    near = np.clip(score, -FARTHEST, FARTHEST)
    part = np.minimum((probability * PARTS).astype(np.intp), PARTS - 1)
    count = np.bincount(part, minlength=PARTS)
    held = abs(2.0 * probability - 1.0) <= CLAIMED
    square = near * near - 1.0
    return np.abs(
        [
            near.mean(),
            square.mean(),
            np.square(count - len(score) / PARTS).sum(),
            held.mean() - CLAIMED,
            square @ by_std,
        ]
    )


#: By key, in the order of the page: the name shown, and the metric.
METRICS: dict[Any, Any] = {
    metric.key: (name, metric)
    for name, metric in (
        ("NLL", metrics.negative_log_likelihood),
        ("CRPS", metrics.continuous_ranked_probability_score),
        ("pinball loss", metrics.pinball_loss),
        ("ENCE", metrics.expected_normalized_calibration_error),
        ("interval calibration error", metrics.interval_calibration_error),
        ("QCE", metrics.quantile_calibration_error),
        ("UCE", metrics.uncertainty_calibration_error),
        ("coverage of 90 % intervals", metrics.interval_coverage),
        ("width of 90 % intervals", metrics.interval_width),
        ("sharpness", metrics.sharpness),
        ("spread of the std (c_v)", metrics.coefficient_of_variation),
        ("RMSE", metrics.root_mean_squared_error),
        ("MAE", metrics.mean_absolute_error),
    )
}
#: Products of rows, columns and resamples that one bootstrap may cost; below 100 resamples the
#: interval is left out.
SUMS_BUDGET, SORTS_BUDGET = 4e8, 4e6
#: Draws of the errors expected by chance after calibration, where the ENCE has no faster law.
FEWER_DRAWS = 60
#: Of the metrics that sort the rows in each resample.
SORTS_RESAMPLES = 400


def _affordable(metric: Any, n: int, n_resamples: int) -> int:
    if isinstance(metric, MeanMetric) and not isinstance(metric, RootMeanMetric):
        return max(n_resamples, 2)  # none are drawn
    if isinstance(metric, SumMetric):
        count = int(min(n_resamples, SUMS_BUDGET / getattr(metric, "n_levels", 2) / n))
    else:
        count = int(min(n_resamples, SORTS_RESAMPLES, SORTS_BUDGET / n))
    return count if count >= 100 else 0


def _moments(record: Any) -> Any:
    """Normal forecasts of the same mean and std."""
    return replace(record, forecast=NormalForecast(record.mean, record.std))


def _scores(record: Any) -> Any:
    """Normal forecasts of the same mean and std whose outcomes have the same normal score; one
    beyond all numbers is at 40 std.
    """
    score = np.clip(record.score, -40.0, 40.0)
    return replace(_moments(record), y=record.mean + record.std * score)


#: Metrics of mean, std and outcome alone, and of std and normal score alone: their bootstrap needs
#: no more of the forecasts.
VIEWS: dict[Any, Any] = {
    **dict.fromkeys(("ence", "uce", "c_v", "sharpness", "rmse"), _moments),
    **dict.fromkeys(("qce", "interval_calibration_error"), _scores),
}


@dataclass(frozen=True)
class Sections:
    """Sections of a report on forecasts: the curves and both criteria before and after, and the
    worst regions by predicted std and by value.
    """

    curves: dict[str, Curves | None]
    std_regions: list[Place]
    value_regions: list[Place]
    criteria: dict[str, Criteria | None]


@dataclass(frozen=True)
class IntervalGap:
    """Rows, the error and the std claimed (root mean squares), and how far the coverage of 90 %
    intervals falls short, with an interval.
    """

    rows: float
    error: float
    claimed: float
    ratio: float
    bias: float
    coverage: float
    gap: float
    low: float
    high: float


def _held(record: Any) -> np.ndarray:
    """(n,) whether the intervals hold the outcome."""
    low, high = record.forecast.interval(CLAIMED)
    return ((low <= record.y) & (record.y <= high)).astype(np.float64)


class ErrorBars(ReportTable):
    """The report on forecasts of a number, output by output."""

    domain = DOMAIN
    # The folds of fewer rows are too small for the automatic choice.
    fewest = 30
    rates = False
    n_bins = 10
    resamples_all = False
    quality: ClassVar[Callable[..., Any]] = staticmethod(quality)
    cautions: ClassVar[Callable[..., list[str]]] = staticmethod(cautions)
    vetoes: ClassVar[Callable[..., list[str]]] = staticmethod(vetoes)
    words: ClassVar[Callable[..., Words]] = staticmethod(words_of_error_bars)

    def said(self, record: Any) -> tuple[np.ndarray, np.ndarray]:
        """The coverage claimed, and whether the intervals hold the outcome."""
        return np.full(len(record), CLAIMED), _held(record)

    def scores(self) -> Sequence[Metric]:
        """All metrics."""
        return [metric for _, metric in METRICS.values()]

    def read(
        self,
        y: ArrayLike,
        P: Any,
        std: ArrayLike | None,
        calibrator: Any,
        *,
        sample_weight: ArrayLike | None = None,
        groups: Any = None,
        outputs: Any = None,
    ) -> tuple[Any, Sequence[Any]]:
        """The record, and the names of its outputs."""
        record = read_forecast(P, std, y, sample_weight=sample_weight, groups=groups)
        if record.y is None:
            raise InputError("y must be the outcomes, of the shape of the forecast; got None.")
        count = record.forecast.shape[1] if record.several else 1
        given = outputs if outputs is not None else record.names if record.several else None
        names = (
            [f"output {j + 1}" for j in range(count)]
            if given is None
            else [str(name) for name in given]
        )
        if len(names) != count or len(set(names)) != count:
            raise InputError(
                f"outputs must be {count} different names, one for each output; got {names}."
            )
        return record if given is None else replace(record, names=names), names

    def read_test(self, test: Any, record: Any) -> Any:
        """The record of the rows to measure on."""
        if not (isinstance(test, tuple | list) and len(test) in (2, 3, 4)):
            raise InputError(
                "test must be (y_test, forecast_test), with weight_test and groups_test behind them"
                " where there are any."
            )
        y, forecast, weight, groups = (*test, None, None)[:4]
        read = read_forecast(forecast, None, y, sample_weight=weight, groups=groups)
        require_order(read.names, "test", record.names, "the forecast")
        if read.forecast.shape[1:] != record.forecast.shape[1:]:
            raise InputError(
                f"test must have the outputs of the forecast, {record.forecast.shape[1:]}; got"
                f" {read.forecast.shape[1:]}."
            )
        return read

    def question(self, target: Any, record: Any, calibrators: Any) -> None:
        """Refuse any target, and return None."""
        super().question(target, record, calibrators)

    def data(self, record: Any, names: Sequence[Any]) -> dict[str, Any]:
        """Return the facts of the header, with the outputs."""
        form = type(record.forecast).__name__
        return {**super().data(record, names), "outputs": names, "form": form}

    def keys(self) -> dict[str, str]:
        """Return {key: name} of the metrics."""
        return {key: name for key, (name, _) in METRICS.items()}

    def measures(self, record: Any, n_bins: int, n_resamples: int) -> list[Measure]:
        """All metrics, each with as many resamples as the rows allow."""
        return [
            Measure(m, _affordable(m, len(record), n_resamples), VIEWS.get(key, as_it_is), name)
            for key, (name, m) in METRICS.items()
        ]

    def seen(self, record: Any, settings: Settings) -> Any:
        """Compute the states in the bins of the curve and of the ENCE."""
        return ForecastSeen.of(
            [record],
            sorted({settings.n_bins, metrics.expected_normalized_calibration_error.n_bins}),
        )

    def chance(self, seen: Any, settings: Settings, after: bool = False) -> Any:
        """Compute ENCE and interval calibration error under perfect calibration."""
        draws = {"draws": FEWER_DRAWS} if after else {}
        return chance_errors(seen, random_state=settings.random_state, **draws)

    def against(
        self, seen: Any, groups: Any, margin: float | None, after: bool, random_state: int
    ) -> Miscalibration:
        """Test the forecasts for miscalibration."""
        return miscalibration_of_forecasts(seen.rows, margin, random_state=random_state)

    def curve(self, record: Any, level: float) -> Any:
        """Compute the coverage of the intervals at each level."""
        return interval_curve.of(record, band=level)

    def example(self, seen: Any, level: float) -> None:
        """Return None: the words on error bars are about all intervals."""

    def gain(self, scores: dict[str, Any], n: float, fitted: Any) -> Gain | None:
        """Return the gain in the NLL, or where there is none that which the CRPS proves."""
        return gain_of(scores["nll"], n, relative=False) or _proved(scores["crps"])

    def sums(self, record: Any, index: np.ndarray, count: int) -> np.ndarray:
        """(count, 5) sums of weight, outcomes held by their intervals, error, its square, and
        predicted variance.
        """
        return grouped_sums(
            index,
            count,
            [_held(record), record.error, np.square(record.error), np.square(record.std)],
            record.weight,
        )

    def gaps(self, sums: np.ndarray, level: float, worth: Worth = alone) -> list[IntervalGap]:
        """Return the gaps of error, predicted std and coverage."""
        n, held, error, square, variance = sums.T
        level = together(level, n)
        lower, upper = wilson(held * worth(level), n * worth(level), level)
        numbers = np.column_stack(
            [
                n,
                np.sqrt(square / n),
                np.sqrt(variance / n),
                np.sqrt(square / variance),
                error / n,
                held / n,
                CLAIMED - held / n,
                CLAIMED - upper,
                CLAIMED - lower,
            ]
        )
        return [IntervalGap(*row) for row in numbers.tolist()]

    def audited(self, record: Any) -> tuple[Any, str]:
        """The forecasts."""
        return record, "forecast"

    def sections(self, found: Compared, settings: Settings, used: Any, chance: Any) -> Any:
        """Curves, and the worst regions."""
        options = {
            "n_bins": settings.n_bins,
            "level": settings.level,
            "random_state": settings.random_state,
        }
        regions = (self._regions(found, name, settings.level) for name in ("std", "mean"))
        return Sections(
            found.both(lambda seen: curves(seen, **options)),
            *regions,
            criteria=found.both(
                lambda seen: self._judged(
                    seen, chance["before" if seen is found.before else "after"], settings
                )
            ),
        )

    def section_cautions(self, sections: Any) -> list[str]:
        """Return the sentences on std that do not tell errors apart behind intervals that pass."""
        starts = {"before": "", "after": "After calibration: "}
        return [
            f"{starts[when]}{one.sentence}"
            for when, one in sections.criteria.items()
            if one is not None and one.flawed
        ]

    def _judged(self, seen: ForecastSeen, chance: Any, settings: Settings) -> Criteria:
        """Judge the rows, cut by their own std, by both criteria; compute ``chance`` if None."""
        rows, cut = seen.rows, seen.counts.std.cut(enough_bins(REGIONS, seen.counts.total[0]))
        gaps = self._in_parts(rows, cut.index(rows.std), len(cut), settings.level)
        state = settings.random_state
        chance = chance or self.chance(seen, settings, after=True)
        return criteria(
            rows, chance, gaps, settings.margin, level=settings.level, random_state=state
        )

    def _in_parts(
        self, rows: Any, index: np.ndarray, count: int, level: float
    ) -> list[IntervalGap]:
        """Return the gaps of the parts of the rows."""
        worth = worth_of(rows, _held(rows), index, count)
        return self.gaps(self.sums(rows, index, count), level, worth)

    def _regions(self, found: Compared, name: str, level: float) -> list[Place]:
        """Group the rows by the forecast before calibration, and measure those shown."""
        counts = found.before.counts
        cut, rows = (
            getattr(counts, name).cut(enough_bins(REGIONS, counts.total[0])),
            found.shown.rows,
        )
        index = cut.index(getattr(found.before.rows, name))
        return by_region(cut, self._in_parts(rows, index, len(cut), level))


REGRESSION = ErrorBars()
