"""Named random streams: OS entropy in production, a seed only in simulation."""

from honestdp.randomness.streams import Purpose, Randomness

__all__ = ["Purpose", "Randomness"]
