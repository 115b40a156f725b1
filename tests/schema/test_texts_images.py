"""Texts and images: fixed public features, each row by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from honestdp.errors import InputError
from honestdp.schema import Image, Schema, Target, Text
from honestdp.schema.gradients import feature_names, gradient_features
from honestdp.schema.hashing import hash_of
from honestdp.schema.kinds.base import BLOCK_NORM
from honestdp.schema.tokens import RUN_WEIGHT, hashed_words
from honestdp.testing.columns import check_column_kind

MAILS = ["Free money!", "free  MONEY !", "money free", "", None, "été 3 été", "x" * 5000, " \n", 7]
TARGET = Target(column="y", classes=("a", "b"))


def pixels(rows: int, size: tuple[int, int], channels: int = 1) -> np.ndarray:
    return np.random.default_rng(1).random((rows, size[0] * size[1] * channels))


# Texts


@pytest.mark.parametrize("text", [Text(name="t", buckets=64), Text(name="t", buckets=5, ngrams=3)])
def test_texts_keep_the_contract(text: Text) -> None:
    check_column_kind(text, MAILS)


def test_a_text_is_words_in_any_case_and_a_row_of_known_norm() -> None:
    text = Text(name="t", buckets=2**14, ngrams=2)
    schema = Schema(name="s", target=TARGET, columns=(text,))
    found = schema.encode_inputs({"t": MAILS})
    assert (found[0] != found[1]).nnz == 0
    assert (found[0] != found[2]).nnz > 0  # another order: other pairs
    norms = np.sqrt(found.multiply(found).sum(1)).A1
    assert norms == pytest.approx([BLOCK_NORM] * 3 + [0, 0] + [BLOCK_NORM] * 2 + [0, BLOCK_NORM])
    assert schema.known_norm == BLOCK_NORM**2


def test_hashes_never_change() -> None:
    """A released model reads texts by them."""
    assert hash_of("free") == 15236738885469017357
    found = hashed_words(["Free money, free"], 1000, 3)
    held = dict(zip(found.indices.tolist(), found.data.round(6).tolist(), strict=True))
    words, pairs, threes = (126, 357, 841), (355, 504, 827), (175, 518)
    by_length = zip((words, pairs, threes), (1, 0.3, 0.09), strict=True)
    assert held == {at: weight for places, weight in by_length for at in places}


def test_runs_of_words_end_with_their_text_and_weigh_less() -> None:
    apart = hashed_words(["a b", "c", "d e f", None], 10**6, 3)
    pair, three = RUN_WEIGHT, RUN_WEIGHT**2
    sums = apart.sum(1).A1.tolist()
    assert sums == pytest.approx([2 + pair, 1, 3 + 2 * pair + three, 0])
    assert hashed_words(["a b a", None, "b"], 10**6, 1).sum(1).A1.tolist() == [2, 0, 1]


def test_many_texts_are_read_part_by_part() -> None:
    texts = [f"word{i % 97} and {i}" for i in range(5000)]
    whole = hashed_words(texts, 256, 2)
    for i in (0, 2047, 2048, 4999):
        assert (whole[i] != hashed_words([texts[i]], 256, 2)).nnz == 0


# Images


@pytest.mark.parametrize(
    "image",
    [
        Image(name="i", size=(3, 5), columns="p*", range=(0, 1)),
        Image(name="i", size=(2, 2), channels=3, columns="p_*_*_*", first=1, features="pixels"),
        Image(name="i", size=(2, 2), columns=["a", "b", "c", "d"], range=(-1e300, 1e300)),
    ],
    ids=repr,
)
def test_images_keep_the_contract(image: Image) -> None:
    check_column_kind(image, [0, 1, 0.5, 255, "12"])


@pytest.mark.parametrize(
    ("size", "channels"), [((8, 8), 1), ((28, 28), 1), ((32, 32), 3), ((5, 40), 1)]
)
def test_an_images_features_depend_on_it_alone_to_the_last_bit(
    size: tuple[int, int], channels: int
) -> None:
    rows = pixels(200, size, channels)
    whole = gradient_features(rows, size, channels)
    assert whole.shape == (200, len(feature_names(size, channels)))
    assert np.linalg.norm(whole, axis=1) == pytest.approx(np.ones(200), abs=1e-5)
    assert np.array_equal(gradient_features(rows[::-1], size, channels)[::-1], whole)
    for i in (0, 127, 128, 199):
        assert np.array_equal(gradient_features(rows[i : i + 1], size, channels)[0], whole[i])


def test_pixels_as_they_are_have_the_same_norm_and_depend_on_their_row_alone() -> None:
    image = Image(name="i", size=(20, 20), columns="p*", features="pixels")
    schema = Schema(name="s", target=TARGET, columns=(image,))
    rows = np.round(255 * pixels(50, (20, 20)))
    whole = schema.encode_inputs(rows)
    assert np.linalg.norm(whole, axis=1) == pytest.approx(np.full(50, BLOCK_NORM), abs=1e-5)
    assert all(np.array_equal(schema.encode_inputs(rows[[i]])[0], whole[i]) for i in range(50))


def test_contrast_and_brightness_leave_the_features_alone_and_no_contrast_is_zero() -> None:
    rows = pixels(3, (9, 9))
    found = gradient_features(rows, (9, 9), 1)
    assert gradient_features(0.25 + rows / 2, (9, 9), 1) == pytest.approx(found, abs=1e-4)
    assert not gradient_features(np.full((2, 81), 0.3), (9, 9), 1).any()


def test_directions_are_those_of_the_edges() -> None:
    """A ramp to the right: the largest features of the first block are those of 0 degrees."""
    ramp = np.tile(np.linspace(0, 1, 28), 28)
    names, found = feature_names((28, 28), 1), gradient_features(ramp[None], (28, 28), 1)[0]
    first = [name for name in names if "then" not in name]
    for name, value in zip(first, found[: len(first)], strict=True):
        assert (value > 0) == name.endswith(" 0°")
    turned = gradient_features(ramp.reshape(28, 28).T.reshape(1, -1), (28, 28), 1)[0]
    assert all((v > 0) == n.endswith(" 90°") for n, v in zip(first, turned, strict=False))


def test_a_pattern_stands_for_the_columns_of_the_pixels() -> None:
    def sources(columns: Any, **more: Any) -> list[str]:
        return list(Image(name="i", size=(2, 2), columns=columns, **more).sources)

    assert sources("pixel*") == ["pixel0", "pixel1", "pixel2", "pixel3"]
    assert sources("*x*", first=1) == ["1x1", "1x2", "2x1", "2x2"]
    assert sources("p*_*_*", channels=2)[:3] == ["p0_0_0", "p0_0_1", "p0_1_0"]
    assert sources(["d", "c", "b", "a"]) == ["d", "c", "b", "a"]


def test_an_image_is_read_from_any_table_and_beside_other_columns() -> None:
    schema = Schema.from_toml("""
        name = "digits"
        target = { column = "y", classes = ["0", "1"] }
        [columns.digit]
        kind = "image"
        size = [4, 4]
        columns = "p*"
        range = [0, 16]
        [columns.said]
        kind = "text"
        buckets = 32
    """)
    assert schema.input_names == [*(f"p{i}" for i in range(16)), "said"]
    rows = np.round(16 * pixels(6, (4, 4)))
    table: dict[str, Any] = {f"p{i}": rows[:, i] for i in range(16)}
    table |= {"said": ["a", "b", "", None, "a b", "c"], "y": [0, 1, 0, 1, 0, 1]}
    found = schema.encode(table).inputs
    expected = BLOCK_NORM * gradient_features(rows / 16, (4, 4), 1)
    assert found[:, :-32] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("kind", "values", "said"),
    [
        ("text", {"buckets": 0}, "columns.a.buckets=0: must be a whole number from 2"),
        ("text", {"buckets": 2.5}, "columns.a.buckets=2.5: must be a whole number from 2"),
        ("text", {"ngrams": 4}, "columns.a.ngrams=4: must be 1, 2 or 3"),
        ("image", {"size": [2, 2], "columns": list("abc")}, "3 names, but 2 x 2 pixels of 1 chan"),
        ("image", {"size": [2, 2], "columns": list("abca")}, "a name is there twice"),
        ("image", {"size": [2, 2], "columns": "pixel"}, "columns = 'pixel': needs one star"),
        ("image", {"size": [2, 2], "columns": "*_*", "channels": 3}, "needs one star"),
        ("image", {"size": [2, 2]}, "columns.a.columns is missing: give a list of names or a pa"),
        ("image", {"size": [0, 2], "columns": "p*"}, "give [height, width] in pixels"),
        ("image", {"size": 28, "columns": "p*"}, "give [height, width] in pixels"),
        ("image", {"size": [4096, 4096], "columns": "p*"}, "more than 1048576; make the images"),
        ("image", {"size": [2, 2], "columns": "p*", "range": [1, 1]}, "range = [1, 1]: needs low"),
        ("image", {"size": [2, 2], "columns": "p*", "first": 2}, "must be 0 or 1"),
        ("image", {"size": [2, 2], "columns": "p*", "features": "x"}, 'must be "gradients" or'),
        ("image", {"size": [2, 2], "columns": "p*", "channels": 0}, "must be a whole number from"),
    ],
)
def test_wrong_declarations_are_told_in_a_line(
    kind: str, values: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        Schema(name="s", target=TARGET, columns={"a": {"kind": kind, **values}})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_table_that_lacks_a_pixel_is_refused_by_the_columns_name() -> None:
    image = Image(name="i", size=(2, 2), columns="p*")
    schema = Schema(name="s", target=TARGET, columns=(image,))
    with pytest.raises(InputError, match="p3"):
        schema.encode_inputs({"p0": [1], "p1": [1], "p2": [1]})
