"""Classifier with calibrated probabilities, with scikit-learn's interface, and out-of-fold
predictions of any calibrator on arrays, with any splitter.
"""

from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed

from calibrant._numerics.logistic import softmax
from calibrant.calibrators.auto import default_calibrator
from calibrant.calibrators.multiclass import as_calibrator
from calibrant.calibrators.training_rows import (
    REFIT_AGREEMENT,
    ClassifierMixin,
    TrainingRows,
    Wrapper,
    agreement,
    averaged,
    checked_rows,
    chosen_told,
    exponent_of,
    fit_before_held_out,
    routed,
)
from calibrant.core.arrays import ArrayLike, weights
from calibrant.core.calibrator import Calibrator, require_fitted
from calibrant.core.estimators import account, clone, require_option, seeded
from calibrant.core.folds import make_splits, out_of_fold, refuse_prefit, refuse_small_folds
from calibrant.core.given import Inputs
from calibrant.core.groups import codes_of, order_of
from calibrant.core.model_outputs import fit_model, is_fitted, kind_of_output, model_output
from calibrant.core.predictions import read, reference_pair
from calibrant.errors import FitWarning, InputError, warn

__all__ = ["CalibratedClassifier", "cross_fitted"]


class CalibratedClassifier(ClassifierMixin, Wrapper):
    r"""Scikit-learn classifier with calibrated probabilities and confidences.

    Parameters
    ----------
    estimator : classifier
        An unfitted one is fitted here, and calibrated on out-of-fold predictions. A fitted one (or
        a ``FrozenEstimator``) is used as it is: ``fit`` then needs calibration data that are new to
        the model; see the notes.
    calibrator : Calibrator or Map, optional
        Default :class:`AutoCalibrator`. With ``inputs="logit"`` it calibrates the model's
        ``decision_function`` if there is one; a model without ``predict_proba`` is always
        calibrated that way. A map is applied one-vs-rest (:class:`OneVsRest`).
    cv : int, splitter, iterable of (rows to fit, rows held out), or None
        None: 5 folds for an unfitted model. A number means stratified folds, which keep groups
        whole if ``groups`` is passed. With a fitted model, any value but None fits new clones of
        it, with a warning (a ``FrozenEstimator`` is never refitted).
    ensemble : {"auto", True, False}, default "auto"
        The models behind the calibrator, which is fitted to the out-of-fold predictions. False: one
        model, fitted to all rows. "auto": that model if the models of the folds agree with each
        other, else their average; see the notes. True: a calibrator for each model of a fold, whose
        probabilities are averaged; each fold must then hold out at least 3 rows, and should hold
        out 10.
    reference_labels : {"true", "predicted"}
        Labels of the model's training rows for calibrators that use them, such as
        :class:`GeometricCalibrator`: the true ones, or the model's predictions.
    random_state : int, default 0
        Seed of the folds when ``cv`` is a number.
    n_jobs : int or None
        Number of models fitted in parallel, as in joblib; None: one.

    Attributes
    ----------
    classes_ : (K,) labels in column order.
    class_rates_ : (K,) shares of the classes in the rows of the fit; None with a fitted model.
    estimators_, calibrators_ : lists of the fitted models and calibrators: one of each, or one for
        each fold.
    chosen_ : "refit" (one model fitted to all rows), "average" (those of the folds), or "given" (a
        fitted model).
    evidence_ : dict of the evidence behind ``ensemble="auto"``, else empty: ``agreement`` of the
        models of the folds, 1 if they agree on rows that are new to one of them; for an average
        ``agreement_unseen``, on rows new to both, and ``exponent``.
    n_features_in_, feature_names_in_ : if the model has them.

    Raises
    ------
    InputError
        When the labels are of one class only, an option is none of those above, ``cv="prefit"``,
        the model predicts neither probabilities nor decisions, or a fold is too small for its own
        calibrator.

    See Also
    --------
    CalibratedRegressor : the same for regression.
    cross_fitted : calibrated probabilities without a model.

    Notes
    -----
    The training rows of a fitted model do not calibrate it, and this class cannot detect them. The
    model is most confident there, and the calibrator would make it overconfident: a forest on 600
    rows with a log loss of 0.45 on new rows had 0.70 after Platt scaling on its own training rows,
    and 0.45 on as many others. Pass the model unfitted, or rows that were held out.

    A class absent from a fold's training part keeps its share of all rows in that fold's
    predictions. A calibrator that needs the model's training data gets ``fit(...,
    reference=(X_train, y_train))`` for a fitted model and the fold's own training part otherwise;
    there is then one such calibrator for each fold, and their predictions are averaged. ``predict``
    is the most probable class after calibration.

    A flexible model (boosting, a forest, a tree) that is refitted to all rows is sharper on new
    rows than the models of the folds, so a calibrator fitted on theirs does not suit it. "auto"
    therefore refits only if the models of the folds nearly agree, with an agreement of 0.975 or
    more: logistic regression, naive Bayes, and others that a fifth of the rows hardly changes.
    Otherwise the predictions :math:`q_k` of the M models, each through the one calibrator, are
    averaged as evidence beside the class rates :math:`\pi`:

    .. math:: q \propto \pi \prod_k \left( q_k / \pi \right)^{s / M}, \qquad s = \frac{M}{1 + (M -
        1) \rho},

    where :math:`\rho` is the agreement of two models on rows new to both, for which one more is
    fitted without two folds. An average of different predictions is underconfident: if the truth
    rises by 1 for each unit of one calibrated model's log-odds, it rises by s for each unit of
    their mean. Either way there is one fit more than folds. If two splits have no training row in
    common (``cv=2``), s is 1. A single split, or splits that hold out later rows than they fit on
    (``TimeSeriesSplit``), always refit. The average needs M models at prediction: pass
    ``ensemble=False`` where that is too slow.

    References
    ----------
    Niculescu-Mizil and Caruana, "Predicting good probabilities with supervised learning", ICML
    2005.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = make_classification(n_samples=200, random_state=0)
    >>> clf = CalibratedClassifier(GaussianNB()).fit(X, y)
    >>> clf.predict_proba(X[:3]).shape, clf.predict_confidence(X[:3]).shape
    ((3, 2), (3,))
    """

    def __init__(
        self,
        estimator: Any,
        calibrator: Any = None,
        *,
        cv: Any = None,
        ensemble: bool | Literal["auto"] = "auto",
        reference_labels: Literal["true", "predicted"] = "true",
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator: Any = estimator
        self.calibrator: Any = calibrator
        self.cv: Any = cv
        self.ensemble: bool | Literal["auto"] = ensemble
        self.reference_labels: Literal["true", "predicted"] = reference_labels
        self.random_state: int = random_state
        self.n_jobs: int | None = n_jobs

    def _to_fit(self) -> Any:
        """Return the model by its parameter's name, or nothing if it is used as it is."""
        as_it_is = is_fitted(self.estimator) and (self.cv is None or not _refits(self.estimator))
        return {} if as_it_is else {"estimator": self.estimator}

    @seeded
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: np.ndarray | None = None,
        reference: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the model, unless it is fitted, and the calibrator.

        Parameters
        ----------
        X : (n, ...) features: array, sparse matrix, data frame
        y : (n,) labels of any kind
        sample_weight : (n,), optional
            For the model and the calibrator; a row of weight 0 counts as no row for either.
        groups : (n,), optional
            Passed to the splitter.
        reference : (X_train, y_train), optional
            Training data of a fitted model, for calibrators that need them.
        **fit_params
            Passed to the model's ``fit``; those with one entry a row are cut to the rows of each
            fold. With scikit-learn's metadata routing, model and splitter receive what they
            request, weights included; the calibrator always receives the weights.

        Returns
        -------
        self
        """
        X, y = checked_rows(self, X, y, column_or_1d)
        check_classification_targets(y)
        refuse_prefit(self.cv)
        require_option("reference_labels", self.reference_labels, ("true", "predicted"))
        require_option("ensemble", self.ensemble, ("auto", True, False))
        data = TrainingRows(X, y, sample_weight)
        models = self._to_fit()
        params, split_params = routed(self, models, data.weight, groups, fit_params)
        template = as_calibrator(self.calibrator, default=default_calibrator)
        if models and is_fitted(self.estimator):
            warn(
                f"the {type(self.estimator).__name__} is fitted already, and cv={self.cv!r} fits"
                f" copies of it to these {len(data.y):,} rows and discards that fit; leave cv out"
                " to calibrate the model as it is on rows that were held out, or pass"
                " clone(model).",
                FitWarning,
            )
        if models:
            self._cross_fit(template, data, params["estimator"], split_params, reference)
        else:
            self._calibrate_fitted(template, data, reference)
        self._take_names(self.estimators_[-1])
        return self

    def _calibrate_fitted(self, template: Any, data: TrainingRows, reference: Any) -> None:
        if not hasattr(self.estimator, "classes_"):
            raise InputError(
                f"a fitted model must have classes_; {type(self.estimator).__name__} has none; set"
                " them in column order."
            )
        self.classes_: np.ndarray = np.asarray(self.estimator.classes_)
        self.class_rates_: np.ndarray | None = None
        self._kind = kind_of_output(self.estimator, template.inputs)
        rows = data.counted()
        fitted = self._fit_calibrator(
            template,
            self.estimator,
            self._values(self.estimator, data.X_of(rows)),
            data,
            rows,
            reference,
        )
        self.estimators_, self.calibrators_ = [self.estimator], [fitted]
        self.chosen_: str = "given"
        self.evidence_: dict[str, float] = {}

    def _cross_fit(
        self,
        template: Any,
        data: TrainingRows,
        params: Any,
        split_params: Any,
        reference: tuple[np.ndarray, np.ndarray] | None,
    ) -> None:
        if reference is not None:
            raise InputError(
                "reference belongs to a fitted model, because in cross-validation each fold has"
                " its own training part; leave it out."
            )
        everything = data.counted()
        self.classes_, codes = np.unique(data.y[everything], return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(
                f"y must hold at least 2 classes; got 1 class, {self.classes_.tolist()[0]!r}; add"
                " rows of another class."
            )
        share = np.bincount(codes, weights=data.weight_of(everything))
        self.class_rates_ = share / share.sum()
        splits = make_splits(
            5 if self.cv is None else self.cv,
            data.X,
            data.y,
            random_state=self.random_state,
            **split_params,
        )
        splits = data.counted_splits(splits)
        each_fold = (self.ensemble != "auto" and self.ensemble) or template.tags.needs_reference
        if each_fold:
            refuse_small_folds(
                splits,
                (
                    "pass fewer folds"
                    if template.tags.needs_reference
                    else "pass ensemble=False, or fewer folds"
                ),
            )
        self.estimators_: list[Any] = Parallel(n_jobs=self.n_jobs)(
            delayed(fit_model)(self.estimator, *data.of(fit_rows, params)) for fit_rows, _ in splits
        )
        self._kind = kind_of_output(self.estimators_[0], template.inputs)
        values = [
            self._values(m, data.X_of(held_out))
            for m, (_, held_out) in zip(self.estimators_, splits, strict=True)
        ]
        if each_fold:
            self.calibrators_: list[Calibrator] = [
                self._fit_calibrator(
                    template, m, v, data, held_out, (data.X_of(fit_rows), data.y[fit_rows])
                )
                for m, v, (fit_rows, held_out) in zip(self.estimators_, values, splits, strict=True)
            ]
        else:
            held_out = np.concatenate([rows for _, rows in splits])
            self.calibrators_ = [
                self._fit_calibrator(template, None, np.concatenate(values), data, held_out, None)
            ]
        self.evidence_ = {}
        self.chosen_ = self._choose(data, params, splits, values)
        if self.chosen_ == "refit":
            self.estimators_ = [self._fit_model(data, everything, params)]

    def _choose(
        self,
        data: TrainingRows,
        params: Any,
        splits: list[tuple[np.ndarray, np.ndarray]],
        values: list[np.ndarray],
    ) -> str:
        """Decide whether to refit one model, by the agreement of those of the folds; if not, return
        the exponent of their average.
        """
        if self.ensemble != "auto":
            return "average" if self.ensemble else "refit"
        if len(splits) == 1 or fit_before_held_out(splits):
            return "refit"
        others = [*self.estimators_[1:], self.estimators_[0]]
        self.evidence_["agreement"] = found = self._agreement(data, splits, values, others)
        if found >= REFIT_AGREEMENT:
            return "refit"
        self.evidence_["exponent"] = 1.0
        shared = np.intersect1d(splits[0][0], splits[1][0])
        if len(np.unique(data.y[shared])) == len(self.classes_):
            without_both = self._fit_model(data, shared, params)
            found = self._agreement(data, splits[:2], values[:2], [without_both] * 2)
            self.evidence_ |= {
                "agreement_unseen": found,
                "exponent": exponent_of(found, len(splits)),
            }
        return "average"

    def _agreement(
        self,
        data: TrainingRows,
        splits: list[tuple[np.ndarray, np.ndarray]],
        values: list[np.ndarray],
        others: list[Any],
    ) -> float:
        """Return the agreement of each fold's calibrated predictions on its held-out rows with
        another model's.
        """
        pairs = []
        for k, (own, other, (_, rows)) in enumerate(zip(values, others, splits, strict=True)):
            X = data.X_of(rows)
            pairs.append([self._calibrated(k, v, X) for v in (own, self._values(other, X))])
        one, other = map(np.concatenate, zip(*pairs, strict=True))
        return agreement(
            one,
            other,
            self.class_rates_,
            data.weight_of(np.concatenate([rows for _, rows in splits])),
        )

    def _calibrated(self, k: int, values: np.ndarray, X: Any) -> np.ndarray:
        """Return a model's outputs after the k-th calibrator, or the only one."""
        calibrator = self.calibrators_[k % len(self.calibrators_)]
        return calibrator.predict_proba(
            values, **({"X": X} if calibrator.tags.uses_features else {})
        )

    def _fit_model(self, data: TrainingRows, rows: np.ndarray, params: Any) -> Any:
        return fit_model(self.estimator, *data.of(rows, params))

    def _fit_calibrator(
        self,
        template: Any,
        model: Any,
        values: np.ndarray,
        data: TrainingRows,
        rows: np.ndarray,
        reference: Any,
    ) -> Any:
        tags = template.tags
        options = {"X": data.X_of(rows)} if tags.uses_features else {}
        if tags.needs_reference:
            options["reference"] = self._labelled(model, reference)
        fresh = clone(template).set_params(inputs=self._kind, classes=self.classes_)
        return fresh.fit(values, data.y[rows], sample_weight=data.weight_of(rows), **options)

    def _labelled(self, model: Any, reference: Any) -> tuple[Any, ...] | None:
        """Return the model's training rows with the labels of ``reference_labels``."""
        if reference is None or self.reference_labels == "true":
            return reference
        X, y = reference_pair(reference)
        check_consistent_length(X, y)
        return X, self.classes_[self._values(model, X).argmax(axis=1)]

    def _values(self, model: Any, X: Any) -> np.ndarray:
        return model_output(model, X, self._kind, self.classes_, self.class_rates_)

    def _predict(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return (calibrated probabilities (n, K), position of the model's own label (n,))."""
        require_fitted(self, "calibrators_")
        values = [self._values(model, X) for model in self.estimators_]
        each = values if len(values) > 1 else values * len(self.calibrators_)
        answers = [self._calibrated(k, v, X) for k, v in enumerate(each)]
        exponent = self.evidence_.get("exponent")
        Q = (
            np.add.reduce(answers) / len(each)
            if exponent is None
            else averaged(answers, self.class_rates_, exponent)
        )
        if len(values) == 1:
            return Q, values[0].argmax(axis=1)
        return Q, np.add.reduce(
            [softmax(v) if self._kind == "logit" else v for v in values]
        ).argmax(axis=1)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return calibrated class probabilities, (n, K) float64, with rows summing to 1."""
        return self._predict(X)[0]

    def predict_confidence(self, X: Any) -> np.ndarray:
        """Return the probability that the model's own label, before calibration, is right, (n,)
        float64.
        """
        Q, own = self._predict(X)
        return Q[np.arange(len(Q)), own]

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class after calibration, (n,)."""
        Q = self.predict_proba(X)
        return self.classes_[Q.argmax(axis=1)]

    def explain(self) -> str:
        """Describe the choice of ``ensemble="auto"`` with its reason, then each calibrator in one
        line.
        """
        require_fitted(self, "calibrators_")
        chosen = (
            [chosen_told(self.chosen_, self.evidence_, len(self.estimators_))]
            if self.ensemble == "auto"
            else []
        )
        return "\n".join([*filter(None, chosen), *map(account, self.calibrators_)])


def _refits(model: Any) -> bool:
    """Return whether cloning the model gives an unfitted one."""
    return hasattr(model, "fit") and not is_fitted(clone(model))


@seeded
def cross_fitted(
    calibrator: Calibrator,
    P: ArrayLike,
    y: ArrayLike,
    *,
    cv: int = 5,
    groups: Any = None,
    sample_weight: ArrayLike | None = None,
    X: Any = None,
    reference: Any = None,
    inputs: Inputs | None = None,
    classes: ArrayLike | None = None,
    random_state: int = 0,
) -> np.ndarray:
    """Compute calibrated probabilities of each row, out of fold.

    Parameters
    ----------
    calibrator : Calibrator or Map
        Cloned for each fold, and not changed. A map is applied one-vs-rest.
    P : (n, K), or (n,) for binary
    y : (n,) labels
    cv : int, splitter, or iterable of (rows to fit, rows held out), default 5
        A number means folds stratified by class, which keep groups whole if ``groups`` is passed.
    groups : (n,), optional
        Rows of one group (a patient, a track, a day) are never both fitted and held out.
    sample_weight : (n,), optional
        Weight 2 means the row twice in every fit; a row of weight 0 is in no fit but is still
        predicted.
    X : (n, ...) features, optional
    reference : (X_train, y_train), optional
    inputs : {"probability", "logit"}, optional
        Default: the calibrator's own.
    classes : (K,) labels in column order, optional
        Default: the calibrator's own.
    random_state : int, default 0
        Seed of the folds when ``cv`` is a number.

    Returns
    -------
    (n, K) float64, rows summing to 1
        NaN in rows that no split holds out, such as the first part of a time-series split.

    Raises
    ------
    InputError
        When the data cannot be read, or the splitter holds a row out twice.

    See Also
    --------
    CalibratedClassifier : fits the model and its calibrator together.
    report : shows the effect of calibration.

    Notes
    -----
    Use it to evaluate a calibrator with one labelled set only: metrics on these rows are unbiased,
    metrics on the rows of the fit are not. A class absent from a fold's fit keeps its column.

    Examples
    --------
    >>> from calibrant.calibrators.temperature import TemperatureScaling
    >>> P = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]] * 5
    >>> Q = cross_fitted(TemperatureScaling(), P, [0, 1, 1, 0] * 5)
    >>> Q.shape
    (20, 2)
    """
    calibrator = as_calibrator(calibrator, default=default_calibrator)
    inputs = calibrator.inputs if inputs is None else inputs
    classes = calibrator.classes if classes is None else classes
    record = read(P, y, inputs=inputs, classes=classes, X=X, reference=reference)
    weight, kept = weights(sample_weight, len(record))
    # The folds are those of a report on these rows.
    ranks = np.argsort(order_of(record)).astype(np.uint64)
    codes = ranks if groups is None else codes_of(record)
    splits = make_splits(cv, record.values, record.labels, groups, random_state, codes=codes)
    if weight is not None:
        full = np.zeros(len(record))
        full[slice(None) if kept is None else kept] = weight
        record = replace(record, weight=full)
        splits = [(fit_rows[full[fit_rows] > 0.0], held_out) for fit_rows, held_out in splits]
    Q, _ = out_of_fold(calibrator, record, splits=splits)
    return Q
