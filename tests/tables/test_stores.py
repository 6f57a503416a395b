"""Tables, reports and saved objects at addresses: the same numbers as from local files, errors of
one sentence without secrets, and no half-written file.

S3 is moto's server and the web a server on this machine, with and without parts of files.
"""

import gzip
import http.server
import io
import json
import pickle
import re
import sys
import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import calibrant as cb
from calibrant.core.saving import replacing
from calibrant.core.stores import Address, lies_over, located, without_secrets
from calibrant.errors import InputError, MissingDependencyError, SavedFileError
from calibrant.monitoring import Lock, read_lock
from calibrant.reporting.paper import figure
from calibrant.tables.opening import open_source, parts_of
from calibrant.tables.paths import paths_of

pytest.importorskip("pyarrow")
pytest.importorskip("pandas")

SECRET = "Sw0rdf1sh"
TEXTS = ("rows.csv", "rows.csv.gz", "rows.jsonl", "rows.npz", "rows.parquet")


def _columns(rng, rows):
    P = rng.dirichlet(np.ones(3) * 0.7, rows)
    label = (rng.random(rows)[:, None] > (P**1.4 / (P**1.4).sum(1, keepdims=True)).cumsum(1)).sum(1)
    columns = {f"p_{k}": P[:, k] for k in range(3)}
    return columns | {"label": np.minimum(label, 2), "region": rng.integers(0, 4, rows)}


def _write(folder):
    """Files of every kind, and a folder of Parquet files by day."""
    import pandas as pd

    rng = np.random.default_rng(7)
    columns = _columns(rng, 600)
    P = np.stack([columns[f"p_{k}"] for k in range(3)], axis=1)
    np.savez(folder / "rows.npz", probabilities=P, labels=columns["label"])
    frame = pd.DataFrame(columns)
    frame.to_csv(folder / "rows.csv", index=False)
    (folder / "rows.csv.gz").write_bytes(gzip.compress((folder / "rows.csv").read_bytes()))
    frame.to_json(folder / "rows.jsonl", orient="records", lines=True, double_precision=15)
    frame.to_parquet(folder / "rows.parquet")
    for day in range(1, 12):
        (folder / f"logs/day=2026-03-{day:02d}").mkdir(parents=True)
        part = pd.DataFrame(_columns(rng, 200) | {"batch": day})
        part.to_parquet(folder / f"logs/day=2026-03-{day:02d}/part{day}.parquet")


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    folder = tmp_path_factory.mktemp("local")
    _write(folder)
    return folder


class _Pages(http.server.SimpleHTTPRequestHandler):
    """Files by whole, or by parts where the request names a range; /secret/ needs a signature."""

    parts = True
    sent: ClassVar[list[int]] = []

    def log_message(self, *words):
        """Print nothing."""

    def send_head(self):
        if self.path.startswith("/denied"):
            return self.send_error(403, "Forbidden")
        self.path, _, query = self.path.partition("?")
        if self.path.startswith("/secret/"):
            if SECRET not in query:
                return self.send_error(403, "Forbidden")
            self.path = self.path.removeprefix("/secret")
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            return self.send_error(404, "Not Found")
        data = path.read_bytes()
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if self.parts and asked:
            start, stop = int(asked[1]), min(int(asked[2] or len(data) - 1), len(data) - 1)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{stop}/{len(data)}")
            data = data[start : stop + 1]
        else:
            self.send_response(200)
        if self.parts:
            self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", f'"{path.stat().st_mtime_ns}"')
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.sent.append(len(data) if self.command == "GET" else 0)
        return io.BytesIO(data)


class _Whole(_Pages):
    parts = False


def _served(handler, folder):
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(handler, directory=str(folder))
    )
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@pytest.fixture(scope="module")
def web(local):
    pytest.importorskip("aiohttp", reason="needs fsspec[http]: pip install 'calibrant[stores]'")
    servers = [_served(handler, local) for handler in (_Pages, _Whole)]
    yield [f"http://127.0.0.1:{server.server_port}" for server in servers]
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def s3(local):
    """A bucket of moto's server with the local files, and boto's client of it."""
    moto = pytest.importorskip("moto.server", reason="needs moto: pip install 'moto[server]'")
    boto3 = pytest.importorskip("boto3", reason="needs boto3: pip install boto3")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "moto")
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        client = boto3.client("s3")
        client.create_bucket(Bucket="bucket")
        for path in local.rglob("*"):
            if path.is_file():
                client.upload_file(str(path), "bucket", f"a/{path.relative_to(local)}")
        yield client
    server.stop()


