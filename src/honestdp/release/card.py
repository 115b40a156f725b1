"""The privacy card: what was promised about one release, field by field and as prose.

Its items are those of "How to DP-fy ML" (Ponomareva et al. 2023, section 5.3) and of the
OpenDP/NIST deployment registry. Public facts only. It never shows how many candidates a best-of-K
search ran, losers and their scores, seeds of noise or coins, or hashes of protected rows. It does
show the seed of the split, which is public and determines which rows were held out; and, where
settings were compared on rows declared public, all scores of that and a hash of these rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field

from honestdp.errors import InputError
from honestdp.evaluation import Calibration, Evaluation
from honestdp.evaluation.words import NOT_QUALITY, UNMEASURED
from honestdp.json_files import Part, digest, from_json, to_json
from honestdp.ledger.chain import link, release_body
from honestdp.metrics import Metric, default_metric, metrics
from honestdp.planning.about import ABOUT, About
from honestdp.planning.public_choice import CHOSEN_ON, PublicChoice
from honestdp.procedures import procedures
from honestdp.release import card_prose
from honestdp.release.attack_facts import AttackFacts
from honestdp.release.card_fields import (
    Audit,
    Code,
    NeighbourRelation,
    ReleaseType,
    Timing,
    Utility,
    Variant,
)
from honestdp.run_files import CARD, way_to

# In 2 procedures and laws of K are dicts; in 1 they are texts, the `repr` of Python objects.
FORMAT: Final = 2
# Fields that the first cards of format 2 do not have.
LATER = (
    "metric_facts", "procedure_facts", "learnt", CHOSEN_ON, "evaluation", "calibration",
    "decision_threshold",
    "variant", "neighbour_relation", "rows_per_unit", "release_type", ABOUT, "publication_date",
    "utility", "utility_by_group", "audit", "timing", "code", "attack",
)  # fmt: skip

# Declared public, and false, if the metric's value is no mean over rows: its noise is then not that
# of a sum by the number of rows.
METRIC_IS_MEAN = "metric_is_mean"


class Guarantee(Part):
    """The formal statement."""

    epsilon: float = Field(ge=0)
    delta: float = Field(gt=0, lt=1)
    statement: str


class Access(Part):
    """One access to the data, and how it was made private. epsilon: what the whole search costs the
    records that it reads."""

    what: str
    mechanism: str
    noise: float = Field(gt=0)
    epsilon: float = Field(ge=0)


class Assumption(Part):
    statement: str
    holds: bool
    why: str


Role = Literal["training", "validation", "calibration", "test"]


class Accounting(Part):
    """How the guarantee was computed. larger_side: the part of the table whose records the search
    costs more, which determines the guarantee."""

    bound: str
    conversion: str
    larger_side: Role
    assumptions: tuple[Assumption, ...]


class Preprocessing(Part):
    """What was done to the rows before training; epsilon: what that cost in total."""

    what: str
    epsilon: float = Field(ge=0)


class LearntFact(Part):
    """What was learnt from the rows with noise before the training. It is paid for, so public.

    Attributes:
        about: The column that it is about, or "a typical encoded row".
        words: What was learnt, in words and numbers.
        values: The same by name, as the schema of the released model has it.
        noise: The standard deviation of the noise of each count that it was read off.
        share: The share of the budget's precision that the question used, all that it was about
            together.
    """

    about: str
    words: str
    values: dict[str, Any]
    noise: float = Field(gt=0)
    share: float = Field(gt=0)


class LedgerEntry(Part):
    """The charge in the ledger, and the entry of the release.

    Attributes:
        dataset: The data set of the ledger.
        charge: Number of the charge.
        entry_hash: Hash of its entry.
        head: Hash of the release's entry, the ledger's last one then: it commits to all before it.
        previous, nonce: The hash before it and its nonce. With them anybody can compute the head
            from the card (`proves`), so that a head alone shows that nothing on the card was
            altered. None on earlier cards.
    """

    dataset: str
    charge: int = Field(ge=1)
    entry_hash: str
    head: str
    previous: str | None = None
    nonce: str | None = None

    def proves(self, digest: str) -> bool | None:
        """Whether the head is that of a release of this very card; None on earlier cards.

        SHA-256 has no known collisions, so only a card with this digest gives this head.

        Args:
            digest: The digest of the card.
        """
        if self.previous is None or self.nonce is None:
            return None
        body = release_body(self.charge, self.entry_hash, digest, self.nonce)
        return link(self.previous, body) == self.head


class Chosen(Part):
    """A released candidate."""

    setting: dict[str, str | bool | int | float | None]
    noisy_score: float | None


class MetricFacts(Part):
    """The metric that candidates were compared by, as a reader without its package needs it.

    Attributes:
        name: Its name.
        label: The name of the mean value in texts: "score", "mean loss".
        meaning: What the value means, in a few words; empty if unknown.
        larger_is_better: Its direction; None if unknown.
    """

    name: str
    label: str
    meaning: str
    larger_is_better: bool | None

    @classmethod
    def of(cls, metric: Metric) -> MetricFacts:
        return cls(
            name=metric.name,
            label=metric.label,
            meaning=metric.meaning,
            larger_is_better=metric.larger_is_better,
        )


class ProcedureFacts(Part):
    """The procedure, as a reader without its package needs it.

    Attributes:
        releases_all: Whether every candidate was released, not only the winner.
        selects: Whether candidates were compared.
    """

    releases_all: bool
    selects: bool


class Card(Part):
    """Everything a reader needs to judge a release; `prose()` has the same in sentences.

    Attributes:
        format: Version of the card's format.
        mark: "SIMULATION, NOT PRIVATE" on a simulation, otherwise empty.
        guarantee: The (epsilon, delta) of everything released.
        setting: Who holds the data.
        trusted: What must be trusted.
        unit: What one row stands for.
        contribution: How many rows one unit may have.
        neighbours: The neighbouring relation.
        released: What was released, in sentences.
        covered: Every access to the data.
        accounting: How the guarantee was computed.
        declared_public: The facts that are not protected.
        preprocessing: What was done to the rows before training.
        noise_sampler: How noise was drawn.
        not_covered: What the guarantee does not cover.
        procedure: Name of the procedure that selected the winner.
        reason: Why this procedure was chosen.
        model: Name of the model.
        winner: The selected candidate; None if the search ended without one.
        others: The other released candidates.
        versions: Versions of the libraries.
        model_sha256: SHA-256 of model.json.
        plan_fingerprint: SHA-256 of the plan that was charged.
        ledger: The charge; None in a simulation.
        audit_lower_bound: A lower bound on epsilon from an audit of this very run, if one was made.
        metric_facts: Label, meaning and direction of the metric; None on earlier cards, see
            `metric`.
        procedure_facts: What the procedure released; None on earlier cards, see `releases_all`.
        learnt: What was learnt from the rows before the training; empty if nothing was, None on
            earlier cards.
        chosen_on: The comparison, on rows declared public, that the setting comes from; None if
            there was none.
        evaluation: How good the released model is, by noisy counts of test rows; None if nobody
            measured it.
        variant: The variant of differential privacy; this and all below are None on earlier cards.
        neighbour_relation: The neighbouring relation as a name; `neighbours` has it in words.
        rows_per_unit: How many rows one unit may have.
        release_type: What left: a model, a model with all candidates, or none.
        about: What the curator declared: who, what for, why this epsilon; None if nothing.
        publication_date: The day, in UTC, on which the run began: before K was drawn, so that it
            says nothing about it. The release is published then at the earliest. None in a
            simulation.
        utility: The main figures of the evaluation; None without one.
        utility_by_group: The same for each group; None without groups.
        audit: How `audit_lower_bound` was found; None without an audit.
        timing: What the time that the run took may show, which the guarantee does not cover.
        code: Version and commit of honestdp.
        attack: What nobody can exceed who bets on one row; None on earlier cards.
        calibration: How the probabilities of the released model were corrected, by noisy counts of
            rows of their own; None if they are as trained.
        decision_threshold: The probability of the second of two classes above which it is the
            answer; None: 0.5.
    """

    format: Literal[1, 2] = FORMAT
    mark: Literal["", "SIMULATION, NOT PRIVATE"]
    guarantee: Guarantee
    setting: str
    trusted: str
    unit: str
    contribution: str
    neighbours: str
    released: str
    covered: tuple[Access, ...]
    accounting: Accounting
    declared_public: dict[str, Any]
    preprocessing: Preprocessing
    noise_sampler: str
    not_covered: tuple[str, ...]
    procedure: str
    reason: str
    model: str
    winner: Chosen | None
    others: tuple[Chosen, ...]
    versions: dict[str, str]
    model_sha256: str
    plan_fingerprint: str
    ledger: LedgerEntry | None
    audit_lower_bound: float | None = None
    metric_facts: MetricFacts | None = None
    procedure_facts: ProcedureFacts | None = None
    learnt: tuple[LearntFact, ...] | None = None
    chosen_on: PublicChoice | None = None
    evaluation: Evaluation | None = None
    variant: Variant | None = None
    neighbour_relation: NeighbourRelation | None = None
    rows_per_unit: int | None = Field(default=None, ge=1)
    release_type: ReleaseType | None = None
    about: About | None = None
    publication_date: date | None = None
    utility: tuple[Utility, ...] | None = None
    utility_by_group: tuple[Utility, ...] | None = None
    audit: Audit | None = None
    timing: Timing | None = None
    code: Code | None = None
    attack: AttackFacts | None = None
    calibration: Calibration | None = None
    decision_threshold: float | None = Field(default=None, gt=0, lt=1)

    @property
    def metric(self) -> MetricFacts:
        """The metric that candidates were compared by, as the card describes it.

        An earlier card only names it: of a metric that is not installed the meaning and the
        direction are then unknown. The first cards do not name it: it follows from the target.
        """
        if self.metric_facts is not None:
            return self.metric_facts
        if "metric" in self.declared_public:
            name = str(self.declared_public["metric"])
            if name in metrics:
                return MetricFacts.of(metrics.get(name))
            return MetricFacts(name=name, label=name, meaning="", larger_is_better=None)
        schema = self.declared_public.get("schema")
        target = schema.get("target") if isinstance(schema, Mapping) else None
        classes = target.get("classes") if isinstance(target, Mapping) else None
        found = default_metric(len(classes) if isinstance(classes, (list, tuple)) else None)
        return MetricFacts.of(found)

    @property
    def releases_all(self) -> bool:
        """Whether every candidate was released, not only the winner."""
        return self._procedure_facts.releases_all

    @property
    def selects(self) -> bool:
        """Whether candidates were compared."""
        return self._procedure_facts.selects

    @property
    def _procedure_facts(self) -> ProcedureFacts:
        """An earlier card only names its procedure. If that is not installed, what it did shows on
        the card: the candidates beside the winner, and the rows that were held out."""
        if self.procedure_facts is not None:
            return self.procedure_facts
        if self.procedure in procedures:
            kind = procedures.get(self.procedure)
            return ProcedureFacts(releases_all=kind.releases_all, selects=kind.selects)
        public = self.declared_public
        grid = public.get("grid")
        alone = isinstance(grid, (list, tuple)) and len(grid) == 1
        return ProcedureFacts(
            releases_all=alone or bool(self.others), selects=bool(public.get("validation_rows"))
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> Card:
        """Read a card from JSON.

        Args:
            text: The content of a card's file.

        Returns:
            The card.

        Raises:
            InputError: If it is not a card.
        """
        card = from_json(cls, text, CARD)
        try:
            card.to_json()
        except (ValueError, RecursionError):  # in what may be anything
            raise InputError(f"{CARD}: declared_public: holds what JSON cannot") from None
        return card

    @classmethod
    def load(cls, path: str | Path) -> Card:
        """Read a card from a file.

        Args:
            path: A card's file, or the folder of a finished run.

        Returns:
            The card.

        Raises:
            InputError: If the file cannot be read, or is not a card.
        """
        place = Path(path)
        try:
            place = place / CARD if place.is_dir() else place
            return cls.from_json(place.read_bytes())
        except (OSError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            way = way_to(place.parent, "give a card or a run's folder")
            raise InputError(f"{place}: cannot be read; {way}") from None

    def to_json(self, room: int = 0) -> bytes:
        """Serialise the card as JSON.

        Args:
            room: Number of spaces to append, which hide the length of what was chosen.

        Returns:
            The content of a card's file.
        """
        return to_json(self, room)

    @property
    def digest(self) -> str:
        """SHA-256 of the card without `ledger`; the ledger records it with the release. Fields that
        earlier cards do not have count only where they are given."""
        later = {name for name in LATER if getattr(self, name) is None}
        return digest(self.model_dump(mode="json", exclude={"ledger", *later}))

    @property
    def answer_lines(self) -> list[str]:
        """How the model's outputs become probabilities and answers, where not as trained."""
        found, threshold = list[str](), self.decision_threshold
        if self.calibration is not None:
            rows = f"noisy counts of {self.calibration.rows} rows of their own"
            found.append(f"probabilities: {self.calibration.words}, by {rows}")
        if threshold is not None:
            found.append(f"answer: the second class where its probability is above {threshold:.6g}")
        return found

    def prose(self) -> str:
        """The card in sentences."""
        head = f"# Privacy card{': ' + self.mark if self.mark else ''}"
        simulated = "This is a simulation. It was made with a known seed and protects nobody."
        accounting = self.accounting
        lines = [
            head,
            "",
            *([simulated, ""] if self.mark else []),
            self.guarantee.statement,
            *([] if self.attack is None else [self.attack.sentences(bool(self.mark))]),
            "",
            f"Protected: {self.unit}. {self.contribution}",
            f"Neighbours: {self.neighbours}",
            f"Setting: {self.setting} Trusted: {self.trusted}",
            f"Released: {self.released}",
            *card_prose.terms(self),
            *card_prose.declared(self),
            f"Procedure: {self.procedure}; {self.reason}.",
            f"Model: {self.model}.{_winner(self)}",
            *(f"{line[0].upper()}{line[1:]}." for line in self.answer_lines),
            *_chosen_on(self),
            *_evaluated(self),
            "",
            "What touched the data, all covered by the one guarantee:",
            *(f"- {a.what}: {a.mechanism}, noise {a.noise:.6g}." for a in self.covered),
            "",
            f"Accounting: {accounting.conversion}.{_side(self)}",
            *(
                f"- {'Holds' if a.holds else 'DOES NOT HOLD'}: {a.statement} ({a.why})."
                for a in accounting.assumptions
            ),
            "",
            f"Preprocessing: {self.preprocessing.what}",
            *_learnt(self),
            f"Declared public, not protected: {', '.join(self.declared_public)}.{_split(self)}",
            f"Noise: {self.noise_sampler}",
            card_prose.audited(self),
            *card_prose.timing(self),
            "Not covered:",
            *(f"- {text}." for text in self.not_covered),
            "",
            f"Made with {', '.join(f'{name} {v}' for name, v in self.versions.items())}.",
            *card_prose.code(self),
        ]
        if self.ledger is not None:
            entry = self.ledger
            lines.append(f"Ledger of {entry.dataset!r}: charge {entry.charge}, head {entry.head}.")
        return "\n".join(lines) + "\n"


