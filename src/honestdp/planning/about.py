"""`About`: what a curator says of a release beforehand: who, what for, and why this epsilon."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from honestdp.errors import InputError, fail
from honestdp.json_files import Part

ABOUT: Final = "about"  # its name in a spec, a configuration and a card


class About(Part):
    """What the curator declares for the card. Public, optional, and never read from rows.

    It is fixed before the run, like everything else that is public, so that it cannot depend on
    what came out.

    Attributes:
        curator: Who publishes the release.
        intended_use: What it is meant for.
        justification: Why this epsilon.
        region: What region the rows describe, or whose law applies.
        license: The licence of the model, as an SPDX name such as "mit".
    """

    LIMITS: ClassVar[Mapping[str, int]] = {
        "curator": 200,
        "intended_use": 1000,
        "justification": 1000,
        "region": 200,
        "license": 60,
    }

    curator: str | None = None
    intended_use: str | None = None
    justification: str | None = None
    region: str | None = None
    license: str | None = None

    @classmethod
    def of(cls, given: object) -> About | None:
        """What was given as `about`, checked; None if nothing was.

        Args:
            given: An `About`, or a mapping of some of its fields.

        Returns:
            It, with every run of white space made one space.

        Raises:
            InputError: If a name is none of its fields, or a text is empty, too long or not plain.
        """
        if given is None:
            return None
        facts: Any = given.model_dump() if isinstance(given, About) else given
        if not isinstance(facts, Mapping):
            raise fail(ABOUT, given, 'must be a table such as {"curator": "City Hospital"}')
        found = {str(name): _checked(str(name), value) for name, value in facts.items()}
        return cls(**{name: value for name, value in found.items() if value is not None}).or_none

    @property
    def or_none(self) -> About | None:
        """Itself; None if it says nothing."""
        return self if self.given else None

    @property
    def given(self) -> dict[str, str]:
        """The fields that were given."""
        return self.model_dump(exclude_none=True)


def _checked(name: str, value: object) -> str | None:
    if name not in About.LIMITS:
        known = ", ".join(About.LIMITS)
        raise InputError(f"{ABOUT}: {name[:60]!r} is not known; it has {known}")
    if value is None:
        return None
    most = About.LIMITS[name]
    text = " ".join(value.split()) if isinstance(value, str) else ""
    if not text or len(text) > most or not text.isprintable():
        remedy = f"must be a text of 1 to {most} printable characters; or leave it out"
        raise fail(f"{ABOUT}.{name}", value, remedy)
    return text
