"""The contract suite of models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor
from torch.func import grad

from honestdp.engine import Examples, examples
from honestdp.engine.buffers import Buffers
from honestdp.engine.clipping import Clip
from honestdp.engine.grid import accumulator
from honestdp.engine.lots import Lots
from honestdp.engine.models import Model, named, size
from honestdp.errors import InputError
from honestdp.models import architectures
from honestdp.planning.grid import Grid
from honestdp.release.model_files import read_model, write_model
from honestdp.release.predictor import Predictor
from honestdp.schema import Schema
from honestdp.testing.lots import KINDS, lot, with_null
from honestdp.units import UNITS

FEATURES, ROWS = 3, 40
CLIPS = (1.0, 0.01, None)  # None: automatic


def check_model(
    make: Callable[[int, int | None], Model],
    *,
    classes: Sequence[int | None] = (None, 2, 3),
    module: Any = None,
    same_loss: bool = True,
) -> None:
    """Check that a model keeps the contract of `honestdp.engine.models.Model`.

    Above all what privacy rests on: no example, whatever its values, changes the clipped sum by
    more than its bound, and a null record adds nothing. Also its layout, its gradients, with
    weights of classes too if it takes them, that rows and candidates do not affect each other, and
    that a saved model has the same outputs.

    Args:
        make: Makes the model; called with the number of features and of classes (None: real
            targets).
        classes: The numbers of classes to try.
        module: What `honestdp.load(folder, module=...)` needs to make the model again, if anything.
        same_loss: Whether it trains on the loss of `model.loss`. If not, its gradients are not
            compared.

    Raises:
        AssertionError: If it breaks the contract; the message says what to change.

    Example:
        >>> from honestdp.engine import Linear
        >>> check_model(Linear, classes=[2])
    """
    for count in classes:
        model = make(FEATURES, count)
        _check_facts(model, count)
        kinds = ("dense", "sparse") if model.reads_sparse else ("dense",)
        for kind in kinds:
            _check_bound(model, kind, count)
            _check_null(model, kind, count)
            _check_candidates(model, kind, count)
            if same_loss:
                _check_gradients(model, kind, count)
            if count is not None:
                _check_weights(model, kind, count, same_loss)
        _check_outputs(model)
        _check_files(model, count, module)
        _check_linear(model)


def _check_facts(model: Model, classes: int | None) -> None:
    assert isinstance(model, Model), "make a subclass of honestdp.engine.models.Model"
    assert (model.loss.classes or None) == classes, (
        f"loss: is one of {model.loss.classes or 'no'} classes, expected {classes}; return "
        "Loss.of(classes)"
    )
    names = [name for name, _ in model.layout]
    assert names, "layout: is empty; give it the names and shapes of the parameters"
    assert len(set(names)) == len(names), f"layout: {names}; give every name once"
    assert model.kind in architectures, (
        f"kind={model.kind!r}: no architecture has this name; register one, or make Module(...)"
    )
    kind = architectures.get(model.kind)()
    assert model.parameters == size(model), "parameters: must be the number of those in layout"
    for name in kind.names:
        if name.suits(classes):
            built = kind.build(FEATURES, classes, {})
            counted = kind.parameters(FEATURES, classes)
            assert counted == size(built), (
                f"{name.name}: the architecture counts {counted} parameters, its model has "
                f"{size(built)}"
            )
    for wide in (False, True):
        try:
            Grid((model.setting(classes, wide),))
        except (TypeError, InputError) as error:
            raise AssertionError(
                f"setting: fails ({error}); it takes `classes` and `wide`, and returns a setting"
            ) from None
    start = model.initial(torch.full((size(model),), 0.25), None)
    assert start.shape == (size(model),), f"initial: shape {tuple(start.shape)}; one per parameter"
    assert start.dtype == torch.float32, f"initial: {start.dtype}; return float32"


def _rows(X: Any, y: Any, kind: str) -> Examples:  # noqa: N803
    with np.errstate(over="ignore"):
        X = X.astype(np.float32)  # noqa: N806
    return examples(csr_matrix(X) if kind == "sparse" else X, y)


def _params(model: Model, weight: float = 1.0, count: int = 2) -> Tensor:
    draws = torch.Generator().manual_seed(1)
    return torch.randn(count, size(model), generator=draws) * weight


def _sums(
    model: Model, rows: Examples, params: Tensor, clip: float | None, memory: int = 1 << 24
) -> Any:
    """The clipped sums over all rows, as Python's whole numbers."""
    count = len(params)
    how = Clip(
        torch.full((count,), 1.0 if clip is None else clip, dtype=torch.float64),
        torch.full((count,), clip is None),
    )
    out = torch.full_like(params, 12345, dtype=accumulator(len(rows)))  # what was there before
    before = params.clone()
    with torch.no_grad():
        lots = Lots.everything(len(rows), count)
        made = model.clipped_sum(params, rows, lots, how, out, Buffers(memory, rows.device))
    assert not made.units.is_floating_point(), "clipped_sum: its units must be whole numbers"
    assert made.units.shape == params.shape, "clipped_sum: one number per candidate and parameter"
    assert torch.equal(made.sensitivity, how.bound), "clipped_sum: its sensitivity is clip.bound"
    assert torch.equal(before, params), "clipped_sum: writes into the parameters"
    return made.units.numpy().astype(object)


