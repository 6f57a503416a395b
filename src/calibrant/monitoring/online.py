"""Calibrators of classes that learn on, row by row, and choose how fast they forget."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Literal, Self, cast

import numpy as np

from calibrant._numerics.logistic import log_softmax_mixed, sigmoid
from calibrant._numerics.online import (
    CENTRES,
    SHARED,
    Cells,
    Line,
    Softmax,
    State,
    Tempered,
    begin_isotonic,
    begin_logistic,
    begin_mixture,
    block_size,
    forecast_of,
    learn_batch,
    learn_block,
    read_block,
)
from calibrant.calibrators.maps.isotonic import Isotonic
from calibrant.calibrators.maps.sigmoids import Beta, Platt
from calibrant.calibrators.matrix import VectorScaling
from calibrant.calibrators.multiclass import OneVsRest
from calibrant.calibrators.temperature import TemperatureScaling
from calibrant.core.arrays import ArrayLike, to_array
from calibrant.core.calibrator import Calibrator, Tags, require_fitted
from calibrant.core.estimators import require_count, require_option
from calibrant.core.given import Inputs
from calibrant.core.guarantee import Guarantee
from calibrant.core.labels import places
from calibrant.core.predictions import Predictions, read
from calibrant.errors import InputError
from calibrant.monitoring.score_limits import MOST_DELAYED

__all__ = ["OnlineCalibrator"]

#: Log-probabilities are raised to that of one in a million, so that no single row dominates.
FAINT = float(np.log(1e-6))
#: Precision of the parameters about their start.
PRECISION = 3.0
#: Share of the uniform distribution that keeps logarithms finite.
LEAST_MIXING = 1e-12
#: Most times that a row is learnt.
MOST_REPEATED = 10_000
#: Rows of a batch that are learnt from at a time.
ROWS = 65_536
#: The recursion of each base.
DESIGNS = {"line": Line, "beta": Line, "cells": Cells, "tempered": Tempered, "vector": Softmax}


class OnlineCalibrator(
    Calibrator,
    examples=[
        {"base": Beta()},
        {"base": Isotonic()},
        {"base": TemperatureScaling()},
        {"calibeating": "brier"},
    ],
    family="learning on",
    use="Predictions over time, with labels that come later",
):
    r"""Calibrator that learns on from labels as they come, and chooses how fast it forgets.

    .. math:: q_t = \sum_j w_{t,j}\, g(P_t; \theta_{t,j}), \qquad
        w_{t+1,j} \propto w_{t,j}\, g(P_t; \theta_{t,j})_{y_t}

    :math:`\theta_{t,j}` minimises the log loss of the earlier rows with weights that halve every
    :math:`h_j` rows, plus a small penalty on the distance from the start; it is followed by a
    Newton recursion. One more member keeps the start.

    Parameters
    ----------
    base : calibrator or map, optional
        ``Platt()``, ``Beta()``, ``Isotonic()`` (two classes), ``TemperatureScaling()`` or
        ``VectorScaling()``: the family of g. If it is fitted, its parameters are the start;
        otherwise P itself is. Default ``Platt()`` for two classes, else ``VectorScaling()``.
    half_lives : sequence of rows, default (inf, 2000, 400, 80)
        Rows after which a row counts half; inf never forgets.
    calibeating : {"brier", "log_loss"}, optional
        Replace q by the outcomes of earlier rows in its bin (two classes): their mean, with a
        bound of the Brier score, or (hits + 1/2) / (rows + 1), with one of the log loss.
    n_bins : int, default 20
        Bins of equal width for ``calibeating``.
    delay : int, default 0
        Most rows that are predicted after a row and before its label is learnt, such as 99 where
        100 rows are predicted and then learnt. Each call of ``partial_fit`` is then one batch of at
        most ``delay + 1`` rows, all predicted before it; a longer one is split into such batches.
        Weights move 1 / (delay + 1) times as fast.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    n_ : int, rows learnt.
    state_ : dict of arrays, of a size that does not grow with the rows.
    weight_ : (J + 1,) weights of the start and of the half-lives.
    status_ : "exact".

    See Also
    --------
    CalibrationMonitor : tells whether a fixed calibrator still holds.
    Platt, Beta, TemperatureScaling, VectorScaling : the fixed calibrators.

    Notes
    -----
    Use it where labels come after the predictions and the relation may change. Labels may come
    late: predict when you must, learn when you can, and pass the ``delay``. ``fit`` starts anew and
    learns the rows in order; ``partial_fit`` and ``learn_one`` go on. Order matters; without a
    delay batches do not: the state after some rows is the same, bit by bit, however they were
    batched. Slopes are not kept positive, so
    a model that starts to rank in reverse is turned round. A weight must be a whole number, which
    repeats the row.

    Where each row is predicted before its label is learnt and after all earlier labels, the total
    log loss of n rows exceeds that of the best single half-life, and that of the start, by at most
    ln(J + 1) + ln(1 + n/256), for every sequence, and each change of the best half-life costs at
    most ln J + ln(n + 256) more. (Rows are learnt in blocks of up to 64, later 256; half-lives then
    share part of the weight.) With ``delay`` D, where each batch of at most D + 1 rows is predicted
    before any of its labels is learnt, both are at most D + 1 times the same numbers with the
    number of batches for n; the half-lives predict with the same delay. Without ``delay`` there is
    no bound for such batches: relations that alternate between them can cost a fifth of the loss.
    Where labels of single rows come late, in a sliding window, nothing is promised. This is no
    promise of calibration, nor one against the best fixed map: the family of
    ``base`` may be wrong. ``calibeating="brier"`` bounds the Brier score by that of the best
    constant in each of m bins plus (m/n)(1 + ln(n/m)), for every sequence, but usually loses a
    little log loss.

    The classes are those of the columns, of ``classes`` or of the first dictionary; one without
    labels so far keeps about its predicted probability, and a further one is refused: start anew
    with all ``classes``. Pass a fitted base to the constructor; ``sklearn.base.clone`` would
    forget its fit.

    References
    ----------
    Gupta and Ramdas, "Online Platt scaling with calibeating", ICML 2023. Foster and Hart,
    "Calibeating: beating forecasters at their own game", Theoretical Economics 18, 2023. Herbster
    and Warmuth, "Tracking the best expert", Machine Learning 32, 1998.

    Examples
    --------
    The events become rarer, but the model does not know:

    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0.1, 0.9, 4000)
    >>> rate = np.where(np.arange(4000) < 2000, p, 0.4 * p)
    >>> y = (rng.random(4000) < rate).astype(int)
    >>> cal = OnlineCalibrator().fit(p[:2000], y[:2000])
    >>> round(cal.predict_one(0.6), 2)
    0.61
    >>> cal = cal.partial_fit(p[2000:], y[2000:])
    >>> round(cal.predict_one(0.6), 2)
    0.24
    """

    n_: int
    state_: State
    kind_: str

    def __init__(
        self,
        base: Any = None,
        *,
        half_lives: Sequence[float] = (np.inf, 2000.0, 400.0, 80.0),
        calibeating: Literal["brier", "log_loss"] | None = None,
        n_bins: int = 20,
        delay: int = 0,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.base: Any = base
        self.half_lives: Sequence[float] = half_lives
        self.calibeating: Literal["brier", "log_loss"] | None = calibeating
        self.n_bins: int = n_bins
        self.delay: int = delay

    @property
    def tags(self) -> Tags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Tags; maps and calibeating take two classes."""
        return Tags(
            binary_only=self.calibeating is not None
            or isinstance(self.base, Platt | Beta | Isotonic | OneVsRest),
            label="online calibration",
            exceptions={
                "row_order": "it learns row by row, and later rows count more",
                "extreme_weights": "a row is learnt as often as its weight says, a whole number",
            },
        )

    def _begin(self, record: Predictions) -> None:
        before = self._initial_attributes(record.n_classes)
        super()._begin(record)
        vars(self).update(before)

    def _fit(self, record: Predictions) -> None:
        self._learn(record)

    def _initial_attributes(self, n_classes: int) -> dict[str, Any]:
        """The attributes before the first row."""
        half_lives = to_array(self.half_lives, "half_lives").astype(np.float64)
        if half_lives.ndim != 1 or not len(half_lives) or not (half_lives > 0.0).all():
            raise InputError(
                f"half_lives must be numbers of rows above 0, or inf; got {self.half_lives!r};"
                " (inf, 1000, 100) is an example."
            )
        # The start forgets every row at once.
        rate = np.append(np.inf, 1.0 / half_lives)
        if self.calibeating is not None:
            require_option("calibeating", self.calibeating, ("brier", "log_loss"))
            if n_classes != 2:
                raise InputError(f"calibeating takes two classes; got {n_classes}; leave it out.")
        require_count("n_bins", self.n_bins)
        require_count("delay", self.delay, 0, most=MOST_DELAYED)
        if self.delay and self.calibeating is not None:
            raise InputError(
                f"calibeating takes labels without delay; got delay={self.delay}; leave one of them"
                " out."
            )
        kind, start, scaled = _recursion_start(self.base, n_classes)
        if self.calibeating is not None and kind in ("vector", "tempered"):
            raise InputError(
                "base must be Platt(), Beta() or Isotonic() with calibeating; got"
                f" {self.base!r}; leave one of them out."
            )
        state = (
            begin_isotonic(start, rate)
            if kind == "cells"
            else begin_logistic(start, PRECISION, rate)
        )
        state |= begin_mixture(len(rate), self.n_bins)
        m, k = {"line": (2, 1), "beta": (3, 1), "cells": (1, 1)}.get(kind, (n_classes, n_classes))
        state |= {"scaled": scaled, "x": np.empty((m, 0)), "y": np.empty((k, 0))}
        return {"kind_": kind, "state_": state, "n_": 0}

    def partial_fit(
        self, P: ArrayLike, y: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn on from rows in their order, with arguments as in :meth:`fit`."""
        self._learn(self._rows(P, y, sample_weight))
        return self

    def run(self, P: ArrayLike, y: ArrayLike) -> np.ndarray:
        """Learn on as :meth:`partial_fit` does, and return the probabilities (n, K) of each row
        before its own label was learnt, by which a stream is judged.
        """
        return _columns(
            np.concatenate(self._learn(self._rows(P, y), with_predictions=True), axis=1)
        )

    def learn_one(self, p: Any, y: Any) -> Self:
        """Learn one row: its probability of the second class, or its dictionary of class and
        probability, and its label.
        """
        self._learn(self._row(p, [y]))
        return self

    def predict_one(self, p: Any) -> Any:
        """Return the calibrated probability of a number, dictionary of a dictionary, or list of a
        row (K,); before the first row, those of the start.
        """
        record, calibrator = self._row(p, None), self
        if not hasattr(self, "classes_"):
            calibrator = copy(self)
            vars(calibrator).update(
                self._initial_attributes(record.n_classes), classes_=record.classes
            )
        row = calibrator.predict_record(record)[0].tolist()
        if isinstance(p, Mapping):
            return dict(zip(record.classes.tolist(), row, strict=True))
        return row[1] if np.ndim(p) == 0 else row

    def _rows(self, P: Any, y: Any, sample_weight: Any = None) -> Predictions:
        classes = getattr(self, "classes_", self.classes)
        return read(P, y, inputs=self.inputs, classes=classes, sample_weight=sample_weight)

    def _row(self, p: Any, y: Any) -> Predictions:
        if not isinstance(p, Mapping):
            return self._rows([p], y)
        probabilities: dict[Any, float] = dict(cast(Any, p))
        classes: Any = getattr(self, "classes_", self.classes)
        classes = probabilities if classes is None else classes
        names: list[Any] = getattr(classes, "tolist", lambda: list(classes))()
        position, row = places(probabilities, names), np.zeros(len(names))
        if (
            not probabilities
            or -1 in position
            or (self.inputs == "logit" and len(position) < len(names))
        ):
            raise InputError(
                f"p must have the classes {names}; got {list(probabilities)}; start anew with all"
                " classes in classes=."
            )
        row[position] = list(probabilities.values())
        return read(row[None], y, inputs=self.inputs, classes=names)

    def _learn(self, record: Predictions, with_predictions: bool = False) -> list[np.ndarray]:
        """Learn the rows; return the probabilities (k, B) before each, in parts, if wanted."""
        weight = record.weights
        if (weight != 1.0).any():
            bad = (weight != np.rint(weight)) | (weight > MOST_REPEATED)
            if bad.any():
                raise InputError(
                    f"sample_weight must be whole numbers up to {MOST_REPEATED:,}, since a row is"
                    f" learnt that many times; got {weight[bad][0]:g}; leave it out."
                )
            record = record.take(np.repeat(np.arange(len(record)), weight.astype(np.intp)))
        if not hasattr(self, "state_"):
            self._begin(record)
        self.n_ += len(record)
        if self.delay:
            return [self._advance_batch(rows) for rows in record.blocks(int(self.delay) + 1)]
        return [
            part for rows in record.blocks(ROWS) for part in self._advance(rows, with_predictions)
        ]

    def _advance_batch(self, record: Predictions) -> np.ndarray:
        """Learn a batch; return the probabilities (k, b) before it."""
        x, hit = self._features(record), _indicators(record)[-len(self.state_["y"]) :]
        design, most = DESIGNS[self.kind_], int(self.delay) + 1
        self.state_, q = learn_batch(self.state_, design, x, hit, most)
        return q

    def _advance(self, record: Predictions, with_predictions: bool) -> list[np.ndarray]:
        """Learn rows, after those that wait for a whole block."""
        state, i = self.state_, 0
        parts: list[np.ndarray] = []
        x = np.hstack([state["x"], self._features(record)])
        y = np.hstack([state["y"], _indicators(record)[-len(state["y"]) :]])
        waiting = state["x"].shape[1]
        while (size := block_size(int(state["rows_learnt"][0]))) <= x.shape[1] - i:
            # Copies in the same layout have the same bits, whatever the batch.
            rows = DESIGNS[self.kind_](x[:, i : i + size].copy(), y[:, i : i + size].copy())
            state, q = learn_block(state, rows, self.calibeating, with_predictions)
            parts.append(q)
            i += size
        self.state_ = state | {"x": x[:, i:].copy(), "y": y[:, i:].copy()}
        if not with_predictions:
            return []
        # Rows that waited had their probabilities when they came.
        return [np.concatenate([*parts, self._current_state()[1]], axis=1)[:, waiting:]]

    def _current_state(self) -> tuple[State, np.ndarray]:
        """Parameters, weights and bins after all rows."""
        rows = DESIGNS[self.kind_](self.state_["x"], self.state_["y"])
        return read_block(self.state_, rows, self.calibeating)

    def _features(self, record: Predictions) -> np.ndarray:
        """(m, n) features of the recursion."""
        if self.kind_ in ("vector", "tempered"):
            beta, mixing = self.state_["scaled"].tolist()
            return np.maximum(log_softmax_mixed(record.logits, mixing, beta), FAINT).T
        low, high = np.maximum(record.log_probabilities, FAINT).T
        if self.kind_ == "beta":
            return np.stack([high, -low, np.ones(len(low))])
        return np.stack([high - low, np.ones(len(low))])[: len(self.state_["x"])]

    def _predict_proba(self, record: Predictions) -> np.ndarray:
        now, design, no_labels = self._current_state()[0], DESIGNS[self.kind_], np.empty((0, 0))
        parts = [
            forecast_of(design(self._features(part), no_labels), now, self.calibeating)
            for part in record.blocks(ROWS)
        ]
        return _columns(np.concatenate(parts, axis=1))

    @property
    def weight_(self) -> np.ndarray:
        """(J + 1,) weights of the start and of the half-lives."""
        require_fitted(self, "state_")
        return self._current_state()[0]["weight"]

    def guarantee(self) -> Guarantee:
        """Return the bound for the rows so far, if each was predicted before its label was learnt
        and after all earlier labels, or those of earlier batches with ``delay``; with calibeating
        that of its bins.
        """
        require_fitted(self, "state_")
        n, m = float(self.n_), min(float(self.n_bins), float(self.n_))
        batch = float(self.delay) + 1.0
        turns = float(self.state_["batches"][0]) if self.delay else n
        n_experts = len(self.weight_) * (1.0 + turns / SHARED)
        assumed = "each row is predicted before its label is learnt and after all earlier labels"
        if self.delay:
            assumed = (
                f"rows are predicted in batches of at most {batch:,.0f}, each before its labels are"
                " learnt in one call and after the labels of earlier batches"
            )
        over = "above that of the best constant in each bin"
        quantity, excess = {
            None: (
                "log loss above that of the best half-life or the start",
                batch * np.log(n_experts),
            ),
            "brier": (f"Brier score {over}", m * (1.0 + np.log(n / m))),
            "log_loss": (f"log loss {over}", m * (0.5 * np.log(n / m) + np.log(2.0))),
        }[self.calibeating]
        return Guarantee(
            "long run",
            f"mean {quantity}",
            "the rows so far",
            assumed,
            n,
            most=float(excess / n),
            method="mixture of experts" if self.calibeating is None else "calibeating",
        )

    def explain(self) -> str:
        """Return the rows learnt, and the weights of the start and of the half-lives."""
        names = ["start", *(f"{h:g}" for h in self.half_lives)]
        parts = [f"{name} {100.0 * w:.0f} %" for name, w in zip(names, self.weight_, strict=True)]
        return f"{self.n_:,} rows learnt; weights of half-lives in rows: {', '.join(parts)}."


def _indicators(record: Predictions) -> np.ndarray:
    """(K, n) of 1 for each row's label."""
    return (record.labels == np.arange(record.n_classes)[:, None]).astype(np.float64)


def _columns(q: np.ndarray) -> np.ndarray:
    """(n, K) probabilities from (K, n), or from (1, n) of the second class."""
    return np.column_stack([1.0 - q[0], q[0]]) if len(q) == 1 else q.T.copy()


def _recursion_start(base: Any, n_classes: int) -> tuple[str, np.ndarray, np.ndarray]:
    """The recursion of a base, the parameters from which it starts, and (inverse temperature, share
    of the uniform distribution) of the scores of vector scaling.
    """
    base = (Platt() if n_classes == 2 else VectorScaling()) if base is None else base
    plain, scaled = np.array([1.0, 0.0]), np.array([1.0, LEAST_MIXING])
    if isinstance(base, OneVsRest):
        base = base.maps_[0] if hasattr(base, "maps_") else Beta() if base.map is None else base.map
    if isinstance(base, TemperatureScaling):
        return "tempered", np.array([1.0 / getattr(base, "temperature_", 1.0)]), scaled
    if isinstance(base, VectorScaling):
        if not hasattr(base, "scale_"):
            return "vector", np.repeat(plain, n_classes), scaled
        scaled = np.array([1.0 / base.temperature_, max(base.mixing_, LEAST_MIXING)])
        return "vector", np.concatenate([base.scale_, base.shift_]), scaled
    fitted = hasattr(base, "status_")
    if n_classes == 2 and isinstance(base, Platt) and base.scale == "logit":
        return "line", np.array([base.slope_, base.intercept_]) if fitted else plain, scaled
    if n_classes == 2 and isinstance(base, Beta) and base.parameters == "abm":
        return "beta", np.array([base.a_, base.b_, base.c_] if fitted else [1.0, 1.0, 0.0]), scaled
    if n_classes == 2 and isinstance(base, Isotonic):
        rate = base.predict(sigmoid(CENTRES)) if fitted else sigmoid(CENTRES)
        return "cells", np.clip(rate, np.exp(FAINT), 1.0 - np.exp(FAINT)), scaled
    raise InputError(
        "base must be Platt(), Beta() or Isotonic() for two classes, TemperatureScaling() or"
        f" VectorScaling() for any; got {base!r} for {n_classes} classes; leave it out for a"
        " default."
    )
