"""Hub, Kaggle and mirror: what arrives, and the one line when nothing does."""

import hashlib
import io
import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from clusterlens.data import hub
from clusterlens.data.retrieve import retrieve
from clusterlens.errors import UserError
from clusterlens.provenance import OWN, REAL
from reference.retrieval import HEART, REGISTRY, refused, settings


@pytest.fixture
def nowhere(monkeypatch):
    """Every publisher at an address where nobody listens, and no keys."""
    from kagglesdk import kaggle_env

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{probe.getsockname()[1]}"
    monkeypatch.setenv("HF_ENDPOINT", address)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setitem(kaggle_env._env_to_endpoint, kaggle_env.KaggleEnv.PROD, address)
    keyless(monkeypatch)
    return address


def keyless(monkeypatch):
    for name in ("KAGGLE_USERNAME", "KAGGLE_KEY", "KAGGLE_API_TOKEN", "KAGGLE_API_ENVIRONMENT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("kagglehub.config.get_kaggle_credentials", lambda: None)


@pytest.fixture
def serve():
    """Start a server that answers from a dict of paths to bytes, or with a status code."""
    servers = []

    def start(pages):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                page = pages.get(self.path.partition("?")[0], pages.get("*", 404))
                if isinstance(page, int):
                    self.send_response(page)
                    self.send_header("Content-Length", "0")
                    self.send_header("X-Error-Code", "EntryNotFound")
                    self.end_headers()
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(page)))
                self.send_header("ETag", f'"{hashlib.md5(page).hexdigest()}"')
                self.send_header("X-Repo-Commit", "c" * 40)
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(page)

            do_HEAD = do_POST = do_GET

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def mirrored(root, **files):
    for name, text in files.items():
        place = root / name.replace("__", "/").replace("_csv", ".csv")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return root


def parquet(columns):
    stream = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), stream)
    return stream.getvalue()


# The mirror


def test_mirror_is_looked_at_first(tmp_path, nowhere):
    root = mirrored(tmp_path / "mirror", heart__heart_csv=HEART)
    (root / "SHA256SUMS").write_text(f"{hashlib.sha256(HEART.encode()).hexdigest()}  ./heart/heart.csv\n")
    facts = retrieve("heart", REGISTRY["heart"], settings("kaggle", table=None), str(root), tmp_path / "raw")
    assert (tmp_path / "raw" / "heart.csv").read_text() == HEART
    assert facts["source"] == "mirror"
    assert facts["files"] == {"heart.csv": hashlib.sha256(HEART.encode()).hexdigest()}


def test_mirror_that_contradicts_its_checksums(tmp_path):
    root = mirrored(tmp_path / "mirror", heart__heart_csv=HEART)
    (root / "SHA256SUMS").write_text(f"{'0' * 64}  ./heart/heart.csv\n")
    message = refused("heart", settings("kaggle", table=None), str(root), tmp_path)
    assert "SHA256SUMS and heart/heart.csv: wrong sha256 checksum" in message


def test_unreadable_checksums(tmp_path):
    root = mirrored(tmp_path / "mirror", heart__heart_csv=HEART)
    (root / "SHA256SUMS").write_text("rubbish\n")
    assert "line 1: not of the form" in refused("heart", settings("kaggle", table=None), str(root), tmp_path)


def test_mirror_that_is_not_there(tmp_path):
    message = refused("heart", settings("kaggle", table=None), str(tmp_path / "gone"), tmp_path)
    assert "no folder" in message and "gone" in message


def test_what_neither_mirror_nor_hub_has_names_both(tmp_path, nowhere):
    (tmp_path / "mirror").mkdir()
    message = refused("t5-large", settings("hub", folder=None), str(tmp_path / "mirror"), tmp_path)
    assert "has no models/t5-large/config.json" in message
    assert f"{nowhere} cannot be reached" in message
    assert f"copy {tmp_path}/out/raw to {tmp_path}/mirror/models/t5-large" in message


