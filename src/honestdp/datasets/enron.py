"""Enron-Spam, subset enron1 (Metsis, Androutsopoulos and Paliouras 2006): 5,172 mails."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, hstack

from honestdp.datasets.dataset import Dataset, numbers_schema, split
from honestdp.datasets.download import loaded, unpacked
from honestdp.datasets.files import DataFile
from honestdp.datasets.mails import from_tar, mails_digest, pack, read_mails

HOME = "http://www.aueb.gr/users/ion/data/enron-spam/preprocessed/enron1.tar.gz"  # its authors'
DATA_FILE = DataFile(
    file="enron1.jsonl.gz",
    called="enron1 as published",
    get=f"honestdp.datasets.enron(download=True) fetches Enron-Spam from {HOME}",
    read=read_mails,
    digest=mails_digest,
    sha256="d1aa0261ccddcb0f228c9d8c485f2c32cdc43f083b6a6e7eca58d618404aaf2f",
)


def enron(download: bool = False) -> Dataset:
    """Load Enron-Spam: ham or spam, by the counts of 5,512 words; 80/20 by a fixed permutation.

    The words, and the highest count of each (the bounds), are read from the mails themselves, as in
    the paper, and treated as public for the experiment. For mails to protect, use a public list of
    words.

    Args:
        download: Fetch it (2 MB) if the folder HONESTDP_DATA does not have it. These are real
            people's mails: use them for experiments only.
    """
    mails = loaded(DATA_FILE, lambda: pack(from_tar(unpacked(HOME), HOME)), download)
    from sklearn.feature_extraction.text import CountVectorizer  # takes a second to import

    words = CountVectorizer(stop_words="english", min_df=8)
    counts = words.fit_transform([mail["text"] for mail in mails])
    high = counts.max(axis=0).toarray().ravel().astype(float).tolist()
    names = [f"word {word}" for word in words.get_feature_names_out()]
    schema = numbers_schema("enron1", "one mail", names, high, "spam", ["0", "1"])
    targets = csr_matrix(np.array([[mail["label"]] for mail in mails]))
    table = csr_matrix(hstack([counts, targets]), dtype=np.float32)
    trains, validates = split(len(mails))
    return Dataset(schema, table[trains], table[validates])
