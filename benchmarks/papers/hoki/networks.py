"""Outputs of the networks: LeNet-5 on MNIST, trained here and kept, and the CIFAR networks of the
data folder; five splits of each.

python -m benchmarks.papers.hoki.networks  # trains LeNet-5 (about two CPU minutes) and fills the
cache
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

DATA = Path(
    os.environ.get("CALIBRANT_DATA", Path(__file__).resolve().parents[4] / "shared" / "data")
)
CACHE = Path(__file__).resolve().parent / "cache" / "lenet-5-mnist.npz"
NAMES = ("lenet-5-mnist", "lenet-5-cifar10", "wideresnet-16-4-cifar10", "densenet-bc-100-cifar100")
SEEDS = range(5)
ZOOMS = np.linspace(0.1, 0.9, 20)
BATCH, EPOCHS, LEARNING_RATE = 128, 10, 1e-3


@dataclass(frozen=True)
class Outputs:
    """Log-probabilities (n, K) of held-out rows, their labels, and those of the zoomed-out
    images (20, n, K), if there are images.
    """

    logits: np.ndarray
    labels: np.ndarray
    zoomed: np.ndarray | None = None

    def split(self, seed):
        """Row numbers of the two halves: to fit, to test."""
        order = np.random.default_rng(seed).permutation(len(self.labels))
        half = len(order) // 2
        return order[:half], order[half:]


def load(name):
    """The outputs of one network."""
    if name == "lenet-5-mnist":
        if not CACHE.exists():
            train_and_keep()
        with np.load(CACHE) as kept:
            return Outputs(kept["logits"], kept["labels"].astype(np.int64), kept["zoomed"])
    with np.load(DATA / "network_outputs" / f"{name}.npz") as kept:
        return Outputs(
            np.log(kept["probabilities"].astype(np.float64)), kept["labels"].astype(np.int64)
        )


def lenet():
    """LeNet-5 with rectifiers and max pooling, as the authors' code has it."""
    from torch import nn

    features = [
        nn.Conv2d(1, 6, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
    ]
    return nn.Sequential(
        *features, nn.Linear(256, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)
    )


def zoom_out(images, scale):
    """Images (n, 1, 28, 28) shrunk by ``scale`` and set in black to their old size: padded, then
    resized with antialiasing.
    """
    import torch

    size = images.shape[-1]
    total = int(size * (1.0 - scale) / scale)
    before, after = total // 2, total - total // 2
    padded = torch.nn.functional.pad(images, (before, after, before, after))
    return torch.nn.functional.interpolate(
        padded, size=(size, size), mode="bilinear", antialias=True
    )


def train_and_keep():
    """Train on 50,000 digits; keep what the network says of the other 20,000, plain and zoomed
    out.
    """
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    with np.load(DATA / "mnist.npz") as archive:
        images, labels = archive["images"], archive["labels"].astype(np.int64)
    order = np.random.default_rng(0).permutation(60_000)
    train, rest = order[:50_000], np.concatenate([order[50_000:], np.arange(60_000, 70_000)])
    network = _trained(_tensor(images[train]), torch.from_numpy(labels[train]))
    held = _tensor(images[rest])
    logits = _log_probabilities(network, held)
    zoomed = np.stack([_log_probabilities(network, held, scale) for scale in ZOOMS])
    print(
        f"LeNet-5 on MNIST: accuracy {np.mean(logits.argmax(axis=1) == labels[rest]):.4f} on the"
        " 20,000 digits held out"
    )
    CACHE.parent.mkdir(parents=True, exist_ok=True)
    part = CACHE.with_suffix(".part.npz")
    np.savez(part, logits=logits, labels=labels[rest], zoomed=zoomed)
    part.rename(CACHE)


def _tensor(images):
    import torch

    return torch.from_numpy(images.astype(np.float32) / 255.0)[:, None]


def _trained(images, labels):
    import torch

    network = lenet()
    optimiser = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(images)).split(BATCH):
            loss = torch.nn.functional.cross_entropy(network(images[rows]), labels[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return network.eval()


def _log_probabilities(network, images, scale=None):
    import torch

    said = []
    with torch.no_grad():
        for batch in images.split(500):
            shown = batch if scale is None else zoom_out(batch, scale)
            said.append(torch.log_softmax(network(shown), dim=1).numpy())
    return np.concatenate(said)


if __name__ == "__main__":
    train_and_keep()
