"""Enron-Spam, subset enron1 (Metsis, Androutsopoulos and Paliouras 2006): 5,172 mails."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_matrix, hstack

from honestdp.datasets.dataset import Dataset, numbers_schema, split
from honestdp.datasets.download import loaded, unpacked
from honestdp.datasets.files import DataFile
from honestdp.datasets.mails import Mail, from_tar, mails_digest, pack, read_mails
from honestdp.errors import fail
from honestdp.schema import Counts, Schema, Target, Text

HOME = "http://www.aueb.gr/users/ion/data/enron-spam/preprocessed/enron1.tar.gz"  # its authors'
DATA_FILE = DataFile(
    file="enron1.jsonl.gz",
    called="enron1 as published",
    get=f"honestdp.datasets.enron(download=True) fetches Enron-Spam from {HOME}",
    read=read_mails,
    digest=mails_digest,
    sha256="d1aa0261ccddcb0f228c9d8c485f2c32cdc43f083b6a6e7eca58d618404aaf2f",
)
TARGET, TEXT = Target(column="spam", classes=("0", "1")), Text(name="text")
VIEWS = ("numbers", "counts", "text")

View = Literal["numbers", "counts", "text"]


def enron(download: bool = False, *, view: View = "numbers") -> Dataset:
    """Load Enron-Spam: ham or spam; 80/20 by a fixed permutation.

    The 5,512 words of the first two views, and the highest count of each (the bounds), are read
    from the mails themselves, as in the paper, and treated as public for the experiment. For mails
    to protect, use a public list of words, or the text itself.

    Args:
        download: Fetch it (2 MB) if the folder HONESTDP_DATA does not have it. These are real
            people's mails: use them for experiments only.
        view: "numbers": counts of words as numbers between bounds, as in the paper. "counts": the
            same table declared as counts. "text": one column with the whole mail, hashed.

    Raises:
        InputError: If there is no such view, or no such file.
    """
    if view not in VIEWS:
        raise fail("view", view, f"must be one of {', '.join(VIEWS)}")
    mails = loaded(DATA_FILE, lambda: pack(from_tar(unpacked(HOME), HOME)), download)
    trains, validates = split(len(mails))
    if view == "text":
        columns: dict[str, list[object]] = {
            "text": [mail["text"] for mail in mails],
            "spam": [mail["label"] for mail in mails],
        }
        whole = pa.table(columns)
        schema = Schema(name="enron1 as text", unit="one mail", target=TARGET, columns=(TEXT,))
        return Dataset(schema, whole.take(pa.array(trains)), whole.take(pa.array(validates)))
    schema, table = _word_counts(mails)
    if view == "counts":
        counted = tuple(Counts(name=column.name) for column in schema.columns)
        schema = Schema(name="enron1 as counts", unit="one mail", target=TARGET, columns=counted)
    return Dataset(schema, table[trains], table[validates])


def _word_counts(mails: list[Mail]) -> tuple[Schema, csr_matrix]:
    """The paper's table: counts of words, the target last."""
    from sklearn.feature_extraction.text import CountVectorizer  # takes a second to import

    words = CountVectorizer(stop_words="english", min_df=8)
    counts = words.fit_transform([mail["text"] for mail in mails])
    high = counts.max(axis=0).toarray().ravel().astype(float).tolist()
    names = [f"word {word}" for word in words.get_feature_names_out()]
    schema = numbers_schema("enron1", "one mail", names, high, "spam", ["0", "1"])
    targets = csr_matrix(np.array([[mail["label"]] for mail in mails]))
    return schema, csr_matrix(hstack([counts, targets]), dtype=np.float32)
