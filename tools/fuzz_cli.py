"""Fuzz the command line with seeded cases of contents, kinds of files, damage and names.

    python tools/fuzz_cli.py [CASES] [SEED]

Each case runs one command in its own folder and must end with a documented exit code. An error must
be one sentence without a traceback, a control character or a Python argument. The user's files must
not change, and only the output may be added. Valid files must be read, and their log loss (for
forecasts the likelihood) must be that of the numbers written. It prints one line per command and a
total: cases, done, refused, wrong (numbers, exit codes or files) and obscure (messages). It exits
with 1 if a case is wrong or obscure.
"""

import contextlib
import csv
import gzip
import io
import json
import os
import random
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
from click import Context, Option
from click.testing import CliRunner

import calibrant
from calibrant.cli.group import BUG, group

__all__ = ["COMMANDS", "fuzz"]

COMMANDS = ("evaluate", "tables", "fit", "apply", "report", "compare", "monitor", "audit", "decide")
CODES = {0, 1, 2, 3}
ODD_NAMES = [
    "[red]",
    "[/x]",
    "\x1b[31mred",
    "a\\",
    ":smile:",
    "confidence",
    "low_0.9",
    "",
    "p_a",
    "ü",
    "x y",
    "\u202ex",
    "p_*",
    "file",
    "n" * 300,
]
ODD_TEXTS = [
    "",
    " ",
    "nan",
    "inf",
    "-1",
    "1e999",
    "0x1",
    "a",
    "None",
    "1,5",
    '"',
    "\x00",
    "\n",
    "\x1b[2J",
    "[/x]",
    "é",
    "9" * 30,
    "x" * 140_000,
    "True",
    "2026-13-45",
    "007",
]
FILE_NAMES = [
    b"f",
    b"f",
    b"f",
    b"a[1]",
    b"a*",
    "ü".encode(),
    b"caf\xe9",
    b"\x1b[31mx",
    b"with space",
    b"[red]",
    b"n" * 200,
]
ENCODINGS = ["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1", "utf-16-le"]
SOUND_ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-32")
#: Labels of two classes, of which the second is the event; the last pair needs --positive.
OUTCOMES = ((0, 1), (False, True), ("no", "yes"), ("FALSE", "TRUE"), ("good", "bad"))
METHODS = {
    "risks": ["isotonic", "platt", "beta"],
    "classes": ["temperature", "isotonic", "histogram-binning", "platt"],
    "forecasts": ["std", "interval", "isotonic-variance"],
}
#: Patterns that an error must not contain: arguments of Python functions, and Python's errors.
PYTHON = re.compile(
    r"\b(inputs|target|classes|sample_weight|overwrite|probabilities|predicted|checkpoint)=|\bP"
    r" must|\bof P\b|\by must|np\.|"
    r"\bn_(splits|bins|resamples)\b|Traceback|\bNoneType\b|object has no|Errno|<class"
)
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]")


def _contents(rng):
    """(task, columns by name, whether every command takes it) of a small sound table."""
    n, numbers = rng.randint(6, 24), np.random.default_rng(rng.getrandbits(32))
    extra = {
        "note": [rng.choice("xyz") for _ in range(n)],
        "when": [f"2026-03-{1 + i % 28:02d}" for i in range(n)],
    }
    if rng.random() < 0.2:
        extra["weight"] = numbers.uniform(0.5, 2.0, n).tolist()
    if rng.random() < 0.3:
        mean, std = numbers.normal(size=n), numbers.uniform(0.5, 2.0, n)
        y = (mean + std).tolist()
        if rng.random() < 0.2:
            return (
                "forecasts",
                {
                    **{
                        f"q_{q}": (mean + z).tolist()
                        for q, z in ((0.1, -1.0), (0.5, 0.0), (0.9, 1.0))
                    },
                    "y": y,
                    **extra,
                },
                False,
            )
        if rng.random() < 0.2:
            both = {
                f"{kind}_{name}": v
                for name in ("u", "v")
                for kind, v in (("mean", mean.tolist()), ("std", std.tolist()), ("y", y))
            }
            return "forecasts", {**both, **extra}, False
        return "forecasts", {"mean": mean.tolist(), "std": std.tolist(), "y": y, **extra}, True
    if rng.random() < 0.2:
        p, labels = numbers.uniform(0.01, 0.99, n), rng.choice(list(OUTCOMES))
        happened = [0, 1, *(int(rng.random() < q) for q in p[2:])]
        return "risks", {"risk": p.tolist(), "label": [labels[k] for k in happened], **extra}, True
    K = rng.choice([2, 3])
    P = numbers.dirichlet(np.ones(K), n)
    label = [*"abc"[:K], *(rng.choice("abc"[:K]) for _ in range(n - K))]
    if rng.random() < 0.15:
        return (
            "classes",
            {
                **{f"logit_{c}": np.log(P[:, j]).tolist() for j, c in enumerate("abc"[:K])},
                "label": label,
                **extra,
            },
            False,
        )
    return (
        "classes",
        {**{f"p_{c}": P[:, j].tolist() for j, c in enumerate("abc"[:K])}, "label": label, **extra},
        True,
    )


