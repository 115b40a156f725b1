"""Streams keyed by (root, purpose, candidate, step): independent wherever one of them differs.

The privacy proofs need lots and noise that are independent between candidates and steps and
that nobody can guess. In production the root is 256 bits from the operating system, made
afresh in every process and never written; no stream of lots or noise is ever used twice
(`claimed` holds that). A second root is that of the coins: how many runs, which settings, which
rows are in a subset. A run that was interrupted goes on with the same ones, so this root is kept
with it, inside the trust boundary. With a seed everything can be repeated, and is therefore a
*simulation*: it protects nobody, and whatever it makes must say so.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from hashlib import blake2b
from threading import Lock
from typing import Any, NoReturn

import numpy as np

from honestdp.errors import InputError, fail
from honestdp.randomness.chacha import Words, stream

LARGEST = 2**32 - 1  # candidates and steps are 32-bit words of the cipher's nonce


class Purpose(IntEnum):
    """What a stream is for. Numbers are part of a simulation's identity: append, never renumber."""

    LOTS = 1
    NOISE = 2
    START = 3
    COINS = 4  # how many runs, and which candidates
    SCORES = 5
    SUBSET = 6
    BOUNDS = 7
    SPLIT = 8  # public: a seed of its own, never a production root


KEPT = (Purpose.COINS, Purpose.SUBSET)  # drawn from the root that a resumed run keeps


class Randomness:
    """A root of streams. `Randomness()` is production; `Randomness.simulation(seed)` repeats.

    coins: the root of the coins of a run that is resumed, 32 bytes; fresh where not given.
    """

    def __init__(self, coins: bytes | None = None) -> None:
        self._set_up(os.urandom(32), os.urandom(32) if coins is None else coins, simulated=False)

    @classmethod
    def simulation(cls, seed: int) -> Randomness:
        """Streams that can be repeated. Not private: whoever knows the seed removes the noise."""
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise fail("seed", seed, "must be a whole number")
        made = cls.__new__(cls)
        root = blake2b(b"honestdp %d" % seed, digest_size=32).digest()
        made._set_up(root, root, simulated=True)
        return made

    def _set_up(self, root: bytes, coins: bytes, *, simulated: bool) -> None:
        self.simulated = simulated
        self._key: Words = np.frombuffer(root, dtype="<u4").copy()
        self._coins: Words = np.frombuffer(coins, dtype="<u4").copy()
        self._process = os.getpid()
        self._used: dict[int, int] = {}
        self._lock = Lock()

    @property
    def key(self) -> Words:
        """The root, for the cipher; not for a fork, which would draw what its parent draws."""
        self._check_process()
        return self._key

    def _check_process(self) -> None:
        if not self.simulated and os.getpid() != self._process:
            raise InputError(
                "randomness: was made in another process, which draws the same noise; "
                "make a fresh Randomness() in each"
            )

    def uniforms(self, purpose: Purpose, candidate: int, step: int, count: int) -> Any:
        """`count` draws from the stream, uniform on the open interval (0, 1), in float64."""
        words = np.empty(2 * count, np.uint32)
        self._check_process()
        key = self._coins if purpose in KEPT else self._key
        stream(key, np.uint32(purpose), np.uint32(candidate), np.uint32(step), words)
        high, low = words[0::2].astype(np.uint64), words[1::2].astype(np.uint64)
        # 52 bits: with one more the largest would round to 1.
        return (((high << np.uint64(20)) | (low >> np.uint64(12))) + 0.5) * 2.0**-52

    @contextmanager
    def claimed(self, candidates: Sequence[int], first: int) -> Iterator[Claim]:
        """The streams of these candidates from step `first` on, for one holder at a time.

        The holder says in `claim.last` how far it came. In production a stream that was
        used, or that another holds, is refused; a simulation may repeat itself.
        """
        claim = Claim(first)
        if self.simulated:
            yield claim
            return
        with self._lock:
            for candidate in candidates:
                if self._used.get(candidate, -1) >= first:
                    raise InputError(
                        f"candidate {candidate}, step {first}: this randomness was already used "
                        "there, and noise used twice protects nobody; number the candidates "
                        "anew or pass a fresh Randomness()"
                    )
            self._used.update(dict.fromkeys(candidates, LARGEST))
        try:
            yield claim
        finally:
            with self._lock:
                self._used.update(dict.fromkeys(candidates, claim.last))

    def __repr__(self) -> str:
        return f"Randomness({'simulation' if self.simulated else 'production'})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Randomness is never written or sent: its root is the secret")


class Claim:
    """How far the holder of some streams came: `last` is the last step it used."""

    def __init__(self, first: int) -> None:
        self.last = first - 1
