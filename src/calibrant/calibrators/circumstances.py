"""Side information about rows: clusters, features, groups, and the class rates at use."""

from typing import Any, Self

import numpy as np

from calibrant.calibrators.label_shift import LabelShift, likely_rates
from calibrant.calibrators.look_alike import caution_look_alike
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import Calibrator, of_predictions
from calibrant.core.groups import cluster_numbers, in_clusters
from calibrant.core.predictions import read
from calibrant.errors import InputError

__all__ = ["Circumstances"]


class Circumstances(Calibrator):
    """Calibrator that chooses by folds: ``fit`` also reads clusters, features and groups, and
    unlabelled predictions from where it will be used.
    """

    @of_predictions
    def fit(
        self,
        P: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        X: Any = None,
        reference: Any = None,
        groups: Any = None,
        cluster: ArrayLike | None = None,
        unlabeled: ArrayLike | None = None,
    ) -> Self:
        """Fit on held-out predictions and the true labels.

        Parameters
        ----------
        P : (n, K), or (n,) for binary: probability of the second class
            Probabilities, or logits with ``inputs="logit"``.
        y : (n,) labels, or SoftLabels
        sample_weight : (n,), optional
            Weight 2 means the row twice, weight 0 no row.
        X, reference : (n, ...) features of the rows, and (X_train, y_train), for candidates that
            use them; refused if none does.
        groups : (n,) labels or a frame of n rows, for candidates that correct groups; refused if
            none does.
        cluster : (n,) labels of any kind, optional
            Clusters of dependent rows (views of one image, visits of one patient); folds keep them
            whole. Without it, consecutive rows of one class that look alike cause a warning.
        unlabeled : (m, K) or (m,), optional
            Predictions where the calibrator will be used, without labels. Their class rates are
            estimated and shrunk towards those of ``y`` by their uncertainty, and the calibrated
            predictions are shifted to them. Each class must look the same there. If the rates have
            not changed, about 3 of 100 fits on 300 rows become worse by half a percent.

        Returns
        -------
        self
        """
        beside = {"X": X, "reference": reference, "groups": groups}
        self._refuse_unused(**beside)
        if unlabeled is not None and any(value is not None for value in beside.values()):
            raise InputError(
                "unlabeled holds predictions alone, so a choice by X or groups does not apply to"
                " it; leave one of them out."
            )
        options = {"inputs": self.inputs, "classes": self.classes, "sample_weight": sample_weight}
        record = read(P, y, **options, **beside, soft=self.tags.soft_labels)
        if cluster is not None:
            record = in_clusters(record, cluster_numbers(cluster, record))
        if record.shares is not None:
            record = record.one_label_each()[0]
        elif cluster is None:
            caution_look_alike(record)
        self.fit_record(record)
        if unlabeled is not None:
            use = self.predict_record(read(unlabeled, inputs=self.inputs, classes=self.classes_))
            counts = np.bincount(record.labels, record.weights, record.n_classes)
            rates = likely_rates(use, counts, self.predict_record(record), record.weights)
            y = self.classes_[record.labels]
            self.shift_: LabelShift | None = LabelShift(rates, classes=self.classes_).fit(
                record.probabilities, y, sample_weight=record.weight
            )
        return self

    def _begin(self, record: Any) -> None:
        # The inputs of an earlier fit's members do not apply to this one.
        vars(self).pop("members_", None)
        super()._begin(record)
        self.shift_ = None
        #: Inputs that came with the rows of the fit.
        self.given_: tuple[str, ...] = tuple(
            name for name in ("X", "reference", "groups") if getattr(record, name) is not None
        )

    def _read(self, P: Any, X: Any = None, groups: Any = None) -> Any:
        """Return the record to predict; inputs that the fit did not have are refused."""
        record = super()._read(P, X, groups)
        for name, value in (("X", X), ("groups", groups)):
            if value is not None and name not in self.given_:
                raise InputError(
                    f"{name} was not passed to the fit of this {type(self).__name__}; leave it"
                    f" out, or fit with {name}=."
                )
        return record

    def _at_use(self, Q: np.ndarray) -> np.ndarray:
        """Return calibrated rows, (n, K), at the class rates of use."""
        return Q if self.shift_ is None else self.shift_.predict_proba(Q)
