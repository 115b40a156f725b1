"""The floor: only the matrix products and noise draws that a private step cannot avoid.

A step of one candidate on a lot of L rows x:
  LR     z = x W and the sum x' d                                            (2 products)
  TLNN   h = x W1, z = h W2, h' d2, d1 = d2 W2', and the sum x' d1           (5 products)
  conv   forward and backward pass of the whole lot at once, loss included, by torch
and one normal for every parameter: honestdp's own, cryptography included, because they take half
the time of torch.randn's. The rest of a step is left out: drawing and gathering lots, loss,
norms and clipping (d, d1, d2 are constants), the optimizer, anything between the parts.
Two variants where rows are sparse, of which the faster is reported: torch products on dense
rows, in the orientation in which they are fastest, and compiled products on CSR rows (for
wide layers the transposed rows are made beforehand). As in honestdp, every core runs its
own group of candidates with single-threaded kernels. It is no proof: who finds a faster product
may still get below it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from numba import njit
from scipy.sparse import block_diag
from torch import Tensor
from workloads import HIDDEN, SEED, Workload

from honestdp.engine import ClippedSum, Randomness
from honestdp.engine.cohorts import CACHE
from honestdp.engine.kernels.two_layer import combine
from honestdp.engine.noise import NoiseMaker

LARGEST = 20  # candidates in a group; fewer where their parameters leave the cache

Step = Callable[[], object]


class Floor:
    """One group of candidates a core. `rows` is "dense" or "csr"."""

    def __init__(self, workload: Workload, rows: str, lot_size: int) -> None:
        parameters = sum(p.numel() for p in workload.network().parameters())
        self.group = max(1, min(LARGEST, CACHE // (4 * parameters)))
        self.cores = torch.get_num_threads()
        self._steps = [
            group_step(workload, rows, lot_size, self.group, parameters, core)
            for core in range(self.cores)
        ]

    def measure(self, seconds: float) -> float:
        """ms per candidate-step, all cores at work."""
        threads = torch.get_num_threads()
        pool = ThreadPoolExecutor(self.cores, initializer=lambda: torch.set_num_threads(1))
        try:
            rates = list(pool.map(lambda step: steps_per_second(step, seconds), self._steps))
        finally:
            pool.shutdown()
            torch.set_num_threads(threads)
        return 1000 / (sum(rates) * self.group)


def steps_per_second(step: Step, seconds: float) -> float:
    start, count = time.perf_counter(), 0
    while (elapsed := time.perf_counter() - start) < seconds or count == 0:
        step()
        count += 1
    return count / elapsed


def group_step(
    workload: Workload, rows: str, lot_size: int, group: int, parameters: int, core: int
) -> Step:
    lots = np.random.default_rng(SEED + core).integers(len(workload.labels), size=(group, lot_size))
    if workload.kind == "conv":
        products = conv_products(workload, lots)
    else:
        width = HIDDEN if workload.kind == "tlnn" else workload.outputs
        make = dense_products if rows == "dense" else csr_products
        products = make(workload, lots, width)
        if workload.kind == "tlnn":
            products = [*products, *second_layer(group, lot_size, workload.outputs)]
    parts = [*products, *noise_draws(group, parameters)]
    return lambda: [part() for part in parts]


def noise_draws(group: int, parameters: int) -> list[Step]:
    numbers = np.arange(group, dtype=np.uint32)
    multipliers = np.full(group, 4.0)
    maker = NoiseMaker(numbers, multipliers, 250.0, Randomness.simulation(SEED))
    sums = torch.zeros(group, parameters, dtype=torch.int32)
    total = ClippedSum(sums, torch.ones(group, dtype=torch.float64))
    return [lambda: maker.noisy_mean(total, 1, slice(0, group))]


def dense_products(workload: Workload, lots: Any, width: int) -> list[Step]:
    x = workload.dense[torch.from_numpy(lots)]
    group, lot_size, features = x.shape
    weight, total = torch.randn(group, width, features), torch.empty(group, width, features)
    out, d = torch.empty(group, width, lot_size), torch.randn(group, width, lot_size)
    # One product a candidate: torch.bmm takes up to six times as long where there is one output.
    forward = [
        lambda w=w, rows=rows.T, o=o: torch.mm(w, rows, out=o)
        for w, rows, o in zip(weight, x, out, strict=True)
    ]
    return [*forward, lambda: torch.bmm(d, x, out=total)]


def second_layer(group: int, lot_size: int, outputs: int) -> list[Step]:
    h, d1 = torch.randn(group, lot_size, HIDDEN), torch.empty(group, lot_size, HIDDEN)
    weight, total = torch.randn(group, HIDDEN, outputs), torch.empty(group, HIDDEN, outputs)
    z, d2 = torch.empty(group, lot_size, outputs), torch.randn(group, lot_size, outputs)
    return [
        lambda: torch.bmm(h, weight, out=z),
        lambda: torch.bmm(h.transpose(1, 2), d2, out=total),
        lambda: torch.bmm(d2, weight.transpose(1, 2), out=d1),
    ]


def csr_products(workload: Workload, lots: Any, width: int) -> list[Step]:
    # One matrix with a block a candidate, so that one call does the whole group.
    x = block_diag([workload.matrix[lot] for lot in lots], format="csr")
    draws = np.random.default_rng(SEED)
    weight, d = (draws.standard_normal((n, width), dtype=np.float32) for n in x.shape[::-1])
    out, total = np.empty_like(d), np.empty_like(weight)
    if width == 1:
        return [
            lambda: csr_dots(x.indptr, x.indices, x.data, weight[:, 0], out[:, 0]),
            lambda: csr_scatter(x.indptr, x.indices, x.data, d[:, 0], total[:, 0]),
        ]
    turned = x.T.tocsr()
    return [
        lambda: csr_product(x.indptr, x.indices, x.data, weight, out),
        lambda: csr_product(turned.indptr, turned.indices, turned.data, d, total),
    ]


@njit(nogil=True, fastmath=True, error_model="numpy")
def csr_dots(starts: Any, columns: Any, values: Any, weight: Any, out: Any) -> None:
    """out = matrix @ weight"""
    for r in range(out.size):
        total = np.float32(0)
        for j in range(starts[r], starts[r + 1]):
            total += values[j] * weight[columns[j]]
        out[r] = total


@njit(nogil=True, fastmath=True, error_model="numpy")
def csr_scatter(starts: Any, columns: Any, values: Any, d: Any, total: Any) -> None:
    """total = matrix' @ d"""
    total[:] = 0
    for r in range(d.size):
        for j in range(starts[r], starts[r + 1]):
            total[columns[j]] += values[j] * d[r]


@njit(nogil=True, fastmath=True, error_model="numpy")
def csr_product(starts: Any, columns: Any, values: Any, table: Any, out: Any) -> None:
    """out = matrix @ table, by the engine's own product."""
    for r in range(out.shape[0]):
        row = out[r]
        row[:] = 0
        combine(columns[starts[r] : starts[r + 1]], values[starts[r] : starts[r + 1]], table, row)


def conv_products(workload: Workload, lots: Any) -> list[Step]:
    network = workload.network()
    parameters = list(network.parameters())

    def both_passes(x: Tensor, y: Tensor) -> None:
        loss = torch.nn.functional.cross_entropy(network(x), y)
        torch.autograd.grad(loss, parameters)

    inputs = [workload.dense[torch.from_numpy(lot)] for lot in lots]
    labels = [torch.from_numpy(workload.labels[lot]) for lot in lots]
    return [lambda x=x, y=y: both_passes(x, y) for x, y in zip(inputs, labels, strict=True)]
