"""The keyed streams: the cipher against its specification, and no stream used twice."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from honestdp.errors import InputError
from honestdp.randomness import Purpose, Randomness
from honestdp.randomness.chacha import TILE, stream


def chacha(key: bytes, counter: int, nonce: bytes, rounds: int) -> list[int]:
    """RFC 8439, section 2.3, word for word, with any number of rounds."""
    words = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574]
    words += list(np.frombuffer(key, "<u4").tolist())
    words += [counter, *np.frombuffer(nonce, "<u4").tolist()]
    x = list(words)

    def quarter(a: int, b: int, c: int, d: int) -> None:
        for i, j, k, r in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[i] = (x[i] + x[j]) % 2**32
            v = x[k] ^ x[i]
            x[k] = ((v << r) | (v >> (32 - r))) % 2**32

    for _ in range(rounds // 2):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return [(a + b) % 2**32 for a, b in zip(x, words, strict=True)]


def test_reference_is_the_rfc():
    # RFC 8439, section 2.3.2
    block = chacha(bytes(range(32)), 1, bytes.fromhex("000000090000004a00000000"), 20)
    assert block[:4] == [0xE4E7F110, 0x15593BD1, 0x1FDD0F50, 0xC47120A3]
    assert block[-1] == 0x4E3C50A2
    # ChaCha12, all zero (draft-strombergson-chacha-test-vectors-01, TC1)
    block = chacha(bytes(32), 0, bytes(12), 12)
    assert np.array(block, "<u4").tobytes().hex().startswith("9bf49a6a0755f953811fce125f2683d5")


@pytest.mark.parametrize("name", [(2, 0, 1), (1, 7, 2**32 - 1), (3, 2**32 - 1, 0)])
def test_stream_is_chacha12_of_its_name(name):
    rng = np.random.default_rng(0)
    key = rng.integers(0, 2**32, 8, dtype=np.uint32)
    words = np.empty(2 * TILE + 40, np.uint32)
    stream(key, *map(np.uint32, name), words)
    nonce = np.array(name, "<u4").tobytes()
    for tile in range(2):
        for block in (0, 5, 15):
            expected = chacha(key.tobytes(), 16 * tile + block, nonce, 12)
            assert words[tile * TILE + block :: 16][:16].tolist() == expected


def test_simulation_repeats_and_production_never_does():
    def draw(source):
        return source.uniforms(Purpose.START, 3, 0, 5).tolist()

    assert draw(Randomness.simulation(1)) == draw(Randomness.simulation(1))
    assert draw(Randomness.simulation(1)) != draw(Randomness.simulation(2))
    assert draw(Randomness()) != draw(Randomness())
    assert Randomness.simulation(1).simulated
    assert not Randomness().simulated


@pytest.mark.parametrize(
    "other", [(Purpose.NOISE, 3, 0), (Purpose.START, 4, 0), (Purpose.START, 3, 1)]
)
def test_every_part_of_the_name_counts(other):
    source = Randomness.simulation(1)
    here = source.uniforms(Purpose.START, 3, 0, 20)
    assert not set(here) & set(source.uniforms(*other, 20))


def test_root_stays_inside():
    source = Randomness()
    for shown in (repr(source), str(source)):
        assert shown == "Randomness(production)"
    with pytest.raises(TypeError, match="never written"):
        pickle.dumps(source)


def test_production_refuses_a_stream_used_before():
    source = Randomness()
    with source.claimed([0, 1], 1) as claim:
        claim.last = 5
        with (
            pytest.raises(InputError, match="candidate 1"),
            source.claimed([1, 2], 6),
        ):
            pass
    with pytest.raises(InputError, match="already used"), source.claimed([0], 5):
        pass
    with source.claimed([0, 1], 6):
        pass


def test_simulation_may_repeat():
    source = Randomness.simulation(0)
    for _ in range(2):
        with source.claimed([0], 1) as claim:
            claim.last = 5


@pytest.mark.parametrize("seed", [1.5, "a", None, True])
def test_seed_is_a_whole_number(seed):
    with pytest.raises(InputError, match="whole number"):
        Randomness.simulation(seed)


def test_a_forked_process_does_not_draw_what_its_parent_draws():
    source, again = Randomness(), Randomness.simulation(1)
    source._process = again._process = -1  # as if made in another process
    with pytest.raises(InputError, match="another process"):
        source.uniforms(Purpose.START, 0, 0, 1)
    again.uniforms(Purpose.START, 0, 0, 1)


def test_a_resumed_run_keeps_its_coins_and_nothing_else() -> None:
    first, again = Randomness(b"c" * 32), Randomness(b"c" * 32)
    for purpose in Purpose:
        same = (first.uniforms(purpose, 0, 0, 4) == again.uniforms(purpose, 0, 0, 4)).all()
        assert same == (purpose in (Purpose.COINS, Purpose.SUBSET)), purpose
    assert (first.key != again.key).any()
