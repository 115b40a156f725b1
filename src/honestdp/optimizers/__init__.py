"""The optimizers: what a training step does with a noisy mean gradient. One file a rule.

`base.py` is the contract. `optimizers` finds a rule by its name, the library's own and those that
anybody's code adds; `docs/extend.md` shows how. All of it is post-processing of noisy gradients:
a rule of one's own cannot change what a training costs.
"""

from honestdp.errors import text
from honestdp.optimizers.base import Hyperparameter, Knobs, Optimizer, fraction, functions
from honestdp.registry import Registry

optimizers: Registry[type[Optimizer]] = Registry(
    "optimizer",
    "honestdp.optimizers",
    "honestdp.optimizers",
    Optimizer,
    needs={"summary": text, "formulas": functions},
)


def optimizer(rule: str) -> Optimizer:
    """The optimizer of this name.

    Args:
        rule: A name such as "dpadam"; `optimizers.names()` has all of them.

    Returns:
        The optimizer, which holds no state: a training's state is passed to its methods.

    Raises:
        InputError: If no optimizer has this name.

    Example:
        >>> optimizer("adadp").lots
        2
    """
    return optimizers.get(rule)()


__all__ = ["Hyperparameter", "Knobs", "Optimizer", "fraction", "optimizer", "optimizers"]
