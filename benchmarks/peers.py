"""The training loops that `engine.py` puts beside honestdp: Opacus' modes, and plain torch.

Each is written as its user would write it: a TensorDataset, a DataLoader, a loop. One candidate
is enough, since they train one at a time.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import torch
from opacus import PrivacyEngine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from workloads import SEED, Workload

OPACUS_MODES = ("hooks", "ghost", "functorch")
# Without secure_mode Opacus draws its noise from torch's generator. That is faster (honestdp's
# is cryptographic always), so it stays, and its warning goes.
warnings.filterwarnings("ignore", "Secure RNG turned off")
# The first layer's input is data and needs no gradient: nothing to warn of.
warnings.filterwarnings("ignore", "Full backward hook is firing when gradients are computed")


def data_set(workload: Workload) -> TensorDataset:
    labels = torch.from_numpy(workload.labels)
    if workload.classes == 2:  # one output a row: the log-odds
        labels = labels.float().unsqueeze(1)
    return TensorDataset(workload.dense, labels)


def loss(workload: Workload) -> nn.Module:
    return nn.BCEWithLogitsLoss() if workload.classes == 2 else nn.CrossEntropyLoss()


def opacus_steps(
    workload: Workload, mode: str, lot_size: int, noise_multiplier: float, clip_norm: float
) -> Iterator[None]:
    """Opacus with its own Poisson loader; every `next` is one step.

    Its sampling rate is 1 / len(loader), so its expected lot is at most L, and up to 4 % below it
    on the small data sets: a small gift.
    """
    module = workload.network()
    optimizer: Any = torch.optim.Adam(module.parameters())
    criterion: Any = loss(workload)
    made = PrivacyEngine().make_private(
        module=module,
        optimizer=optimizer,
        criterion=criterion,
        data_loader=DataLoader(data_set(workload), batch_size=lot_size),
        noise_multiplier=noise_multiplier,
        max_grad_norm=clip_norm,
        poisson_sampling=True,
        grad_sample_mode=mode,
    )
    if mode == "ghost":
        module, optimizer, criterion, loader = made
    else:
        module, optimizer, loader = made
    return training(module, optimizer, criterion, loader)


def plain_steps(workload: Workload, lot_size: int) -> Iterator[None]:
    """The loop without privacy; every `next` is one step on exactly L rows."""
    module = workload.network()
    loader = DataLoader(
        data_set(workload),
        batch_size=lot_size,
        shuffle=True,
        drop_last=True,
        generator=torch.Generator().manual_seed(SEED),
    )
    return training(module, torch.optim.Adam(module.parameters()), loss(workload), loader)


def training(module: Any, optimizer: Any, criterion: Any, loader: Any) -> Iterator[None]:
    while True:
        for x, y in loader:
            optimizer.zero_grad()
            criterion(module(x), y).backward()
            optimizer.step()
            yield
