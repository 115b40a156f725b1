import re, shutil, subprocess
exec(open("/tmp/edit1.py").read().split("sub(\"planning/grid.py\"")[0])
sh = lambda c: subprocess.run(c, shell=True, cwd="/tmp/hM", check=True)
exec(open("/tmp/hB/split.py").read())
sh("git mv src/honestdp/engine/module.py /tmp/hM/src/honestdp/engine/module_.py; git rm -q --cached src/honestdp/engine/models.py; rm src/honestdp/engine/models.py; mkdir -p src/honestdp/engine/models src/honestdp/models; git mv src/honestdp/engine/module_.py src/honestdp/engine/models/module.py")
for f in Path("/tmp/hB/emodels").glob("*.py"): shutil.copy(f, R/"engine/models"/f.name)
for f in Path("/tmp/hB/models").glob("*.py"): shutil.copy(f, R/"models"/f.name)
# closed form: rename room, table model
for f in ("linear","two_layer","closed_form"):
    p = R/f"engine/models/{f}.py"; t = p.read_text()
    t = re.sub(r"\broom\((?=buffers)", "rows_that_fit(", t).replace("packed, room, square","packed, rows_that_fit, square")
    t = t.replace("def room(", "def rows_that_fit(")
    p.write_text(t)
sub("engine/models/closed_form.py",
('''@dataclass(frozen=True)
class ClosedForm(Model):
    """What the built-in models share. `classes` None: real targets and the squared loss."""

    features: int
    classes: int | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", positive_integer("features", self.features))
        Loss.of(self.classes)

    @property
    def loss(self) -> Loss:
        return Loss.of(self.classes)

    def check(self, examples: Examples) -> None:
        if examples.shape != (self.features,):
            raise InputError(
                f"inputs of shape {examples.shape} a row for a model of {self.features} features: "
                "make them agree"
            )
        if isinstance(examples.inputs, Tensor) and not examples.inputs.is_floating_point():
            raise InputError(
                f"inputs of type {examples.inputs.dtype}: whole numbers are tokens, for a module "
                'with an embedding; give X.astype("float32")'
            )
        check_targets(self.loss, examples)
''','''@dataclass(frozen=True)
class ClosedForm(TableModel):
    """A model whose clipped sums are written out, for a kernel and for torch."""
'''),
("from honestdp.engine.losses import Loss\n",""),
("import Model, check_targets, size\n", "import TableModel, size\n"),
("from honestdp.errors import InputError, positive_integer\n",""),
)
base = R/"engine/models/base.py"; t = base.read_text()
i = t.index("def size(model")
table = '''@dataclass(frozen=True)
class TableModel(Model):
    """A model of rows of numbers. `classes` None: real targets and the squared loss."""

    features: int
    classes: int | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", positive_integer("features", self.features))
        Loss.of(self.classes)

    @property
    def loss(self) -> Loss:
        return Loss.of(self.classes)

    def check(self, examples: Examples) -> None:
        if examples.shape != (self.features,):
            raise InputError(
                f"inputs of shape {examples.shape} a row for a model of {self.features} features: "
                "make them agree"
            )
        if isinstance(examples.inputs, Tensor) and not examples.inputs.is_floating_point():
            raise InputError(
                f"inputs of type {examples.inputs.dtype}: whole numbers are tokens, for a module "
                'with an embedding; give X.astype("float32")'
            )
        check_targets(self.loss, examples)


'''
t = t[:i] + table + t[i:]
t = t.replace("from typing import Any, ClassVar\n","from dataclasses import dataclass\nfrom typing import Any, ClassVar\n").replace("from honestdp.errors import InputError\n","from honestdp.errors import InputError, positive_integer\n").replace("from honestdp.engine.grid import add_scaled_rows, row_limit\n","from honestdp.engine.grid import row_limit\n")
base.write_text(t)
# per-example gradients shared by modules and GradientModel
m = (R/"engine/models/module.py").read_text()
a = m.index("def _add_clipped("); b = m.index("def _refuse(")
shared = m[a:b]
m = m[:a] + m[b:]
shared = shared.replace("def _add_clipped(","def add_clipped(").replace("model: Module,","model: Model,")
(R/"engine/models/gradients.py").write_text('''"""Clipped sums from per-example gradients, and models that have no more than these.

Every example's gradient is clipped and rounded to whole units by itself before it is added
(`engine.grid`), so whatever code made the gradients, one example moves a sum by at most UNITS; as
long as its gradient is a function of its own row alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.func import grad, vmap

from honestdp.engine import grid
from honestdp.engine.buffers import Buffers
from honestdp.engine.clipping import Clip, ClippedSum
from honestdp.engine.examples import Examples
from honestdp.engine.grid import add_scaled_rows, row_limit
from honestdp.engine.kernels.gradients import add_squares
from honestdp.engine.losses import Loss
from honestdp.engine.lots import Lots
from honestdp.engine.models.base import Model, TableModel, chunks, columns, named, size

# Examples whose gradients are held at once: fewer and torch's own overhead shows, more and they
# leave the cache (benchmarks/README.md).
AT_ONCE = 320


@dataclass(frozen=True)
class GradientModel(TableModel):
    """A model that is trained on per-example gradients of its outputs' loss.

    A subclass defines `kind`, `layout`, `initial` and `outputs`, the latter in torch operations that
    `torch.func` can differentiate. It reads dense rows.
    """

    def clipped_sum(
        self,
        params: Tensor,
        examples: Examples,
        lots: Lots,
        clip: Clip,
        out: Tensor,
        buffers: Buffers,
    ) -> ClippedSum:
        out.zero_()
        each = max(1, min(AT_ONCE, buffers.memory // (8 * size(self) * len(params))))
        for rows, mask in chunks(lots, each, examples):
            y = examples.targets[rows]
            gradients = self.gradients(params, examples.dense(rows, buffers), y)
            add_clipped(self, gradients, mask & self.loss.known(y), clip, out)
        return ClippedSum(out, clip.bound)

    def gradients(self, params: Tensor, x: Tensor, y: Tensor) -> dict[str, Tensor]:
        """Per-example gradients by the parameters' names, [candidate, example, ...].

        Args:
            params: [candidate, parameter].
            x: Inputs [candidate, example, feature].
            y: Targets [candidate, example].
        """
        one = grad(self._example_loss)
        found = vmap(vmap(one, in_dims=(None, 0, 0)))(params, x, y)
        return named(self, found)

    def _example_loss(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        output = self.outputs(params.unsqueeze(0), x.unsqueeze(0))[0, 0]
        return self.loss.value(output, y)


''' + shared.rstrip() + "\n")
def msub(*pairs):
    global m
    for old, new in pairs:
        assert m.count(old) == 1, (old, m.count(old))
        m = m.replace(old, new)
