"""Fuzz ``calibrant.load`` with seeded mutations of a saved file of every kind of fitted object.

    python tools/fuzz_load.py [CASES] [SEED]

Each case must load to an object that predicts the same bits, or be refused with SavedFileError. A
forged file, with changed values and a matching digest, may predict otherwise, or refuse the rows
with a clear error. It prints one line per mutation and a total: cases, loaded, refused, wrong
(loads and predicts otherwise) and obscure (any other error). Then it prints the slowest case and
the peak memory. It exits with 1 if a case is wrong or obscure.
"""

import hashlib
import io
import json
import random
import re
import struct
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.exceptions import NotFittedError

import calibrant
from calibrant import testing
from calibrant.errors import InputError, SavedFileError
from calibrant.testing import runs
from calibrant.testing.data import problems

__all__ = ["MUTATIONS", "fuzz", "saved_files"]

VALUES = [
    None,
    True,
    -1,
    0,
    2**70,
    1e308,
    "x",
    [],
    {},
    [[]],
    {"number": "nan"},
    {"array": "a0"},
    {"tuple": []},
    {"class": "Identity", "state": {}},
]


def saved_files(folder: Path) -> Iterator[tuple]:
    """(name, the bytes of its file, function from a loaded one to an array, that array) of the
    examples of every kind, fitted.
    """
    for fitted, use in _fitted():
        path = fitted.save(folder / "fitted.calibrant", overwrite=True)
        yield type(fitted).__name__, path.read_bytes(), use, use(fitted)


def _fitted():
    for each in (
        *testing.all_calibrators(),
        *testing.all_signals(),
        *testing.all_maps(),
        *testing.all_regression_calibrators(),
    ):
        data = runs.ordinary(each)[0]
        yield runs.fitted(each, data), lambda o, data=data: runs.predicted(o, data)
    data = problems()[0]
    for sets in (calibrant.ConformalSets(), calibrant.ConformalSets("aps", by="class")):
        yield sets.fit(data.P, data.y), lambda o, data=data: o.predict_set(data.P_test)
    monitor = calibrant.monitoring.CalibrationMonitor().update(data.P, data.y)
    yield monitor, lambda o: np.array([o.evidence_, o.p_value_, *o.curve(level=None).ece])


def _flips(rng, content, other):
    out = bytearray(content)
    for _ in range(rng.randint(1, 8)):
        out[rng.randrange(len(out))] ^= rng.randint(1, 255)
    return bytes(out)


def _truncation(rng, content, other):
    start = rng.choice([0, 0, rng.randrange(len(content))])
    return content[start : start + rng.randrange(len(content))]


def _spliced_bytes(rng, content, other):
    a, b, n = rng.randrange(len(content)), rng.randrange(len(other)), rng.randint(1, 400)
    return content[:a] + other[b : b + n] + content[a + rng.choice([0, n]) :]


def _header(rng, content, other):
    """A number in the zip's end record, central directory or a local header is another."""
    out = bytearray(content)
    mark, size = rng.choice([(b"PK\x05\x06", 22), (b"PK\x01\x02", 46), (b"PK\x03\x04", 30)])
    places = [i for i in range(len(out)) if out[i : i + 4] == mark]
    at = rng.choice(places) + rng.randrange(4, size - 4)
    struct.pack_into(
        "<I", out, at, rng.choice([0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 2**24, rng.getrandbits(32)])
    )
    return bytes(out)