def _check_bound(model: Model, kind: str, classes: int | None) -> None:
    for name in KINDS:
        X, y = lot(name, ROWS, 3, FEATURES, classes)  # noqa: N806
        for clip in CLIPS:
            for weight in (0.0, 1.0, 1e6):
                params = _params(model, weight)
                with_it = _sums(model, _rows(X, y, kind), params, clip)
                for record in (0, ROWS - 1):
                    other = _rows(*with_null(X, y, record), kind)
                    # Once in pieces as small as can be.
                    memory = 1 if (name, weight, record) == ("absorbed", 1.0, 0) else 1 << 24
                    change = with_it - _sums(model, other, params, clip, memory)
                    square = int((change**2).sum(1).max())
                    assert square <= UNITS**2, (
                        f"clipped_sum: one example of a lot of kind {name!r} ({kind} rows) changes "
                        f"it by {square**0.5 / UNITS:.6g} clip norms: NOT PRIVATE. Clip and round "
                        "every example by itself: see engine.models.gradients"
                    )


def _check_weights(model: Model, kind: str, classes: int, same_loss: bool) -> None:
    """With weights of classes, if it takes them."""
    for weights in ((1e4,) * classes, (0.05,) + (1.0,) * (classes - 1)):
        try:
            heavy = model.weighted(weights)
        except InputError:
            return
        assert heavy.loss.weights == weights, (
            f"weighted: the weights of its loss are {heavy.loss.weights}; return a model whose "
            "loss is Loss.of(classes, weights), or raise InputError"
        )
        X, y = _ordinary(classes)  # noqa: N806
        single = _sums(heavy, _rows(X[:1], y[:1], kind), _params(model), 1.0)
        assert int((single**2).sum(1).max()) <= UNITS**2, (
            "clipped_sum: a weight makes an example longer than the clip norm: NOT PRIVATE. "
            "Multiply by the weight before the clip"
        )
    if same_loss:
        _check_gradients(heavy, kind, classes)


def _check_null(model: Model, kind: str, classes: int | None) -> None:
    X = np.zeros((5, FEATURES))  # noqa: N806
    y = np.full(5, np.nan) if classes is None else np.full(5, -1)
    for weight in (1.0, 1e30):
        found = _sums(model, _rows(X, y, kind), _params(model, weight), 1.0)
        assert (found == 0).all(), (
            f"clipped_sum: null records ({kind} rows) add something; use `chunks` and "
            "`loss.known(targets)`, which leave them out"
        )


def _ordinary(classes: int | None) -> tuple[Any, Any]:
    draws = np.random.default_rng(5)
    X = draws.standard_normal((ROWS, FEATURES)).astype(np.float32)  # noqa: N806
    y = draws.standard_normal(ROWS) if classes is None else draws.integers(0, classes, ROWS)
    return X, y


def _check_candidates(model: Model, kind: str, classes: int | None) -> None:
    rows, params = _rows(*_ordinary(classes), kind), _params(model, count=3)
    together = _sums(model, rows, params, 0.1)
    for k in range(3):
        alone = _sums(model, rows, params[k : k + 1], 0.1)[0]
        gap = abs(together[k] - alone).max()
        assert gap <= 2 * ROWS, "clipped_sum: a candidate's sum depends on the other candidates"