@pytest.fixture(scope="module")
def memory(local):
    fsspec = pytest.importorskip("fsspec", reason="needs fsspec: pip install 'calibrant[stores]'")
    system = fsspec.filesystem("memory")
    system.put(f"{local}/", "/a/", recursive=True)
    yield system
    system.rm("/a", recursive=True)


@dataclass
class Store:
    """A store that holds the local files at ``base``."""

    base: str
    writes: bool = True

    def logs(self, local):
        """The folder of logs, or the list of its files where folders are unknown."""
        if self.writes:
            return f"{self.base}/logs"
        names = sorted(path.relative_to(local) for path in local.glob("logs/*/*.parquet"))
        return [f"{self.base}/{name}" for name in names]


STORES = ("file", "memory", "s3", "web in parts", "web")


@pytest.fixture(params=STORES)
def store(request, local):
    kind = request.param
    if kind == "file":
        return Store(f"file://{local}")
    if kind.startswith("web"):
        return Store(request.getfixturevalue("web")[STORES.index(kind) - 3], writes=False)
    request.getfixturevalue(kind)
    return Store({"memory": "memory://a", "s3": "s3://bucket/a"}[kind])


@pytest.fixture(params=STORES[:3])
def written(request, local, tmp_path):
    """The address of an empty folder to write to."""
    if request.param == "file":
        return f"file://{tmp_path}"
    request.getfixturevalue(request.param)
    name = re.sub(r"\W", "_", request.node.name)
    return {"memory": f"memory://a/{name}", "s3": f"s3://bucket/{name}"}[request.param]


ASKED = {"probabilities": "p_*", "target": "answer"}


# -- The numbers are those of local files ----------------------------------------------------------


def test_evaluate_equals_the_local_folder(store, local):
    found = cb.evaluate(store.logs(local), by=["day", "region"], **ASKED)
    expected = cb.evaluate(str(local / "logs"), by=["day", "region"], **ASKED)
    assert found.to_dict() == expected.to_dict()
    assert len(found.to_dict()["slices"]) == 44


@pytest.mark.parametrize("engine", ["auto", "polars", "duckdb", "pyarrow"])
def test_every_engine_reads_an_address(s3, local, engine):
    if engine != "auto":
        pytest.importorskip(engine)
    found = cb.evaluate("s3://bucket/a/logs", by="day", engine=engine, **ASKED).to_dict()
    assert found == cb.evaluate(str(local / "logs"), by="day", **ASKED).to_dict()


def test_sample_sketch_and_apply_equal_the_local_folder(store, local, tmp_path):
    import pyarrow.parquet as pq

    there, here = store.logs(local), str(local / "logs")
    drawn, other = (
        cb.tables.sample(place, 500, probabilities="p_*", random_state=3) for place in (there, here)
    )
    np.testing.assert_array_equal(drawn.probabilities, other.probabilities)
    np.testing.assert_array_equal(drawn.weight, other.weight)
    sums, others = (
        cb.tables.sketch(place, probabilities="p_*", by=("day",)) for place in (there, here)
    )
    assert sums.groups == others.groups
    np.testing.assert_array_equal(sums.state.bins, others.state.bins)
    fitted = drawn.fit(cb.TemperatureScaling())
    made, expected = (
        cb.tables.apply(fitted, place, tmp_path / f"{i}.parquet", probabilities="p_*")
        for i, place in enumerate((there, here))
    )
    assert pq.read_table(made).equals(pq.read_table(expected))


def _content(source):
    return {name: np.asarray(source.column(name)).tolist() for name in source.content}


@pytest.mark.parametrize("name", TEXTS)
def test_every_kind_of_file_has_the_same_content(store, local, name, monkeypatch):
    monkeypatch.setattr("calibrant.tables.texts.FEWEST_BYTES", 1_000)
    place = located(f"{store.base}/{name}")
    assert _content(open_source(place)) == _content(open_source(local / name))
    if name != "rows.npz":
        there, here = ([*map(_content, parts_of(one, 120))] for one in (place, local / name))
        assert there == here
        assert len(there) > 4


