"""`model-card`: a README.md as the Hugging Face Hub reads it, YAML first and Markdown below.

The figures of the evaluation stand in the form `model-index`, which the Hub shows beside a model.
Everything in it is on the card: of the training data the facts that were declared public.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from honestdp.evaluation.words import hardly_known
from honestdp.release.card_formats import card_formats
from honestdp.release.card_formats.base import CardFormat
from honestdp.release.declared_table import DeclaredTable
from honestdp.release.yaml_text import yaml_text
from honestdp.text import small, up

if TYPE_CHECKING:
    from honestdp.release.card import Card

# What the Hub calls the figures of an evaluation; others keep their own names.
_METRICS = {
    "balanced accuracy": "balanced_accuracy",
    "AUC": "roc_auc",
    "log loss": "log_loss",
    "Brier score": "brier_score",
    "mean absolute error": "mae",
    "root mean squared error": "rmse",
    "R2": "r_squared",
    "sensitivity": "recall",
}
_MARKDOWN = str.maketrans({one: f"\\{one}" for one in r"\`*_[]<>|~&$"})
_NUMBERED = re.compile(r"^(\d+)([.)])")


class ModelCard(CardFormat):
    """A model card."""

    name = "model-card"
    summary = "a README.md for the Hugging Face Hub"

    def text(self, card: Card) -> str:
        sections = [
            _title(card),
            _section("Intended use", _use(card)),
            _section("Training data", _data(card)),
            _section("Evaluation", _evaluation(card)),
            _section("Privacy", _privacy(card)),
            _section("Limits", _limits(card)),
        ]
        return f"---\n{yaml_text(front_matter(card))}---\n\n" + "\n\n".join(sections) + "\n"

    def missing(self, card: Card) -> tuple[str, ...]:
        about = card.about
        asked = {
            "license": about and about.license,
            "intended use": about and about.intended_use,
            "evaluation": card.evaluation,
        }
        return tuple(name for name, found in asked.items() if not found)


def front_matter(card: Card) -> dict[str, Any]:
    """What the Hub reads.

    Args:
        card: The card of a release.
    """
    task = f"tabular-{'classification' if DeclaredTable.of(card).classes else 'regression'}"
    licensed = card.about and card.about.license
    index = _index(card, task)
    return {
        **({"license": licensed} if licensed else {}),
        "library_name": "honestdp",
        "pipeline_tag": task,
        "tags": ["differential-privacy", "tabular", task, *(["simulation"] if card.mark else [])],
        **({"model-index": [index]} if index else {}),
    }


def _index(card: Card, task: str) -> dict[str, Any] | None:
    if card.evaluation is None:
        return None
    figures = [
        {"type": _METRICS.get(one.name, one.name), "name": one.name, "value": one.value}
        for one in card.evaluation.figures
        if one.larger_is_better is not None and not hardly_known(one)
    ]
    if not figures:
        return None
    table = DeclaredTable.of(card)
    result = {
        "task": {"type": task},
        "dataset": {"type": "private", "name": f"{table.name} (rows held out for tests)"},
        "metrics": figures,
    }
    return {"name": f"{table.target} of {table.name}", "results": [result]}


def _title(card: Card) -> str:
    table = DeclaredTable.of(card)
    target, name = _md(table.target), _md(table.name)
    mark = f"**{card.mark}.** It was made with a known seed and protects nobody.\n\n"
    return (
        f"# {target} of {name}\n\n{mark if card.mark else ''}A model that predicts {target}, "
        f"learnt from rows of {name} with differential privacy. {_md(card.guarantee.statement)}"
    )


def _section(title: str, lines: Sequence[str]) -> str:
    return "\n".join([f"## {title}", "", *lines])


def _use(card: Card) -> list[str]:
    about = card.about
    if about is None:
        return ["Not stated."]
    stated = [_md(about.intended_use or "Not stated.")]
    return stated + ([f"\nPublished by {_md(about.curator)}."] if about.curator else [])


def _data(card: Card) -> list[str]:
    public, table = card.declared_public, DeclaredTable.of(card)
    classes = f" ({', '.join(map(_md, table.classes))})" if table.classes else ""
    parts = {
        "trained on": "training_rows",
        "held out to choose": "validation_rows",
        "held out to correct probabilities": "calibration_rows",
        "held out to evaluate": "test_rows",
    }
    shares = ", ".join(f"{public[key]} {what}" for what, key in parts.items() if public.get(key))
    return [
        "Only what was declared public is known of it:",
        "",
        f"- {public.get('rows')} rows, one for {_md(card.unit)}: {shares}.",
        f"- Target: {_md(table.target)}{classes}.",
        f"- Columns: {', '.join(map(_md, table.columns))}.",
        f"- Before training: {_md(card.preprocessing.what)}",
    ]


def _evaluation(card: Card) -> list[str]:
    found = card.evaluation
    if found is None:
        return ["None: no rows were held out to measure it, so nobody can say how good it is."]
    lines = [
        f"On {found.rows} rows that had no part in making it, by counts with noise. An interval "
        "holds the true value in 95 of 100 cases; it covers these rows being a sample, and the "
        "noise.",
        "",
        "| figure | value | 95 % interval | always the same answer |",
        "|---|---:|---|---:|",
    ]
    for one in found.figures:
        plain = "" if one.baseline is None else f"{one.baseline:.4g}"
        value = "?" if hardly_known(one) else f"{one.value:.4g}"
        lines.append(f"| {_md(one.name)} | {value} | {one.low:.4g} to {one.high:.4g} | {plain} |")
    by_group = [f"- {_md(one.words)}" for one in card.utility_by_group or ()]
    lines += ["", *(f"- {_md(line)}." for line in card.answer_lines)] if card.answer_lines else []
    return [*lines, "", "By group:", "", *by_group] if by_group else lines


def _privacy(card: Card) -> list[str]:
    promise, entry, reason = card.guarantee, card.ledger, card.about and card.about.justification
    bound = card.audit_lower_bound
    audit = "none of this very run" if bound is None else f"epsilon is at least {bound:.3g}"
    how = "" if card.audit is None else f" ({_md(card.audit.words)})"
    stands = (
        "none stands behind a simulation"
        if entry is None
        else f"charge {entry.charge} of {_md(repr(entry.dataset))}, head `{entry.head}`"
    )
    return [
        f"- epsilon {up(promise.epsilon)}, delta {small(promise.delta)} ({card.variant or 'DP'}), "
        "for all that touched the rows: training, choosing, correcting and evaluating.",
        *([f"- Why this epsilon: {_md(reason)}"] if reason else []),
        f"- Protected: {_md(card.unit)}. {_md(card.contribution)}",
        f"- Neighbouring tables: {_md(card.neighbours)}",
        f"- Released: {_md(card.released)}",
        f"- Audit: {audit}{how}.",
        f"- Ledger: {stands}.",
        f"- Card (SHA-256): `{card.digest}`; `honestdp verify RUN --ledger FILE` checks it.",
    ]


def _limits(card: Card) -> list[str]:
    timing = [] if card.timing is None else [f"- Running time: {_md(card.timing.words)}"]
    return [
        "The guarantee does not cover:",
        "",
        *(f"- {_md(text)}." for text in card.not_covered),
        *timing,
    ]


def _md(text: str) -> str:
    """A text that Markdown shows as it is, on one line."""
    plain = " ".join(text.split()).translate(_MARKDOWN)
    return f"\\{plain}" if plain[:1] in "#+>-=" else _NUMBERED.sub(r"\1\\\2", plain)


card_formats.register(ModelCard())
