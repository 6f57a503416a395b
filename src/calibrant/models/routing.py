"""Who gets which fit argument: by scikit-learn's metadata routing where it is enabled, by the arguments' names where it is not."""

from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from calibrant.folds.model_outputs import with_weight

__all__ = ["fit_router", "routed"]


def fit_router(owner: Any, models: Any, cv: Any) -> Any:
    """The MetadataRouter of a wrapper whose ``fit`` fits ``models``, a dict by parameter name, and splits by ``cv``."""
    from sklearn.model_selection import GroupKFold  # here, because it brings a fifth of the time that importing calibrant takes

    splitter = cv if hasattr(cv, "split") else GroupKFold()  # a number of folds keeps groups whole, so it asks for them as this does
    router = MetadataRouter(owner=owner).add_self_request(owner)
    router.add(**models, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
    return router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))


def routed(
    owner: Any, models: dict[str, Any], weight: np.ndarray | None, groups: np.ndarray | None, fit_params: dict[str, Any]
) -> tuple[dict[str, dict[str, Any]], dict[str, np.ndarray]]:
    """({parameter name: arguments of that model's fit}, arguments of the splitter's split).

    With routing enabled each gets what it requests, under its own names, and an argument that it neither requests nor refuses is an error.
    Without, weights go to every model that takes them, groups to the splitter, and all else to ``model``.
    """
    given = {name: value for name, value in {"sample_weight": weight, "groups": groups, **fit_params}.items() if value is not None}
    if get_config().get("enable_metadata_routing", False):
        sent = process_routing(owner, "fit", **given) if given else {}
        return {name: dict(sent.get(name, {}).get("fit", {})) for name in models}, dict(sent.get("splitter", {}).get("split", {}))
    to_models = {name: with_weight(model, fit_params if name == "model" else {}, weight) for name, model in models.items()}
    return to_models, {} if groups is None else {"groups": groups}
