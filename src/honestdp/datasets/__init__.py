"""The paper's tables, each as (schema, train, validation); Adult comes with the package.

The others are read from the folder that HONESTDP_DATA names, or fetched into it from their public
home with `mnist(download=True)`; the content of a file is always checked.
"""

from honestdp.datasets.adult import adult
from honestdp.datasets.adult_rare import adult_rare
from honestdp.datasets.dataset import Dataset
from honestdp.datasets.enron import enron
from honestdp.datasets.gisette import gisette
from honestdp.datasets.mnist import mnist
from honestdp.datasets.synthetic import synthetic

__all__ = ["Dataset", "adult", "adult_rare", "enron", "gisette", "mnist", "synthetic"]
