"""Audits: lower bounds on the privacy loss of a mechanism, from its outputs."""

from honestdp.audit.lower_bound import LowerBound, epsilon_lower_bound

__all__ = ["LowerBound", "epsilon_lower_bound"]
