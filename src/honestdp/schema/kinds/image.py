"""`Image`: a block of pixel columns as fixed public features, in rows of one public norm."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, model_validator

from honestdp.schema.blocks import Entries
from honestdp.schema.fields import Name, Names, Pair, as_tuple, check_pair
from honestdp.schema.gradients import feature_count, feature_names, gradient_features
from honestdp.schema.kinds.base import BLOCK_NORM, CellLists, Column, column_kinds

if TYPE_CHECKING:
    from honestdp.schema.tables import Table

MOST_PIXELS = 2**20

Side = Annotated[int, Field(strict=True, ge=2, le=4096)]
Size = Annotated[tuple[Side, Side], BeforeValidator(as_tuple), Field(strict=True)]


@column_kinds.register
class Image(Column):
    """A block of columns that hold the pixels of one image per row.

    Args:
        name: What the image is called; not a column of the table.
        size: (height, width) in pixels.
        channels: Numbers per pixel: 1 for grey, 3 for colour.
        columns: The columns of the pixels: row by row, the channels of a pixel side by side. A list
            of names, or a pattern: "pixel*" stands for pixel0, pixel1, ...; "pixel_*_*" for
            pixel_0_0, pixel_0_1, ..., row and column; a third star is the channel.
        first: The number that a pattern starts to count at, 0 or 1.
        range: (low, high) of a pixel; cells outside are clipped to the nearer one. A cell that is
            missing or not a number counts as low.
        features: "gradients": how edges run, a language that suits pictures
            (`honestdp.schema.gradients`); or "pixels", as they are. Either way each image is scaled
            to one public norm; one without contrast, or all black, is all zeros.

    Example:
        >>> Image(name="digit", size=(28, 28), columns="pixel*").sources[-1]
        'pixel783'
    """

    label: ClassVar[str] = "image"
    form: ClassVar[tuple[str, ...]] = ('kind = "image"', "size = [28, 28]", 'columns = "pixel*"')
    form_help: ClassVar[tuple[str, ...]] = (
        "a block of pixel columns, in a line with a name of its own; delete the pixels' lines",
    )
    remedies: ClassVar[dict[str, str]] = {
        "size": "give [height, width] in pixels, whole numbers from 2 to 4096",
        "channels": "must be a whole number from 1 to 4, such as 1 for grey or 3 for colour",
        "columns": 'give a list of names or a pattern such as "pixel*"',
        "first": "must be 0 or 1",
        "range": "give [low, high], two finite numbers with low < high, such as [0, 255]",
        "features": 'must be "gradients" or "pixels"',
    }

    is_block: ClassVar[bool] = True

    kind: Literal["image"] = "image"
    size: Size
    channels: Annotated[int, Field(strict=True, ge=1, le=4)] = 1
    columns: Name | Names
    first: Literal[0, 1] = 0
    range: Pair = (0.0, 255.0)
    features: Literal["gradients", "pixels"] = "gradients"

    @model_validator(mode="after")
    def _check(self) -> Image:
        check_pair("range", self.range)
        if self.pixels > MOST_PIXELS:
            raise ValueError(f"{self._block}: more than {MOST_PIXELS}; make the images smaller")
        if isinstance(self.columns, str):
            stars = self.columns.count("*")
            if not 1 <= stars <= 3 or (stars == 2 and self.channels > 1):
                raise ValueError(
                    f"columns = {self.columns[:60]!r}: needs one star (the number of the pixel), "
                    "two (row and column, for one channel) or three (and channel)"
                )
        elif len(self.columns) != self.pixels:
            raise ValueError(f"columns: {len(self.columns)} names, but {self._block}")
        elif len(set(self.columns)) < len(self.columns):
            raise ValueError("columns: a name is there twice; give each pixel its own column")
        return self

    @property
    def pixels(self) -> int:
        """The number of columns that an image is read from."""
        return self.size[0] * self.size[1] * self.channels

    @property
    def _block(self) -> str:
        height, width = self.size
        return f"{height} x {width} pixels of {self.channels} channels are {self.pixels} columns"

    @property
    def sources(self) -> tuple[str, ...]:
        if not isinstance(self.columns, str):
            return self.columns
        first, parts = self.first, self.columns.split("*")
        sides = (self.pixels,), self.size, (*self.size, self.channels)
        places = product(*(range(first, first + side) for side in sides[len(parts) - 2]))
        return tuple(_filled(parts, numbers) for numbers in places)

    @property
    def encoded_names(self) -> list[str]:
        if self.features == "pixels":
            return [f"{self.name} {source}" for source in self.sources]
        return [f"{self.name} {feature}" for feature in feature_names(self.size, self.channels)]

    @property
    def width(self) -> int:
        return self.pixels if self.features == "pixels" else feature_count(self.size, self.channels)

    @property
    def entries(self) -> int:
        return self.width

    def encode_from(self, table: Table) -> Entries:
        low, high = self.range
        pixels = table.numbers(self.sources)
        np.copyto(pixels, low, where=np.isnan(pixels))
        np.clip(pixels, low, high, out=pixels)
        pixels -= low  # in place: a table of images is large
        pixels /= high - low
        if self.features == "pixels":
            made: NDArray[np.floating] = _unit(pixels)
        else:
            made = gradient_features(pixels, self.size, self.channels)
        made *= BLOCK_NORM
        return Entries(np.arange(self.width), made)

    def made_up(self, rows: int, source: np.random.RandomState) -> CellLists:
        """Images without a subject: every pixel on its own, in 256 steps within the range."""
        (low, high), steps = self.range, source.randint(256, size=(self.pixels, rows)) / 255
        pixels = np.clip(low * (1 - steps) + high * steps, low, high)
        return dict(zip(self.sources, pixels, strict=True))

    @property
    def encoding_words(self) -> str:
        return "as edges and their turns" if self.features == "gradients" else "as pixels"

    def describe(self) -> str:
        height, width = self.size
        channels = "" if self.channels == 1 else f" of {self.channels} channels"
        return f"{height} x {width} pixels{channels}, as {self.features}"


def _filled(parts: list[str], numbers: tuple[int, ...]) -> str:
    """A pattern, cut at its stars, with numbers in their place."""
    return parts[0] + "".join(f"{n}{part}" for n, part in zip(numbers, parts[1:], strict=True))


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows scaled to norm 1; a row of zeros stays zero."""
    norms = np.sqrt(np.square(rows).sum(axis=1))
    return rows * np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)[:, None]
