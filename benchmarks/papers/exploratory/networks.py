"""A pool of 784-300-100-10 networks trained as Appendix A says; what each says of the two test sets
is kept, the weights are not.

Networks are the same for every variant with the same training set. Run it alone to fill the cache
(it resumes where it stopped):
    python -m benchmarks.papers.exploratory.networks --variant imbalanced --networks 60
"""

import argparse
import time
from pathlib import Path

import numpy as np
from benchmarks.papers.exploratory import data

CACHE = Path(__file__).resolve().parent / "cache"
BATCH, LEARNING_RATE, STEPS = 1_000, 1e-3, 400


def folder(variant, steps):
    return CACHE / f"{data.VARIANTS[variant]}-{steps}"


def train(images, labels, seed, steps):
    """One network: Adam on cross-entropy, batches of 1,000 drawn with replacement."""
    import torch

    torch.manual_seed(seed)
    layers = [
        torch.nn.Linear(784, 300),
        torch.nn.ReLU(),
        torch.nn.Linear(300, 100),
        torch.nn.ReLU(),
        torch.nn.Linear(100, 10),
    ]
    network = torch.nn.Sequential(*layers)
    optimiser = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    images, labels = _inputs(images), torch.from_numpy(labels)
    for _ in range(steps):
        rows = torch.randint(len(images), (BATCH,))
        loss = torch.nn.functional.cross_entropy(network(images[rows]), labels[rows])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return network


def _inputs(images):
    import torch

    return torch.from_numpy(images).float() / 255.0


def log_probabilities(network, images):
    import torch

    with torch.no_grad():
        return torch.log_softmax(network(_inputs(images)), dim=1).numpy()


def fill(variant, n_networks, steps=STEPS):
    """Train the networks that the cache does not hold yet."""
    import torch

    torch.set_num_threads(1)
    here = folder(variant, steps)
    here.mkdir(parents=True, exist_ok=True)
    missing = [seed for seed in range(n_networks) if not (here / f"{seed:04d}.npz").exists()]
    if not missing:
        return
    sets = data.splits()
    rows, labels = data.labelled(variant, {"train": sets["train"][1]})["train"]
    start = time.perf_counter()
    for done, seed in enumerate(missing, 1):
        network = train(sets["train"][0][rows], labels, seed, steps)
        said = {name: log_probabilities(network, sets[name][0]) for name in ("test1", "test2")}
        part = here / f"{seed:04d}.part.npz"
        np.savez(part, **said)
        part.rename(here / f"{seed:04d}.npz")
        accuracy = (said["test2"].argmax(axis=1) == sets["test2"][1]).mean()
        left = (time.perf_counter() - start) / done * (len(missing) - done)
        print(
            f"{here.name}: network {done} of {len(missing)}, digits right on test set 2"
            f" {accuracy:.4f}, {left:.0f} s left",
            flush=True,
        )


def pool(variant, n_networks, steps=STEPS):
    """({"test1", "test2"} -> log-probabilities (n_networks, n, 10) float32, and the same ->
    labels (n,)) of a variant's test sets.
    """
    digits = {name: digits for name, (_, digits) in data.splits().items()}
    kept = data.labelled(variant, digits)
    archives = [np.load(folder(variant, steps) / f"{seed:04d}.npz") for seed in range(n_networks)]
    said = {
        name: np.stack([archive[name][kept[name][0]] for archive in archives])
        for name in ("test1", "test2")
    }
    return said, {name: kept[name][1] for name in said}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variant", choices=tuple(data.VARIANTS), default="imbalanced")
    parser.add_argument("--networks", type=int, default=60)
    parser.add_argument("--steps", type=int, default=STEPS)
    options = parser.parse_args()
    fill(options.variant, options.networks, options.steps)
