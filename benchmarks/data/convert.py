"""Functions that make one npz file of the upstream files, as the file the benchmarks ran on was
made.
"""

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

__all__ = ["CONVERSIONS", "Arrays"]

Arrays = dict[str, np.ndarray]

#: KITTI's usual order of classes, inferred from the counts: the source names no classes.
KITTI_CLASSES = "Car Van Truck Pedestrian Person_sitting Cyclist Tram Misc"


def _uci(files: Mapping[str, Path]) -> Arrays:
    by_stem = {Path(path).stem: file for path, file in files.items()}
    data = np.loadtxt(by_stem["data"])
    features = np.loadtxt(by_stem["index_features"]).astype(np.int16)
    target = np.array(int(np.loadtxt(by_stem["index_target"])), dtype=np.int16)
    splits = {
        stem.removeprefix("index_"): np.loadtxt(file).astype(np.int32)
        for stem, file in by_stem.items()
        if stem.startswith(("index_train_", "index_test_"))
    }
    columns: Arrays = {"feature_columns": features, "target_column": target}
    n_splits = np.array(int(np.loadtxt(by_stem["n_splits"])))
    return {"X": data[:, features], "y": data[:, target], "n_splits": n_splits} | columns | splits


def _kitti(files: Mapping[str, Path]) -> Arrays:
    (file,) = files.values()
    arrays = {"class_names_inferred": np.array(KITTI_CLASSES.split())}
    with zipfile.ZipFile(file) as archive:
        for key, ending, dtype in (("X", "data", np.float32), ("y", "labels", np.uint8)):
            for part in ("train", "test"):
                text = archive.read(f"kitti_features/kitti_all_{part}.{ending}")
                values = np.loadtxt(io.BytesIO(text), skiprows=1)
                arrays[f"{key}_{part}"] = values.astype(dtype)
    return arrays


def _network(files: Mapping[str, Path]) -> Arrays:
    (file,) = files.values()
    with np.load(file, allow_pickle=False) as read:
        labels = read["ground_truth"].astype(np.uint8)
        return {"probabilities": read["predictions"], "labels": labels}


def _classifier(files: Mapping[str, Path]) -> Arrays:
    P, labels = (np.loadtxt(file, delimiter=",") for file in files.values())
    return {"probabilities": P.astype(np.float32), "labels": labels[:, 0].astype(np.int64)}


#: Key in the table -> function of {path in the repository: file here}.
CONVERSIONS: dict[str, Callable[[Mapping[str, Path]], Arrays]] = {
    "uci": _uci,
    "kitti": _kitti,
    "network": _network,
    "classifier": _classifier,
}
