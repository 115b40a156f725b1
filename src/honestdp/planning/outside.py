"""The parts of a plan that are not honestdp's own code.

What such a part says of itself (the price of a procedure, the bound of a metric, the sensitivity of
a model's sums) is taken as given, so the plan and the card name it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from honestdp.candidates import DEFAULT_RULE
from honestdp.metrics import metrics
from honestdp.models import architectures
from honestdp.optimizers import optimizers
from honestdp.planning.grid import Grid
from honestdp.planning.spec import Spec
from honestdp.procedures import Procedure, procedures
from honestdp.registry import Registry
from honestdp.schema.kinds import column_kinds


def outside_parts(spec: Spec, procedure: Procedure, grid: Grid) -> tuple[str, ...]:
    """The kinds from other packages that a plan uses, each with the place of its definition.

    Args:
        spec: The spec of the plan.
        procedure: Its procedure.
        grid: Its settings.

    Returns:
        Texts such as "procedure 'halving' (our_package.halving:Halving)".
    """
    found = [
        f"{registry.thing} {registry.name_of(kind)!r} ({_place(kind)})"
        for registry, kind in _kinds(spec, procedure, grid)
        if not registry.is_own(kind)
    ]
    for described in (pipeline.described for pipeline in spec.pipelines):
        if not type(described).__module__.startswith("honestdp."):  # a model of one's own
            found.append(f"model ({_place(type(described))})")
    return tuple(dict.fromkeys(found))


def _kinds(spec: Spec, procedure: Procedure, grid: Grid) -> Iterator[tuple[Registry[Any], Any]]:
    yield procedures, type(procedure)
    if procedure.selects:
        yield metrics, metrics.get(spec.metric)
    for rule in sorted({str(setting.get("rule", DEFAULT_RULE)) for setting in grid.settings}):
        yield optimizers, optimizers.get(rule)
    for pipeline in spec.pipelines:
        yield architectures, type(pipeline.described.architecture)  # type: ignore[attr-defined]
    for column in spec.schema.columns:
        yield column_kinds, type(column)


def _place(kind: Any) -> str:
    made = kind if isinstance(kind, type) else type(kind)
    return f"{made.__module__}:{made.__qualname__}"