def _parts(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _zipped(parts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


def _spliced_parts(rng, content, other):
    """A part is missing, is another file's, or is another part."""
    parts, others = _parts(content), _parts(other)
    name = rng.choice(list(parts))
    source = rng.choice([None, others, parts])
    data = parts.pop(name) if source is None else rng.choice(list(source.values()))
    parts = parts if source is None else parts | {name: data}
    return _truncation(rng, other, content) if parts == others else _zipped(parts)


def _array(rng, content, other):
    """The header or the numbers of an array are others, under a right checksum."""
    parts = _parts(content)
    arrays = [name for name in parts if name.endswith(".npy")]
    if not arrays:
        return _manifest(rng, content, other)
    name = rng.choice(arrays)
    data = bytearray(parts[name])
    for _ in range(rng.randint(1, 3)):
        data[rng.randrange(len(data) if rng.random() < 0.5 else min(len(data), 128))] = rng.choice(
            b"0123456789<>f(),'\x00\xff"
        )
    return _zipped(parts | {name: bytes(data)})


def _manifest(rng, content, other):
    """A value of the manifest is another, or missing, under a right checksum."""
    parts = _parts(content)
    manifest = json.loads(parts["manifest.json"])
    _edit(rng, manifest)
    return _zipped(parts | {"manifest.json": json.dumps(manifest).encode()})


def _forged(rng, content, other):
    """A value of the object is another, or missing, under a digest that a forger wrote."""
    parts = _parts(content)
    manifest = json.loads(parts["manifest.json"])
    _edit(rng, manifest["object"])
    manifest = signed(manifest, parts)
    return _zipped(parts | {"manifest.json": json.dumps(manifest).encode()})


def signed(manifest: dict, parts: dict[str, bytes]) -> dict:
    """The manifest with the digest of what it holds now, as a forger can write it; arrays count
    in the order of their reading.
    """
    text = json.dumps(manifest["object"])
    digest = hashlib.sha256()
    for name in dict.fromkeys(re.findall(r'{"array": "(\w+)"}', text)):
        digest.update(parts.get(f"{name}.npy", b""))
    digest.update(text.encode())
    return {**manifest, "digest": digest.hexdigest()}


def _edit(rng, manifest):
    places = list(_places(manifest))
    node, key = rng.choice(places)
    if rng.random() < 0.3:
        del node[key]
    else:
        node[key] = rng.choice([float("nan"), *VALUES])


def _places(node):
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], dict | list):
            yield from _places(node[key])


def _two(rng, content, other):
    first, second = rng.sample([_flips, _truncation, _spliced_bytes], 2)
    return second(rng, first(rng, content, other) or b"P", other)


MUTATIONS = {
    "bytes flipped": _flips,
    "truncated": _truncation,
    "bytes spliced": _spliced_bytes,
    "zip headers": _header,
    "parts spliced": _spliced_parts,
    "arrays": _array,
    "manifest": _manifest,
    "two at once": _two,
    "forged": _forged,
}


def fuzz(
    files: list, cases: int, seed: int, folder: Path
) -> tuple[dict[str, Counter], float, list[str]]:
    """(mutation -> counts of outcomes, seconds of the slowest case, what was wrong or obscure)
    over so many cases.
    """
    rng, slowest, bad = random.Random(seed), 0.0, []
    counts = {name: Counter() for name in MUTATIONS}
    for i in range(cases):
        mutation = list(MUTATIONS)[i % len(MUTATIONS)]
        name, content, use, expected = rng.choice(files)
        path = folder / f"case{i}.calibrant"
        path.write_bytes(MUTATIONS[mutation](rng, content, rng.choice(files)[1]))
        start = time.process_time()
        outcome, why = _outcome(path, use, None if mutation == "forged" else expected)
        slowest = max(slowest, time.process_time() - start)
        counts[mutation][outcome] += 1
        path.unlink()
        if outcome in ("wrong", "obscure"):
            bad.append(f"case {i} of seed {seed}, {mutation}, {name}: {why}")
    return counts, slowest, bad


def _outcome(path, use, expected):
    try:
        again = calibrant.load(path)
    except SavedFileError as error:
        return "refused", str(error)
    except BaseException as error:
        return "obscure", f"load raises {type(error).__name__}: {error}"
    try:
        found = use(again)
        repr(again)
    except Exception as error:
        clear = expected is None and isinstance(error, InputError | NotFittedError)
        return "refused" if clear else "obscure", f"use raises {type(error).__name__}: {error}"
    same = expected is None or np.array_equal(found, expected, equal_nan=True)
    return ("loaded", "") if same else ("wrong", "it predicts otherwise")


def main(cases: int = 6000, seed: int = 0) -> int:
    """Run, print, and say whether all is well."""
    import resource  # not on Windows, where the mutations can be tested all the same

    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        files = list(saved_files(Path(folder)))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        counts, slowest, bad = fuzz(files, cases, seed, Path(folder))
    kinds = ("loaded", "refused", "wrong", "obscure")
    print(f"{'mutation':16s} {'cases':>7s} " + " ".join(f"{kind:>8s}" for kind in kinds))
    for name, found in [*counts.items(), ("all", sum(counts.values(), Counter()))]:
        print(f"{name:16s} {found.total():7,d} " + " ".join(f"{found[kind]:8,d}" for kind in kinds))
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(
        f"{len(files)} files of {len({f[0] for f in files})} kinds; slowest case {slowest:.2f} s"
        f" CPU; memory grew by {grown:.0f} MiB"
    )
    print("\n".join(bad[:20]))
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
