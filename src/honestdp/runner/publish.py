"""The last step of a run: write files and card, record the release in the ledger, publish."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import torch

from honestdp.engine.answers import PLAIN, Answers
from honestdp.engine.models import Model, size
from honestdp.errors import InputError
from honestdp.evaluation import Calibration, Evaluation
from honestdp.json_files import WIDEST, room_for, sha256
from honestdp.ledger import Ledger, Receipt
from honestdp.ledger.chain import link
from honestdp.planning.grid import Setting
from honestdp.planning.plan import Plan
from honestdp.procedures import Outcome
from honestdp.release.card import Card, Chosen, LedgerEntry
from honestdp.release.card_builder import build_card
from honestdp.release.model_files import read_model, write_model
from honestdp.release.predictor import Predictor
from honestdp.release.released import Release
from honestdp.release.saved import read
from honestdp.resume.journal import Journal
from honestdp.run_files import CARD, FILES, MODEL
from honestdp.schema import Schema


def check_serialisable(plan: Plan, models: Sequence[Model]) -> None:
    """Raise InputError, before anything is paid, unless every model can be serialised and read
    back; checked with made-up parameters."""
    for index in {id(model): i for i, model in enumerate(models)}.values():
        schema = plan.spec.encodings[plan.spec.encoding_of(index)].schema
        blank = torch.zeros(size(models[index]))
        setting = dict(plan.grid.settings[index])
        one = Predictor(setting, 0.0, schema, models[index], blank, _widest_answers(plan))
        try:
            read_model(write_model(schema, one, [one], simulated=True), plan.spec.model)
        except InputError:
            raise
        except Exception as error:  # from torch, safetensors or JSON
            reason = f"cannot be written to a file ({type(error).__name__})"
            raise InputError(f"model: {reason}; see its buffers and options") from None


@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    """What is about to be released. Sensitive until it is.

    candidates: The winner first. card: Without its entry in the ledger.
    """

    schema: Schema
    candidates: tuple[Predictor, ...]
    files: dict[str, bytes]
    card: Card


def prepare(
    plan: Plan,
    schemas: Sequence[Schema],
    models: Sequence[Model],
    kept: Sequence[Outcome],
    simulated: bool,
    askings: int = 0,
    evaluation: Evaluation | None = None,
    day: date | None = None,
    answers: Answers = PLAIN,
    calibration: Calibration | None = None,
) -> Prepared:
    """Make the files and the card of the kept outcomes; nothing is released yet.

    Args:
        schemas: The schema of each encoding, with what was learnt.
        models: The model of each setting.
        kept: The outcomes, the winner first, as `select` returned them.
        askings: How often the table was checked.
        evaluation: How good the winner is, on test rows.
        day: The day on which the run began; none for a simulation.
        answers: How the winner's outputs become answers.
        calibration: How its probabilities were corrected.
    """
    found = tuple(
        Predictor(
            dict(plan.grid.settings[o.draw.setting]),
            _score(plan, o),
            schemas[plan.spec.encoding_of(o.draw.setting)],
            models[o.draw.setting],
            o.parameters.clone(),  # a copy: a view would keep the losers in memory
            PLAIN if place else answers,
        )
        for place, o in enumerate(kept)
    )
    winner = found[0] if found else None
    # If only the winner may be released, the length of a file must not depend on who won.
    settings = () if plan.shows_all else tuple(zip(plan.grid.settings, models, strict=True))
    schema = schemas[0] if winner is None else winner.schema
    files = write_model(
        schema, winner, found[1:], simulated, settings, schemas, _widest_answers(plan)
    )
    chosen = [_chosen(one.setting, one.noisy_score) for one in found]
    card = build_card(
        plan,
        chosen[0] if chosen else None,
        tuple(chosen[1:]),
        sha256(files[MODEL]),
        simulated=simulated,
        learnt=schemas,
        askings=askings,
        evaluation=evaluation,
        day=day,
        calibration=calibration,
        decision_threshold=answers.threshold,
    )
    return Prepared(schema, found, files, card)


def publish(
    plan: Plan,
    prepared: Prepared,
    ledger: Ledger | None,
    receipt: Receipt | None,
    journal: Journal,
) -> Release:
    """Release what was prepared; works once per charge."""
    files, card = dict(prepared.files), prepared.card
    if journal.folder is not None:
        journal.stage({**files, CARD: _written(plan, card)})
    if ledger is not None and receipt is not None:
        head = ledger.release(receipt, card.digest)  # once
        card = _entered(card, ledger, receipt, head)
    files[CARD] = _written(plan, card)
    journal.publish({name: files[name] for name in FILES})
    found = prepared.candidates
    winner = found[0] if found else None
    everyone = found if plan.shows_all else ()
    return Release(prepared.schema, winner, everyone, card, files, plan, receipt)


def published(
    plan: Plan,
    ledger: Ledger | None,
    receipt: Receipt | None,
    journal: Journal,
) -> Release | None:
    """Complete a run that was stopped after the ledger recorded its release but before its last
    file was written; None if the ledger has no such release."""
    if ledger is None or receipt is None:
        return None
    left = next((c.left for c in ledger.history() if c.receipt == receipt), None)
    if left is None:
        return None
    files = journal.staged(FILES)
    card = files and Card.from_json(files[CARD])
    if not files or not card or card.digest != left.what:  # a copy of the run was released instead
        raise InputError(
            f"charge {receipt.id}: was released from another copy of this folder, which holds the "
            "model; remove this one, it holds what must not be released"
        )
    files[CARD] = _written(plan, _entered(card, ledger, receipt, left.head))
    found = read(files, plan.spec.model)
    journal.publish({name: files[name] for name in FILES})
    return Release(found.schema, found.winner, found.candidates, found.card, files, plan, receipt)


def _widest_answers(plan: Plan) -> Answers:
    """Answers as long in a file as any winner's may be."""
    wide = 0.12345678901234567
    corrected = (wide, -wide) if plan.calibrator is not None else (1.0, 0.0)
    return Answers(*corrected, None if plan.spec.decision_threshold is None else wide)


def _entered(card: Card, ledger: Ledger, receipt: Receipt, head: str) -> Card:
    entry = LedgerEntry(
        dataset=ledger.opening.dataset,
        charge=receipt.id,
        entry_hash=receipt.entry_hash,
        head=head,
        **_proof(ledger, head),
    )
    return card.model_copy(update={"ledger": entry})


def _proof(ledger: Ledger, head: str) -> dict[str, str]:
    """What shows without the ledger that the head is that of this release. Left out if the ledger
    cannot be read now: it has recorded the release, which must not be lost."""
    try:
        bodies = ledger.entries()
    except InputError:
        return {}
    previous = ""
    for body in bodies:
        found = link(previous, body)
        if found == head:
            return {"previous": previous, "nonce": json.loads(body)["nonce"]}
        previous = found
    return {}


def _written(plan: Plan, card: Card) -> bytes:
    """The card's file; if only the winner may be released, its length does not depend on it."""
    might = () if plan.shows_all else (_chosen(s, WIDEST) for s in plan.grid.settings)
    return card.to_json(room_for(card.winner, might) if card.winner else 0)


def _chosen(setting: Setting, score: float | None) -> Chosen:
    return Chosen(setting=dict(setting), noisy_score=score)


def _score(plan: Plan, outcome: Outcome) -> float | None:
    if not plan.shows_scores:
        return None
    return plan.metric.from_score(outcome.score, plan.scored_rows)
