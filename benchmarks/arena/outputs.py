"""Stored outputs of larger models (``CALIBRANT_DATA/stage2``): networks of 10, 200 and 1,000
classes, a language model, risk models.

None of them was looked at while the automatic choice was developed. An output is one line.
"""

from dataclasses import dataclass

import numpy as np
from benchmarks.arena.datasets import DATA
from scipy.special import softmax

FOLDER = DATA / "stage2"


@dataclass(frozen=True)
class Output:
    """An array of a file: ``key`` names probabilities (of the second class, or of each) or, called
    logits, logits.

    ``where`` keeps the rows in which a column has a value; ``sizes`` are the calibration sizes.
    """

    file: str
    key: str
    rows: int
    where: tuple[str, int] | None = None
    sizes: tuple[int, ...] = (100, 250, 1_000, 4_000)

    @property
    def path(self):
        """Where the file lies."""
        return FOLDER / f"{self.file}.npz"

    def load(self):
        """(probabilities, labels)."""
        with np.load(self.path, allow_pickle=False) as z:
            P, y = z[self.key].astype(np.float64), z["label"].astype(np.intp)
            kept = slice(None) if self.where is None else z[self.where[0]] == self.where[1]
        P, y = P[kept], y[kept]
        return (softmax(P, axis=1) if self.key == "logits" else P), y


#: Many classes need rows: fewer than five a class are no case for learning them.
MANY = (1_000, 4_000)
OUTPUTS = {
    "cifar10-by-folds": Output("nn_cifar10_test_set", "probs", 10_000),
    "tiny-imagenet-200": Output("nn_tinyimagenet200_linear", "logits", 10_000, sizes=MANY),
    "imagenet-1000-small-images": Output(
        "nn_imagenet1k_lite0_lowres", "logits", 10_000, sizes=MANY
    ),
    "llama-mmlu-first-prompt": Output("llm_llama_mmlu", "probs", 2_083, where=("prompt_id", 0)),
    "imdb": Output("nn_imdb_test_set", "probs", 25_000),
    **{
        f"{name}-{model}": Output(f"groups_{name}", f"p_{model}", rows)
        for name, rows in (("adult", 32_562), ("bank", 26_670), ("law_school", 13_866))
        for model in ("logreg", "hgb")
    },
}


def there():
    """The names whose file is there."""
    return [name for name, output in OUTPUTS.items() if output.path.exists()]