msub(("class Module:\n", "class Module(Model):\n"),
('''# Examples whose gradients are held at once: fewer and torch's own overhead shows, more and they
# leave the cache (benchmarks/README.md).
_AT_ONCE = 320

''',''),
("min(_AT_ONCE,","min(AT_ONCE,"),
("                _add_clipped(self,","                add_clipped(self,"),
("from honestdp.engine import grid\n",""),
("from honestdp.engine.grid import add_scaled_rows, row_limit\n",""),
("from honestdp.engine.kernels.gradients import add_squares\n",""),
("from honestdp.engine.losses import Loss\nfrom honestdp.engine.lots import Lots\nfrom honestdp.engine.models import Layer, check_targets, chunks, columns, named, size\n",
 "from honestdp.engine.losses import Loss\nfrom honestdp.engine.lots import Lots\nfrom honestdp.engine.models.base import Layer, Model, check_targets, chunks, named\nfrom honestdp.engine.models.gradients import AT_ONCE, add_clipped\n"),
('''    def check_sums(self, examples: Examples) -> None:
        row_limit(size(self))

''',''),
('''        self.loss, self.criterion = Loss.of(classes), criterion
''','''        self._loss, self.criterion = Loss.of(classes), criterion
'''),
('''    def with_options(self, options: Mapping[str, Any]) -> Module:
''','''    @classmethod
    def loaded(cls, code: Any, classes: int | None, facts: Mapping[str, Any]) -> Module:
        """The module of which a file says this (see `honestdp.models.module`).

        Args:
            code: A `Module`, a torch module, its class or a function that makes one.
            classes: How many classes it predicts; None for a number.
            facts: Its options, whether it has a loss of its own, how many tokens it knows.

        Raises:
            InputError: If the code is another module's, or fails.
        """
        options = facts["options"]
        if isinstance(code, Module):
            if (code.loss.classes or None, code.tokens) != (classes, facts["tokens"]):
                raise InputError("module: has other classes or tokens than the one that was saved")
            return code.build(options)
        if not isinstance(code, nn.Module) and not callable(code):
            raise InputError(f"module: is a {type(code).__name__}; give an nn.Module's class")
        criterion = _unused if facts["own_loss"] else None
        return cls(code, classes, criterion, facts["tokens"], options)

    @property
    def loss(self) -> Loss:
        return self._loss

    @property
    def words(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in sorted(self.options.items()))
        made = f"{self.name}({options})" if options else self.name
        # All that makes a run another one: it is part of what a charge, or a folder, is for.
        own = self.criterion
        loss = "" if own is None else f", loss {getattr(own, '__name__', type(own).__name__)}"
        tokens = "" if self.tokens is None else f", {self.tokens} tokens"
        return f"{made} of {self.parameters} parameters{loss}{tokens}"

    def build(self, options: Mapping[str, Any]) -> Module:
        return self.with_options(options) if options else self

    def with_options(self, options: Mapping[str, Any]) -> Module:
'''),
('''    def check(self, examples: Examples) -> None:
        """Tries two made-up rows''','''    def _made_up(self, rows: Tensor) -> Tensor:
        return rows if self.tokens is None else torch.zeros_like(rows, dtype=torch.long)

    def check(self, examples: Examples) -> None:
        """Tries two made-up rows'''),
('''def _refuse(module''','''def _unused(output: Tensor, target: Tensor) -> Tensor:
    """In place of a loss of one's own, which prediction does not need."""
    return output.sum() * 0 + target.sum() * 0


def _refuse(module'''),
('''        output = self._forward(module, params, x)
        classes = self.loss.classes
        target = y.clamp(0, classes - 1) if classes else y.float()
''','''        output = self._forward(module, params, x)
        classes = self.loss.classes
        target = y.clamp(0, classes - 1) if classes else y.float()
'''),
)
i = m.index("    def __init__(\n        self,\n        module: nn.Module")
m = m[:i] + '    kind = "module"\n\n' + m[i:]
(R/"engine/models/module.py").write_text(m)
sub("engine/losses.py",('''    def predicted(self, outputs''','''    def value(self, output: Tensor, target: Tensor) -> Tensor:
        """The loss of one example, outputs [output]; for a target outside the classes any."""
        if not self.classes:
            return (output.squeeze(-1) - target).square().sum() / 2
        known = target.clamp(0, self.classes - 1)
        if self.classes == 2:
            return functional.binary_cross_entropy_with_logits(output.squeeze(-1), known.float())
        return functional.cross_entropy(output, known)

    def predicted(self, outputs'''))
