"""The privacy card: what was promised about one release, field by field and as prose.

Its items are those of "How to DP-fy ML" (Ponomareva et al. 2023, section 5.3) and of the
OpenDP/NIST deployment registry. Public facts only. It never shows how many candidates a best-of-K
search ran, losers and their scores, seeds of noise or coins, or hashes of protected rows. It does
show the seed of the split, which is public and determines which rows were held out; and, where
settings were compared on rows declared public, all scores of that and a hash of these rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field

from honestdp.errors import InputError
from honestdp.evaluation import Calibration, Evaluation
from honestdp.json_files import Part, digest, from_json, sha256, to_json
from honestdp.ledger import Charge, Ledger
from honestdp.metrics import Metric, default_metric, metrics
from honestdp.planning.public_choice import CHOSEN_ON, PublicChoice
from honestdp.procedures import procedures
from honestdp.run_files import CARD, MODEL, TENSORS, way_to

# In 2 procedures and laws of K are dicts; in 1 they are texts, the `repr` of Python objects.
FORMAT: Final = 2
# Fields that the first cards of format 2 do not have.
_LATER = (
    "metric_facts",
    "procedure_facts",
    "learnt",
    CHOSEN_ON,
    "evaluation",
    "calibration",
    "decision_threshold",
)


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


class Accounting(Part):
    """How the guarantee was computed. larger_side: the part of the table whose records the search
    costs more, which determines the guarantee."""

    bound: str
    conversion: str
    larger_side: Literal["training", "validation"]
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
    """The charge in the ledger; head: the ledger's last hash after the release, which commits to
    all entries before it."""

    dataset: str
    charge: int = Field(ge=1)
    entry_hash: str
    head: str


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
        later = {name for name in _LATER if getattr(self, name) is None}
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
        audit = self.audit_lower_bound
        lines = [
            head,
            "",
            *([simulated, ""] if self.mark else []),
            self.guarantee.statement,
            "",
            f"Protected: {self.unit}. {self.contribution}",
            f"Neighbours: {self.neighbours}",
            f"Setting: {self.setting} Trusted: {self.trusted}",
            f"Released: {self.released}",
            f"Procedure: {self.procedure}; {self.reason}.",
            f"Model: {self.model}.{_winner(self)}",
            *(f"{line[0].upper()}{line[1:]}." for line in self.answer_lines),
            *_chosen_on(self),
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
            f"Audit of this very run: {'none' if audit is None else f'at least {audit:.3g}'}.",
            "Not covered:",
            *(f"- {text}." for text in self.not_covered),
            "",
            f"Made with {', '.join(f'{name} {v}' for name, v in self.versions.items())}.",
        ]
        if self.ledger is not None:
            entry = self.ledger
            lines.append(f"Ledger of {entry.dataset!r}: charge {entry.charge}, head {entry.head}.")
        return "\n".join(lines) + "\n"


def _side(card: Card) -> str:
    if not card.declared_public.get("validation_rows"):
        return ""
    side = card.accounting.larger_side
    return f" Of the two parts of the table the {side} part costs more, and counts."


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


def _learnt(card: Card) -> list[str]:
    return [
        f"- Learnt about {one.about}: {one.words} (counts with noise of standard deviation "
        f"{one.noise:.6g}; share of the budget {one.share:.3g})."
        for one in card.learnt or ()
    ]


def _split(card: Card) -> str:
    """How the held-out rows were chosen; empty on old cards, which do not have the seed."""
    public = card.declared_public
    if not public.get("validation_rows") or "split_seed" not in public:
        return ""
    seed = public["split_seed"]
    return f" Rows were held out for scores by a public permutation, from split_seed {seed}."


def _winner(card: Card) -> str:
    winner = card.winner
    if winner is None:
        return " The search ended with nothing."
    setting = ", ".join(f"{name}={value}" for name, value in winner.setting.items())
    score = (
        ""
        if winner.noisy_score is None
        else f", noisy {card.metric.label} {winner.noisy_score:.4f}"
    )
    return f" Winner: {setting}{score}."


def json_schema() -> dict[str, Any]:
    """The JSON schema that every card validates against; published as docs/card.schema.json."""
    found = Card.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}


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
    card, folder = _read(card), card
    if isinstance(folder, (str, Path)) and Path(folder).is_dir():
        _check_model(Path(folder), card)
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
    if charge.left.what != card.digest:
        raise InputError("card: something on it is not what the ledger says has left")
    return charge


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
