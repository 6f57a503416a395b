"""The paper's classifiers, at its settings where a core can afford them."""

import numpy as np
from benchmarks.papers.geometric.kept import kept
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)

#: The authors' random searches: depth, features, fewest rows to split, trees. No features are named
#: for GTSRB and CIFAR-10: the default.
FORESTS = {
    "mnist": (45, "sqrt", 5, 155),
    "gtsrb": (45, "sqrt", 5, 200),
    "cifar10": (45, "sqrt", 5, 200),
}
#: The authors' boosting: learning rate, depth, features, trees; hours on one core, so behind
#: --full-boosting.
BOOSTING = {
    "mnist": (0.15, 12, "sqrt", 70),
    "gtsrb": (0.2, 8, "sqrt", 20),
    "cifar10": (0.2, 8, "sqrt", 20),
}
#: The paper trains its networks for 30 epochs: three quarters of an hour on one core for the three,
#: so behind --epochs.
EPOCHS = 10
MANY = 20


def label(name, kind, options):
    """What a model was fitted with, in words."""
    boosting = ", full boosting" if kind == "gb" and options.full_boosting else ""
    epochs = f", {options.epochs} epochs" if kind == "cnn" else ""
    rows = f", {options.rows} rows" if options.rows else ""
    frames = ", by frame" if name == "gtsrb" and options.by_frame else ""
    return f"{name.replace('/', '_')} {kind}{boosting}{epochs}{rows}{frames}"


def fitted(kind, name, seed, data, options):
    """(probabilities (n, K) of validation and test, hidden layer by part or None, CPU seconds)
    of a model of a kind: "rf", "gb", "cnn".
    """
    arrays = kept(
        f"{label(name, kind, options)}, shuffle {seed}", lambda: _outputs(kind, name, data, options)
    )
    hidden = {part: arrays[f"hidden {part}"] for part in data.X} if kind == "cnn" else None
    return {part: arrays[part] for part in ("validation", "test")}, hidden, float(arrays["seconds"])


def _outputs(kind, name, data, options):
    if kind == "cnn":
        from benchmarks.papers.geometric.network import outputs

        said, hidden = outputs(data, options.epochs)
        return said | {f"hidden {part}": layer for part, layer in hidden.items()}
    model = _forest(name) if kind == "rf" else _boosting(name, data, options.full_boosting)
    model.fit(data.X["train"], data.y["train"])
    return {part: _columns(model, data.X[part], data.n_classes) for part in ("validation", "test")}


def _forest(name):
    depth, features, fewest, trees = FORESTS.get(name, (45, "sqrt", 5, 155))
    return RandomForestClassifier(
        trees, max_depth=depth, max_features=features, min_samples_split=fewest, random_state=0
    )


def _boosting(name, data, full):
    if full:
        rate, depth, features, trees = BOOSTING.get(name, (0.15, 8, "sqrt", 70))
        return GradientBoostingClassifier(
            learning_rate=rate,
            max_depth=depth,
            max_features=features,
            n_estimators=trees,
            random_state=0,
        )
    # Of many classes most rows have a chance near 0 and with it next to no curvature, where steps
    # explode without a penalty.
    return HistGradientBoostingClassifier(
        learning_rate=0.15,
        max_iter=30,
        max_leaf_nodes=15,
        max_bins=31,
        max_features=1.0 if data.shape is None else 0.1,
        l2_regularization=1.0 if data.n_classes > MANY else 0.0,
        early_stopping=False,
        random_state=0,
    )


def _columns(model, X, n_classes):
    out = np.zeros((len(X), n_classes))
    out[:, model.classes_] = model.predict_proba(X)
    return out
