"""Files of the data folder: missing, broken, of another kind, or packed by someone else."""

from __future__ import annotations

import gzip
import json
import zipfile
from dataclasses import replace
from importlib import import_module
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from honestdp.datasets import enron, gisette, mnist
from honestdp.datasets.files import arrays_digest, read_arrays
from honestdp.datasets.mails import mails_digest, pack, read_mails
from honestdp.errors import InputError

LOADERS = {"mnist": mnist, "enron": enron, "gisette": gisette}
DATA_FILE = {name: import_module(f"honestdp.datasets.{name}").DATA_FILE for name in LOADERS}
SECRET = "a cell of someone's row"
by_name = pytest.mark.parametrize("name", list(LOADERS))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HONESTDP_DATA", str(tmp_path))
    return tmp_path


def refused(load) -> str:
    """The one line with which a loader refuses; nothing of the underlying error hangs on it."""
    with pytest.raises(InputError) as caught:
        load()
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    said = str(caught.value)
    assert "\n" not in said
    assert SECRET not in said
    return said


def arrays() -> dict[str, np.ndarray]:
    random = np.random.RandomState(3)
    inputs = random.randint(0, 255, (6, 784)).astype(np.uint8)
    return {"X": inputs, "y": np.arange(6, dtype=np.uint8)}


