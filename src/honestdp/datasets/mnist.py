"""MNIST (LeCun, Cortes and Burges): 70,000 handwritten digits of 28 by 28 pixels."""

from __future__ import annotations

from hashlib import sha256
from io import BytesIO
from typing import Literal

import numpy as np

from honestdp.datasets.dataset import Dataset, numbers_schema, with_target
from honestdp.datasets.download import NOTHING, loaded, unpacked
from honestdp.datasets.files import DataFile, arrays_digest, read_arrays
from honestdp.errors import InputError, fail
from honestdp.schema import Image, Schema

PIXELS = 28 * 28
TRAINS = 60_000
VIEWS = ("pixels", "images")
HOME = "https://ossci-datasets.s3.amazonaws.com/mnist/"  # where PyTorch has it from
IDX = {  # the files as published, and the SHA-256 of each when unpacked
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
DATA_FILE = DataFile(
    file="mnist.npz",
    called="MNIST as published",
    get=f"honestdp.datasets.mnist(download=True) fetches MNIST from {HOME}",
    read=read_arrays,
    digest=arrays_digest,
    sha256="96e7a305950b896bfc1dc9ae9d85fbfc49250af6d562fe9f01eb234cfcf74726",
)

View = Literal["pixels", "images"]


def mnist(download: bool = False, *, view: View = "pixels") -> Dataset:
    """Load MNIST: 60,000 digits to train on, 10,000 to test on; pixels from 0 to 255.

    Args:
        download: Fetch it (11 MB) if the folder HONESTDP_DATA does not have it.
        view: What the schema declares, of the same table: "pixels", 784 numbers, as in the paper;
            or "images", one image of 28 by 28, encoded as 1,544 features of its edges.

    Raises:
        InputError: If there is no such view, or no such file.
    """
    if view not in VIEWS:
        raise fail("view", view, f"must be one of {', '.join(VIEWS)}")
    arrays = loaded(DATA_FILE, _fetched, download)
    names = [f"pixel {i}" for i in range(PIXELS)]
    schema = numbers_schema(
        "mnist", "one image", names, [255.0] * PIXELS, "digit", [str(d) for d in range(10)]
    )
    if view == "images":
        image = Image(name="image", size=(28, 28), columns="pixel *", range=(0, 255))
        schema = Schema(
            name="mnist as images", unit=schema.unit, target=schema.target, columns=(image,)
        )
    table = with_target(arrays["X"], arrays["y"])
    return Dataset(schema, table[:TRAINS], table[TRAINS:])


def _fetched() -> bytes:
    """The four published files as one npz file: train, then test, in their order."""
    parts = [_part(name) for name in IDX]
    images = [np.frombuffer(part, np.uint8, offset=16).reshape(-1, PIXELS) for part in parts[::2]]
    labels = [np.frombuffer(part, np.uint8, offset=8) for part in parts[1::2]]
    file = BytesIO()
    np.savez_compressed(
        file, X=np.concatenate(images), y=np.concatenate(labels), n_train=np.array(TRAINS)
    )
    return file.getvalue()


def _part(name: str) -> bytes:
    url = f"{HOME}{name}.gz"
    found = unpacked(url)
    if sha256(found).hexdigest() != IDX[name]:
        raise InputError(f"{url}: is not {DATA_FILE.called} (checksum); {NOTHING}")
    return found
