"""`Released`: what may leave a search, in memory or read back from its files. Nothing else.

Under best-of-K procedures it has the same fields, of the same sizes, however many candidates ran. A
simulation says so wherever it is shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from honestdp.errors import InputError, fail
from honestdp.files import ANYONE, replace_file
from honestdp.json_files import sha256
from honestdp.release.card import Card
from honestdp.release.model_files import read_model
from honestdp.release.predictor import Predictor
from honestdp.run_files import CARD, FILES, MODEL, way_to
from honestdp.schema import Schema
from honestdp.text import small, up

_LARGEST = 1 << 34  # bytes: no model file here is so large


@dataclass(frozen=True, eq=False)
class Released:
    """What left. `winner` is None where the procedure may end with nothing, and did.

    candidates: all of them, the winner first, where the procedure shows all. schema: the declared
    one with learnt bounds. files: what `save` writes, by name.
    """

    schema: Schema
    winner: Predictor | None
    candidates: tuple[Predictor, ...]
    card: Card
    files: dict[str, bytes] = field(repr=False)

    @property
    def predictor(self) -> Predictor:
        """The winner; `InputError` where there is none."""
        if self.winner is None:
            raise InputError("release: holds no model, the search ended with nothing; run anew")
        return self.winner

    @property
    def simulated(self) -> bool:
        return self.card.ledger is None

    @property
    def epsilon(self) -> float:
        return self.card.guarantee.epsilon

    @property
    def delta(self) -> float:
        return self.card.guarantee.delta

    def predict(self, table: Any) -> NDArray[Any]:
        """The winner's answers for raw rows, in the table's own terms."""
        return self.predictor.predict(table)

    def predict_proba(self, table: Any) -> NDArray[Any]:
        """The winner's class probabilities for raw rows, [row, class]."""
        return self.predictor.predict_proba(table)

    def save(self, folder: str | PathLike[str]) -> None:
        """Write card.json, model.json and model.safetensors into a folder without them."""
        place = Path(folder)
        try:
            place.mkdir(parents=True, exist_ok=True)
            for name in FILES:
                if (place / name).exists():
                    raise fail("folder", str(place), f"holds a {name}; choose another")
            for name in FILES:  # the card last: where there is one, all is there
                replace_file(place / name, self.files[name], ANYONE)
        except OSError as error:
            reason = f"{error.strerror or 'cannot be written'}; choose another, or make room"
            raise fail("folder", str(place), reason) from None

    def __repr__(self) -> str:
        mark = f"{self.card.mark}; " if self.card.mark else ""
        found = "nothing" if self.winner is None else _shown(self.winner, self.card.metric.label)
        return (
            f"{type(self).__name__}({mark}epsilon={up(self.epsilon)}, delta={small(self.delta)}, "
            f"procedure={self.card.procedure!r}, winner: {found})"
        )


def _shown(fitted: Predictor, what: str) -> str:
    score = "" if fitted.noisy_score is None else f", noisy {what} {fitted.noisy_score:.4f}"
    return ", ".join(f"{name}={value}" for name, value in fitted.setting.items()) + score


def load(folder: str | PathLike[str], module: Any = None) -> Released:
    """What a run's folder holds; raises `InputError` if a file is absent, altered or another's.

    module: for a torch module its class, its factory, or one of it: code is never in a file, and
    nothing is ever unpickled. `honestdp.verify(card, ledger)` tells whether the card is genuine.
    """
    if not isinstance(folder, (str, PathLike)):
        raise InputError(f"folder: is a {type(folder).__name__}; give the path to a run's folder")
    place = Path(folder)
    files = {}
    for name in FILES:
        try:
            if (place / name).stat().st_size > _LARGEST:
                raise InputError(f"{place / name}: is too large to be a run's")
            files[name] = (place / name).read_bytes()
        except (OSError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            way = way_to(place, "give a run's folder")
            raise InputError(f"{place / name}: cannot be read; {way}") from None
    try:
        return read(files, module)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


def read(files: dict[str, bytes], module: Any = None) -> Released:
    """The same, from the files' contents."""
    card = Card.from_json(files[CARD])
    if card.model_sha256 != sha256(files[MODEL]):
        raise InputError(f"{CARD}: is not of the same run as {MODEL}, or one of them was altered")
    file, schema, found = read_model(files, module)
    if file.mark != card.mark or bool(card.mark) != (card.ledger is None):
        raise InputError(f"{CARD}: says something else than {MODEL} about being a simulation")
    shown = tuple(found) if card.releases_all else ()
    winner = found[0] if file.winner else None
    return Released(schema, winner, shown, card, files)