def test_commands_print_the_same_numbers(s3, local, run, monkeypatch):
    monkeypatch.setenv("CALIBRANT_STREAMED_ROWS", "1000")
    _same(run, "s3://bucket/a", str(local), *COMMANDS)


def test_commands_read_a_large_table_in_parts(s3, local, run, monkeypatch):
    monkeypatch.setenv("CALIBRANT_STREAMED_ROWS", "250")
    _same(run, "s3://bucket/a", str(local), *LARGE)


@pytest.mark.parametrize("kind", [0, 1])
def test_commands_read_the_web(web, local, run, kind):
    _same(run, web[kind], str(local), *(f"evaluate X/{name} --json" for name in TEXTS[1:4]))


COMMANDS = (
    *(f"evaluate X/{name} --json" for name in TEXTS),
    "evaluate X/rows.csv --reference X/rows.parquet --method geometric",
    "evaluate X/rows.csv --test X/rows.jsonl --method temperature",
    "evaluate X/logs --json",
    "evaluate X/logs/*/*.parquet --by region --time day --json",
    "monitor X/logs --time day --json",
    "monitor X/logs --by-file --reference X/logs --json",
    "audit X/rows.csv --groups region --json",
    "compare X/rows.csv X/rows.parquet",
    "decide X/rows.csv --max-error 0.4 -o rule.calibrant --force",
    "estimate X/rows.csv --reference X/rows.parquet",
    "fit X/logs/**/part1*.parquet --method isotonic -o model.calibrant --force",
)
LARGE = (
    "evaluate X/rows.csv.gz --json",
    "evaluate X/rows.parquet --json",
    "evaluate X/rows.jsonl --by region --json",
    "fit X/rows.csv --method temperature -o model.calibrant --force",
)


def _same(run, there, here, *commands):
    """Run the commands on files of a store and on local ones; what they print is the same."""
    for words in commands:
        printed, expected = (
            run(*words.replace("X/", f"{base}/").split()).output.replace(base, "X")
            for base in (there, here)
        )
        assert " ".join(printed.split()) == " ".join(expected.split()), words


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl", "rows.npz", "rows.parquet"])
def test_fit_and_apply_write_the_bytes_of_local_files(written, local, run, name, tmp_path):
    if name != "rows.csv" and written.startswith("file"):
        pytest.skip("files are local paths")
    made, kind = {}, Path(name).suffix
    (tmp_path / "here").mkdir()
    for base in (written, f"{tmp_path}/here"):
        run("fit", local / name, "--method", "temperature", "-o", f"{base}/model.calibrant")
        run("apply", f"{base}/model.calibrant", local / name, "-o", f"{base}/out{kind}")
        if name == "rows.csv":
            words = ["--method", "temperature", "--model-version", "1", "-o", f"{base}/lock.json"]
            run("fit", local / name, *words)
            words = ["--calibrator", f"{base}/model.calibrant", "-o", f"{base}/page.html"]
            run("report", local / name, *words)
            assert read_lock(f"{base}/lock.json").models == ["1"]
        made[base] = {one.name: one.read_bytes() for one in map(located, _names(base, kind, name))}
    there, here = made.values()
    assert min(map(len, there.values())) > 500
    if kind == ".npz":  # a zip file has the times of its parts
        there, here = (
            {k: np.load(io.BytesIO(one[f"out{kind}"]))[k].tolist() for k in ("probabilities",)}
            for one in (there, here)
        )
    assert there == here


def _names(base, kind, name):
    pages = ("lock.json", "page.html") if name == "rows.csv" else ()
    return [f"{base}/{one}" for one in ("model.calibrant", f"out{kind}", *pages)]


def test_slices_are_written_and_resumed_in_a_store(written, local, run):
    table = f"{local}/logs/*/*.parquet"
    words = ["evaluate", table, "--by", "region", "--resume", f"{written}/sums.calibrant"]
    first = run(*words, "-o", f"{written}/slices.parquet").output
    assert located(f"{written}/slices.parquet").read_bytes()[:4] == b"PAR1"
    assert run(*words, "-o", f"{written}/slices.parquet", "--force").output == first
    assert "exists" in run(*words, "-o", f"{written}/slices.parquet", code=1).output


