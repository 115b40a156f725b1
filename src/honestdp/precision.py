"""Arithmetic with many digits, for one thread at a time.

mpmath has one working precision for the whole process, and remembers constants such as pi without
a lock. Two threads that settle draws at once could change each other's digits, so everything here
takes turns.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

import mpmath

_TURN = RLock()


@contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Compute with mpmath at this many bits; no other block of this kind runs meanwhile.

    Args:
        bits: The precision of every mpmath operation in the block.

    Example:
        >>> with working_precision(120):
        ...     third = mpmath.mpf(1) / 3
    """
    with _TURN, mpmath.workprec(bits):
        yield