def _side(card: Card) -> str:
    if not any(card.declared_public.get(f"{part}_rows") for part in ("validation", "test")):
        return ""
    side = card.accounting.larger_side
    return f" Of the parts of the table the {side} part costs most, and counts."


def _chosen_on(card: Card) -> list[str]:
    """The comparison on public rows; its figures cost no protected record anything."""
    found = card.chosen_on
    if found is None:
        return []
    times = "once" if found.trainings == 1 else f"{found.trainings} times"
    lines = [
        "",
        f"Its setting was {found.reason} (SHA-256 {found.sha256}). That they are public is the "
        "word of whoever ran this; no protected row had a part in it. Each setting was trained "
        f"{times} on some of these rows and scored on the others (mean {found.metric}, seed "
        f"{found.seed}):",
    ]
    for place, one in enumerate(found.compared):
        setting = ", ".join(f"{name}={value}" for name, value in one.setting.items())
        mark = " (chosen)" if place == found.chosen else ""
        lines.append(f"- {setting}: {one.score:.4f}{mark}")
    return lines


def _evaluated(card: Card) -> list[str]:
    """How good the released model is, as far as it was measured."""
    if card.winner is None:
        return []
    if card.evaluation is None:
        return ["", f"Quality: {UNMEASURED}."]
    first, *lines = str(card.evaluation).splitlines()
    return ["", f"Quality: {first}.", *lines]


