"""The command that downloads the data sets, against a server on this machine."""

import hashlib
import http.server
import threading
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.data.__main__ import main
from benchmarks.data.convert import CONVERSIONS
from benchmarks.data.download import FetchError, download
from benchmarks.data.fetch import fetch
from benchmarks.data.table import DataSet, contents, data_sets

from calibrant.datasets.sets import data_folder

BODY = np.random.default_rng(0).bytes(300_000)
SHA = hashlib.sha256(BODY).hexdigest()


class Server:
    """Files by path; serves ranges, and breaks off after ``limit`` bytes of an answer."""

    def __init__(self):
        self.files, self.ranges, self.limit, self.serves_parts = {}, [], None, True
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.answer(self)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, request):
        asked = request.headers.get("Range")
        self.ranges.append(asked)
        body = self.files.get(request.path)
        if body is None:
            return request.send_error(404)
        start = int(asked[6:-1]) if asked and self.serves_parts else 0
        if start >= len(body):
            return request.send_error(416)
        request.send_response(206 if start else 200)
        request.send_header("Content-Length", str(len(body) - start))
        request.end_headers()
        request.wfile.write(body[start:][: self.limit])
        return request.wfile.flush()


@pytest.fixture
def server():
    made = Server()
    yield made
    made.server.shutdown()
    made.server.server_close()


def test_a_whole_file_is_downloaded_once(server, tmp_path):
    server.files["/a.bin"] = BODY
    for _ in range(2):
        download(f"{server.address}/a.bin", tmp_path / "sub" / "a.bin", SHA)
    assert (tmp_path / "sub" / "a.bin").read_bytes() == BODY
    assert server.ranges == [None]


@pytest.mark.parametrize("serves_parts", [True, False])
def test_a_broken_download_goes_on_where_it_stopped(server, tmp_path, serves_parts):
    server.files["/a.bin"], server.limit, server.serves_parts = BODY, 100_000, serves_parts
    with pytest.raises(FetchError, match="goes on from the 100,000 bytes that are here"):
        download(f"{server.address}/a.bin", tmp_path / "a.bin", SHA)
    server.limit = None
    download(f"{server.address}/a.bin", tmp_path / "a.bin", SHA)
    assert server.ranges == [None, "bytes=100000-"]
    assert (tmp_path / "a.bin").read_bytes() == BODY
    assert not (tmp_path / "a.bin.part").exists()


def test_a_part_that_is_the_whole_file_needs_nothing_more(server, tmp_path):
    server.files["/a.bin"] = BODY
    (tmp_path / "a.bin.part").write_bytes(BODY)
    download(f"{server.address}/a.bin", tmp_path / "a.bin", SHA)
    assert (tmp_path / "a.bin").read_bytes() == BODY


def test_a_wrong_checksum_is_refused_and_removed(server, tmp_path):
    server.files["/a.bin"] = BODY[:-1] + b"x"
    with pytest.raises(FetchError, match=f"not {SHA} as in the table"):
        download(f"{server.address}/a.bin", tmp_path / "a.bin", SHA)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_and_no_network_say_what_to_do(server, tmp_path):
    with pytest.raises(FetchError, match=r"answered 404 .*check the address"):
        download(f"{server.address}/b.bin", tmp_path / "b.bin", SHA)
    # Nothing listens on port 1 of this machine.
    with pytest.raises(FetchError, match="run the same command again once there is a network"):
        download("http://127.0.0.1:1/a.bin", tmp_path / "a.bin", SHA)


@pytest.fixture
def data(server, tmp_path):
    """A data set of the kind "classifier" on the server."""
    texts = {"p.csv": b"0.25,0.75\n0.5,0.5\n", "y.csv": b"1,1\n0,0\n"}
    server.files = {f"/o/r/c0ffee/{path}": text for path, text in texts.items()}
    upstream = {p: (hashlib.sha256(t).hexdigest(), len(t)) for p, t in texts.items()}
    made = tmp_path / "made.npz"
    np.savez(made, probabilities=np.float32([[0.25, 0.75], [0.5, 0.5]]), labels=np.int64([1, 0]))
    source = {"repository": "o/r", "commit": "c0ffee", "licence": "MIT", "conversion": "classifier"}
    digests = {"bytes": 0, "sha256": "", "contents": contents(made)}
    return DataSet("few/rows", **source, **digests, upstream=upstream)


def test_a_data_set_is_downloaded_and_converted(server, data, tmp_path):
    file = fetch(data, tmp_path, server.address)
    assert file == tmp_path / "few" / "rows.npz"
    assert np.load(file)["labels"].tolist() == [1, 0]
    fetch(data, tmp_path, "http://127.0.0.1:1")  # it is there: no server is asked
    with pytest.raises(FetchError, match="move it away"):
        fetch(replace(data, contents="0"), tmp_path, server.address)
    with pytest.raises(FetchError, match="made by hand"):
        fetch(replace(data, name="other", conversion=""), tmp_path, server.address)


def test_the_command_lists_fetches_and_reports(server, data, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CALIBRANT_DATA", str(tmp_path))
    monkeypatch.setattr("benchmarks.data.__main__.data_sets", lambda: {data.name: data})
    assert main(["fetch", "few/*", "--address", server.address]) == 0
    assert f"CALIBRANT_DATA={tmp_path}" in capsys.readouterr().out
    assert main(["list"]) == 0
    assert "few/rows" in (listed := capsys.readouterr().out)
    assert "here" in listed
    assert main(["fetch", "nothing"]) == 1
    assert "no data set is named 'nothing'" in capsys.readouterr().out


def test_the_table_names_conversions_or_says_how_by_hand():
    for data in data_sets().values():
        assert bool(data.conversion) == bool(data.upstream) != bool(data.by_hand), data.name
        assert not data.conversion or data.conversion in CONVERSIONS
        assert all(len(sha) == 64 and size > 0 for sha, size in data.upstream.values())
        assert len(data.sha256) == len(data.contents) == 64
        assert all((data.licence, data.repository, data.commit))


@pytest.mark.parametrize("name", ["uci/yacht", "network_outputs/lenet-5-cifar10"])
def test_the_table_holds_the_digests_of_the_files(name):
    file, data = data_folder() / f"{name}.npz", data_sets()[name]
    if not file.is_file():
        pytest.skip("needs CALIBRANT_DATA")
    assert contents(file) == data.contents
    assert hashlib.sha256(file.read_bytes()).hexdigest() == data.sha256
    assert file.stat().st_size == data.bytes