@pytest.fixture(scope="module")
def made():
    """A calibrator, a report and a figure of 300 rows."""
    rng = np.random.default_rng(0)
    p = rng.random(300)
    y = (rng.random(300) < p).astype(int)
    return cb.TemperatureScaling().fit(p, y), cb.report(y, p), figure(y, p)


def test_python_saves_and_loads_at_an_address(written, made):
    fitted, report, drawing = made
    place = fitted.save(f"{written}/model.calibrant")
    assert str(place) in f"{written}/model.calibrant"
    assert cb.load(place).temperature_ == fitted.temperature_
    assert report.save(f"{written}/page.md").read_bytes() == report.to_markdown().encode()
    assert b"<svg" in drawing.save(f"{written}/figure.svg").read_bytes()
    lock = Lock.of(fitted, model="v1").write(f"{written}/lock.json")
    assert read_lock(lock).models == ["v1"]


VALUES = (
    ("1", "-2"), ("01", "2"), ("1.5", "2"), ("true", "false"), ("a", "1"), ("x%20y", "z"),
    ("2026-01-01", "2026-02-01"), ("2026-01-01 10:00:00", "2026-01-02 10:00:00"),
    ("__HIVE_DEFAULT_PARTITION__", "3"),
)  # fmt: skip


@pytest.mark.parametrize("values", VALUES)
def test_names_of_folders_are_values_of_one_type(tmp_path, values):
    """Stores are read by pyarrow, local files by Polars where it is installed."""
    pytest.importorskip("polars")
    import pandas as pd
    import pyarrow as pa

    from calibrant.tables.engines import arrow_engine, polars_engine

    for value in values:
        (tmp_path / f"k={value}").mkdir()
        pd.DataFrame({"x": [1]}).to_parquet(tmp_path / f"k={value}" / "part.parquet")
    files = [str(path) for path in paths_of(tmp_path)]
    found, expected = (
        [b.column("k") for b in engine.batches(engine.open_files(files), ["k"], ordered=True)]
        for engine in (arrow_engine, polars_engine)
    )
    one, other = (pa.concat_arrays(parts) for parts in (found, expected))
    assert one.to_pylist() == other.to_pylist()
    assert str(one.type).removeprefix("large_") == str(other.type).removeprefix("large_")


def test_questions_are_read_at_an_address(store, local):
    place = f"{store.base}/rows.jsonl"
    rows = [json.loads(line) for line in (local / "rows.jsonl").read_text().splitlines()]
    values = pytest.importorskip("calibrant.questions.values")

    assert [
        row for batch in values.batches(place, values.Fields()) for row in batch.objects
    ] == rows


def test_a_checkpoint_covers_files_of_a_store(store, local, tmp_path):
    source, kept = store.logs(local), tmp_path / "sums.calibrant"
    other = {"checkpoint": tmp_path / "local.calibrant"}
    expected = cb.evaluate(str(local / "logs"), **other, **ASKED).to_dict()
    assert cb.evaluate(source, checkpoint=kept, **ASKED).to_dict() == expected
    read = []
    found = cb.evaluate(source, checkpoint=kept, progress=lambda *n: read.append(n), **ASKED)
    assert found.to_dict() == expected
    assert len(read) == 11


@pytest.mark.parametrize("kind", ["memory", "s3"])
def test_a_file_that_changed_is_not_resumed(kind, local, tmp_path, request):
    request.getfixturevalue(kind)
    place = {"memory": "memory://a/changed.parquet", "s3": "s3://bucket/changed.parquet"}[kind]
    options = ASKED | {"checkpoint": tmp_path / "sums.calibrant"}
    for name, match in (("logs/day=2026-03-01/part1.parquet", None), ("rows.parquet", "changed")):
        with replacing(place, overwrite=True) as temporary:
            temporary.write_bytes((local / name).read_bytes())
        if match is None:
            assert cb.evaluate(place, **options).overall()["n"] == 200.0
        else:
            with pytest.raises(InputError, match="which has changed"):
                cb.evaluate(place, **options)