def _learnt(card: Card) -> list[str]:
    return [
        f"- Learnt about {one.about}: {one.words} (counts with noise of standard deviation "
        f"{one.noise:.6g}; share of the budget {one.share:.3g})."
        for one in card.learnt or ()
    ]


def _split(card: Card) -> str:
    """How the held-out rows were chosen; empty on old cards, which do not have the seed."""
    public = card.declared_public
    held = {"validation_rows": "for scores", "test_rows": "for the evaluation"}
    why = " and ".join(words for name, words in held.items() if public.get(name))
    if not why or "split_seed" not in public:
        return ""
    seed = public["split_seed"]
    return f" Rows were held out {why} by a public permutation, from split_seed {seed}."


def _winner(card: Card) -> str:
    winner = card.winner
    if winner is None:
        return " The search ended with nothing."
    setting = ", ".join(f"{name}={value}" for name, value in winner.setting.items())
    score = (
        ""
        if winner.noisy_score is None
        else f"; noisy {card.metric.label} {winner.noisy_score:.4f} on the rows that candidates "
        f"were compared on ({NOT_QUALITY})"
    )
    return f" Winner: {setting}{score}."


def json_schema() -> dict[str, Any]:
    """The JSON schema that every card validates against; published as docs/card.schema.json."""
    found = Card.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}
