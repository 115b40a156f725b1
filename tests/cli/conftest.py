"""A shell to call `honestdp` in."""

from cli_calls import shell

__all__ = ["shell"]
