"""`Released`: everything that a search released, in memory or read back from its files.

Under best-of-K procedures it has the same fields, of the same sizes, however many candidates ran. A
simulation is marked as one wherever it is shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from honestdp.errors import InputError, fail
from honestdp.evaluation import Evaluation
from honestdp.files import ANYONE, replace_file
from honestdp.json_files import sha256
from honestdp.release.card import Card
from honestdp.release.effects import Effects, effects_of, linear_part, not_linear
from honestdp.release.model_files import read_model, winner_architecture
from honestdp.release.predictor import Predictor
from honestdp.release.weight_noise import weight_noise_sd
from honestdp.run_files import CARD, FILES, MODEL, way_to
from honestdp.schema import Schema
from honestdp.text import small, up

_LARGEST = 1 << 34  # bytes: no model file here is so large


@dataclass(frozen=True, eq=False)
class Released:
    """Everything that a search released.

    Attributes:
        schema: The schema, with the chosen encoding and all that was learnt filled in.
        winner: The selected candidate; None if the search ended without one.
        candidates: All candidates, the winner first, if the procedure releases all.
        card: The privacy card.
        files: The content of the files that `save` writes, by name.
    """

    schema: Schema
    winner: Predictor | None
    candidates: tuple[Predictor, ...]
    card: Card
    files: dict[str, bytes] = field(repr=False)

    @property
    def predictor(self) -> Predictor:
        """The winner.

        Raises:
            InputError: If the search ended without one.
        """
        if self.winner is None:
            raise InputError("release: holds no model, the search ended with nothing; run anew")
        return self.winner

    @property
    def evaluation(self) -> Evaluation | None:
        """How good the winner is, on rows that had no part in making it; None if there are none."""
        return self.card.evaluation

    @property
    def simulated(self) -> bool:
        """Whether this is a simulation, which is not private."""
        return self.card.ledger is None

    @property
    def epsilon(self) -> float:
        """The epsilon of everything released."""
        return self.card.guarantee.epsilon

    @property
    def delta(self) -> float:
        """The delta of everything released."""
        return self.card.guarantee.delta

    def predict(self, table: Any, *, warn: bool = True) -> NDArray[Any]:
        """Predict the target of raw rows with the winner.

        Args:
            table: A path or a table in memory, with the schema's columns.
            warn: Whether cells that the schema does not expect are told as a `PredictionWarning`.

        Returns:
            One class or number per row, as in the table.

        Raises:
            InputError: If the table does not fit the schema, or there is no winner.
        """
        return self.predictor.predict(table, warn=warn)

    def predict_proba(self, table: Any, *, warn: bool = True) -> NDArray[Any]:
        """Predict class probabilities of raw rows with the winner.

        Args:
            table: A path or a table in memory, with the schema's columns.
            warn: Whether cells that the schema does not expect are told as a `PredictionWarning`.

        Returns:
            An array [row, class], classes in the schema's order.

        Raises:
            InputError: If the table does not fit the schema, or there is no winner.
        """
        return self.predictor.predict_proba(table, warn=warn)

    def effects(self) -> Effects:
        """What each column adds to the winner's prediction, for linear models. It costs nothing:
        it is computed from what was released.

        Returns:
            The effects by column, the largest first, with the standard deviation that the noise
            alone gives them; iterate over it for a table of `Effect`.

        Raises:
            InputError: If the model is not linear (`mlp`, a torch module), or there is no winner.

        Example:
            >>> for one in load("run").effects():  # doctest: +SKIP
            ...     print(one.column, one.label, one.contribution, one.noise_sd)
        """
        winner = self.predictor
        linear_part(winner)  # before its noise is computed, which may take a simulation
        noise = weight_noise_sd(self.card, winner.setting, winner.model.parameters)
        corrected = self.card.calibration
        if noise is not None and corrected is not None:  # whose slope is in the weights
            noise *= corrected.slope
        return effects_of(winner, noise)

    def save(self, folder: str | PathLike[str]) -> None:
        """Write card.json, model.json and model.safetensors.

        Args:
            folder: The folder; it is created if need be and must not hold such files.

        Raises:
            InputError: If it holds one of them, or cannot be written.
        """
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
    """Read a release from the folder of a finished run.

    Nothing is unpickled. `honestdp.verify(folder, ledger)` checks whether the card is genuine.

    Args:
        folder: The folder, as `run` or `save` wrote it.
        module: For a torch module its class, its factory or an instance: files hold no code.

    Returns:
        The release, ready to predict.

    Raises:
        InputError: If a file is missing, altered or of another run, or `module` does not fit.

    Example:
        >>> load("run").predict("new.csv")  # doctest: +SKIP
    """
    files = read_files(folder)
    try:
        return read(files, module)
    except InputError as error:
        raise InputError(f"{folder}: {error}") from None


def load_effects(folder: str | PathLike[str]) -> Effects:
    """Read the effects of a release from the folder of a finished run: `load(folder).effects()`,
    but for a torch module it says that it has none instead of asking for its code.

    Args:
        folder: The folder, as `run` or `save` wrote it.

    Raises:
        InputError: If a file is missing or altered, there is no winner, or it is not linear.
    """
    files = read_files(folder)
    try:
        return read_effects(files)
    except InputError as error:
        raise InputError(f"{folder}: {error}") from None


def read_effects(files: dict[str, bytes]) -> Effects:
    """As `load_effects`, from the contents of the files."""
    architecture = winner_architecture(files)
    if architecture is not None and not architecture.linear:
        raise not_linear(architecture)
    return read(files).effects()


def read_files(folder: str | PathLike[str]) -> dict[str, bytes]:
    """The contents of a run's files by name."""
    if not isinstance(folder, (str, PathLike)):
        raise InputError(f"folder: is a {type(folder).__name__}; give the path to a run's folder")
    place = Path(folder)
    files = {}
    for name in FILES:
        try:
            if (place / name).stat().st_size > _LARGEST:
                raise InputError(f"{place / name}: is too large to be a file of a run")
            files[name] = (place / name).read_bytes()
        except (OSError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            way = way_to(place, "give a run's folder")
            raise InputError(f"{place / name}: cannot be read; {way}") from None
    return files


def read(files: dict[str, bytes], module: Any = None) -> Released:
    """As `load`, from the contents of the files."""
    card = Card.from_json(files[CARD])
    if card.model_sha256 != sha256(files[MODEL]):
        raise InputError(f"{CARD}: is not of the same run as {MODEL}, or one of them was altered")
    file, schema, found = read_model(files, module)
    if file.mark != card.mark or bool(card.mark) != (card.ledger is None):
        raise InputError(f"{CARD}: says something else than {MODEL} about being a simulation")
    shown = tuple(found) if card.releases_all else ()
    winner = found[0] if file.winner else None
    return Released(schema, winner, shown, card, files)
