"""Many digits are for one thread at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from threading import Thread

import mpmath
import pytest

from honestdp.precision import working_precision


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads change places as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_threads_do_not_change_each_others_digits(restless: None) -> None:
    before, wrong = mpmath.mp.prec, []

    def work(bits: int) -> None:
        for _ in range(400):
            with working_precision(bits):
                found = mpmath.sqrt(2)
                if mpmath.mp.prec != bits or found != mpmath.sqrt(2):
                    wrong.append(bits)

    threads = [Thread(target=work, args=(bits,)) for bits in (60, 121, 400)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert mpmath.mp.prec == before
