"""`registry`: a record for the Differential Privacy Deployments Registry, in YAML.

The registry's fields are those of its published schema (OpenDP, deployments-registry-data); a test
holds every record to a copy of their names, types and values (tests/release/deployments.json). What
the card does not say is left out where the registry does not ask for it, and "Not stated" where it
does: a record is a draft, and somebody completes it before it is proposed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from honestdp.release.card_formats import card_formats
from honestdp.release.card_formats.base import CardFormat
from honestdp.release.declared_table import DeclaredTable
from honestdp.release.yaml_text import yaml_text

if TYPE_CHECKING:
    from honestdp.release.card import Card

UNSTATED: Final = "Not stated"
_REASON = "justification"
_VARIANTS = {
    "pure-dp": "Pure DP",
    "approximate-dp": "Approximate DP",
    "zero-concentrated-dp": "Zero-concentrated DP",
    "renyi-dp": "Renyi DP",
}


class RegistryRecord(CardFormat):
    """A record of the deployment."""

    name = "registry"
    summary = "a draft record for the Differential Privacy Deployments Registry, in YAML"

    def text(self, card: Card) -> str:
        return yaml_text(record(card))

    def missing(self, card: Card) -> tuple[str, ...]:
        about = card.about
        asked = {
            "data_curators (curator)": about and about.curator,
            "intended_use": about and about.intended_use,
            "data_product_region (region)": about and about.region,
            "publication_date": card.publication_date,
            _REASON: about and about.justification,
        }
        return tuple(name for name, found in asked.items() if not found)


def record(card: Card) -> dict[str, Any]:
    """The record as a mapping.

    Args:
        card: The card of a release.
    """
    deployment = {
        "basic": _basic(card),
        "dp_variant": _variant(card),
        "privacy_loss": _loss(card),
        "deployment_model": _model(card),
        "accounting": _accounting(card),
        "implementation": _implementation(card),
        "administrative": _administrative(card),
    }
    facts = {"url_slug": _slug(card), "status": "Draft", "tier": _tier(card)}
    return {**facts, "deployment": deployment}


def _tier(card: Card) -> int:
    """How complete the record is: 1 if something basic is missing, 2 without a justification."""
    missing = set(RegistryRecord().missing(card))
    if missing - {_REASON}:
        return 1
    return 2 if missing else 3


def _slug(card: Card) -> str:
    """Letters, digits and hyphens: the table, and the beginning of the card's digest."""
    plain = re.sub("[^a-z0-9]+", "-", DeclaredTable.of(card).name.lower()).strip("-")
    return f"{plain or 'table'}-{card.digest[:8]}"


def _basic(card: Card) -> dict[str, Any]:
    about, table = card.about, DeclaredTable.of(card)
    mark = f"{card.mark}. " if card.mark else ""
    day = card.publication_date
    return {
        "name": f"{mark}A model of {table.target} from {table.name}",
        "data_curators": [(about and about.curator) or UNSTATED],
        "intended_use": (about and about.intended_use) or UNSTATED,
        "data_product_type": "Machine learning model",
        "data_product_region": (about and about.region) or UNSTATED,
        "description": f"{mark}{card.released} Model: {card.model}. {_quality(card)}".strip(),
        # The registry asks for a date where none is known too, and takes 01 for an unknown day.
        "publication_date": "1900-01-01" if day is None else day.isoformat(),
    }


def _quality(card: Card) -> str:
    return "".join(f"{one.words}. " for one in card.utility or ())


def _variant(card: Card) -> dict[str, Any]:
    table = DeclaredTable.of(card)
    rows = card.declared_public.get("rows")
    variant = _VARIANTS.get(card.variant or "approximate-dp", "Custom")
    return {
        "variant_name": variant,
        "data_domain": (
            f"Tables of {rows} rows of {table.name}, with the {len(table.columns)} columns and the "
            "target that its public schema declares."
        ),
        "unprotected_quantities": (
            f"Declared public, and not protected: {', '.join(card.declared_public)}."
        ),
    }


def _loss(card: Card) -> dict[str, Any]:
    promise = card.guarantee
    return {
        "privacy_unit": card.unit,
        "privacy_unit_details": f"{card.contribution} Neighbouring tables: {card.neighbours}",
        "privacy_parameters": {"epsilon": promise.epsilon, "delta": promise.delta},
        "privacy_parameters_details": promise.statement,
    }


def _model(card: Card) -> dict[str, Any]:
    entry = card.ledger
    later = (
        "Later releases from the same table are charged to the same ledger, whose total is fixed."
        if entry is not None
        else "No ledger stands behind it."
    )
    return {
        "model_name": "Central",
        "model_name_details": card.setting,
        "actors": f"Trusted: {card.trusted} Not trusted: whoever sees the release.",
        "release_type": "One release",
        "release_type_details": later,
        "data_source_type": "Static",
        "access_type": "Non-interactive",
    }


def _accounting(card: Card) -> dict[str, Any]:
    accounting = card.accounting
    return {
        "post_processing": "Figures of quality with their intervals, and corrections of "
        "probabilities, follow from noisy counts.",
        "composition": f"{accounting.conversion}. Bound: {accounting.bound}.",
    }


def _implementation(card: Card) -> dict[str, Any]:
    touched = " ".join(f"{a.what}: {a.mechanism}, noise {a.noise:.6g}." for a in card.covered)
    code = "" if card.code is None else f" Code: {card.code.words}."
    timing = "" if card.timing is None else f" Running time: {card.timing.words}"
    limits = "; ".join(card.not_covered)
    found = {
        "preprocessing_and_hyperparameter_tuning": (
            f"{card.preprocessing.what} Tuning: {card.procedure}; {card.reason}. Its privacy loss "
            "is part of the figures above."
        ),
        "mechanisms": (
            f"{touched} Noise: {card.noise_sampler}{timing} Not covered: {limits}.{code}"
        ),
    }
    reason = card.about and card.about.justification
    return {**found, "justification": reason} if reason else found


def _administrative(card: Card) -> dict[str, Any]:
    entry = card.ledger
    stands = "none" if entry is None else f"charge {entry.charge}, head {entry.head}"
    notes = [
        f"Privacy card (SHA-256): {card.digest}.",
        f"Ledger: {stands}.",
        f"Audit of this very run: {_audit(card)}.",
    ]
    if card.publication_date is None:
        notes.append("The day of publication is not known.")
    else:
        notes.append("The date is the day on which the run began: published then at the earliest.")
    authors = ["Written by honestdp from the privacy card; to be completed by the curator"]
    return {"notes": " ".join(notes), "registry_authors": authors}


def _audit(card: Card) -> str:
    bound = card.audit_lower_bound
    how = "" if card.audit is None else f" ({card.audit.words})"
    return "none" if bound is None else f"epsilon is at least {bound:.3g}{how}"


card_formats.register(RegistryRecord())
