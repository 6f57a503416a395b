"""The peers' sets, run by the Python of an environment that has them: prints one line of JSON a
method and case.

Run: PYTHON benchmarks/decisions/set_peers.py LEVEL SEEDS CASE...; a case is "anchor" or a network
of ``set_cases``. What is not installed is said and left out. TorchCP is imported without its parts
for graphs and training, which need more libraries.
"""

import contextlib
import importlib.util
import json
import sys
import time
import types

import numpy as np
from set_cases import anchor, network

#: crepes ranks one p-value after the other: a case of so many classes takes minutes.
MOST_CLASSES_OF_CREPES = 200


def mapie(P, y, Q, level, seed, score, **options):
    from mapie.classification import SplitConformalClassifier
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Said(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            return self

        def predict_proba(self, X):
            return X

        def predict(self, X):
            return X.argmax(axis=1)

    model = Said()
    model.classes_, model.n_features_in_, model.is_fitted_ = np.arange(P.shape[1]), P.shape[1], True
    sets = SplitConformalClassifier(
        model, level, conformity_score=score, prefit=True, random_state=seed
    )
    return sets.conformalize(P, y).predict_set(Q, conformity_score_params=options)[1][:, :, 0]


def crepes(P, y, Q, level, seed):
    from crepes import ConformalClassifier
    from crepes.extras import hinge

    if P.shape[1] > MOST_CLASSES_OF_CREPES or seed:
        return None
    found = ConformalClassifier().fit(hinge(P, np.arange(P.shape[1]), y), seed=seed)
    return np.asarray(
        found.predict_set(hinge(Q), confidence=level, smoothing=True, seed=seed)
    ).astype(bool)


def torchcp(P, y, Q, level, seed, score, **options):
    if "torchcp" not in sys.modules:
        unused = types.ModuleType("torchsort")
        unused.soft_rank = unused.soft_sort = None
        sys.modules["torchsort"] = unused
        package = types.ModuleType("torchcp")
        package.__path__ = list(importlib.util.find_spec("torchcp").submodule_search_locations)
        sys.modules["torchcp"] = package
    import torch
    from torchcp.classification import score as scores
    from torchcp.classification.predictor import SplitPredictor

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    sets = SplitPredictor(getattr(scores, score)(**options), alpha=1.0 - level, device="cpu")
    said = [torch.log(torch.from_numpy(np.maximum(p, 1e-30))) for p in (P, Q)]
    sets.calculate_threshold(said[0], torch.from_numpy(y))
    return np.asarray(sets.predict_with_logits(said[1])).astype(bool)


METHODS = {
    "MAPIE LAC": lambda *given: mapie(*given, "lac"),
    "MAPIE APS (default)": lambda *given: mapie(*given, "aps"),
    "MAPIE APS randomised": lambda *given: mapie(*given, "aps", include_last_label="randomized"),
    "MAPIE RAPS": lambda *given: mapie(*given, "raps"),
    "crepes hinge": crepes,
    "TorchCP LAC": lambda *given: torchcp(*given, "LAC"),
    "TorchCP APS": lambda *given: torchcp(*given, "APS"),
    "TorchCP RAPS .01, 5": lambda *given: torchcp(*given, "RAPS", penalty=0.01, kreg=5),
}


def main():
    level, seeds, *cases = sys.argv[1:]
    P, y, Q, _ = (part[:200] for part in anchor(0))
    for run in METHODS.values():
        # Once before the clock runs, for the imports.
        with contextlib.suppress(Exception):
            run(P, y, Q, float(level), 0)
    for name in cases:
        for seed in range(int(seeds)):
            case = anchor(seed) if name == "anchor" else network(name, seed)
            for method, run in METHODS.items() if case is not None else ():
                P, y, Q, truth = case
                start = time.process_time()
                try:
                    sets = run(P, y, Q, float(level), seed)
                except Exception as error:
                    # One that is missing, or breaks, is said and left out.
                    print(
                        json.dumps(
                            {
                                "method": method,
                                "case": name,
                                "error": f"{type(error).__name__}: {error}"[:200],
                            }
                        ),
                        flush=True,
                    )
                    continue
                seconds = time.process_time() - start
                if sets is None:
                    continue
                held, size = (
                    float(sets[np.arange(len(truth)), truth].mean()),
                    float(sets.sum(axis=1).mean()),
                )
                row = {
                    "method": method,
                    "case": name,
                    "seed": seed,
                    "coverage": held,
                    "size": size,
                    "seconds": seconds,
                }
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