def test_dask_reads_an_address(s3, local, tmp_path):
    pytest.importorskip("dask.dataframe")
    import dask
    import pandas as pd

    fitted = cb.TemperatureScaling().fit(np.eye(3)[[0, 1, 2, 0]] * 0.4 + 0.2, [0, 1, 2, 1])
    source = "s3a://bucket/a/logs/*/part1?.parquet"
    with dask.config.set(scheduler="synchronous"):
        found = cb.evaluate(source, by="batch", engine="dask", **ASKED).frame()
        made = cb.tables.apply(
            fitted, source, tmp_path / "made", probabilities="p_*", engine="dask"
        )
    here = f"{local}/logs/*/part1?.parquet"
    expected = cb.evaluate(here, by="batch", **ASKED).frame()
    pd.testing.assert_frame_equal(found, expected, rtol=1e-12)
    there = pd.read_parquet(made)
    assert len(there) == 400
    assert sorted(there["batch"].unique()) == [10, 11]


# -- Only what is needed is read, and files are found as local ones --------------------------------


def test_columns_that_are_not_used_are_not_read(web, local):
    """A Parquet file of 60 columns of noise, of which three are used."""
    import pandas as pd

    rng, rows = np.random.default_rng(1), 20_000
    frame = pd.DataFrame(rng.random((rows, 60)), columns=[f"x{j}" for j in range(60)])
    frame["label"], frame["p"] = rng.integers(0, 2, rows), rng.random(rows)
    frame.to_parquet(local / "wide.parquet", row_group_size=5_000)
    size = (local / "wide.parquet").stat().st_size
    _Pages.sent.clear()
    cb.evaluate(f"{web[0]}/wide.parquet", probabilities="p")
    assert 0 < sum(_Pages.sent) < 0.2 * size


NAMES = (
    "day10.csv", "day2.csv", "day1.csv.gz", "x/a.csv", "x/y/b.csv", "x/y/.c.csv", ".d/e.csv",
    "_tmp/f.csv", "x/_g.csv", "h.txt", "k=1/i.csv", "k=2/i.csv", "K=3/j.CSV", "a[1].csv", "a1.csv",
    "_SUCCESS", "x/y/z/w/v.csv",
)  # fmt: skip
PATTERNS = (
    "", "*", "*.csv", "day?.csv", "day[1-9]*", "**", "**/*.csv", "x/**", "x/**/b.csv", "*/*.csv",
    "k=*", "k=[!1]", "*/*", "x/*", "a[1].csv", "a*", "**/*", ".d/*", "x/y/.c.csv", "k=*/i.csv",
    "x/**/*", "_*", "_tmp/*", "nothing*", "*/y", "x/y/z/**/*.csv", "h.txt", "**/y",
)  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_name_the_files_that_they_name_locally(tmp_path, pattern):
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    for name in NAMES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("a")
    system.put(f"{tmp_path}/", "/names/", recursive=True)

    def found(base):
        try:
            return [str(one).removeprefix(f"{base}/") for one in paths_of(f"{base}/{pattern}")]
        except InputError:
            return []

    try:
        assert found("memory://names") == found(str(tmp_path))
    finally:
        system.rm("/names", recursive=True)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("C:\\logs\\a.csv", "path"),
        ("C://logs/a.csv", "path"),
        ("logs/a.csv", "path"),
        ("-", "path"),
        ("file:///logs/a%20b.csv", "path"),
        ("s3://bucket/a.csv", "address"),
        ("HTTPS://host/a.csv", "address"),
        ("abfss://c@account.dfs.core.windows.net/a.csv", "address"),
    ],
)
def test_addresses_are_told_from_paths(text, kind):
    assert isinstance(located(text), Address if kind == "address" else Path)
    assert located(located(text)) == located(text)
    if text.startswith("file"):
        assert located(text) == Path("/logs/a b.csv")


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://u:Sw0rdf1sh@host:80/a@b.csv", "https://b.csv"),
        ("https://Sw0rdf1sh@host/a.csv", "https://host/a.csv"),
        ("https://host:8080/u@b/a.csv", "https://host:8080/u@b/a.csv"),
        ("https://host/a.csv?X-Amz-Signature=Sw0rdf1sh&b=1", "https://host/a.csv?..."),
        ("https://host/a.csv?Sw0rdf1sh", "https://host/a.csv?..."),
        ("https://host/a.csv#Sw0rdf1sh", "https://host/a.csv?..."),
        ("s3://key:Sw0r/df1sh@bucket/a.csv", "s3://bucket/a.csv"),
        ("s3://bucket/a.csv?secret_key=Sw0rdf1sh", "s3://bucket/a.csv?..."),
        ("s3://bucket/day?.csv", "s3://bucket/day?.csv"),
        ("abfss://c@account.net/a.csv", "abfss://c@account.net/a.csv"),
        ("abfss://c:Sw0rdf1sh@account.net/a.csv", "abfss://account.net/a.csv"),
    ],
)
def test_secrets_are_not_shown(address, shown):
    place = located(address)
    for text in (str(place), repr(place), f"{place}", without_secrets(address)):
        assert text == shown
        assert "Sw0r" not in text
    assert place.suffix == ".csv"
    assert pickle.loads(pickle.dumps(place)) == place


