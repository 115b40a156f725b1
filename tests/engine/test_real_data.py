"""The paper's settings on real data, mean of five seeds: sigma = 4, L = 250, C = 1 where not said.
Research runs: simulations, scored on rows that are nobody's secret here."""

from __future__ import annotations

import pytest
import torch
from real_data import adult, mnist
from sklearn.linear_model import LogisticRegression

from honestdp.engine import (
    Candidate,
    Linear,
    Randomness,
    Schedule,
    TwoLayer,
    correct,
    examples,
    train,
)

pytestmark = pytest.mark.data
SEEDS = 5  # five candidates with the same setting are five runs with their own streams


def accuracy(model, tables, candidate: Candidate, steps: int) -> float:
    train_x, train_y, test_x, test_y = tables
    rows, test = examples(train_x, train_y), examples(test_x, test_y)
    trained = train(
        model, rows, [candidate] * SEEDS, Schedule(steps, 250), Randomness.simulation(0)
    )
    return correct(model, trained.stacked, test).double().mean().item() / len(test)


def row_norm(tables) -> float:
    """The root-mean-square norm of the rows; taken as public in these experiments."""
    rows = examples(tables[0], tables[1])
    return torch.sqrt((rows.squares - 1).mean()).item()


@pytest.fixture(scope="module")
def adult_tables(data_folder):
    return adult(data_folder)


@pytest.fixture(scope="module")
def mnist_tables(data_folder):
    return mnist(data_folder)


@pytest.fixture(scope="module")
def not_private(adult_tables) -> float:
    train_x, train_y, test_x, test_y = adult_tables
    found = LogisticRegression(C=1e4, max_iter=1000).fit(train_x, train_y).score(test_x, test_y)
    assert found > 0.84
    return found


@pytest.mark.parametrize("rule", ["dpadam", "dpadamwosm"])
def test_adult_logistic(rule, adult_tables, not_private):
    chosen = Candidate(rule=rule, noise_multiplier=4.0)
    assert accuracy(Linear(104, 2), adult_tables, chosen, 2500) >= not_private - 0.04


def test_adult_balanced(adult_tables, not_private):
    chosen = Candidate(
        rule="balanced", noise_multiplier=1.66, average=True, row_norm=row_norm(adult_tables)
    )
    assert accuracy(Linear(104, 2), adult_tables, chosen, 2500) >= not_private - 0.016


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["dpadam", "dpadamwosm"])
def test_mnist_softmax(rule, mnist_tables):
    chosen = Candidate(rule=rule, noise_multiplier=4.0)
    assert accuracy(Linear(784, 10), mnist_tables, chosen, 1500) >= 0.845


@pytest.mark.slow
def test_mnist_balanced(mnist_tables):
    chosen = Candidate(
        rule="balanced", noise_multiplier=8.0, average=True, row_norm=row_norm(mnist_tables)
    )
    assert accuracy(Linear(784, 10), mnist_tables, chosen, 1000) >= 0.84


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["dpadam", "dpadamwosm"])
def test_mnist_two_layer(rule, mnist_tables):
    chosen = Candidate(rule=rule, noise_multiplier=4.0)
    assert accuracy(TwoLayer(784, 10), mnist_tables, chosen, 1500) >= 0.85
