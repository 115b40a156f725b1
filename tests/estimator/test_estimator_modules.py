"""The same search over torch modules: classes, functions, ready ones; their options, their loss."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch
from estimator_tables import NUMBERS, SCHEMA, WORDS, X, Y, new_ledger, search
from sklearn.base import clone
from torch import nn
from torch.nn import functional

from honestdp import Grid, HonestSearch, InputError
from honestdp.engine.models import Linear, Module
from honestdp.planning.make import make_plan

GRID = {"rule": "dpsgd", "learning_rate": 1.0, "clip_norm": 1.0}


class Net(nn.Module):
    """A net as people write them."""

    def __init__(self, hidden: int, outputs: int = 1, act: type[nn.Module] = nn.ReLU) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, hidden), act(), nn.Linear(hidden, outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def small() -> nn.Module:
    return nn.Sequential(nn.Unflatten(1, (1, 3)), nn.Conv1d(1, 4, 2), nn.Flatten(), nn.Linear(8, 2))


def test_a_class_with_options_in_three_lines() -> None:
    made = search(Net, {**GRID, "module__hidden": [2, 4, 8]}, procedure="composition", steps=60)
    made.fit(X, Y)
    assert made.score(X, Y) > 0.8
    hidden = {one.setting["module__hidden"]: one.tensors for one in made.release_.candidates}
    assert {h: t["layers.0.weight"].shape[0] for h, t in hidden.items()} == {2: 2, 4: 4, 8: 8}
    assert made.best_params_["module__hidden"] in (2, 4, 8)


def test_a_setting_overrides_an_option_that_is_given() -> None:
    grid = [GRID, {**GRID, "module__hidden": 5}]
    made = search(Net, grid, procedure="composition", steps=5, module__hidden=3).fit(X, Y)
    widths = {
        one.setting.get("module__hidden"): one.model.options["hidden"]
        for one in made.release_.candidates
    }
    assert widths == {None: 3, 5: 5}
    assert "Net(hidden=3)" in str(made.plan_)


MODELS = {
    "a function": small,
    "a lambda": lambda: nn.Linear(3, 1),
    "a module": nn.Linear(3, 2),
    "a partial": partial(Net, hidden=3, act=nn.Tanh),
    "an engine's module": Module(small, classes=2),
    "an engine's model": Linear(3, 2),
}


@pytest.mark.parametrize("name", MODELS)
def test_what_may_be_a_model(name) -> None:
    made = search(MODELS[name], GRID, steps=40).fit(X, Y)
    assert made.score(X, Y) > 0.7
    assert made.predict_proba(X).shape == (len(X), 2)


def test_every_candidate_starts_from_a_start_of_its_own() -> None:
    made = search(Net, [GRID, GRID], procedure="composition", steps=1, module__hidden=3).fit(X, Y)
    first, second = (one.parameters for one in made.release_.candidates)
    assert (first - second).abs().min() > 0


def test_options_survive_cloning_and_are_checked_at_fit() -> None:
    made = search(Net, GRID, module__hidden=3)
    assert clone(made).get_params()["module__hidden"] == 3
    assert clone(made).model is Net
    for changes, said in (
        ({"module__width": 3}, "unexpected keyword argument 'width'"),
        ({"module__act": nn.Tanh}, "option act is of type type; give numbers and texts"),
        ({"model": nn.Linear(3, 1)}, r"ready-made and takes no options \(hidden\)"),
        ({"model": Linear(3, 2)}, "a Linear takes no options"),
        ({"grid": {**GRID, "module__width": [3]}}, "unexpected keyword argument 'width'"),
        ({"model": Net, "module__outputs": 3}, "has 3 outputs a row for 2 classes"),
    ):
        with pytest.raises(InputError, match=said):
            clone(made).set_params(**changes).fit(X, Y)
    with pytest.raises(InputError, match="missing 1 required positional argument: 'hidden'"):
        search(Net).fit(X, Y)


def test_the_mlp_has_a_width_and_an_activation() -> None:
    made = search("mlp", module__width=3, module__activation=None).fit(X, Y)
    assert made.release_.winner.model.width == 3
    assert made.best_params_ == {**made.best_params_, "module__width": 3}
    assert made.release_.winner.model.activation is None
    wide = search("mlp", {**GRID, "module__width": [5]}, module__width=3).fit(X, Y)
    assert wide.release_.winner.model.width == 5


# Losses


def hinge(outputs: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return (1 - outputs.squeeze(-1) * (2 * target - 1)).clamp(min=0)


def test_a_loss_that_is_a_function() -> None:
    made = search(Net, GRID, loss=hinge, module__hidden=4, steps=60).fit(X, Y)
    assert made.score(X, Y) > 0.7
    usual = search(Net, GRID, module__hidden=4, steps=60).fit(X, Y)
    assert not torch.equal(made.release_.winner.parameters, usual.release_.winner.parameters)


@pytest.mark.parametrize("loss", [nn.MSELoss(), functional.l1_loss, nn.HuberLoss()])
def test_torchs_own_losses_of_numbers(loss) -> None:
    y = X[:, 0] - X[:, 1]
    grid = {**GRID, "learning_rate": 0.1}
    facts = {"epsilon": 50.0, "schema": NUMBERS, "steps": 60}
    made = search(lambda: nn.Linear(3, 1), grid, loss=loss, **facts).fit(X, y)

    def squeezed(outputs: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return loss(outputs.squeeze(-1), target)

    same = search(lambda: nn.Linear(3, 1), grid, loss=squeezed, **facts).fit(X, y)
    assert torch.equal(made.release_.winner.parameters, same.release_.winner.parameters)


def test_torchs_own_losses_of_classes() -> None:
    one = search(lambda: nn.Linear(3, 1), GRID, loss=nn.BCEWithLogitsLoss()).fit(X, Y)
    assert one.score(X, Y) > 0.7
    two = search(lambda: nn.Linear(3, 2), GRID, loss=nn.CrossEntropyLoss()).fit(X, Y)
    assert two.score(X, Y) > 0.7


def failing() -> nn.Module:
    raise RuntimeError("no weights here\nand more")


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (failing, r"could not be made \(RuntimeError: no weights here\); see its options"),
        (partial(Net, hid=3), "could not be made"),
        (nn.Linear(5, 2), "does not train on inputs of shape"),
    ],
)
def test_what_fails_before_a_row_is_read_is_one_line(model, said) -> None:
    with pytest.raises(InputError, match=said) as raised:
        search(model, GRID).fit(X, Y)
    assert "\n" not in str(raised.value)
    assert raised.value.__suppress_context__
    assert raised.value.__cause__ is None


@pytest.mark.parametrize("loss", [None, "squared", "huber"])
def test_losses_of_numbers(loss) -> None:
    y, facts = X[:, 0] - X[:, 1], {"epsilon": 50.0, "schema": NUMBERS, "module__hidden": 8}
    made = search(Net, GRID, loss=loss, steps=60, **facts).fit(X, y)
    assert made.score(X, y) > 0.1


def test_losses_that_do_not_fit() -> None:
    for changes, said in (
        ({"loss": "squared"}, "the schema's target is classes"),
        ({"loss": "hinge"}, "must be cross_entropy, squared, huber or a function"),
        ({"loss": 3}, "must be cross_entropy"),
        ({"loss": "huber", "model": Module(small, classes=2)}, "has one already"),
        ({"loss": hinge, "model": "mlp"}, "<function>; mlp has 'cross_entropy'"),
        ({"loss": "cross_entropy", "schema": NUMBERS}, "the schema's target is a number"),
    ):
        made = search(small, GRID).set_params(**changes)
        with pytest.raises(InputError, match=said):
            made.fit(X, Y)
    search("mlp", loss="cross_entropy", steps=2).fit(X, Y)


# For real, and in files


def test_saved_and_loaded_with_its_class(tmp_path) -> None:
    made = search(
        Net,
        {**GRID, "module__hidden": [2, 4]},
        schema=WORDS,
        ledger=new_ledger(tmp_path, 30, WORDS),
    ).fit(X, np.where(Y, "yes", "no"))
    made.save(tmp_path / "run")
    with pytest.raises(InputError, match=r"is a torch module \(Net\)"):
        HonestSearch.load(tmp_path / "run")
    found = HonestSearch.load(tmp_path / "run", module=Net)
    assert (found.predict(X) == made.predict(X)).all()
    assert found.best_params_ == made.best_params_
    assert "SIMULATION" not in repr(found)
    with pytest.raises(InputError, match="give public=True"):
        found.score(X, Y)


def test_alike_settings_share_a_model_and_a_plan_is_copied_with_it() -> None:
    grid = {**GRID, "learning_rate": [0.1, 1.0], "module__hidden": [2, 3]}
    made = search(Net, grid, procedure="composition", steps=3).fit(X, Y)
    models = {(one.setting["module__hidden"], id(one.model)) for one in made.release_.candidates}
    assert len(models) == 2
    assert make_plan(made.plan_.spec).epsilon == made.plan_.epsilon


def test_constants_can_be_put_back() -> None:
    frozen = small()
    frozen[1].weight.requires_grad_(False)
    made = Module(frozen, classes=2)
    assert set(made.constants) == {"1.weight"}
    ones = {"1.weight": torch.ones_like(frozen[1].weight)}
    other = made.with_constants(ones)
    assert torch.equal(other.constants["1.weight"], ones["1.weight"])
    start, rows = made._initial(None).unsqueeze(0), torch.rand(4, 3)
    assert not torch.allclose(other.outputs(start, rows), made.outputs(start, rows))
    assert Module(small, 2).name == "small"
    assert made.name == "Sequential"
    assert SCHEMA.width == 3


def test_options_of_a_module_are_part_of_the_plan() -> None:
    one, two = (search(Net, GRID, module__hidden=h).plan(200).public() for h in (2, 3))
    assert one["model"] == "Net(hidden=2) of 11 parameters"
    assert one["model"] != two["model"]
    assert Grid.of(GRID).settings == (GRID,)