def test_mirrored_checkpoint_comes_with_all_its_files(tmp_path):
    folder = tmp_path / "mirror" / "models" / "roberta-base"
    folder.mkdir(parents=True)
    for name in ("config.json", "pytorch_model.bin", "vocab.json", "merges.txt", "tokenizer.json"):
        (folder / name).write_text(name)
    facts = retrieve(
        "roberta-base",
        REGISTRY["roberta-base"],
        settings("hub", folder=None),
        str(tmp_path / "mirror"),
        tmp_path / "raw",
    )
    assert sorted(facts["files"]) == sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("source", ["mirror", "hub", "file"])
def test_a_tokenizer_is_its_two_files(source, tmp_path, monkeypatch, serve):
    folder, files = tmp_path / "models" / "roberta-tokenizer", {"vocab.json": "{}", "merges.txt": "#version"}
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_text(content)
    entry = REGISTRY["roberta-tokenizer"]
    place = f"/{entry['hub']['id']}/resolve/{entry['hub']['revision']}"
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    pages = {f"{place}/{name}": content.encode() for name, content in files.items()}
    monkeypatch.setenv("HF_ENDPOINT", serve({"/": b"", **pages}))
    own = {"vocabulary": str(folder / "vocab.json"), "merges": str(folder / "merges.txt")}
    chosen = settings(source, **own if source == "file" else dict.fromkeys(own))
    mirror = str(tmp_path) if source == "mirror" else None
    facts = retrieve("roberta-tokenizer", entry, chosen, mirror, tmp_path / "raw")
    assert {name: (tmp_path / "raw" / name).read_text() for name in facts["files"]} == files
    assert bool(facts["stand_ins"]) == (source == "file")


def test_source_mirror_never_downloads(tmp_path, nowhere):
    (tmp_path / "mirror").mkdir()
    message = refused("heart", settings("mirror", table=None), str(tmp_path / "mirror"), tmp_path)
    assert "has no heart/heart.csv" in message and "mirror alone" in message


def test_unpublished_picture(tmp_path):
    message = refused("picture", settings("file", image=None, mask=None), None, tmp_path)
    assert "not published" in message and "data/picture/files/image" in message and "embedded" in message


def test_torchvision_archive_goes_on_in_the_next_run(tmp_path, serve, nowhere):
    content = b"pixels" * 1000
    entry = REGISTRY["cifar10"] | {
        "torchvision": {"url": f"{nowhere}/c.tar.gz", "checksum": f"md5:{hashlib.md5(content).hexdigest()}"}
    }
    part = tmp_path / "partial" / "c.tar.gz.part"
    part.parent.mkdir()
    part.write_bytes(content[:1000])
    with pytest.raises(UserError, match="1,000 bytes are kept"):
        retrieve("cifar10", entry, settings("torchvision", images=None), None, tmp_path / "raw")
    assert part.read_bytes() == content[:1000] and not (tmp_path / "raw").exists()

    entry["torchvision"]["url"] = serve({"/c.tar.gz": content}) + "/c.tar.gz"
    facts = retrieve("cifar10", entry, settings("torchvision", images=None), None, tmp_path / "raw")
    assert (tmp_path / "raw" / "c.tar.gz").read_bytes() == content
    assert facts["source"] == "torchvision" and not part.parent.exists()


# The hub


def test_hub_unreachable(tmp_path, nowhere):
    message = refused("imdb", settings("hub", train=None, test=None), None, tmp_path)
    assert f"IMDB reviews: {nowhere} cannot be reached" in message
    assert "set 'mirror: <mirror>' in the config" in message


