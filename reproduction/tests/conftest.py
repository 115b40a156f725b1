"""A shell to call `honestdp` in, as the tests of the command line have it."""

from cli_calls import shell

__all__ = ["shell"]
