"""Every confidence that is compared, as a function of one split's predictions and separations."""

import warnings
from functools import cached_property, partial

import numpy as np
from benchmarks.papers.geometric.kept import kept
from sklearn.isotonic import IsotonicRegression

import calibrant as cb
from calibrant.errors import CalibrationWarning


class Problem:
    """One model on one split: predictions, and the separation signals of its validation and test
    rows, each computed once.
    """

    def __init__(self, name, data, said, features=None):
        self.name, self.data, self.said, self.features = name, data, said, features or data.X

    @property
    def y(self):
        return self.data.y

    @cached_property
    def correct(self):
        """(n,) whether the model is right, of each part."""
        return {
            part: (P.argmax(axis=1) == self.y[part]).astype(float) for part, P in self.said.items()
        }

    def scores(self, name, signal):
        """{part: (n,) scores} of a separation signal, and the CPU seconds they took as
        "seconds".
        """
        return kept(f"{self.name}, {name}", lambda: self._scored(signal))

    def _scored(self, signal):
        P, X = self.said, self.features
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CalibrationWarning)
            signal.fit(
                P["validation"],
                self.y["validation"],
                X=X["validation"],
                reference=(X["train"], self.y["train"]),
            )
        return {part: signal.score(P[part], X=X[part]) for part in P}


class Known(cb.core.Signal):
    """Scores computed before, by the row numbers given as X."""

    def __init__(self, scores, inputs="probability", classes=None):
        self.scores, self.inputs, self.classes = scores, inputs, classes

    tags = cb.calibrators.FastSeparation.tags

    def __sklearn_clone__(self):
        return Known(self.scores)

    def _score(self, record):
        return self.scores[np.asarray(record.X).ravel().astype(int)]


def geometric(problem, scores, mode, **options):
    """Confidences of GeometricCalibrator on separations computed before."""
    n = len(scores["validation"])
    cal = cb.calibrators.GeometricCalibrator(
        mode, signal=Known(np.concatenate([scores["validation"], scores["test"]])), **options
    )
    rows = np.arange(n + len(scores["test"]))[:, None]
    cal.fit(
        problem.said["validation"], problem.y["validation"], X=rows[:n], reference=(rows[:1], [0])
    )
    return cal.predict_confidence(problem.said["test"], X=rows[n:])


def separations(problem, name, scores):
    """{method: (confidence, right)} of everything fitted on one separation signal."""
    right = problem.correct["test"]
    return {
        f"{name}, paper": (geometric(problem, scores, "paper"), right),
        f"{name}, sigmoid": (
            geometric(problem, scores, "paper", map=cb.Platt(scale="probability")),
            right,
        ),
        f"{name}, combined": (geometric(problem, scores, "combined"), right),
    }


def top_label(make):
    """A baseline that maps the model's top score."""
    return lambda: cb.ConfidenceCalibrator(map=make(), per_class=False)


#: calibrant's counterparts of the paper's baselines, and the isotonic map of the top label that the
#: paper lacks.
CALIBRATORS = {
    "uncalibrated": cb.calibrators.Identity,
    "isotonic, top label": top_label(cb.Isotonic),
    "Platt, top label": top_label(partial(cb.Platt, scale="probability")),
    "Platt, one-vs-rest": lambda: cb.OneVsRest(cb.Platt(scale="probability")),
    "scaling-binning": top_label(partial(cb.calibrators.ScalingBinning, n_bins=15)),
    "histogram binning": top_label(cb.calibrators.HistogramBinning),
    "BBQ": top_label(cb.calibrators.BayesianBinning),
    "beta": top_label(cb.calibrators.Beta),
    "temperature": cb.TemperatureScaling,
    "ensemble temperature": cb.calibrators.EnsembleTemperature,
}


def baselines(problem):
    """{method: (confidence (n,), right (n,))} on the test part, of what knows the model's scores
    alone.
    """
    P, y = problem.said, problem.y["validation"]
    out = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        for name, make in CALIBRATORS.items():
            fitted = make().fit(P["validation"], y)
            if fitted.tags.output == "confidence":
                out[name] = fitted.predict_confidence(P["test"]), problem.correct["test"]
            else:
                out[name] = _top(problem, fitted.predict_proba(P["test"]))
    columns = [_class_maps(P["validation"][:, k], y == k) for k in range(P["test"].shape[1])]
    isotonic, binned = (
        np.column_stack([m[i](P["test"][:, k]) for k, m in enumerate(columns)]) for i in range(2)
    )
    out["isotonic, one-vs-rest"] = _top(problem, _normalised(isotonic))
    out["scaling-binning, as published"] = _top(problem, binned)
    return out


def _top(problem, Q):
    return Q.max(axis=1), (Q.argmax(axis=1) == problem.y["test"]).astype(float)


def _class_maps(score, is_class):
    """What the authors run for each class: scikit-learn's isotonic regression, and
    scaling-binning, which they do not normalise after.
    """
    isotonic = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(score, is_class)
    return isotonic.predict, cb.calibrators.ScalingBinning(n_bins=15).fit(score, is_class).predict


def _normalised(Q):
    total = Q.sum(axis=1, keepdims=True)
    return np.where(total > 0, Q / np.where(total > 0, total, 1.0), 1.0 / Q.shape[1])
