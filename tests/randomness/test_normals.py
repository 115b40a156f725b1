"""round(s X): exactly what real numbers give for the same bits, and of exactly the normal law."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy import stats

from honestdp.randomness import Purpose, Randomness
from honestdp.randomness.exact import normal_pair
from honestdp.randomness.normal import GROUP, PAIRS, TILES, round_normals
from honestdp.randomness.streams import further_bits, settled_pair

ALPHA = 1e-6
MIDDLE = 4.0 * 2**20


def real_pair(scale: float, words: list[int], more: tuple[int, int], count: int) -> list[int]:
    """The two whole numbers by the map of Box and Muller as a textbook has it, in 700 bits, for u
    and f whose `count` further bits are these: nothing shared with the code under test."""
    a, b, c = words
    with mpmath.workprec(700):
        u = mpmath.mpf((((a << 16) | (c & 0xFFFF)) << count) + more[0]) / mpmath.mpf(2) ** (
            48 + count
        )
        f = mpmath.mpf((((b & 0x1FFFFFFF) << 16 | c >> 16) << count) + more[1]) / mpmath.mpf(2) ** (
            45 + count
        )
        radius = scale * mpmath.sqrt(-2 * mpmath.log(u))
        x, y = radius * mpmath.cos(mpmath.pi / 4 * f), radius * mpmath.sin(mpmath.pi / 4 * f)
        x, y = (-x if b >> 31 & 1 else x), (-y if b >> 30 & 1 else y)
        first, second = (y, x) if b >> 29 & 1 else (x, y)
        return [int(mpmath.nint(first)), int(mpmath.nint(second))]


def checked(words: np.ndarray, scale: float, seed: int) -> int:
    """One group of words: settled pairs are right for further bits of every kind, all 0, all 1 and
    random; the others are settled with the same bits. Returns how many were in doubt."""
    out, doubt = np.empty(GROUP), np.empty(PAIRS, np.bool_)
    round_normals(words, scale, out, doubt)
    source = np.random.default_rng(seed)
    for pair in range(PAIRS):
        own = [int(words[pair + PAIRS * i]) for i in range(TILES)]
        random = tuple(int.from_bytes(source.bytes(64), "big") for _ in range(2))
        if doubt[pair]:
            found = normal_pair(scale, own, lambda count, r=random: [x >> (512 - count) for x in r])
            assert list(found) == real_pair(scale, own, random, 512)
            continue
        found = [int(out[pair]), int(out[pair + PAIRS])]
        ends = [random]
        if pair % 16 == 0:
            ends += [(0, 0), (2**512 - 1, 2**512 - 1), (0, 2**512 - 1), (2**512 - 1, 0)]
        for more in ends:
            if any(own[0::2]) or more[0]:
                assert found == real_pair(scale, own, more, 512)
    return int(doubt.sum())


def random_words(source: np.random.Generator) -> np.ndarray:
    return source.integers(0, 2**32, TILES * PAIRS, dtype=np.uint32)


@pytest.mark.parametrize("scale", [1e-3, 1.0, MIDDLE, 2.0**30, 2.0**38, 2.0**46])
def test_rounded_normals_are_those_of_real_numbers(scale):
    source = np.random.default_rng(int(np.log2(scale)) % 100)
    checked(random_words(source), scale, 1)


@pytest.mark.slow
def test_rounded_normals_are_those_of_real_numbers_on_100_000_bit_strings():
    source = np.random.default_rng(0)
    doubts = dict.fromkeys((MIDDLE, 2.0**31, 2.0**37), 0)
    for turn in range(100_000 // PAIRS + 1):
        scale = list(doubts)[turn % 3]
        doubts[scale] += checked(random_words(source), scale, turn)
    assert doubts[2.0**37] > 300  # the branch of many digits was taken
    assert doubts[MIDDLE] < 5  # and is not where it need not be


@pytest.mark.parametrize("scale", [1.0, MIDDLE, 2.0**34])
@pytest.mark.parametrize("first", [0, 1, 2**8, 2**20, 2**32 - 1])
def test_extreme_radii_are_those_of_real_numbers(first, scale):
    """u next to 0, where the radius has no end, and next to 1, where it is 0."""
    source = np.random.default_rng(first % 1000)
    words = random_words(source)
    words[:PAIRS] = first
    if first in (0, 1):
        words[2 * PAIRS :] &= np.uint32(0xFFFF0003)  # the radius' last bits
    checked(words, scale, 3)


@pytest.mark.parametrize("angle", [0, 1, 2**29 - 1])
def test_extreme_angles_are_those_of_real_numbers(angle):
    words = random_words(np.random.default_rng(angle % 1000))
    words[PAIRS : 2 * PAIRS] = words[PAIRS : 2 * PAIRS] & np.uint32(0xE0000000) | np.uint32(angle)
    checked(words, MIDDLE, 4)


def test_the_tail_has_no_end():
    """A radius of 48 zero bits and more: one in 2^80 here."""
    found = normal_pair(MIDDLE, [0, 0, 0], lambda count: (1 << (count - 32), 0))
    reach = MIDDLE * np.sqrt(2 * 80 * np.log(2))
    assert found[0] == pytest.approx(reach, rel=1e-4)
    assert abs(found[1]) < 10


def test_further_bits_go_on_where_they_were():
    """A draw that needs more bits must keep those it has seen, or its law is another."""
    key = Randomness.simulation(1).key
    name = np.uint32(Purpose.NOISE), np.uint32(3), np.uint32(7)
    for part in (0, 1):
        long = further_bits(key, *name, 5, part, 2000)
        for count in (1, 32, 64, 511, 512, 513, 1024, 1999):
            assert further_bits(key, *name, 5, part, count) == long >> (2000 - count)
    seen = {further_bits(key, *name, pair, part, 512) for pair in range(50) for part in (0, 1)}
    assert len(seen) == 100


def test_a_stream_in_doubt_is_settled_with_its_own_bits():
    """All pairs of a huge scale by themselves, as the stream gives them and one by one."""
    scale = 2.0**39
    source = Randomness.simulation(2)
    whole = source.rounded_normals(Purpose.SCORES, 4, 0, scale, 300)
    name = np.uint32(Purpose.SCORES), np.uint32(4), np.uint32(0)
    for pair in range(100):
        first, second = settled_pair(source.key, *name, pair, scale)
        assert whole[pair] == first
        if pair + PAIRS < 300:
            assert whole[pair + PAIRS] == second


def against_the_law(z: np.ndarray, scale: float) -> None:
    """Draws of round(scale X) against their exact distribution, in 400 cells and in the tails."""
    edges = np.unique(np.round(stats.norm.ppf(np.arange(1, 400) / 400) * scale) + 0.5)
    counts = np.bincount(np.searchsorted(edges, z), minlength=len(edges) + 1)
    chances = np.diff(stats.norm.cdf(np.concatenate([[-np.inf], edges / scale, [np.inf]])))
    assert stats.chisquare(counts, chances * z.size).pvalue > ALPHA
    limit = stats.norm.isf(ALPHA / 2)
    x = z / scale
    moments = ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96), (6, 15, 10170))
    for power, mean, spread in moments if scale > 1000 else ():  # rounding adds to them
        assert abs((x**power).mean() - mean) / np.sqrt(spread / z.size) < limit
    for side in (-1, 1):
        for reach in (3, 3.5, 4, 4.5, 5, 5.5, 6):
            edge = np.floor(reach * scale) + 0.5
            found = int((side * z > edge).sum())
            chance = stats.norm.sf(edge / scale)
            assert stats.binomtest(found, z.size, chance).pvalue > ALPHA


def drawn(count: int, scale: float, seed: int) -> np.ndarray:
    return Randomness.simulation(seed).rounded_normals(Purpose.NOISE, 0, 1, scale, count)


@pytest.mark.parametrize("scale", [MIDDLE, 3.7])
def test_a_million_draws_have_the_exact_law(scale):
    against_the_law(drawn(10**6, scale, 1), scale)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [MIDDLE, 0.8])
def test_ten_million_draws_have_the_exact_law(scale):
    against_the_law(drawn(10**7, scale, 2), scale)


@pytest.mark.slow
def test_the_branch_of_many_digits_has_the_exact_law_too():
    """At this scale thousands of the normals are in doubt and settled with more bits."""
    scale = 2.0**39.9
    against_the_law(drawn(30_000, scale, 5), scale)


def test_small_scales_are_right_to_the_probability_of_each_number():
    z = drawn(10**6, 0.4, 3)
    for whole in range(-2, 3):
        chance = stats.norm.cdf((whole + 0.5) / 0.4) - stats.norm.cdf((whole - 0.5) / 0.4)
        assert stats.binomtest(int((z == whole).sum()), z.size, chance).pvalue > ALPHA