# -- Errors ----------------------------------------------------------------------------------------


def _sentence(text):
    words = " ".join(text.split())
    assert words.endswith(".")
    assert not any(part in words for part in (SECRET, "Traceback", "bug in calibrant", "0x7f"))
    assert len(re.findall(r"\.( |$)", words.replace("...", ""))) == 1, words
    return words


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("s3://bucket/none.parquet", "it does not exist"),
        ("s3://nobucket/none.parquet", "NO_SUCH_BUCKET"),
        ("s3://nobucket/*.parquet", "NO_SUCH_BUCKET"),
        ("WEB/none.parquet", "404 Not Found"),
        ("WEB/*.parquet", "404 Not Found"),
        ("WEB/denied.parquet?X-Amz-Signature=Sw0rdf1sh", "403 Forbidden"),
        ("http://127.0.0.1:1/rows.parquet?signature=Sw0rdf1sh", "Cannot connect"),
        ("http://user:Sw0rdf1sh@127.0.0.1:1/rows.parquet", "Cannot connect"),
        ("nothing://user:Sw0rdf1sh@host/rows.parquet", "not known"),
        ("memory://a/none.parquet", "it does not exist"),
    ],
)
def test_an_error_is_one_sentence_that_names_the_address(s3, memory, web, run, address, reason):
    address = address.replace("WEB", web[0])
    shown = str(located(address))
    with pytest.raises(InputError) as caught:
        cb.evaluate(address, **ASKED)
    assert caught.value.__suppress_context__
    words = _sentence(str(caught.value))
    assert words.startswith(f"{shown} cannot be reached (")
    assert reason in words
    if "*" not in address:
        with pytest.raises(InputError, match="cannot be reached") as caught:
            cb.load(address)
        assert shown in _sentence(str(caught.value))
    for options in ([], ["--by", "region"]):
        printed = _sentence(run("evaluate", address, *options, code=1).output)
        assert "cannot be reached" in printed


@pytest.mark.parametrize(
    "address", ["http://u:Sw0rdf1sh@127.0.0.1:1/x?a=Sw0rdf1sh", "s3://u:Sw0rdf1sh@nobucket/x"]
)
def test_an_error_of_writing_has_no_secret(s3, address):
    with pytest.raises((InputError, FileNotFoundError)) as caught:
        cb.TemperatureScaling().fit([0.2, 0.7], [0, 1]).save(address)
    assert "/x" in _sentence(str(caught.value))


