"""Downloads, from a server on this machine: what comes is checked before a byte is written."""

from __future__ import annotations

import gzip
import io
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from urllib.error import URLError

import numpy as np
import pytest

from honestdp.datasets import download, enron, mnist
from honestdp.datasets.files import arrays_digest
from honestdp.datasets.mails import LABELS, from_tar, mails_digest, pack, read_mails
from honestdp.errors import InputError

mnist_module, enron_module = (import_module(f"honestdp.datasets.{n}") for n in ("mnist", "enron"))


class Home:
    """A public home. files: by path. cut: ends each answer early. asked: the paths, in order."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.cut = 0
        self.asked: list[str] = []
        home = self

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                home.asked.append(self.path)
                body = home.files.get(self.path)
                if body is None:
                    self.send_error(404, "gone\nfor good")
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[: len(body) - home.cut])

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"


@pytest.fixture
def home(monkeypatch) -> Iterator[Home]:
    monkeypatch.setenv("no_proxy", "*")
    found = Home()
    thread = threading.Thread(target=found.server.serve_forever, args=(0.02,))
    thread.start()
    yield found
    found.server.shutdown()
    thread.join()
    found.server.server_close()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HONESTDP_DATA", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def idx(array: np.ndarray) -> bytes:
    kind = 0x801 if array.ndim == 1 else 0x803
    sizes = [len(array)] if array.ndim == 1 else [len(array), 28, 28]
    return np.array([kind, *sizes], ">i4").tobytes() + array.tobytes()


def published(whole: dict[str, np.ndarray]) -> dict[str, bytes]:
    parts = [whole["X"][:5], whole["y"][:5], whole["X"][5:], whole["y"][5:]]
    return dict(zip(mnist_module.IDX, map(idx, parts), strict=True))


@pytest.fixture
def digits(home, monkeypatch) -> dict[str, np.ndarray]:
    """A small MNIST, published at `home`: 5 digits to train on, 3 to score on."""
    random = np.random.RandomState(7)
    whole = {"X": random.randint(0, 255, (8, 784)).astype(np.uint8), "y": np.arange(8, dtype="u1")}
    files = published(whole)
    home.files = {f"/{name}.gz": gzip.compress(file) for name, file in files.items()}
    known = {name: sha256(file).hexdigest() for name, file in files.items()}
    kept = replace(mnist_module.DATA_FILE, sha256=arrays_digest(whole))
    for name, value in {"HOME": home.url, "IDX": known, "DATA_FILE": kept, "TRAINS": 5}.items():
        monkeypatch.setattr(mnist_module, name, value)
    return whole


def letters() -> list[dict[str, object]]:
    found = []
    for folder, label in LABELS.items():
        for i in range(10):
            text = f"Subject: {folder} letter\ncaf\xe9 number{i} " + "meter " * i + "\n"
            found.append({"file": f"{folder}/{i:04}.{folder}.txt", "label": label, "text": text})
    return found


def tar(mails, change=lambda member: member) -> bytes:
    """As published: spam before ham, ends of lines from Windows, and a file that is no mail."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for mail in [{"file": "Summary.txt", "text": "no mail"}, *reversed(mails)]:
            body = mail["text"].replace("\n", "\r\n").encode("latin-1")
            member = tarfile.TarInfo(f"enron1/{mail['file']}")
            member.size = len(body)
            archive.addfile(change(member), io.BytesIO(body))
    return file.getvalue()


@pytest.fixture
def mails(home, monkeypatch) -> list[dict[str, object]]:
    found = letters()
    home.files = {"/enron1.tar.gz": gzip.compress(tar(found))}
    monkeypatch.setattr(enron_module, "HOME", f"{home.url}enron1.tar.gz")
    kept = replace(enron_module.DATA_FILE, sha256=mails_digest(found))
    monkeypatch.setattr(enron_module, "DATA_FILE", kept)
    return found


def refused(load) -> str:
    with pytest.raises(InputError) as caught:
        load(download=True)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    said = str(caught.value)
    assert "\n" not in said
    assert len(said) < 400
    return said


# What comes out right


def test_mnist_is_fetched_once_and_kept(digits, home, folder) -> None:
    found = mnist(download=True)
    assert home.asked == [f"/{name}.gz" for name in mnist_module.IDX]
    assert np.array_equal(found.train.toarray()[:, :-1], digits["X"][:5])
    assert np.array_equal(found.validation.toarray()[:, -1], digits["y"][5:])
    assert [path.name for path in folder.iterdir()] == ["mnist.npz"]
    for again in (mnist(), mnist(download=True)):
        assert (again.train != found.train).nnz == 0
    assert len(home.asked) == 4


