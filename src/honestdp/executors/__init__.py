"""Where trainings are carried out: `base` is the contract, every other file an executor."""

from honestdp.executors.base import Executor, Work
from honestdp.registry import Registry

__all__ = ["Executor", "Work", "executors"]

executors: Registry[type[Executor]] = Registry(
    "executor", "honestdp.executors", "honestdp.executors", Executor
)