def test_missing_permission_is_one_sentence(s3, monkeypatch):
    """A server that answers every request with 403, as S3 does without permission."""

    class Denied(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_error(403, "Forbidden")

        do_HEAD = do_PUT = do_POST = do_GET

        def log_message(self, *words):
            """Print nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Denied)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    try:
        with pytest.raises(InputError, match="ACCESS_DENIED") as caught:
            cb.evaluate("s3://bucket/rows.parquet", **ASKED)
        assert "s3://bucket/rows.parquet cannot be reached" in _sentence(str(caught.value))
        with pytest.raises(InputError, match="ACCESS_DENIED") as caught:
            cb.TemperatureScaling().fit([0.2, 0.7], [0, 1]).save("s3://bucket/m.calibrant")
        assert "s3://bucket/m.calibrant cannot be" in _sentence(str(caught.value))
    finally:
        server.shutdown()
        server.server_close()


def test_a_signed_address_is_read_and_never_shown(web, local, run):
    signed = f"{web[0]}/secret/rows.csv?X-Amz-Credential=me&X-Amz-Signature={SECRET}"
    expected = json.loads(run("evaluate", local / "rows.csv", "--json").stdout)
    printed = run("evaluate", signed, "--json").output
    assert json.loads(printed)["metrics"] == expected["metrics"]
    printed += run("report", signed, "-o", "page.html").output
    printed += run("fit", signed, "--method", "temperature", "-o", "m.calibrant").output
    printed += run("apply", "m.calibrant", signed, "-o", "out.csv").output
    printed += run("apply", "m.calibrant", signed, "-o", "out.jsonl", code=2).output
    printed += run("evaluate", signed, "--label", "nothing", code=1).output
    printed += run("evaluate", signed, "--by", "region").output
    kept = "".join(Path(name).read_text() for name in ("page.html", "out.csv"))
    assert SECRET not in printed + kept
    assert "X-Amz" not in printed + kept
    assert SECRET.encode() not in Path("m.calibrant").read_bytes()
    table = signed.replace("rows.csv", "rows.parquet")
    cb.evaluate(table, checkpoint="sums.calibrant", **ASKED)
    assert SECRET.encode() not in gzip.compress(Path("sums.calibrant").read_bytes())
    other = table.replace("=me", "=another")
    assert cb.evaluate(other, checkpoint="sums.calibrant", **ASKED).overall()["n"] == 600.0


def test_a_damaged_file_of_a_store_is_named(memory, run):
    for name in ("bad.parquet", "bad.npz", "bad.calibrant"):
        with replacing(f"memory://a/{name}", overwrite=True) as temporary:
            temporary.write_bytes(b"PK no")
    with pytest.raises(InputError, match=r"memory://a/bad.parquet is damaged"):
        cb.evaluate("memory://a/bad.parquet", **ASKED)
    with pytest.raises(SavedFileError, match=r"memory://a/bad.calibrant is damaged"):
        cb.load("memory://a/bad.calibrant")
    assert "memory://a/bad.npz is damaged" in run("evaluate", "memory://a/bad.npz", code=1).output


@pytest.mark.parametrize(
    "words", [f"lost https://u:{SECRET}@host/x?y={SECRET}", f"signature {SECRET}/a of {SECRET}%2Fa"]
)
def test_a_connection_lost_while_a_file_is_read_names_the_address(monkeypatch, words):
    place = located(f"https://host/rows.csv?signature={SECRET}%2Fa")

    class Lost:
        def open_input_file(self, name):
            return self

        def readinto(self, buffer):
            raise OSError(words)

        def close(self):
            """Do nothing."""

    monkeypatch.setitem(vars(place), "store", (Lost(), "rows.csv"))
    with pytest.raises(InputError, match=r"https://host/rows.csv\?... cannot be reached") as caught:
        place.read_bytes()
    assert SECRET not in _sentence(str(caught.value))


def test_one_table_is_in_one_store(s3, memory):
    with pytest.raises(InputError, match="must be in one store"):
        cb.evaluate(["s3://bucket/a/rows.parquet", "memory://a/rows.parquet"], **ASKED)


def test_a_missing_library_is_named(monkeypatch):
    with pytest.raises(MissingDependencyError, match=r"calibrant\[stores\]"):
        located("sftp://host/rows.csv").read_bytes()
    monkeypatch.setitem(sys.modules, "pyarrow.fs", None)
    with pytest.raises(MissingDependencyError, match=r"calibrant\[stores\]"):
        cb.load("s3://bucket/model.calibrant")


# -- Writing ---------------------------------------------------------------------------------------


def _fails(place, **options):
    with replacing(place, **options) as temporary:
        temporary.write_text("half")
        raise RuntimeError


def test_a_failed_block_writes_nothing_and_keeps_what_was_there(written):
    place = located(f"{written}/out.txt")
    with pytest.raises(RuntimeError):
        _fails(place)
    assert not place.exists()
    with replacing(place) as temporary:
        temporary.write_text("first")
    with pytest.raises(RuntimeError):
        _fails(place, overwrite=True)
    with pytest.raises(FileExistsError, match="is not overwritten"):
        _fails(place)
    assert place.read_bytes() == b"first"
    with replacing(place, overwrite=True) as temporary:
        temporary.write_text("second")
    assert place.read_bytes() == b"second"


def test_a_copy_that_fails_leaves_no_file_under_the_name(memory, monkeypatch):
    """Stores whose files grow get another name first, which the final one replaces."""
    import pyarrow.fs

    def half(source, target, *, destination_filesystem, **options):
        with destination_filesystem.open_output_stream(target) as file:
            file.write(b"half")
        raise OSError("connection lost")

    with replacing("memory://a/whole.txt", overwrite=True) as temporary:
        temporary.write_text("whole")
    monkeypatch.setattr(pyarrow.fs, "copy_files", half)
    for name, content in (("new.txt", None), ("whole.txt", b"whole")):
        place = located(f"memory://a/{name}")
        with (
            pytest.raises(InputError, match=r"cannot be written \(connection lost\)"),
            replacing(place, overwrite=True) as temporary,
        ):
            temporary.write_text("other")
        assert (place.read_bytes() if place.exists() else None) == content


def test_a_file_that_appears_while_another_is_made_is_kept(s3):
    place = located("s3://bucket/raced.txt")

    def write():
        with replacing(place) as temporary:
            temporary.write_text("late")
            s3.put_object(Bucket="bucket", Key="raced.txt", Body=b"early")

    with pytest.raises(FileExistsError):
        write()
    assert place.read_bytes() == b"early"


def test_an_output_is_refused_before_the_work(s3, web, local, run):
    table = local / "rows.csv"
    words = run("fit", table, "--method", "temperature", "-o", "s3://nobucket/m", code=1).output
    assert "bucket that does not exist" in words
    words = run("report", table, "-o", f"{web[0]}/page.html", code=1).output
    assert "only read" in words
    table = "s3://bucket/a/rows.csv"
    run("fit", table, "--method", "temperature", "-o", "s3://bucket/once", "--force")
    words = run("fit", table, "--method", "temperature", "-o", "s3://bucket/once", code=1).output
    assert "pass --force or another -o" in words
    words = run("apply", "s3://bucket/once", table, "-o", table, "--force", code=1).output
    assert "would be lost" in " ".join(words.split())


@pytest.mark.parametrize(
    ("read", "output"),
    [
        ("memory://o/a.parquet", "memory:///o/a.parquet"),
        ("{folder}/a.parquet", "local://{folder}/a.parquet"),
        ("{folder}/a.parquet", "{folder}/../{name}/a.parquet"),
        ("{folder}", "{folder}/a.parquet"),
    ],
)
def test_apply_does_not_replace_what_it_reads(memory, run, tmp_path, read, output):
    """However the address is written, in Python and at the command line."""
    import pandas as pd

    names = {"folder": tmp_path, "name": tmp_path.name}
    read, output = read.format(**names), output.format(**names)
    place = located(read) if located(read).suffix else tmp_path / "a.parquet"
    with replacing(place) as temporary:
        pd.DataFrame({"p": [0.2, 0.7]}).to_parquet(temporary)
    before = place.read_bytes()
    fitted = cb.TemperatureScaling().fit([0.2, 0.7, 0.6], [0, 1, 0])
    with pytest.raises(InputError, match="is a file that is read, and would be lost"):
        cb.tables.apply(fitted, read, output, probabilities="p", overwrite=True)
    model = fitted.save(tmp_path / "model")
    words = run("apply", model, read, "--risk", "p", "-o", output, "--force", code=1).output
    assert "is a file that is read, and would be lost" in " ".join(words.split())
    assert place.read_bytes() == before


def test_a_bucket_is_one_place_whoever_reads_it():
    region = "?region=us-east-1"
    read = [f"s3://key:word@bucket/logs/a.parquet{region}"]
    for path in (f"s3a://bucket/logs/a.parquet{region}", f"s3://bucket/logs{region}"):
        assert lies_over(path, read)
    for path in (f"s3://bucket/logs/a{region}", f"s3://other/logs/a.parquet{region}", "a.parquet"):
        assert not lies_over(path, read)


def test_nothing_but_the_file_is_left(written):
    for text in ("one", "two"):
        with replacing(f"{written}/out.csv", overwrite=True) as temporary:
            temporary.write_text(text)
    assert [one.name for one in paths_of(written)] == ["out.csv"]
