"""Stored outputs of networks and classifiers that several papers' runs read, and their names in the
tables.
"""

import os
from pathlib import Path

import numpy as np

__all__ = ["DATA", "TITLES", "read"]

DATA = Path(
    os.environ.get("CALIBRANT_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
)
_CLASSIFIERS = {
    "1layer-nn": "one-layer network",
    "adaboost": "AdaBoost",
    "mondrian-forest": "Mondrian forest",
    "random-forest": "random forest",
    "xgboost": "XGBoost",
}
#: File below the data folder -> name, in the order of the tables.
TITLES = {
    "network_outputs/densenet-bc-100-cifar100": "DenseNet-BC 100, CIFAR-100",
    "network_outputs/lenet-5-cifar10": "LeNet-5, CIFAR-10",
    "network_outputs/wideresnet-16-4-cifar10": "WideResNet 16-4, CIFAR-10",
    **{f"classifier_outputs/{k}-mnist": f"{v}, MNIST" for k, v in _CLASSIFIERS.items()},
    **{f"classifier_outputs/{k}-kitti": f"{v}, KITTI" for k, v in _CLASSIFIERS.items()},
    "stage2/nn_cifar10_test_set": "network, CIFAR-10",
    "stage2/nn_imdb_test_set": "network, IMDB",
    "stage2/nn_tinyimagenet200_linear": "linear head, Tiny ImageNet",
    "stage2/nn_imagenet1k_lite0_lowres": "network, ImageNet, low resolution",
    "stage2/nn_imagenet1k_lite0_views": "network, ImageNet, ten views",
}


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return (log-probabilities or logits (n, K), labels (n,)), under whichever of their names the
    file has them.
    """
    with np.load(path) as kept:
        labels = kept["labels" if "labels" in kept else "label"].astype(np.intp)
        if "logits" in kept:
            return kept["logits"].astype(np.float64), labels
        P = kept["probabilities" if "probabilities" in kept else "probs"].astype(np.float64)
    return np.log(np.clip(P, 1e-12, 1.0)), labels