def _mutated(rng, table):
    """The table with something of it changed: a list of (name, values), as names may repeat."""
    pairs = [(name, list(values)) for name, values in table.items()]
    for _ in range(rng.choice([1, 1, 2])):
        j = rng.randrange(len(pairs))
        name, values = pairs[j]
        change = rng.choice(
            ["cell", "cell", "cell", "name", "twice", "drop", "rows", "same", "type"]
        )
        if change == "cell" and values:
            values[rng.randrange(len(values))] = rng.choice(
                [*ODD_TEXTS, None, float("nan"), -0.5, 2.0, 1e300, float("inf"), 0.0]
            )
        elif change == "name":
            pairs[j] = (
                rng.choice(
                    [
                        *ODD_NAMES,
                        "logit_a",
                        "samples",
                        "quantiles",
                        "levels",
                        "q_0.5",
                        "q_0.1",
                        "weight",
                        "classes",
                    ]
                ),
                values,
            )
        elif change == "twice":
            pairs.append((name, list(values)))
        elif change == "drop" and len(pairs) > 1:
            pairs.pop(j)
        elif change == "rows":
            keep = rng.choice([0, 1, 2])
            pairs = [(name, values[:keep]) for name, values in pairs]
        elif change == "same" and values:
            pairs[j] = (name, [values[0]] * len(values))
        else:
            pairs[j] = (name, [rng.choice([0, 1, True, "t", 2.5, None]) for _ in values])
    return pairs


def _written(rng, pairs, kind, encoding, mark=","):
    """The bytes of a file that holds the columns, as far as its kind can; ``mark`` parts the
    values of a CSV file.
    """
    if kind == "csv":
        out = io.StringIO(newline="")
        writer = csv.writer(out, delimiter=mark)
        writer.writerow([name for name, _ in pairs])
        writer.writerows(
            [
                [_cell(v, mark) for v in row]
                for row in zip(*(values for _, values in pairs), strict=True)
            ]
        )
        return out.getvalue().encode(encoding, "replace")
    if kind == "jsonl":
        rows = zip(*(values for _, values in pairs), strict=True)
        return "".join(
            json.dumps(dict(zip([name for name, _ in pairs], row, strict=True))) + "\n"
            for row in rows
        ).encode(encoding, "replace")
    out = io.BytesIO()
    if kind == "parquet":
        import pyarrow
        import pyarrow.parquet

        arrays = [pyarrow.array(_one_kind(values)) for _, values in pairs]
        pyarrow.parquet.write_table(
            pyarrow.Table.from_arrays(arrays, names=[name for name, _ in pairs]), out
        )
        return out.getvalue()
    arrays = {name or "empty": np.array(_one_kind(values)) for name, values in pairs}
    arrays = {name: a.astype(str) if a.dtype == object else a for name, a in arrays.items()}
    P = [a for name, a in arrays.items() if name.startswith("p_") and a.dtype.kind == "f"]
    if "risk" in arrays:
        arrays["probabilities"] = arrays["risk"]
    if kind == "npy":
        np.save(out, np.column_stack(P) if P else next(iter(arrays.values())))
        return out.getvalue()
    if P and len({len(a) for a in P}) == 1:
        arrays |= {
            "probabilities": np.column_stack(P),
            "classes": np.array([name[2:] for name in arrays if name.startswith("p_")][: len(P)]),
        }
    (np.savez if rng.random() < 0.5 else np.savez_compressed)(
        out, **{name.replace("/", "_").replace("file", "f"): a for name, a in arrays.items()}
    )
    return out.getvalue()