def _check_gradients(model: Model, kind: str, classes: int | None) -> None:
    """Against automatic differentiation, one example at a time."""
    X, y = _ordinary(classes)  # noqa: N806
    params = _params(model, 0.5, 1)
    found = _sums(model, _rows(X, y, kind), params, 0.5)[0].astype(float) * 0.5 / UNITS

    def loss(row: Tensor, x: Tensor, target: Tensor) -> Tensor:
        return model.loss.value(model.outputs(row.unsqueeze(0), x.unsqueeze(0))[0, 0], target)

    wanted = torch.zeros(size(model), dtype=torch.float64)
    for x, target in zip(torch.from_numpy(X), torch.as_tensor(y), strict=True):
        g = grad(loss)(params[0], x, target.float() if classes is None else target).double()
        wanted += g * min(1.0, 0.5 / max(g.norm().item(), 1e-30))
    gap = np.abs(found - wanted.numpy()).max()
    assert gap <= 1e-3 * ROWS, (
        f"clipped_sum: differs by {gap:.3g} from the clipped gradients of the loss at its outputs "
        f"({kind} rows)"
    )


def _check_outputs(model: Model) -> None:
    X, _ = _ordinary(2)  # noqa: N806
    params, rows = _params(model), torch.from_numpy(X)
    with torch.no_grad():
        whole = model.outputs(params, rows)
        first = model.outputs(params, rows[:1])
        one = model.outputs(params[:1], rows)
    wanted = (2, ROWS, model.loss.outputs)
    assert whole.shape == wanted, f"outputs: shape {tuple(whole.shape)}, must be {wanted}"
    text = "outputs: those of a {} depend on other {}s"
    assert torch.allclose(whole[:, :1], first, 1e-4, 1e-5), text.format("row", "row")
    assert torch.allclose(whole[:1], one, 1e-4, 1e-5), text.format("candidate", "candidate")
    parts = named(model, params)
    assert list(parts) == [name for name, _ in model.layout]


def _check_linear(model: Model) -> None:
    X, _ = _ordinary(2)  # noqa: N806
    params, rows = _params(model), torch.from_numpy(X)
    linear = model.linear_part(params[0])
    assert (linear is not None) == model.architecture.linear, (
        "linear_part: must be there exactly where its architecture says that it is `linear`"
    )
    if linear is not None:
        weight, bias = linear
        whole = model.outputs(params[:1], rows)[0]
        assert torch.allclose(rows @ weight + bias, whole, 1e-4, 1e-5), (
            "linear_part: inputs times its weights, plus its bias, are not the outputs"
        )


def _check_files(model: Model, classes: int | None, module: Any) -> None:
    columns = {f"c{i}": {"kind": "numeric", "bounds": [-3, 3]} for i in range(FEATURES)}
    declared = {} if classes is None else {"classes": [str(number) for number in range(classes)]}
    target: dict[str, Any] = {"column": "y", **(declared or {"bounds": [-1, 1]})}
    schema = Schema(
        name="made-up", unit="one row", target=target,
        columns=[{"name": name, **facts} for name, facts in columns.items()],
    )  # fmt: skip
    X, _ = _ordinary(classes)  # noqa: N806
    table = {f"c{i}": X[:, i].tolist() for i in range(FEATURES)}
    one = Predictor({}, None, schema, model, _params(model, 0.5, 1)[0])
    files = write_model(schema, one, [], simulated=True)
    try:
        found = read_model(files, module)[2][0]
    except InputError as error:
        raise AssertionError(
            f"files: cannot be read again ({error}); `saved` of its architecture must return "
            "everything that the model is made from"
        ) from None
    assert torch.equal(one.parameters, found.parameters), "files: the loaded parameters differ"
    np.testing.assert_array_equal(
        np.asarray(one.predict(table, warn=False)),
        np.asarray(found.predict(table, warn=False)),
        "files: the loaded model predicts otherwise; `saved` must return all that it is made from",
    )
    again = write_model(schema, found, [], simulated=True)
    assert again == files, "files: differ if the loaded model is saved again"
