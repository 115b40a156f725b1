"""`PublicChoice`: the comparison, on rows declared public, that a plan's one setting comes from.

    spec = choose_on_public(Spec(schema=schema, rows=48842, epsilon=1, grid="models-4"), "open.csv")
    plan = make_plan(spec)    # one training, at the whole budget

Why it is free. The choice is a function of the public rows, of the spec and of a public seed. None
of them depends on a protected row, so neither does the setting: for the protected table it is a
setting fixed beforehand, and the plan is priced as `untuned`. The condition is the user's word that
the rows are public. Nothing about them is protected: the choice, their scores and a digest of them
are released as they are. A record that is in both tables is protected only in what the training on
the protected one reveals of it.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from honestdp.json_files import Part, from_json

CHOSEN_ON = "chosen_on"  # its name in a spec, a plan and a card


class Compared(Part):
    """A setting that was compared. score: Its mean value of the metric on public rows."""

    setting: dict[str, str | bool | int | float | None]
    score: float


class PublicChoice(Part):
    """The settings that were compared on public rows, and which of them was chosen.

    Attributes:
        rows: Number of public rows.
        sha256: SHA-256 of these rows as the compared models read them.
        metric: The metric that they were compared by.
        seed: The seed of all that was drawn, which is public.
        trainings: How often each setting was trained, each time on other rows and scored on the
            rest.
        compared: The settings, in the order of the grid.
        chosen: The place of the chosen one among them.
    """

    rows: int = Field(ge=1)
    sha256: str
    metric: str
    seed: int
    trainings: int = Field(ge=1)
    compared: tuple[Compared, ...] = Field(min_length=2)
    chosen: int = Field(ge=0)

    @model_validator(mode="after")
    def _check_place(self) -> PublicChoice:
        if self.chosen >= len(self.compared):
            raise ValueError("chosen is none of the compared settings")
        return self

    @property
    def setting(self) -> dict[str, Any]:
        """The chosen setting."""
        return self.compared[self.chosen].setting

    @property
    def reason(self) -> str:
        """Why the plan has this one setting, in words."""
        return (
            f"chosen among {len(self.compared)} settings on {self.rows} public rows, which are "
            "declared not to be protected"
        )

    @property
    def not_covered(self) -> str:
        """What the guarantee does not cover because of it, in words for the card."""
        return (
            f"the {self.rows} rows declared public, on which settings were compared without noise "
            "that protects them; whoever is in them is not protected there, nor is a record of "
            "the table that is also one of them"
        )

    def public(self) -> dict[str, Any]:
        """The choice as texts, numbers, lists and dicts, as the ledger stores it."""
        return self.model_dump(mode="json")

    @classmethod
    def from_json(cls, text: str) -> PublicChoice:
        """Read a choice that an interrupted run has stored.

        Args:
            text: `public()` as JSON.

        Raises:
            InputError: If it is not one.
        """
        return from_json(cls, text, CHOSEN_ON)
