"""Attacks on ourselves: how much privacy a mechanism is seen to lose."""

from honestdp.audit.lower_bound import LowerBound, epsilon_lower_bound

__all__ = ["LowerBound", "epsilon_lower_bound"]
