"""Enron-Spam, subset enron1 (Metsis, Androutsopoulos and Paliouras 2006): 5,172 mails."""

from __future__ import annotations

import gzip
import json

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from honestdp.datasets.dataset import Dataset, numbers_schema, split, with_target
from honestdp.datasets.files import path_of

FILE = "enron1.jsonl.gz"


def enron() -> Dataset:
    """Ham or spam: how often each of 5,512 words is in a mail; 80/20 by a fixed permutation.

    The words, and the highest count of each (the bounds), are read off the mails themselves, as
    in the paper: here they count as public, for the experiment. With mails to protect they would
    not be: take a public list of words.
    """
    with gzip.open(path_of(FILE, "put it there")) as file:
        mails = [json.loads(line) for line in file]
    words = CountVectorizer(stop_words="english", min_df=8)
    counts = words.fit_transform([mail["text"] for mail in mails]).tocsr()
    high = counts.max(axis=0).toarray().ravel().astype(float).tolist()
    names = [f"word {word}" for word in words.get_feature_names_out()]
    schema = numbers_schema("enron1", "one mail", names, high, "spam", ["0", "1"])
    table = with_target(counts, np.array([mail["label"] for mail in mails]))
    trains, validates = split(len(mails))
    return Dataset(schema, table[trains], table[validates])