def test_enron_is_fetched_once_and_kept(mails, home, folder) -> None:
    found = enron(download=True)
    assert home.asked == ["/enron1.tar.gz"]
    assert [path.name for path in folder.iterdir()] == ["enron1.jsonl.gz"]
    assert read_mails((folder / "enron1.jsonl.gz").read_bytes()) == mails
    assert found.schema.columns[0].name == "word caf\xe9"
    assert found.train.shape[0] == 16
    assert (enron().train != found.train).nnz == 0
    assert len(home.asked) == 1


def test_the_views_of_a_table_declare_the_same_rows(digits, mails, home, folder) -> None:
    home.files |= {f"/{name}.gz": gzip.compress(file) for name, file in published(digits).items()}
    pixels, images = mnist(download=True), mnist(view="images")
    assert (pixels.train != images.train).nnz == 0
    assert images.schema.input_names == pixels.schema.input_names
    assert images.schema.encode(images.train).inputs.shape == (5, 1544)
    numbers, counts, text = enron(download=True), enron(view="counts"), enron(view="text")
    assert (numbers.train != counts.train).nnz == 0
    encoded = [each.schema.encode(each.train) for each in (numbers, counts, text)]
    assert [part.inputs.shape[1] for part in encoded] == [numbers.schema.width] * 2 + [2**14]
    assert np.array_equal(encoded[0].targets, encoded[2].targets)
    for load in (mnist, enron):
        with pytest.raises(InputError, match="view='paper': must be one of"):
            load(view="paper")


def test_nothing_is_fetched_unless_asked_for(digits, home) -> None:
    with pytest.raises(InputError, match=r"holds no mnist\.npz"):
        mnist()
    assert not home.asked


def test_a_file_that_is_there_is_not_written_over(digits, home, folder) -> None:
    (folder / "mnist.npz").write_bytes(b"mine")
    assert "remove it" in refused(mnist)
    assert (folder / "mnist.npz").read_bytes() == b"mine"
    assert not home.asked


# What does not


def test_no_folder_to_save_in(digits, home, folder, monkeypatch) -> None:
    folder.rmdir()
    assert refused(mnist).startswith(f"HONESTDP_DATA='{folder}': is not a folder; make it")
    monkeypatch.delenv("HONESTDP_DATA")
    assert refused(mnist).startswith("HONESTDP_DATA: not set; ")
    assert not home.asked


def test_another_file_than_the_published_one(digits, home, folder) -> None:
    name = list(home.files)[2]
    home.files[name] = gzip.compress(b"another")
    said = refused(mnist)
    assert said.startswith(f"{home.url}{name[1:]}: is not MNIST as published (checksum); nothing ")
    assert not list(folder.iterdir())


def test_other_mails_than_the_published_ones(mails, home, folder) -> None:
    home.files["/enron1.tar.gz"] = gzip.compress(tar(mails[:-1]))
    said = refused(enron)
    assert said.startswith("enron1.jsonl.gz as fetched: is not enron1 as published (checksum); no")
    assert not list(folder.iterdir())


@pytest.mark.parametrize("load", [mnist, enron])
def test_an_answer_that_breaks_off(load, digits, mails, home, folder, monkeypatch) -> None:
    monkeypatch.setattr(home, "files", dict.fromkeys(["/a.gz"], gzip.compress(bytes(range(200)))))
    home.files |= {f"/{name}.gz": home.files["/a.gz"] for name in mnist_module.IDX}
    home.files["/enron1.tar.gz"] = home.files["/a.gz"]
    home.cut = 30
    said = refused(load)
    assert said.startswith(home.url)
    assert "broke off" in said or "cannot be fetched" in said
    assert "nothing was saved" in said
    assert not list(folder.iterdir())


@pytest.mark.parametrize("body", [b"", b"<html>moved</html>", gzip.compress(b"no archive")])
def test_something_else_at_that_address(body, mails, home, folder) -> None:
    home.files["/enron1.tar.gz"] = body
    assert "nothing was saved" in refused(enron)
    assert not list(folder.iterdir())


def test_a_file_that_is_gone(mails, home, folder) -> None:
    home.files.clear()
    said = refused(enron)
    assert said.startswith(f"{home.url}enron1.tar.gz: cannot be fetched (status 404); nothing was")
    assert "copy the saved file into the folder HONESTDP_DATA" in said


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (URLError(OSError(-2, "Name or service not known")), "Name or service not known"),
        (TimeoutError("The read operation timed out"), "The read operation timed out"),
        (ConnectionResetError(104, "Connection reset by peer"), "Connection reset by peer"),
        (ValueError("a\nserver's\n" + "words " * 500), "a server's words words"),
        (OSError(), "OSError"),
    ],
)
@pytest.mark.parametrize("load", [mnist, enron])
def test_no_network(load, error, words, folder, monkeypatch) -> None:
    def opened(url: str) -> io.BytesIO:
        raise error

    monkeypatch.setattr(download, "opened", opened)
    said = refused(load)
    module = import_module(f"honestdp.datasets.{load.__name__}")
    assert said.startswith(module.HOME)
    assert f": cannot be fetched ({words}" in said
    assert not list(folder.iterdir())


