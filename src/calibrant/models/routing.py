"""Who gets which fit argument: by scikit-learn's metadata routing where it is enabled, by the arguments' names where it is not."""

from typing import Any, ClassVar

import numpy as np
from sklearn import get_config
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing

from calibrant._support.estimators import BaseEstimator, Explained, MetaEstimatorMixin
from calibrant.folds.model_outputs import with_weight

__all__ = ["Wrapper", "fit_router", "routed"]


class Wrapper(Explained, MetaEstimatorMixin, BaseEstimator):
    """What the wrappers of a model share: their input is the model's, their routing is that of the models they fit and of the splitter."""

    estimator: Any
    cv: Any
    # Groups are the splitter's, not the wrapper's own.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"groups": UNUSED}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def get_metadata_routing(self) -> Any:
        """Who asks for which fit argument: the wrapper itself, the models that are fitted here, and the splitter."""
        return fit_router(self, self._to_fit(), self.cv)

    def _to_fit(self) -> dict[str, Any]:
        """The models that ``fit`` fits, by their parameters' names."""
        return {"estimator": self.estimator}

    def _take_names(self, model: Any) -> None:
        """What the fitted model knows of its features, as scikit-learn names it."""
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))


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
    Without, weights go to every model that takes them, groups to the splitter, and all else to ``estimator``.
    """
    given = {name: value for name, value in {"sample_weight": weight, "groups": groups, **fit_params}.items() if value is not None}
    if get_config().get("enable_metadata_routing", False):
        sent = process_routing(owner, "fit", **given) if given else {}
        return {name: dict(sent.get(name, {}).get("fit", {})) for name in models}, dict(sent.get("splitter", {}).get("split", {}))
    to_models = {name: with_weight(model, fit_params if name == "estimator" else {}, weight) for name, model in models.items()}
    return to_models, {} if groups is None else {"groups": groups}
