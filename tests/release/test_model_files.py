"""Models as files: equal predictions, no pickle, and one line for whatever is wrong with them."""

from __future__ import annotations

import json
import pickle
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from releases import KINDS, SCHEMA, Net, new_ledger, released, table
from safetensors.torch import load_file
from torch import nn

from honestdp import InputError, Spec, load, make_plan
from honestdp.datasets import adult
from honestdp.engine import Module
from honestdp.runner.run import run

FILES = ("card.json", "model.json", "model.safetensors")


@pytest.fixture
def saved(tmp_path) -> Path:
    released("composition")[0].save(tmp_path)
    return tmp_path


@pytest.mark.parametrize("folder", [None, 5, b"x"])
def test_what_is_no_folder(folder):
    refused(folder, "give the path")


def refused(folder: Path, *words: str, **named) -> None:
    with pytest.raises(InputError) as caught:
        load(folder, **named)
    said = str(caught.value)
    assert "\n" not in said
    for word in words:
        assert word in said


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_loaded_is_what_was_saved(kind, tmp_path):
    release = released(kind)[0]
    release.save(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(FILES)
    torch.manual_seed(99)  # a net made anew starts elsewhere, what is frozen in it too
    found = load(tmp_path, module=Net if kind == "module" else None)
    assert found.card == release.card
    assert found.schema == release.schema
    assert len(found.candidates) == len(release.candidates)
    for own, other in zip([release.winner, *release.candidates[1:]],
                          [found.winner, *found.candidates[1:]], strict=True):  # fmt: skip
        assert own.setting == other.setting
        assert own.noisy_score == other.noisy_score
        assert torch.equal(own.parameters, other.parameters)
        np.testing.assert_array_equal(own.predict(table()), other.predict(table()))
    if kind != "numbers":
        np.testing.assert_array_equal(release.predict_proba(table()), found.predict_proba(table()))
    assert repr(found).removeprefix("Released") == repr(release).removeprefix("Release")


def test_other_tools_read_the_tensors(saved):
    tensors = load_file(saved / "model.safetensors")
    release = released("composition")[0]
    assert torch.equal(tensors["weight"], release.winner.tensors["weight"])
    assert torch.equal(tensors["others/2/bias"], release.candidates[2].tensors["bias"])


class Tempered(nn.Module):
    """A parameter without a shape, and names that look like a file's own."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 1)
        self.temperature = nn.Parameter(torch.tensor(1.0))
        self.others = nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1)])

    def forward(self, x):
        return self.others[1](self.others[0](self.layer(x) / self.temperature))


class Shares(Tempered):
    def __init__(self) -> None:
        super().__init__()
        whole = torch.rand(4)
        self.register_buffer("some", whole[:2])
        self.register_buffer("more", whole)


class Sparse(Tempered):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("odd", torch.eye(3).to_sparse())


@pytest.mark.parametrize("net", [Tempered, Shares])
def test_odd_modules_are_saved_too(net, tmp_path):
    plan = replace_model(Module(net, classes=2))
    release = run(plan, table(), seed=1, folder=tmp_path / "run")
    found = load(tmp_path / "run", net)
    np.testing.assert_array_equal(found.predict_proba(table()), release.predict_proba(table()))


def test_what_could_not_leave_is_not_paid_for(tmp_path):
    ledger = new_ledger(tmp_path / "toy.ledger")
    with pytest.raises(InputError, match="cannot be written to a file"):
        run(replace_model(Module(Sparse, classes=2)), table(), ledger)
    assert ledger.history() == ()


def replace_model(model):
    return make_plan(
        Spec(schema=SCHEMA, rows=60, epsilon=2.0, delta=1e-4, steps=4, lot_size=8, model=model,
             grid={"rule": "dpadam", "learning_rate": [0.1, 0.01]}, procedure="composition")
    )  # fmt: skip


class Other(Net):
    """The same parameters, another way to use them."""

    def forward(self, x):
        return self.last(torch.tanh(self.frozen(torch.tanh(self.first(x))) + self.shift))


def test_another_net_of_the_same_shape_is_told(tmp_path):
    released("module")[0].save(tmp_path)
    refused(tmp_path, "its outputs differ", module=Other)
    refused(tmp_path, "other classes", module=Module(Net, classes=None))
    refused(tmp_path, "other classes", module=Module(Net, classes=2, tokens=5))


def test_a_module_is_asked_for(tmp_path):
    release = released("module")[0]
    release.save(tmp_path)
    refused(tmp_path, "is a torch module (Net)", "give its class")
    refused(tmp_path, "is a int", module=7)
    refused(tmp_path, "could not be made", module=lambda hidden: 1 / 0)
    refused(tmp_path, "another model's file", module=lambda hidden: nn.Linear(4, 1))
    refused(tmp_path, "takes no options", module=Net(3))
    for module in (Net, partial(Net)):
        np.testing.assert_array_equal(
            load(tmp_path, module).predict(table()), release.predict(table())
        )


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_gone_cut_or_swapped(saved, name, tmp_path_factory):
    whole = (saved / name).read_bytes()
    for content in (
        b"",
        whole[: len(whole) // 2],
        whole[:-2],
        b"{}",
        b"[" * 100_000,
        b"\x80\x05N.",
    ):
        (saved / name).write_bytes(content)
        refused(saved, str(saved))
    (saved / name).unlink()
    refused(saved, "cannot be read")
    other = tmp_path_factory.mktemp("other")
    released("pick")[0].save(other)
    shutil.copy(other / name, saved / name)
    refused(saved, str(saved))


def test_a_changed_number_is_seen(saved):
    file = saved / "model.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    refused(saved, "is not the one that model.json was written with")


def test_changes_that_agree_with_each_other_are_refused_by_what_they_say(saved):
    """Someone who writes all three files anew is found out by the ledger alone; files that make
    no sense are refused before that."""
    from honestdp.json_files import sha256

    def rewritten(**changes) -> None:
        facts = json.loads((saved / "model.json").read_text())
        facts.update(changes)
        text = json.dumps(facts).encode()
        (saved / "model.json").write_bytes(text)
        card = json.loads((saved / "card.json").read_text())
        card["model_sha256"] = sha256(text)
        (saved / "card.json").write_text(json.dumps(card))

    facts = json.loads((saved / "model.json").read_text())
    winner, schema = facts["winner"], facts["schema"]
    rewritten(winner={**winner, "architecture": {"kind": "linear", "classes": 3}})
    refused(saved, "predict different things")
    rewritten(winner={**winner, "architecture": {"kind": "two-layer", "classes": 2, "width": 4,
                                                 "activation": None}})  # fmt: skip
    refused(saved, "another model's file")
    rewritten(winner={**winner, "architecture": {"kind": "pickle", "classes": 2}})
    refused(saved, "model.json: winner.architecture")
    rewritten(winner=winner, others=[])
    refused(saved, "holds more tensors than")
    rewritten(others=facts["others"], schema={**schema, "columns": []})
    refused(saved, "model.json: schema", "no columns")
    rewritten(schema={**schema, "columns": schema["columns"][:1]})
    refused(saved, "another model's file")
    rewritten(schema=schema, mark="SIMULATION, NOT PRIVATE")
    refused(saved, "about being a simulation")


def test_a_pickle_is_never_opened(saved, tmp_path_factory):
    witness = tmp_path_factory.mktemp("w") / "opened"

    class Trap:
        def __reduce__(self):
            return (Path.touch, (witness,))

    for name in FILES:
        (saved / name).write_bytes(pickle.dumps(Trap()))
    refused(saved)
    assert not witness.exists()
    source = Path(load.__code__.co_filename).parent
    code = "".join(file.read_text() for file in source.rglob("*.py"))
    assert not re.search(r"torch\.load\(|pickle\.loads?\(|import pickle|joblib", code)


def test_folders_that_hold_a_run_are_not_overwritten(saved):
    before = {name: (saved / name).read_bytes() for name in FILES}
    with pytest.raises(InputError, match="choose another"):
        released("untuned")[0].save(saved)
    assert before == {name: (saved / name).read_bytes() for name in FILES}
    with pytest.raises(InputError):
        released("untuned")[0].save(saved / "model.json" / "below")


@pytest.mark.slow
def test_equal_predictions_on_the_embedded_table_in_another_process(tmp_path):
    data = adult()
    plan = make_plan(Spec(schema=data.schema, rows=len(data.train), epsilon=1.0, steps=300))
    release = run(plan, data.train, seed=1)
    release.save(tmp_path / "run")
    code = """
import sys, numpy as np
from honestdp import load
from honestdp.datasets import adult
from honestdp.engine import Module
found = load(sys.argv[1] + "/run")
table = adult().validation
np.savez(sys.argv[1] + "/found.npz", labels=found.predict(table), p=found.predict_proba(table))
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=120)
    with np.load(tmp_path / "found.npz") as found:
        np.testing.assert_array_equal(found["labels"], release.predict(data.validation))
        np.testing.assert_array_equal(found["p"], release.predict_proba(data.validation))
    right = np.array(data.validation["income"].to_pylist()) == release.predict(data.validation)
    assert right.mean() > 0.8