sub("engine/__init__.py",("from honestdp.engine.models import Linear, Model, TwoLayer, named, size\nfrom honestdp.engine.module import Module\n","from honestdp.engine.models import Linear, Model, Module, TwoLayer, named, size\n"))
# planning
sub("planning/spec.py",
('MODELS = ("logistic", "linear", "mlp")\n',''),
('HIDDEN = 100  # units of "mlp", unless a grid says module__width\n',''),
("    InputError,\n",""),
('''        if not isinstance(self.model, str):
            loss = getattr(self.model, "loss", None)
            if isinstance(self.model, type) or not hasattr(loss, "classes"):
                raise InputError(
                    f"model: is a {type(self.model).__name__}; give {', '.join(MODELS)} or a "
                    "model of honestdp.engine, such as Module(net, classes=2)"
                )
            if self.model.loss.classes != (classes or 0):
                wanted = "real targets" if classes is None else f"{classes} classes"
                raise InputError(f"model: predicts something else than the schema's {wanted}")
        elif self.model not in MODELS:
            raise fail("model", self.model, f"must be one of {', '.join(MODELS)}")
        elif self.model == "logistic" and classes is None:
            raise fail("model", "logistic", 'the target is a number; take "linear" or "mlp"')
        elif self.model == "linear" and classes is not None:
            raise fail("model", "linear", 'the target has classes; take "logistic" or "mlp"')
''','''        describe(self.model, self.schema.width, classes)
'''),
)
s = (R/"planning/spec.py").read_text()
i = s.index("    @property\n    def parameters(self)"); j = s.index("def _at_least_one(")
s = s[:i] + '''    @property
    def described(self) -> Description:
        """What is public about the model."""
        return describe(self.model, self.schema.width, self.classes)

    @property
    def parameters(self) -> int:
        """The number of the model's parameters."""
        return self.described.parameters

    @property
    def model_name(self) -> str:
        """What plan, card and report call the model."""
        return self.described.words


''' + s[j:]
i = s.index("def _volume("); j = s.index("def _or(")
s = s[:i] + s[j:]
s = s.replace("from honestdp.planning.costs import checked_delta\n", "from honestdp.models import Description, describe\nfrom honestdp.planning.costs import checked_delta\n")
s = s.replace('''    model: "logistic", "linear", "mlp", or a model of the engine's, such as
''','''    model: a name, such as "logistic", "linear" or "mlp", or a model of the engine's, such as
''')
(R/"planning/spec.py").write_text(s)
sub("planning/plan.py",('''        """Whether its model reads sparse rows; a module does not."""
        return isinstance(self.spec.model, str)
''','''        """Whether its model reads sparse rows; a module does not."""
        return self.spec.described.reads_sparse
'''))
sub("planning/defaults.py",
('''    """One setting that needs no tuning: balanced steps, or DPAdamWOSM for a module, whose inputs
    have no norm that is known here."""
''','''    """One setting that needs no tuning, as the model says: balanced steps, or DPAdamWOSM for a
    module, whose inputs have no norm that is known here."""
'''),
('''    if not isinstance(spec.model, str):
        return ADAPTIVE
    return BALANCED if spec.classes else BALANCED_NUMBERS
''','''    return Grid((spec.described.setting(spec.classes),))
'''),
("from honestdp.planning.grid import ADAPTIVE, BALANCED, BALANCED_NUMBERS, Grid\n","from honestdp.planning.grid import Grid\n"),
('''    smooth = n * spec.epsilon / 40 * (1 if spec.model in ("logistic", "linear") else 3)
''','''    smooth = n * spec.epsilon / 40 * spec.described.steps_factor
'''),
)
sub("planning/grid.py",
('''# A logit may be moved by 3; a prediction of a number, scaled to [-1, 1], by a tenth.
BALANCED_NUMBERS = Grid(({"rule": "balanced", "kappa": 0.1, "average": True},))
BALANCED = Grid(({"rule": "balanced", "kappa": 3.0, "average": True},))
ADAPTIVE = Grid(({"rule": "dpadamwosm"},))

''',''),
('''    "balanced": BALANCED,
    "dpadamwosm": ADAPTIVE,
''','''    "balanced": Grid((balanced(classes=2),)),
    "dpadamwosm": Grid.product(rule="dpadamwosm"),
'''),
('MODULE = "module__"\n',''),
("from honestdp.errors import InputError, fail, positive_integer\n","from honestdp.errors import InputError, fail, positive_integer\nfrom honestdp.models.base import OPTION as MODULE\nfrom honestdp.models.base import balanced\n"),
)
sub("training.py",
("from honestdp.engine.models import Linear, Model, TwoLayer\nfrom honestdp.engine.module import Module\n","from honestdp.engine.models import Model\n"),
("from honestdp.errors import InputError\n",""),
("from honestdp.planning.grid import MODULE\n",""),
("from honestdp.planning.spec import HIDDEN, Spec\n",""),
("            made.append((given, _model(spec, given)))\n","            made.append((given, spec.described.build(given)))\n"),
)
s = (R/"training.py").read_text(); i = s.index("def _model(spec"); j = s.index("def rescaled("); s = s[:i]+s[j:]; (R/"training.py").write_text(s)
sub("release/predictor.py",
("from honestdp.engine.models import Linear, Model, TwoLayer, named\n","from honestdp.engine.models import Model, named\n"),
('''        either = isinstance(self.model, (Linear, TwoLayer))  # a module reads dense rows only
        inputs = self.schema.encode_inputs(table, sparse=None if either else False)
''','''        sparse = None if self.model.reads_sparse else False
        inputs = self.schema.encode_inputs(table, sparse=sparse)
'''))
sub("cli/tune.py",("    from honestdp.planning.spec import MODELS\n\n    return list(MODELS)\n","    from honestdp.models import model_names\n\n    return list(model_names())\n"))
sub("estimator/models.py",
("from honestdp.engine.models import Linear, TwoLayer\nfrom honestdp.engine.module import Module\n","from honestdp.engine.models import Module\n"),
("from honestdp.planning.spec import MODELS, Spec\n","from honestdp.planning.spec import Spec\n"),
("from honestdp.planning import defaults\n","from honestdp.models import is_model, model_name, model_names\nfrom honestdp.planning import defaults\n"),
('''    if isinstance(model, str) and model in ("logistic", "linear"):
        return model == "logistic"
''','''    if isinstance(model, str) and model in model_names():
        name = model_name(model)
        if name.classes != name.numbers:
            return name.classes
'''),
('''    if _is_engine_model(model):
''','''    if is_model(model):
'''),
('''        if options and not isinstance(model, Module):
            raise InputError(f"{_listed(options)}: a {type(model).__name__} takes no options")
        return spec(model=model.with_options(options) if options else model, grid=grid)
''','''        return spec(model=model.build(options), grid=grid)
'''),
("give {', '.join(MODELS)}, a torch module, ","give {', '.join(model_names())}, a torch module, "),
('''    if isinstance(model, Linear):
        return "logistic" if model.classes else "linear"
    return "mlp" if isinstance(model, TwoLayer) else module
''','''    return model.called or module
'''),
)
s = (R/"estimator/models.py").read_text(); i = s.index("def _is_engine_model("); s = s[:i].rstrip()+"\n"; (R/"estimator/models.py").write_text(s)
s = (R/"release/model_files.py").read_text()
i = s.index("class LinearModel(Part)"); j = s.index("class SavedCandidate(Part)")
s = s[:i] + '''class SavedModel(Part):
    """A model without its parameters: what its architecture says of it (`honestdp.models`), and
    what it answers to made-up rows, by which another's code is told."""

    model_config = ConfigDict(extra="allow")

    kind: str
    classes: int | None = Field(ge=2)

    @model_validator(mode="after")
    def _known(self) -> Self:
        facts, probe = self.facts
        if self.architecture.probed:
            TypeAdapter(tuple[float | None, ...]).validate_python(probe)
        elif probe is not None:
            raise ValueError("needs no probe")
        self.architecture.check_saved(facts)
        return self

    @property
    def architecture(self) -> Architecture:
        return architectures.get(self.kind)()

    @property
    def facts(self) -> tuple[dict[str, Any], Any]:
        """What the architecture said, and the answers to made-up rows."""
        more = dict(self.model_extra or {})
        probe = more.pop(PROBE, None)
        return more, probe


''' + s[j:]
i = s.index("def _probe(one"); j = s.index("def _read(\n")
s = s[:i] + '''def _probe(one: Predictor) -> tuple[float | None, ...]:
    return one.model.probe(one.parameters, one.schema.width)


def _architecture(model: Model, probe: tuple[float | None, ...]) -> SavedModel:
    found = model.architecture
    facts = found.saved(model) | ({PROBE: list(probe)} if found.probed else {})
    return SavedModel(kind=found.name, classes=model.loss.classes or None, **facts)


''' + s[j:]
(R/"release/model_files.py").write_text(s)
sub("release/model_files.py",
('''    architecture: Annotated[LinearModel | TwoLayerModel | ModuleModel, Field(discriminator="kind")]
''','''    architecture: SavedModel
'''),
("from honestdp.engine.models import Linear, Model, TwoLayer\nfrom honestdp.engine.module import Module\n","from honestdp.engine.models import Model\n"),
("from honestdp.errors import InputError\n","from honestdp.errors import InputError\nfrom honestdp.models import Architecture, architectures\n"),
("from typing import Annotated, Any, Literal\n","from typing import Any, Literal, Self\n"),
("from pydantic import Field\n","from pydantic import ConfigDict, Field, TypeAdapter, model_validator\n"),
("from torch import Tensor, nn\n","from torch import Tensor\n"),
("from collections.abc import Callable, Mapping, Sequence\n","from collections.abc import Mapping, Sequence\n"),
('''    constants = one.model.constants if isinstance(one.model, Module) else {}
    return {**constants, **one.tensors}
''','''    return {**one.model.constants, **one.tensors}
'''),
('''        model = saved.architecture.make(schema, module)
''','''        facts, probe = saved.architecture.facts
        classes = saved.architecture.classes
        model = saved.architecture.architecture.load(facts, schema.width, classes, module)
'''),
('''    if isinstance(model, Module):
        kept = {n: take(n, tuple(v.shape), v.dtype) for n, v in model.constants.items()}
        model = model.with_constants(kept)
''','''    kept = {n: take(n, tuple(v.shape), v.dtype) for n, v in model.constants.items()}
    model = model.with_constants(kept)
'''),
('''    if isinstance(saved.architecture, ModuleModel):
        _check_probe(found, saved.architecture.probe)
    return found
''','''    if probe is not None:
        _check_probe(found, tuple(probe))
    return found
'''),
('''class SavedModel(Part):
''','''PROBE = "probe"


class SavedModel(Part):
'''),
)
for p in [*R.rglob("*.py"), *Path("/tmp/hM/tests").rglob("*.py"), *Path("/tmp/hM/benchmarks").rglob("*.py")]:
    t = p.read_text(); o = t
    t = t.replace("from honestdp.engine.module import Module", "from honestdp.engine.models import Module")
    t = t.replace('"engine/module.py"', '"engine/models/module.py"')
    if t != o: p.write_text(t)
p = Path("/tmp/hM/pyproject.toml"); t = p.read_text()
t = t.replace('''  "honestdp.optimizers",
''','''  "honestdp.models | honestdp.optimizers",
''').replace('"honestdp.ledger", "honestdp.optimizers"]','"honestdp.ledger", "honestdp.models", "honestdp.optimizers"]')
p.write_text(t)
