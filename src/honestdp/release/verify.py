"""`verify`: whether a card, the model beside it and the ledger that was charged belong together."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from honestdp.errors import InputError, fail
from honestdp.json_files import sha256
from honestdp.ledger import Charge, Ledger
from honestdp.release.card import Card
from honestdp.run_files import MODEL, TENSORS


def verify(card: Card | Mapping[str, Any] | str | Path, ledger: Ledger) -> Charge:
    """Check a card against the ledger that it was charged to.

    The ledger must contain the card's head and charge, and must have released exactly this card.

    Args:
        card: A card, its JSON as a dict, its file, or its run's folder; in a folder the model files
            are checked too.
        ledger: The ledger of the data set.

    Returns:
        The charge.

    Raises:
        InputError: If something does not agree; the message gives the first such thing.
    """
    card = _with_model(card)
    if not isinstance(ledger, Ledger):
        raise InputError(f"ledger: is a {type(ledger).__name__}; give Ledger.open(...)")
    entry = card.ledger
    if entry is None or card.mark:
        raise InputError("card: is that of a simulation; no ledger stands behind it")
    if ledger.opening.dataset != entry.dataset:
        raise InputError("card: is for another dataset than this ledger")
    ledger.verify(entry.head)
    charge = next((c for c in ledger.history() if c.receipt.id == entry.charge), None)
    if charge is None or charge.receipt.entry_hash != entry.entry_hash:
        raise InputError(f"card: the ledger holds no such charge {entry.charge}")
    if charge.left is None or charge.left.head != entry.head:
        raise InputError(f"card: charge {entry.charge} was not released at this head")
    own = {
        "epsilon": card.guarantee.epsilon,
        "delta": card.guarantee.delta,
        "plan_fingerprint": card.plan_fingerprint,
    }
    for name, value in own.items():
        if getattr(charge.receipt, name) != value:
            raise InputError(f"card: its {name} is not what the ledger was charged for")
    if charge.left.what != card.digest or entry.proves(card.digest) is False:
        raise InputError("card: something on it is not what the ledger says has left")
    return charge


def verify_head(card: Card | Mapping[str, Any] | str | Path, head: str) -> None:
    """Check a card against the head of a ledger, without the ledger.

    The head must come from elsewhere than the card: where the curator published it. It is the hash
    of the entry of the release, which names the card's digest, so that it shows that this card, to
    the letter, left by this entry. It does not show what stands in the entries before.

    Args:
        card: A card, its JSON as a dict, its file, or its run's folder; in a folder the model files
            are checked too.
        head: The head of the ledger after the release, 64 hexadecimal digits.

    Raises:
        InputError: If something does not agree, or the card is too old to be checked by a head.
    """
    card = _with_model(card)
    entry = card.ledger
    if entry is None or card.mark:
        raise InputError("card: is that of a simulation; no ledger stands behind it")
    if not isinstance(head, str) or entry.head != head.strip().lower():
        raise fail("head", head, "is not the one on the card; give that after its release")
    proved = entry.proves(card.digest)
    if proved is None:
        raise InputError("card: is of an earlier version, which needs the ledger to be checked")
    if not proved:
        raise InputError("card: something on it is not what this head says has left")


def _with_model(given: Card | Mapping[str, Any] | str | Path) -> Card:
    """The card; in a folder also its model is checked."""
    card = _read(given)
    if isinstance(given, (str, Path)) and Path(given).is_dir():
        _check_model(Path(given), card)
    return card


def _check_model(folder: Path, card: Card) -> None:
    try:
        model = (folder / MODEL).read_bytes()
        known = json.loads(model)["tensors_sha256"]
        same = card.model_sha256 == sha256(model) and known == sha256(
            (folder / TENSORS).read_bytes()
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        same = False
    if not same:
        raise InputError(f"{folder}: its model is not the one that its card is for")


def _read(card: Card | Mapping[str, Any] | str | Path) -> Card:
    if isinstance(card, Card):
        return card
    if isinstance(card, (str, Path)):
        return Card.load(card)
    if isinstance(card, Mapping):
        try:
            return Card.from_json(json.dumps(dict(card)))
        except (TypeError, ValueError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError("card: holds what JSON cannot") from None
    raise InputError(f"card: is a {type(card).__name__}; give a card or the path to its file")
