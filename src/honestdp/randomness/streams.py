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
from fractions import Fraction
from hashlib import blake2b
from threading import Lock
from typing import Any, NoReturn

import numpy as np

from honestdp.errors import InputError, fail
from honestdp.randomness.chacha import BLOCKS, Words, fill_tile, stream
from honestdp.randomness.exact import Uniform, normal_pair
from honestdp.randomness.normal import GROUP, PAIRS, TILES, fill_normals
from honestdp.units import LARGEST_NOISE, UNITS

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
    CHECK = 9
    TEST = 10
    CALIBRATION = 11


MORE = 256  # added to a purpose: the streams of further bits, for draws that are in doubt

# Drawn from the root that a resumed run keeps: what it has begun to write must not change.
KEPT = (Purpose.COINS, Purpose.SUBSET)


class Randomness:
    """The source of all random draws of a run.

    `Randomness()` is for production. `Randomness.simulation(seed)` can be repeated, and is not
    private.

    Args:
        coins: The root of the coins of a run that is resumed, 32 bytes; None: a fresh one.

    Example:
        >>> Randomness()
        Randomness(production)
    """

    def __init__(self, coins: bytes | None = None) -> None:
        self._set_up(os.urandom(32), os.urandom(32) if coins is None else coins, simulated=False)

    @classmethod
    def simulation(cls, seed: int) -> Randomness:
        """Make a source that can be repeated. Not private: whoever knows the seed can remove the
        noise.

        Args:
            seed: A whole number.

        Returns:
            The source.

        Raises:
            InputError: If the seed is not a whole number.
        """
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
        """The root, which the cipher takes as its key. A forked process is refused: it would draw
        what its parent draws."""
        self._check_process()
        return self._key

    def _check_process(self) -> None:
        if not self.simulated and os.getpid() != self._process:
            raise InputError(
                "randomness: was made in another process, which draws the same noise; "
                "make a fresh Randomness() in each"
            )

    def words(self, purpose: Purpose, candidate: int, step: int, count: int) -> Words:
        """The first words of a stream, of 32 bits each.

        Args:
            purpose: What the draws are for.
            candidate: The candidate's number.
            step: The step, or 0.
            count: Number of words.
        """
        self._check_process()
        key = self._coins if purpose in KEPT else self._key
        found = np.empty(count, np.uint32)
        stream(key, np.uint32(purpose), np.uint32(candidate), np.uint32(step), found)
        return found

    def uniform(self, purpose: Purpose, candidate: int, step: int) -> Uniform:
        """One real number, uniform on (0, 1), for a draw whose law must be exact.

        Args:
            purpose: What the draw is for.
            candidate: The candidate's number.
            step: The step, or 0.
        """

        def bits(count: int) -> int:
            words = self.words(purpose, candidate, step, -(-count // 32))
            return int.from_bytes(words.astype(">u4").tobytes(), "big") >> (-count % 32)

        return Uniform(bits)

    def rounded_normals(
        self, purpose: Purpose, candidate: int, step: int, scale: float, count: int
    ) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Draw round(scale * X) for independent standard normals X, exactly (see `normal`).

        Args:
            purpose: What the draws are for.
            candidate: The candidate's number.
            step: The step, or 0.
            scale: The standard deviation before rounding.
            count: Number of draws.

        Returns:
            Whole numbers, `count` of them.

        Raises:
            InputError: If the scale is out of bounds.
        """
        if not 0 <= scale <= LARGEST_NOISE * UNITS:
            raise fail("scale", scale, f"must lie between 0 and {LARGEST_NOISE * UNITS:g}")
        stream_name = np.uint32(purpose), np.uint32(candidate), np.uint32(step)
        groups = -(-count // GROUP)
        out, doubt = np.empty((groups, GROUP)), np.empty(PAIRS, np.bool_)
        words = np.empty(TILES * BLOCKS * 16, np.uint32)
        for group in range(groups):
            if fill_normals(self.key, *stream_name, group, scale, words, out[group], doubt):
                for place in np.flatnonzero(doubt):
                    pair = group * PAIRS + int(place)
                    found = settled_pair(self.key, *stream_name, pair, scale)
                    out[group, [place, place + PAIRS]] = found
        return out.reshape(-1)[:count].astype(np.int64)

    def coins(
        self, purpose: Purpose, candidate: int, step: int, probability: float, count: int
    ) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Draw independent coins of exactly this probability.

        A coin compares 64 bits of a uniform number with those of the probability; further bits are
        needed only if these are equal, once in 2^64 draws.

        Args:
            purpose: What the draws are for.
            candidate: The candidate's number.
            step: The step, or 0.
            probability: The probability of True.
            count: Number of coins.

        Returns:
            Truth values, `count` of them.
        """
        words = self.words(purpose, candidate, step, 2 * count).astype(np.uint64)
        drawn = words[0::2] << np.uint64(32) | words[1::2]
        goal, rest = divmod(Fraction(probability) * 2**64, 1)
        if goal >= 2**64:
            return np.ones(count, np.bool_)
        found = drawn < np.uint64(goal)
        for place in np.flatnonzero(drawn == np.uint64(goal)) if rest else ():
            found[place] = self._further(purpose, candidate, step, int(place)).below(rest)
        return found

    def _further(self, purpose: Purpose, candidate: int, step: int, draw: int) -> Uniform:
        """A uniform number from the further bits of one draw of a stream."""
        key = self._coins if purpose in KEPT else self._key
        name = np.uint32(purpose), np.uint32(candidate), np.uint32(step)
        return Uniform(lambda count: further_bits(key, *name, draw, 0, count))

    def uniforms(self, purpose: Purpose, candidate: int, step: int, count: int) -> Any:
        """Draw numbers in float64, uniform on the open interval (0, 1).

        For what needs no exact law: starting parameters, public permutations, ties.

        Args:
            purpose: What the draws are for.
            candidate: The candidate's number.
            step: The step, or 0.
            count: Number of draws.

        Returns:
            The numbers, `count` of them.
        """
        words = self.words(purpose, candidate, step, 2 * count)
        high, low = words[0::2].astype(np.uint64), words[1::2].astype(np.uint64)
        # 52 bits: with one more the largest would round to 1.
        return (((high << np.uint64(20)) | (low >> np.uint64(12))) + 0.5) * 2.0**-52

    @contextmanager
    def claimed(self, candidates: Sequence[int], first: int) -> Iterator[Claim]:
        """Claim the streams of some candidates for a block, so that none is used twice.

        The block sets `claim.last` to the last step that it used. A simulation may repeat itself.

        Args:
            candidates: The candidates' numbers.
            first: The first step that the block uses.

        Raises:
            InputError: In production, if a stream was used before or another block holds it.
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


def settled_pair(
    key: Words, purpose: Any, candidate: Any, step: Any, pair: int, scale: float
) -> tuple[int, int]:
    """The two whole numbers of a stream's pair of normals, however many bits it takes."""
    group, place = divmod(pair, PAIRS)
    first = np.uint32(group * TILES * BLOCKS)
    tiles = np.empty((TILES, 16, BLOCKS), np.uint32)
    for tile in range(TILES):
        fill_tile(key, purpose, candidate, step, np.uint32(first + tile * BLOCKS), tiles[tile])
    words = tiles.reshape(TILES, -1)[:, place]

    def more(count: int) -> tuple[int, int]:
        radius, angle = (
            further_bits(key, purpose, candidate, step, pair, part, count) for part in (0, 1)
        )
        return radius, angle

    found: tuple[int, int] = normal_pair(scale, [int(word) for word in words], more)
    return found


def further_bits(
    key: Words, purpose: Any, candidate: Any, step: Any, draw: int, part: int, count: int
) -> int:
    """`count` bits more for part 0 or 1 of the draw of this number in a stream, beside the words
    it began with. A larger count gives the same bits and others after them: a draw that goes on
    must not forget what it has seen.

    Blocks of 512 bits, each from a stream of its own: the purpose plus a multiple of MORE.
    """
    tile = np.empty((16, BLOCKS), np.uint32)
    found = 0
    blocks = -(-count // 512)
    for block in range(blocks):
        name = np.uint32(int(purpose) + MORE * (1 + part + 2 * block))
        fill_tile(key, name, candidate, step, np.uint32(draw), tile)
        found = found << 512 | int.from_bytes(tile[:, 0].astype(">u4").tobytes(), "big")
    return found >> (512 * blocks - count)