def zipped(compression: int, **parts: np.ndarray) -> bytes:
    """An npz file as another library might make it."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", compression) as package:
        for name, array in parts.items():
            part = BytesIO()
            np.save(part, array)
            package.writestr(f"{name}.npy", part.getvalue())
    return file.getvalue()


WAY_OUT = {
    "mnist": "honestdp.datasets.mnist(download=True) fetches MNIST from https://",
    "enron": "honestdp.datasets.enron(download=True) fetches Enron-Spam from http://www.aueb.gr/",
    "gisette": "is not Gisette and has no public home",
}


@by_name
def test_a_file_that_is_missing(name, folder) -> None:
    said = refused(LOADERS[name])
    assert said.startswith(f"HONESTDP_DATA='{folder}': holds no {DATA_FILE[name].file}: ")
    assert WAY_OUT[name] in said


@by_name
def test_a_folder_that_is_not_named(name, monkeypatch) -> None:
    for value in (None, ""):
        if value is None:
            monkeypatch.delenv("HONESTDP_DATA")
        else:
            monkeypatch.setenv("HONESTDP_DATA", value)
        said = refused(LOADERS[name])
        assert said.startswith("HONESTDP_DATA: not set; set it to the folder for ")
        assert WAY_OUT[name] in said


def test_the_stand_in_says_where_gisette_is() -> None:
    said = refused(gisette)
    assert "https://archive.ics.uci.edu/dataset/170/gisette" in said
    assert "reads the stand-in only" in said


def test_a_folder_that_is_a_file(folder, monkeypatch) -> None:
    (folder / "file").touch()
    monkeypatch.setenv("HONESTDP_DATA", str(folder / "file"))
    assert "holds no mnist.npz" in refused(mnist)


def test_a_file_that_is_a_folder(folder) -> None:
    (folder / "mnist.npz").mkdir()
    assert refused(mnist).startswith("HONESTDP_DATA/mnist.npz: Is a directory; ")


def test_a_file_that_may_not_be_read(monkeypatch) -> None:
    def denied(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", denied)
    assert refused(mnist).startswith("HONESTDP_DATA/mnist.npz: Permission denied; ")


def broken() -> dict[str, bytes]:
    npz = zipped(zipfile.ZIP_DEFLATED, **arrays())
    mails = pack([{"file": "ham/1.txt", "label": 0, "text": SECRET}])
    bad = bytearray(npz)
    bad[len(bad) // 3] ^= 255
    objects = BytesIO()
    np.savez(objects, X=np.array([{SECRET: 1}], dtype=object), y=np.arange(2))
    return {
        "one byte": b"\x1f",
        "words": SECRET.encode() * 10,
        "npz cut": npz[: len(npz) // 2],
        "npz with a wrong byte": bytes(bad),
        "npz without X": zipped(zipfile.ZIP_STORED, y=np.arange(2)),
        "npz of objects": objects.getvalue(),
        "npy": zipped(zipfile.ZIP_STORED, X=np.arange(2))[40:],
        "mails cut": mails[:-12],
        "no JSON": gzip.compress(SECRET.encode()),
        "no mails": gzip.compress(json.dumps([SECRET]).encode()),
        "mails without text": gzip.compress(json.dumps({"file": SECRET}).encode()),
        "not UTF-8": gzip.compress(b"\xff\xfe" + SECRET.encode()),
    }


@by_name
@pytest.mark.parametrize("kind", list(broken()))
def test_a_file_that_is_broken_or_of_another_kind(name, kind, folder) -> None:
    (folder / DATA_FILE[name].file).write_bytes(broken()[kind])
    said = refused(LOADERS[name])
    start = f"HONESTDP_DATA/{DATA_FILE[name].file}: is broken, or another kind of file; remove it: "
    assert said.startswith(start)
    assert WAY_OUT[name] in said


@by_name
def test_a_file_that_holds_something_else(name, folder) -> None:
    other = pack([{"file": "ham/1.txt", "label": 0, "text": SECRET}])
    packed = other if name == "enron" else zipped(zipfile.ZIP_DEFLATED, **arrays())
    (folder / DATA_FILE[name].file).write_bytes(packed)
    said = refused(LOADERS[name])
    called = DATA_FILE[name].called
    start = f"HONESTDP_DATA/{DATA_FILE[name].file}: is not {called} (checksum); remove it: "
    assert said.startswith(start)
    assert WAY_OUT[name] in said


def test_arrays_are_known_by_what_they_hold(folder) -> None:
    """However they are packed, in whatever order; what else is in the file does not matter."""
    wanted = arrays()
    kept = replace(DATA_FILE["mnist"], sha256=arrays_digest(wanted))
    for packed in (
        zipped(zipfile.ZIP_STORED, **wanted),
        zipped(zipfile.ZIP_BZIP2, y=wanted["y"], X=np.asfortranarray(wanted["X"]), more=np.eye(2)),
    ):
        (folder / kept.file).write_bytes(packed)
        assert np.array_equal(kept.load()["X"], wanted["X"])


@pytest.mark.parametrize("change", ["pixel", "label", "type", "shape", "rows"])
def test_arrays_that_differ_have_another_digest(change) -> None:
    found = arrays()
    match change:
        case "pixel":
            found["X"][2, 5] ^= 1
        case "label":
            found["y"][3] ^= 1
        case "type":
            found["X"] = found["X"].view(np.int8)
        case "shape":
            found["X"] = found["X"].reshape(12, 392)
        case "rows":
            found["X"] = found["X"][::-1]
    again = read_arrays(zipped(zipfile.ZIP_STORED, **found))
    assert arrays_digest(again) != arrays_digest(arrays())


def test_mails_are_known_by_their_words() -> None:
    mail = {"file": "ham/1.txt", "label": 0, "text": "Subject:\nmeter \xe9t\xe9 re : 5\n"}
    known = mails_digest([mail])
    again = mail | {"text": "Subject: \r\nmeter  \xe9t\xe9 re : 5"}  # as copies of them differ
    assert mails_digest([again]) == known
    assert read_mails(pack([mail])) == [mail]
    packed = gzip.compress(json.dumps(mail, ensure_ascii=False).encode())
    assert mails_digest(read_mails(packed)) == known
    for change in ({"text": "Subject: metre"}, {"label": 1}, {"label": "0"}, {"file": "ham/2.txt"}):
        assert mails_digest([mail | change]) != known
    assert mails_digest([mail, mail]) != known


@pytest.mark.data
def test_the_published_files_give_the_file_that_is_kept(data_folder) -> None:
    """MNIST's content digest belongs to the four files whose digests are published."""
    from hashlib import sha256

    module = import_module("honestdp.datasets.mnist")
    found = read_arrays((data_folder / "mnist.npz").read_bytes())
    assert arrays_digest(found) == module.DATA_FILE.sha256
    cut = module.TRAINS
    for part, rows in (("train", slice(None, cut)), ("t10k", slice(cut, None))):
        images, labels = found["X"][rows], found["y"][rows]
        head = np.array([0x803, len(images), 28, 28], ">i4").tobytes()
        digest = sha256(head + images.tobytes()).hexdigest()
        assert digest == module.IDX[f"{part}-images-idx3-ubyte"]
        head = np.array([0x801, len(labels)], ">i4").tobytes()
        digest = sha256(head + labels.tobytes()).hexdigest()
        assert digest == module.IDX[f"{part}-labels-idx1-ubyte"]


def test_the_page_names_every_file_and_its_home() -> None:
    page = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text()
    for name, kept in DATA_FILE.items():
        assert f"`{kept.file}`" in page
        if name != "gisette":
            assert f"`{import_module(f'honestdp.datasets.{name}').HOME}`" in page
