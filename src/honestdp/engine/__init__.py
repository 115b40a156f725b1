"""Differentially private training of many candidates at once. Knows torch, knows no accounting.

    rows = examples(X, y)                                   # dense or sparse
    model = TwoLayer(features=104, classes=2)
    grid = [Candidate(rule="dpsgd", learning_rate=a, noise_multiplier=4.0) for a in (0.1, 1.0)]
    trained = train(model, rows, grid, Schedule(steps=2500, lot_size=250), Randomness())

The caller accounts for it: every candidate is `steps` Poisson-sampled Gaussian mechanisms of
noise multiplier `noise_multiplier` at sampling probability lot_size / rows, and lots and noise
are independent between candidates. Neighbours: one row replaced by a null record.
"""

from honestdp.candidates import Candidate
from honestdp.engine.clipping import ClippedSum
from honestdp.engine.examples import Examples, examples
from honestdp.engine.models import Linear, Model, Module, TwoLayer, named, size
from honestdp.engine.oracle import clipped_sum
from honestdp.engine.score import correct, predict, probabilities, score_units
from honestdp.engine.train import Schedule, Snapshot, Trained, train
from honestdp.randomness import Randomness

__all__ = [
    "Candidate",
    "ClippedSum",
    "Examples",
    "Linear",
    "Model",
    "Module",
    "Randomness",
    "Schedule",
    "Snapshot",
    "Trained",
    "TwoLayer",
    "clipped_sum",
    "correct",
    "examples",
    "named",
    "predict",
    "probabilities",
    "score_units",
    "size",
    "train",
]
