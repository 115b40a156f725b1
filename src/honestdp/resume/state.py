"""The state of an unfinished run, as one file whose length does not depend on the run.

Sensitive: it is for `RUN/.private/`. Its length follows from the plan alone: it has room for every
candidate that may be kept and for a whole group of draws in training, used or not.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import torch
from safetensors.torch import load as read_tensors
from safetensors.torch import save as write_tensors
from torch import Tensor

from honestdp.engine.cohort_training import CandidateState, packed, packed_layout, unpacked
from honestdp.engine.models import Model, size
from honestdp.errors import InputError
from honestdp.ledger import fingerprint
from honestdp.planning.plan import Plan
from honestdp.procedures import Draw, Outcome
from honestdp.schema.learn import Numbers

_ROOM = 64 << 20  # bytes that the group in training may take
_MOST = 256  # draws trained together


@dataclass(repr=False)
class RunState:
    """The state of an unfinished run.

    nonce: Identifies the run's charge. coins: The root of the coins. rows: A digest of the table,
    keyed by the coins; None before it is opened. done: Number of finished steps of the search.
    kept: The outcomes kept after them. bounds: The learnt values of each column that has some; None
    before they are learnt. at_work: The draws in training, with their states. checked: Whether the
    table passed its check.
    """

    nonce: str
    coins: bytes
    rows: bytes | None = None
    done: int = 0
    kept: list[Outcome] = field(default_factory=list)
    bounds: list[Numbers] | None = None
    at_work: list[tuple[Draw, CandidateState]] = field(default_factory=list)
    checked: bool = False


@dataclass(frozen=True, eq=False)
class StateFile:
    """Reads and writes the state of a plan's run."""

    plan: Plan
    models: Sequence[Model]
    seed: int | None  # of a simulation

    @property
    def group_size(self) -> int:
        """Number of draws that are trained together; depends on public facts alone."""
        most = max(2, min(_MOST, _ROOM // (4 * self._width)))
        return min(most, len(self.plan.grid)) if self.plan.shows_all else most

    @property
    def _width(self) -> int:
        """The most numbers that the state of one candidate takes."""
        pairs = zip(self.models, self.plan.candidates, strict=True)
        return max(sum(count for _, count in packed_layout(*pair)) for pair in pairs)

    @property
    def _facts(self) -> dict[str, str]:
        return {
            "format": "honestdp run 1",
            "plan": fingerprint(self.plan.public()),
            "seed": "" if self.seed is None else f"SIMULATION, NOT PRIVATE {self.seed}",
        }

    def _blank(self) -> dict[str, Tensor]:
        kept = len(self.plan.grid) if self.plan.shows_all else 1
        group = self.group_size
        learns = list(self.plan.learns.values())
        whole, real = torch.int64, torch.float64
        return {
            "nonce": torch.zeros(32, dtype=torch.uint8),
            "coins": torch.zeros(32, dtype=torch.uint8),
            "rows": torch.zeros(32, dtype=torch.uint8),
            "counts": torch.zeros(4, dtype=whole),  # done, bounds and rows known, draws at work
            "bounds": torch.zeros(len(learns), max(learns, default=2), dtype=real),
            "kept": torch.full((kept, 2), -1, dtype=whole),  # draw, setting
            "scores": torch.zeros(kept, 2, dtype=real),
            "parameters": torch.zeros(kept, max(map(size, self.models))),
            "draws": torch.zeros(group, 3, dtype=whole),  # draw, setting, step
            "work": torch.zeros(group, self._width),
            **({} if self.plan.check is None else {"checked": torch.zeros(1, dtype=whole)}),
        }

    def write(self, state: RunState) -> bytes:
        made = self._blank()
        made["nonce"][:] = torch.frombuffer(bytearray(state.nonce, "ascii"), dtype=torch.uint8)
        made["coins"][:] = torch.frombuffer(bytearray(state.coins), dtype=torch.uint8)
        made["counts"][:] = torch.tensor(
            [state.done, state.bounds is not None, state.rows is not None, len(state.at_work)],
            dtype=torch.int64,
        )
        if "checked" in made:
            made["checked"][0] = state.checked
        if state.rows is not None:
            made["rows"][:] = torch.frombuffer(bytearray(state.rows), dtype=torch.uint8)
        for i, numbers in enumerate(state.bounds or ()):
            made["bounds"][i, : len(numbers)] = torch.tensor(numbers, dtype=torch.float64)
        for i, one in enumerate(state.kept):
            made["kept"][i] = torch.tensor([one.draw.number, one.draw.setting])
            made["scores"][i] = torch.tensor([one.score, one.coin], dtype=torch.float64)
            made["parameters"][i, : len(one.parameters)] = one.parameters.cpu()
        candidates = self.plan.candidates
        for i, (draw, training) in enumerate(state.at_work):
            row = packed(training, self.models[draw.setting], candidates[draw.setting])
            made["draws"][i] = torch.tensor([draw.number, draw.setting, training.step])
            made["work"][i, : len(row)] = row
        return write_tensors(made, {**self._facts, "sha256": _digest(made)})

    def read(self, content: bytes) -> RunState:
        """Read the state; raises InputError if it is damaged, or of another plan or seed."""
        try:
            length = int.from_bytes(content[:8], "little")
            facts = json.loads(content[8 : 8 + length])["__metadata__"]
            found = read_tensors(content)
        except Exception as error:  # a Rust library raises many types
            raise InputError(f"its state cannot be read ({type(error).__name__})") from None
        if facts.get("plan") != self._facts["plan"]:
            raise InputError("holds an unfinished run of another plan; choose another folder")
        if facts.get("seed") != self._facts["seed"]:
            raise InputError(
                "holds a run of another seed, or just one is a simulation; choose another"
            )
        shapes = {name: (blank.shape, blank.dtype) for name, blank in self._blank().items()}
        if {name: (tensor.shape, tensor.dtype) for name, tensor in found.items()} != shapes:
            raise InputError("its state was written by another version")
        if facts.get("sha256") != _digest(found):
            raise InputError("its state was damaged")
        done, bounds, rows, group = found["counts"].tolist()
        candidates, steps = self.plan.candidates, self.plan.training.steps
        return RunState(
            nonce=bytes(found["nonce"].tolist()).decode("ascii", "replace"),
            coins=bytes(found["coins"].tolist()),
            rows=bytes(found["rows"].tolist()) if rows else None,
            done=done,
            kept=[
                Outcome(
                    Draw(number, setting),
                    found["parameters"][i, : size(self.models[setting])].clone(),
                    *found["scores"][i].tolist(),
                )
                for i, (number, setting) in enumerate(found["kept"].tolist())
                if number >= 0
            ],
            checked="checked" in found and bool(found["checked"][0]),
            bounds=[tuple(numbers) for numbers in found["bounds"].tolist()] if bounds else None,
            at_work=[
                (
                    Draw(number, setting),
                    unpacked(
                        step, steps, found["work"][i], self.models[setting], candidates[setting]
                    ),
                )
                for i, (number, setting, step) in enumerate(found["draws"][:group].tolist())
            ],
        )


def _digest(tensors: dict[str, Tensor]) -> str:
    """A digest of all tensors: a run must not be resumed from a damaged state."""
    whole = sha256()
    for name in sorted(tensors):
        whole.update(tensors[name].numpy().tobytes())
    return whole.hexdigest()
