"""The models that train: `base.py` is the contract, one file a model."""

from honestdp.engine.models.base import Layer, Model, named, size
from honestdp.engine.models.linear import Linear
from honestdp.engine.models.module import Module
from honestdp.engine.models.two_layer import TwoLayer

__all__ = ["Layer", "Linear", "Model", "Module", "TwoLayer", "named", "size"]
