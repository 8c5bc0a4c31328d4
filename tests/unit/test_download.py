"""Downloads against a server on loopback that truncates, dies, comes back or lies."""

import hashlib
import socket
import threading
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from clusterlens.data import hub
from clusterlens.data.download import Unreachable, download, reach
from clusterlens.errors import UserError
from clusterlens.redaction import without_user

BODY = bytes(range(256)) * 4000  # about 1 MB
SIZE = len(BODY)
MD5 = "md5:" + hashlib.md5(BODY).hexdigest()


class Server:
    """A server whose `behave(handler, start)` decides what a request gets; it notes the Range of every request."""

    def __init__(self, behave):
        self.ranges = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self):
                self.send_response(200)
                self.end_headers()

            def do_GET(self):
                wanted = self.headers.get("Range")
                outer.ranges.append(wanted)
                behave(self, int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/file.bin"
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()


@contextmanager
def serving(behave):
    server = Server(behave)
    try:
        yield server
    finally:
        server.http.shutdown()
        server.http.server_close()


def answer(handler, start, *, stop=SIZE, total=SIZE, ranges=True):
    """Send BODY[start:stop] while promising everything up to `total`."""
    if not ranges:
        start = 0
    handler.send_response(206 if start else 200)
    if start:
        handler.send_header("Content-Range", f"bytes {start}-{total - 1}/{total}")
    handler.send_header("Content-Length", str(total - start))
    handler.end_headers()
    handler.wfile.write(BODY[start:stop])


def get(server, folder, **options):
    options = {"checksum": MD5, "wait": 0.001} | options
    download(server.url, folder / "file.bin", partial=folder / "partial" / "file.bin.part", **options)


def files(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def one_line(caught):
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_whole_file(tmp_path):
    with serving(answer) as server:
        get(server, tmp_path)
    assert (tmp_path / "file.bin").read_bytes() == BODY
    assert files(tmp_path) == ["file.bin"]
    assert server.ranges == [None]


def test_goes_on_where_it_broke_off(tmp_path):
    def dies_twice(handler, start):
        answer(handler, start, stop=start + 300_000 if start < 600_000 else SIZE)

    with serving(dies_twice) as server:
        get(server, tmp_path)
    assert (tmp_path / "file.bin").read_bytes() == BODY
    assert server.ranges == [None, "bytes=300000-", "bytes=600000-"]


def test_server_that_ignores_ranges_is_read_from_the_start(tmp_path):
    calls = []

    def forgetful(handler, start):
        calls.append(start)
        answer(handler, start, stop=400_000 if len(calls) == 1 else SIZE, ranges=False)

    with serving(forgetful) as server:
        get(server, tmp_path)
    assert (tmp_path / "file.bin").read_bytes() == BODY


def test_dead_server_keeps_the_part_and_the_next_run_goes_on(tmp_path):
    def dies(handler, start):
        answer(handler, start, stop=500_000)
        handler.server.socket.close()
        handler.server.shutdown()

    with serving(dies) as server, pytest.raises(Unreachable) as caught:
        get(server, tmp_path, attempts=3, wait=0.05)
    assert "500,000 bytes are kept" in one_line(caught)
    assert files(tmp_path) == ["file.bin.part"]

    with serving(answer) as server:
        get(server, tmp_path)
    assert server.ranges == ["bytes=500000-"]
    assert (tmp_path / "file.bin").read_bytes() == BODY
    assert files(tmp_path) == ["file.bin"]


def test_old_part_without_a_checksum_is_not_trusted(tmp_path):
    (tmp_path / "partial").mkdir()
    (tmp_path / "partial" / "file.bin.part").write_bytes(b"something else")
    with serving(answer) as server:
        get(server, tmp_path, checksum=None)
    assert server.ranges == [None]
    assert (tmp_path / "file.bin").read_bytes() == BODY


def test_old_part_that_is_already_whole(tmp_path):
    def nothing_left(handler, start):
        handler.send_response(416)
        handler.send_header("Content-Range", f"bytes */{SIZE}")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    (tmp_path / "partial").mkdir()
    (tmp_path / "partial" / "file.bin.part").write_bytes(BODY)
    with serving(nothing_left) as server:
        get(server, tmp_path)
    assert (tmp_path / "file.bin").read_bytes() == BODY


@pytest.mark.parametrize("ranges", [True, False])
def test_truncated_file(tmp_path, ranges):
    cut = partial(answer, stop=500_000, ranges=ranges)
    with serving(cut) as server, pytest.raises(UserError) as caught:
        get(server, tmp_path)
    assert "no more than the first 500,000 bytes" in one_line(caught)
    assert files(tmp_path) == []


def test_short_file_that_claims_to_be_whole_fails_its_checksum(tmp_path):
    cut = partial(answer, stop=500_000, total=500_000)
    with serving(cut) as server, pytest.raises(UserError) as caught:
        get(server, tmp_path)
    assert "wrong md5 checksum" in one_line(caught)
    assert "500,000 bytes" in str(caught.value)
    assert files(tmp_path) == []


def test_wrong_checksum(tmp_path):
    with serving(answer) as server, pytest.raises(UserError) as caught:
        get(server, tmp_path, checksum="sha256:" + "0" * 64)
    assert "wrong sha256 checksum" in one_line(caught)
    assert files(tmp_path) == []


def test_missing_page_is_not_retried(tmp_path):
    with serving(lambda handler, _: handler.send_error(404)) as server, pytest.raises(UserError) as caught:
        get(server, tmp_path)
    assert "HTTP 404" in one_line(caught)
    assert len(server.ranges) == 1
    assert files(tmp_path) == []


def test_busy_server_is_retried(tmp_path):
    calls = []

    def busy_once(handler, start):
        calls.append(start)
        handler.send_error(503) if len(calls) == 1 else answer(handler, start)

    with serving(busy_once) as server:
        get(server, tmp_path)
    assert (tmp_path / "file.bin").read_bytes() == BODY


def test_nobody_there(tmp_path):
    address = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(Unreachable) as caught:
        download(f"{address}/x", tmp_path / "x", partial=tmp_path / "x.part", wait=0.001)
    assert "cannot be reached (connection refused)" in one_line(caught)
    with pytest.raises(Unreachable):
        reach(address)
    assert files(tmp_path) == []


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.parametrize(
    ("address", "seen"),
    [
        ("https://name:secret@hub.example/x", "https://[hidden]@hub.example/x"),
        ("https://secret@hub.example", "https://[hidden]@hub.example"),
        ("https://name:sec/r@ret@hub.example", "https://[hidden]@hub.example"),
        ("https://hub.example/x", "https://hub.example/x"),
    ],
)
def test_an_address_is_shown_without_its_password(address, seen):
    assert without_user(address) == seen


def test_the_password_of_the_endpoint_is_in_no_message(tmp_path, monkeypatch):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://name:secret@127.0.0.1:{probe.getsockname()[1]}")
    said = []
    monkeypatch.setattr(hub.log, "info", lambda words, *rest: said.append(words % rest))
    repository = {"id": "a/b", "revision": "main"}
    with pytest.raises(Unreachable) as refusal:
        hub.fetch({"kind": "checkpoint", "hub": repository}, {}, tmp_path, tmp_path)
    with pytest.raises(Unreachable) as broken:
        hub.get_file(repository, "config.json", "model", tmp_path)
    assert "[hidden]@127.0.0.1" in str(refusal.value) and "[hidden]@127.0.0.1" in said[0]
    assert "secret" not in f"{refusal.value} {broken.value} {said}"
