"""A stand-in for Gisette, made from MNIST by its published recipe. It is NOT Gisette."""

from __future__ import annotations

from honestdp.datasets.dataset import Dataset, numbers_schema, split, with_target
from honestdp.datasets.files import DataFile, arrays_digest, read_arrays

DATA_FILE = DataFile(
    file="gisette_standin.npz",
    called="the stand-in for Gisette",
    get="this stand-in was made for honestdp, is not Gisette and has no public home; copy it from "
    "the project's data folder (Gisette is at https://archive.ics.uci.edu/dataset/170/gisette; "
    "this loader reads the stand-in only)",
    read=read_arrays,
    digest=arrays_digest,
    sha256="32c108abc35c7e01a15c26039422f2200f7b2f6a517d30d339a89bea063e0e59",
)


def gisette() -> Dataset:
    """Load the stand-in: 6,000 fours and nines, 5,000 columns of pixels, products and probes.

    Gisette itself (Guyon 2003) was not available; results on this table must be called those of a
    stand-in. 80/20 by a fixed permutation.
    """
    arrays = DATA_FILE.load()
    rows, columns = arrays["X"].shape
    schema = numbers_schema(
        "gisette stand-in (not Gisette)",
        "one image",
        [f"feature {i}" for i in range(columns)],
        [999.0] * columns,
        "digit",
        ["0", "1"],
    )
    table = with_target(arrays["X"], arrays["y"])
    trains, validates = split(rows)
    return Dataset(schema, table[trains], table[validates])