def test_hub_must_not_be_asked_when_offline(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "HF_HUB_OFFLINE is set" in refused("imdb", settings("hub", train=None, test=None), None, tmp_path)


def hub_pages(name, contents):
    entry = REGISTRY[name]["hub"]
    base = f"/datasets/{entry['id']}/resolve/{entry['revision']}"
    return {f"{base}/{entry['splits'][file]}": content for file, content in contents.items()} | {"/": b""}


def test_hub_text(tmp_path, monkeypatch, serve):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    lines = ["", " = Title = \n", "", " Text of it \n"]
    pages = hub_pages("wikitext2", dict.fromkeys(("train.txt", "valid.txt", "test.txt"), parquet({"text": lines})))
    monkeypatch.setenv("HF_ENDPOINT", serve(pages))
    facts = retrieve(
        "wikitext2", REGISTRY["wikitext2"], settings("hub", train=None, valid=None, test=None), None, tmp_path / "raw"
    )
    assert (tmp_path / "raw" / "train.txt").read_text() == "\n = Title = \n\n Text of it \n"
    assert facts["revision"] == REGISTRY["wikitext2"]["hub"]["revision"]
    assert not (tmp_path / "partial").exists()


def test_hub_file_with_another_checksum(tmp_path, monkeypatch, serve):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    pages = hub_pages("imdb", dict.fromkeys(("train.jsonl", "test.jsonl"), parquet({"text": ["a"], "label": [1]})))
    monkeypatch.setenv("HF_ENDPOINT", serve(pages))
    message = refused("imdb", settings("hub", train=None, test=None), None, tmp_path / "x")
    assert "wrong sha256 checksum" in message and "stanfordnlp/imdb/plain_text/train" in message


def test_hub_labelled_text(tmp_path, monkeypatch, serve):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    pages = hub_pages("sst2", dict.fromkeys(("train.tsv", "dev.tsv"), parquet({"sentence": ["a b "], "label": [1]})))
    monkeypatch.setenv("HF_ENDPOINT", serve(pages))
    entry = REGISTRY["sst2"] | {
        "hub": {key: value for key, value in REGISTRY["sst2"]["hub"].items() if key != "checksums"}
    }
    retrieve("sst2", entry, settings("hub", train=None, test=None), None, tmp_path / "raw")
    assert (tmp_path / "raw" / "dev.tsv").read_text() == "sentence\tlabel\na b\t1\n"


def test_hub_without_the_file(tmp_path, monkeypatch, serve):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("HF_ENDPOINT", serve({"/": b""}))
    message = refused("sst2", settings("hub", train=None, test=None), None, tmp_path)
    assert "the hub has no stanfordnlp/sst2/data/train" in message


def test_hub_checkpoint_takes_safetensors_and_notes_the_commit(tmp_path, monkeypatch, serve):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    commit, names = "c" * 40, ["config.json", "model.safetensors", "pytorch_model.bin", "spiece.model", "README.md"]
    info = {"id": "albert/albert-xlarge-v2", "sha": commit, "siblings": [{"rfilename": name} for name in names]}
    pages = {f"/albert/albert-xlarge-v2/resolve/{commit}/{name}": name.encode() for name in names}
    pages |= {"/": b"", "/api/models/albert/albert-xlarge-v2/revision/main": json.dumps(info).encode()}
    monkeypatch.setenv("HF_ENDPOINT", serve(pages))
    entry = REGISTRY["albert-xlarge-v2"]
    facts = retrieve("albert-xlarge-v2", entry, settings("hub", folder=None), None, tmp_path / "raw")
    assert sorted(facts["files"]) == ["config.json", "model.safetensors", "spiece.model"]
    assert facts["revision"] == commit


@pytest.mark.parametrize(("owner", "kind"), [("albert", REAL), ("someone", OWN)])
def test_a_mirror_holds_another_checkpoint_of_the_hub_under_its_whole_name(tmp_path, owner, kind):
    """One that the registry lists is a smaller one of the same family; any other is the user's own choice."""
    for folder in ("albert-base-v2", "albert-xlarge-v2", f"{owner}--albert-base-v2"):
        place = tmp_path / "mirror" / "models" / folder
        place.mkdir(parents=True)
        for name in ("config.json", "model.safetensors", "spiece.model"):
            (place / name).write_text(folder)
    name, chosen = "albert-xlarge-v2", settings("hub", folder=f"{owner}/albert-base-v2@{'a' * 40}")
    facts = retrieve(name, REGISTRY[name], chosen, str(tmp_path / "mirror"), tmp_path / "raw")
    assert facts["source"] == "mirror" and (tmp_path / "raw" / "config.json").read_text() == f"{owner}--albert-base-v2"
    (entry,) = facts["stand_ins"]
    assert (entry["label"], entry["kind"]) == (f"{owner}/albert-base-v2 for ALBERT xlarge v2", kind)


def test_hub_stream_stops_at_the_last_document_asked_for(tmp_path, monkeypatch, serve):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("HF_ENDPOINT", serve({"/": b""}))
    read = []

    def stream(address):
        assert address.startswith("hf://datasets/allenai/c4@1588ec45")
        for text in ("too short", "this is long enough", "and so is this", "never reached at all"):
            read.append(text)
            yield text

    monkeypatch.setattr(hub, "stream", stream)
    retrieve("c4", REGISTRY["c4"], settings("hub", text=None), None, tmp_path / "raw")
    rows = [json.loads(line)["text"] for line in (tmp_path / "raw" / "c4.jsonl").read_text().splitlines()]
    assert rows == ["this is long enough", "and so is this"]
    assert len(read) == 3


def test_stream_reads_json_lines(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "one", "url": "u"}\n{"text": "two", "url": "v"}\n')
    assert list(hub.stream(str(tmp_path / "a.jsonl"))) == ["one", "two"]


# Kaggle


def test_kaggle_unreachable_without_a_key(tmp_path, nowhere):
    message = refused("heart", settings("kaggle", table=None), None, tmp_path)
    assert "cannot be reached" in message and "KAGGLE_USERNAME and KAGGLE_KEY" in message and "~/.kaggle/" in message


@pytest.mark.parametrize("code", [401, 403])
def test_missing_kaggle_key(tmp_path, monkeypatch, serve, code):
    from kagglesdk import kaggle_env

    keyless(monkeypatch)
    monkeypatch.setitem(kaggle_env._env_to_endpoint, kaggle_env.KaggleEnv.PROD, serve({"*": code}))
    message = refused("heart", settings("kaggle", table=None), None, tmp_path)
    assert f"HTTP {code}" in message and "KAGGLE_USERNAME and KAGGLE_KEY" in message and "kaggle.json" in message


def test_kaggle_key_never_leaves_kagglehub(tmp_path, monkeypatch, serve):
    from kagglesdk import kaggle_env

    monkeypatch.setenv("KAGGLE_USERNAME", "somebody")
    monkeypatch.setenv("KAGGLE_KEY", "very-secret")
    monkeypatch.delenv("KAGGLE_API_TOKEN", raising=False)
    monkeypatch.setitem(kaggle_env._env_to_endpoint, kaggle_env.KaggleEnv.PROD, serve({"*": 403}))
    message = refused("heart", settings("kaggle", table=None), None, tmp_path)
    assert "not valid" in message and "very-secret" not in message


def test_kaggle_table(tmp_path, monkeypatch, serve):
    from kagglesdk import kaggle_env

    keyless(monkeypatch)
    monkeypatch.setitem(kaggle_env._env_to_endpoint, kaggle_env.KaggleEnv.PROD, serve({"*": 200}))

    def give(handle, output_dir, **_):
        assert handle == "priyamchoksi/100000-diabetes-clinical-dataset/versions/1"
        Path(output_dir).mkdir(parents=True)
        (Path(output_dir) / "diabetes_dataset.csv").write_text("bmi\n1\n")
        return output_dir

    monkeypatch.setattr("kagglehub.dataset_download", give)
    facts = retrieve("diabetes", REGISTRY["diabetes"], settings("kaggle", table=None), None, tmp_path / "raw")
    assert list(facts["files"]) == ["diabetes_dataset.csv"] and facts["revision"] == "version 1"