class Stopping(io.BytesIO):
    def read(self, size: int | None = -1) -> bytes:
        raise KeyboardInterrupt


def test_ctrl_c_while_it_comes(folder, monkeypatch) -> None:
    monkeypatch.setattr(download, "opened", lambda url: Stopping())
    with pytest.raises(KeyboardInterrupt):
        mnist(download=True)
    assert not list(folder.iterdir())


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_a_file_that_cannot_be_written_whole(error, digits, folder, monkeypatch) -> None:
    def stops(handle: int) -> None:
        assert [path.name for path in folder.iterdir()] == ["mnist.npz.new"]
        raise error

    monkeypatch.setattr("os.fsync", stops)
    if isinstance(error, OSError):
        start = f"HONESTDP_DATA='{folder}': cannot be written to (No space left on device); "
        assert refused(mnist).startswith(start)
    else:
        with pytest.raises(KeyboardInterrupt):
            mnist(download=True)
    assert not list(folder.iterdir())


# Absurd sizes


def test_more_than_there_should_be(mails, home, folder, monkeypatch) -> None:
    monkeypatch.setattr(download, "MOST", 2000)
    home.files["/enron1.tar.gz"] = bytes(2001)
    assert refused(enron).startswith(f"{home.url}enron1.tar.gz: above 2000 bytes, so it is somet")
    home.files["/enron1.tar.gz"] = gzip.compress(bytes(2001))  # small until it is unpacked
    assert refused(enron).startswith(f"{home.url}enron1.tar.gz: above 2000 bytes, so it is somet")
    assert not list(folder.iterdir())


def test_a_member_that_claims_to_be_large() -> None:
    """A sparse one: a few bytes in the archive, more than there is room for when it is read."""

    def large(member: tarfile.TarInfo) -> tarfile.TarInfo:
        size = str(download.MOST + 1)
        member.pax_headers = {"GNU.sparse.map": "0,10", "GNU.sparse.size": size}
        return member

    with pytest.raises(InputError, match=r"^there: is broken, or no archive of mails; nothing"):
        from_tar(tar(letters()[:1], large), "there")


def test_members_that_are_no_mails_are_passed_over() -> None:
    """Links, folders, mails elsewhere: nothing of an archive is ever written to the disk."""

    def changed(member: tarfile.TarInfo) -> tarfile.TarInfo:
        if member.name.endswith("0003.ham.txt"):
            member.type, member.linkname, member.size = tarfile.SYMTYPE, "/etc/hostname", 0
        if member.name.endswith("0004.ham.txt"):
            member.name = "../../ham/../0004.ham.txt"
        return member

    found = from_tar(tar(letters(), changed), "there")
    assert len(found) == 18
    assert found == [m for m in letters() if m["file"][4:8] not in ("0003", "0004") or m["label"]]


# The real content, from a pretended home


@pytest.mark.data
def test_the_real_mails_come_through(data_folder, folder, monkeypatch) -> None:
    mails = read_mails((data_folder / "enron1.jsonl.gz").read_bytes())
    body = gzip.compress(tar(mails), compresslevel=1)
    monkeypatch.setattr(download, "opened", lambda url: io.BytesIO(body))
    kept = enron_module.DATA_FILE
    packed = pack(from_tar(download.unpacked("there"), "there"))
    assert download.loaded(kept, lambda: packed, download=True) == mails
    assert kept.load() == mails


@pytest.mark.slow
@pytest.mark.data
def test_the_real_digits_come_through(data_folder, folder, monkeypatch) -> None:
    with np.load(data_folder / "mnist.npz") as file:
        inputs, targets = file["X"], file["y"]
    parts = [inputs[:60_000], targets[:60_000], inputs[60_000:], targets[60_000:]]
    files = {
        f"{mnist_module.HOME}{name}.gz": gzip.compress(idx(part), compresslevel=1)
        for name, part in zip(mnist_module.IDX, parts, strict=True)
    }
    monkeypatch.setattr(download, "opened", lambda url: io.BytesIO(files[url]))
    found = mnist(download=True)
    assert found.train.shape == (60_000, 785)
    assert (mnist().validation != found.validation).nnz == 0