def _cell(value, mark):
    """A value as CSV has it: with a decimal comma where commas do not part the values."""
    if value is None:
        return ""
    return repr(value).replace(".", ",") if mark != "," and isinstance(value, float) else value


def _one_kind(values):
    kinds = {type(v) for v in values if v is not None}
    return (
        values
        if len(kinds) < 2 or kinds <= {int, float}
        else [None if v is None else str(v) for v in values]
    )


def _damaged(rng, data):
    """Bytes flipped, cut off, moved or set."""
    change, out = rng.choice(["flip", "flip", "cut", "splice", "set", "empty"]), bytearray(data)
    if change == "empty" or not out:
        return b""
    if change == "cut":
        return bytes(out[: rng.randrange(len(out))])
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(out))
        if change == "flip":
            out[at] ^= rng.randint(1, 255)
        elif change == "splice":
            out[at:at] = out[rng.randrange(len(out)) :][:30]
        else:
            out[at : at + 4] = rng.choice([b"\xff\xff\xff\x7f", b"\0\0\0\0", b"99999", b'"', b"\n"])
    return bytes(out)


class Case:
    """One command on one file, drawn from a seed."""

    def __init__(self, seed, folder, saved):
        self.rng, self.folder, self.saved = random.Random(seed), folder, saved
        rng = self.rng
        self.command = rng.choice([*COMMANDS, "evaluate", "tables", "apply"])
        self.task, self.table, self.plain = _contents(rng)
        if self.command == "compare":
            self._compared()
        mutated, damaged, bad_options = rng.random() < 0.4, rng.random() < 0.2, rng.random() < 0.2
        self.kind = rng.choice(["csv", "csv", "npz", "parquet", "npy", "jsonl", "jsonl"])
        encoding = rng.choice(ENCODINGS)
        mark = rng.choice([",", ",", ";", "\t"])
        data = _written(
            rng,
            _mutated(rng, self.table) if mutated else list(self.table.items()),
            self.kind,
            encoding,
            mark,
        )
        self.path = folder / os.fsdecode(rng.choice(FILE_NAMES) + b"." + self.kind.encode())
        data = _damaged(rng, data) if damaged else data
        if rng.random() < 0.15 and self.kind in ("csv", "jsonl"):
            data, self.path = (
                gzip.compress(data, mtime=0),
                self.path.with_name(self.path.name + ".gz"),
            )
        self.path.write_bytes(data)
        if (
            not mutated
            and not damaged
            and rng.random() < 0.2
            and self.kind in ("csv", "jsonl", "parquet")
        ):
            self._parted(encoding, mark)
        self.input = data if rng.random() < 0.15 else None
        self.output, free = self._output()
        sound = (
            not (mutated or damaged or bad_options)
            and free
            and (self.kind not in ("csv", "jsonl") or encoding in SOUND_ENCODINGS)
        )
        fits = self.kind in ("csv", "parquet", "jsonl") or (
            self.kind == "npz" and self.command not in ("tables", "monitor")
        )
        # No engine reads Parquet from a name that is no text.
        fits = fits and not (
            self.command == "tables"
            and self.kind == "parquet"
            and b"\xe9" in os.fsencode(self.path.name)
        )
        fits = fits and (self.plain or (self.command == "evaluate" and self.kind != "npz"))
        # Texts are no times in Parquet, and of so few rows nothing is certified but sets.
        fits = fits and not (self.command == "monitor" and self.kind == "parquet")
        self.sound = sound and fits and not (self.command == "decide" and self.task == "forecasts")
        self.sound = self.sound and not (self.input is not None and self.kind in ("npz", "npy"))
        self.arguments = [*self._arguments(), *self._event()] + (
            self._odd_options() if bad_options else []
        )

    def _parted(self, encoding, mark):
        """The same rows in two files of a folder, named by the folder or by a pattern."""
        place, n = self.folder / "parts", len(next(iter(self.table.values())))
        place.mkdir()
        for i, rows in enumerate((slice(n // 2), slice(n // 2, n))):
            pairs = [(name, values[rows]) for name, values in self.table.items()]
            (place / f"{i}.{self.kind}").write_bytes(
                _written(self.rng, pairs, self.kind, encoding, mark)
            )
        self.path = self.rng.choice([place, place / f"*.{self.kind}"])

    def _compared(self):
        """A second column of risks, and a second file of the same rows."""
        if self.task == "risks":
            self.table["other"] = [0.5 + 0.5 * p for p in self.table["risk"]]
        self.second = self.folder / "second.csv"
        self.second.write_bytes(_written(self.rng, list(self.table.items()), "csv", "utf-8"))

    def _output(self):
        """(a path to write to, whether it may be written)."""
        suffix = {
            "fit": ".calibrant",
            "decide": ".calibrant",
            "apply": f".{self.kind}",
            "report": self.rng.choice([".json", ".json", ".md"]),
        }.get(self.command, ".json")
        path = self.folder / f"out{suffix}"
        state = self.rng.choice(
            [*["free"] * 12, "there", "there", "folder", "dangling", "pipe", "no folder", "input"]
        )
        if state == "there":
            path.write_text("precious", encoding="utf-8")
        elif state == "folder":
            path.mkdir()
        elif state == "dangling":
            path.symlink_to("nowhere")
        elif state == "pipe":
            os.mkfifo(path)
        return {"no folder": self.folder / "none" / "out", "input": self.path}.get(
            state, path
        ), state == "free"

    def _event(self):
        """Options that name the event, or change the target."""
        rng, labels = self.rng, set(self.table.get("label", ()))
        if self.command == "compare" and self.task == "risks":
            return ["--positive", "bad"] if "bad" in labels else []
        if (
            self.command == "apply"
            or self.task == "forecasts"
            or len(labels) > 2
            or "logit_c" in self.table
            or "p_c" in self.table
        ):
            return []
        if self.task == "risks":
            return rng.choice([["--risk", "risk"], []]) + (
                ["--positive", "bad"] if "bad" in labels else []
            )
        if self.command == "decide":
            return []
        return rng.choice(
            [
                ["--positive", "b"],
                ["--positive", "a"],
                ["--target", "answer"] if self.command != "fit" else [],
            ]
            * 2
            + [["--target", "b"]]
        )

    def _arguments(self):
        rng, path = self.rng, str(self.path) if self.input is None else "-"
        method = rng.choice(METHODS[self.task])
        force = ["--force"] if rng.random() < 0.3 else []
        if self.command == "evaluate":
            gate = ["--fail-if", "nll>-99" if self.task == "forecasts" else "log_loss<2"]
            return [
                "evaluate",
                path,
                *rng.choice(
                    [[], ["--json"], ["--json"], ["--method", method], gate, ["--skip-missing"]]
                ),
            ]
        if self.command == "compare":
            columns = (
                ["--risk", "risk", "--risk", "other"]
                if self.task == "risks"
                else [str(self.second)]
            )
            return [
                "compare",
                path,
                *columns,
                *rng.choice([[], ["--json"], ["--cluster", "when"], ["--correction", "none"]]),
            ]
        if self.command == "tables":
            in_parts = self.kind == "parquet" and self.input is None
            engine = (
                rng.choice([[], ["--engine", rng.choice(["polars", "duckdb", "pyarrow"])]])
                if in_parts
                else []
            )
            return [
                "evaluate",
                path,
                "--by",
                rng.choice(["note", "note,when"]),
                *engine,
                *rng.choice([[], ["--json"], ["-o", str(self.output), *force]]),
            ]
        if self.command == "audit":
            return [
                "audit",
                path,
                "--groups",
                "note",
                *rng.choice([[], ["--json"], ["--all"], ["--fail-if", "groups_off>0"]]),
            ]
        if self.command == "decide":
            asked = rng.choice(
                [
                    ["--max-error", "0.9", "--certainty", "0.1"],
                    ["--sets", "--level", "0.5"],
                    ["--sets", "--level", "0.5"],
                ]
            )
            self.sound = self.sound and "--sets" in asked and "weight" not in self.table
            return ["decide", path, *asked, "-o", str(self.output), *force]
        if self.command == "monitor":
            return [
                "monitor",
                path,
                "--time",
                "when",
                *rng.choice([[], ["--by", "note"], ["--json"], ["-o", str(self.output), *force]]),
            ]
        if self.command == "apply":
            name = (
                "forecasts"
                if self.task == "forecasts"
                else (
                    "classes2"
                    if self.task == "risks"
                    else f"classes{2 + ('p_c' in self.table or 'logit_c' in self.table)}"
                )
            )
            calibrator = self.saved / name
            if rng.random() < 0.1:
                calibrator = self.folder / "m"
                calibrator.write_bytes(_damaged(rng, (self.saved / name).read_bytes()))
                self.sound = False
            return ["apply", str(calibrator), path, "-o", str(self.output), *force]
        options = ["--method", method, "-o", str(self.output), *force]
        more = rng.choice(
            [
                [],
                [],
                ["--groups", "note"],
                ["--fail-if", "nll>-99" if self.task == "forecasts" else "accuracy<2"],
            ]
        )
        return [self.command, path, *options, *(more if self.command == "report" else [])]

    def _odd_options(self):
        rng, kind = self.rng, {"tables": "evaluate"}.get(self.command, self.command)
        known = [
            option.opts[-1]
            for option in group.get_command(Context(group), kind).params
            if isinstance(option, Option)
        ]
        option = rng.choice([*known, *known, *known, "--\x1b[31m", "--nothing"])
        values = [
            *ODD_NAMES,
            *(
                "risk",
                "label",
                "event",
                "answer",
                "classes",
                "b",
                "bad",
                "percent",
                "logit",
                "score",
                "log_probability",
                "-",
            ),
            "note",
            "when",
            "p_a",
            "p_a,p_b",
            "a,b",
            "c,b,a",
            "a,a,b",
            "mean",
            "y",
            "regression",
            "classification",
            "0",
            "1",
            "0.5",
        ]
        values += [
            "nan",
            "temperature",
            "ece>0.02",
            "nll>1",
            str(self.path),
            str(self.saved / "classes2"),
            "week",
            "duckdb",
        ]
        return rng.choice(
            [[option], [f"{option}={rng.choice(values)}"], [option, rng.choice(values)]]
        )

    def run(self):
        """(outcome, why)."""
        before = _state(self.folder)
        with contextlib.chdir(self.folder):
            result = CliRunner().invoke(group, self.arguments, input=self.input)
        after = _state(self.folder)
        said = result.stderr.strip("\n").split("\n")[-1]
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            return "obscure", f"traceback of {result.exception!r}"
        if result.exit_code not in CODES or (self.sound and result.exit_code not in (0, 3)):
            return "wrong", f"exit code {result.exit_code}: {said[:300]}"
        unsaid = self._obscure(result, said)
        if unsaid is not None:
            return "obscure", unsaid
        lost = self._lost(before, after, result.exit_code)
        if lost is not None:
            return "wrong", lost
        if self.sound and self.plain and self.command == "evaluate" and "--json" in self.arguments:
            return self._numbers(json.loads(result.stdout))
        return ("done" if result.exit_code in (0, 3) else "refused"), ""

    def _obscure(self, result, said):
        text = result.output
        if BUG in text or (result.exit_code == 1 and not said.startswith("Error: ")):
            return f"says {said[:400]!r}"
        if CONTROL.search(text):
            return f"control character {CONTROL.search(text)[0]!r} in {text[-300:]!r}"
        odd = [
            line
            for line in result.stderr.split("\n")
            if re.match(r"\w*Warning: ", line) and not line.startswith("Warning: ")
        ]
        if odd:
            return f"warns {odd[0][:300]!r}"
        found = PYTHON.search(said.replace(str(self.path), "")) if result.exit_code == 1 else None
        if found is not None:
            return f"names {found[0]!r} in {said[:400]!r}"
        return f"says {len(said)} characters: {said[:300]!r}" if len(said) > 1500 else None

    def _lost(self, before, after, code):
        changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
        unasked = changed - (self._written(before) if code in (0, 3) else set())
        return f"changed {sorted(unasked)} with exit code {code}" if unasked else None

    def _written(self, before):
        """Names of the files that the options allow to be written: the last output, or what a
        link there points at.
        """
        given = [
            value
            for flag, value in pairwise(self.arguments)
            if flag in ("-o", "--output", "--resume")
        ]
        given += [
            a.partition("=")[2] for a in self.arguments if a.startswith(("--output=", "--resume="))
        ]
        given = {
            Path(value).name
            for value in given or ["report.html", "model.calibrant", "rule.calibrant"]
        }
        free = {name for name in given if name not in before or "--force" in self.arguments}
        return free | (
            {"nowhere"} if self.output.name in free and self.output.is_symlink() else set()
        )

    def _numbers(self, found):
        values = {row["key"]: row["before"]["value"] for row in found["metrics"]}
        t = {name: np.array(v) for name, v in self.table.items()}
        weight = t.get("weight")
        if self.task == "risks":
            happened = np.array(
                [
                    str(label).casefold() in ("1", "true", "yes", "bad")
                    for label in self.table["label"]
                ]
            )
            key, want = (
                "log_loss",
                np.average(-np.log(np.where(happened, t["risk"], 1.0 - t["risk"])), weights=weight),
            )
        elif self.task == "classes":
            own = np.select(
                [t["label"] == c for c in "abc" if f"p_{c}" in t],
                [t[f"p_{c}"] for c in "abc" if f"p_{c}" in t],
            )
            key, want = "log_loss", np.average(-np.log(own), weights=weight)
        else:
            losses = (
                0.5 * np.log(2 * np.pi * t["std"] ** 2)
                + 0.5 * ((t["y"] - t["mean"]) / t["std"]) ** 2
            )
            key, want = "nll", np.average(losses, weights=weight)
        return (
            ("done", "")
            if abs(values[key] - want) < 1e-9
            else ("wrong", f"{key} is {values[key]}, not {want}")
        )


def _state(folder):
    """Name -> what is there: bytes of a file, or its kind."""
    return {
        p.name: (
            os.readlink(p)
            if p.is_symlink()
            else p.read_bytes()
            if p.is_file()
            else p.stat().st_mode
        )
        for p in folder.iterdir()
    }


def save_calibrators(folder: Path) -> None:
    """The calibrators that are applied."""
    rng = np.random.default_rng(0)
    for K in (2, 3):
        P = rng.dirichlet(np.ones(K), 60)
        y = [rng.choice(K, p=p) for p in P]
        calibrant.TemperatureScaling(classes=list("abc"[:K])).fit(P, ["abc"[j] for j in y]).save(
            folder / f"classes{K}"
        )
    calibrant.StdScaling().fit((np.zeros(60), np.ones(60)), rng.normal(size=60)).save(
        folder / "forecasts"
    )


def fuzz(cases: int, seed: int, folder: Path) -> tuple[dict[str, Counter], float, list[str]]:
    """(command -> counts of outcomes, seconds of the slowest case, what was wrong or obscure)
    over so many cases.
    """
    counts, slowest, bad = {name: Counter() for name in COMMANDS}, 0.0, []
    (folder / "saved").mkdir()
    save_calibrators(folder / "saved")
    for i in range(cases):
        place = folder / f"case{i}"
        place.mkdir()
        case = Case(seed * 1_000_000 + i, place, folder / "saved")
        start = time.process_time()
        outcome, why = case.run()
        slowest = max(slowest, time.process_time() - start)
        counts[case.command][outcome] += 1
        if outcome in ("wrong", "obscure"):
            bad.append(f"case {i} of seed {seed}, {case.arguments!a}: {why}")
    return counts, slowest, bad


def main(cases: int = 5000, seed: int = 0) -> int:
    """Run, print, and say whether all is well."""
    # As for a user, who sees what is not calibrant's own too.
    warnings.simplefilter("always", RuntimeWarning)
    with tempfile.TemporaryDirectory() as folder:
        counts, slowest, bad = fuzz(cases, seed, Path(folder))
    kinds = ("done", "refused", "wrong", "obscure")
    print(f"{'command':10s} {'cases':>7s} " + " ".join(f"{kind:>8s}" for kind in kinds))
    for name, found in [*counts.items(), ("all", sum(counts.values(), Counter()))]:
        print(f"{name:10s} {found.total():7,d} " + " ".join(f"{found[kind]:8,d}" for kind in kinds))
    print(f"slowest case {slowest:.2f} s CPU")
    print("\n".join(bad[:40]))
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
