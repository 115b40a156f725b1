"""What `honestdp tune` is asked to do: by a file, by flags, or both; kept with the run.

    data = "visits.csv"
    schema = "visits.toml"
    epsilon = 1.0
    grid = "dpsgd-40"

Paths in a file are relative to it; flags override. The same is written into the run's folder, so
that `honestdp resume RUN` knows what it was about.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from honestdp.errors import InputError
from honestdp.schema.toml import text

PATHS = ("data", "schema", "ledger", "out", "test")
# Fields of `Spec`, by the same names.
FACTS = (
    "epsilon", "delta", "model", "grid", "procedure", "lot_size", "steps", "validation",
    "split_seed", "learn_share", "hit_probability", "mean_runs", "most_runs", "shape", "cap",
    "threshold", "subset", "scores", "bound",
)  # fmt: skip
KNOWN = (*PATHS, "target", "rows", "seed", *FACTS)
KEPT = "asked.toml"  # its name in a run's folder (resume.journal.ASKED)


@dataclass(frozen=True)
class Asked:
    """Settings by name; those that nobody gave are not there."""

    values: Mapping[str, Any]

    @classmethod
    def of(cls, file: Path | None, flags: Mapping[str, Any]) -> Asked:
        """What a file says, and flags where they are given."""
        given = {} if file is None else _read(file)
        return cls({**given, **{name: v for name, v in flags.items() if v is not None}})

    def path(self, name: str) -> Path | None:
        found = self.values.get(name)
        return None if found is None else Path(found)

    def ledger(self, out: Path) -> Path:
        """The ledger that was named, or the one beside the run's folder."""
        return self.path("ledger") or out.with_suffix(".ledger")

    @property
    def facts(self) -> dict[str, Any]:
        """What `Spec` is made from."""
        return {name: v for name, v in self.values.items() if name in FACTS}

    def to_toml(self) -> str:
        """All of it, with absolute paths."""
        values = {
            name: str(Path(v).absolute()) if name in PATHS else v for name, v in self.values.items()
        }
        return "".join(f"{name} = {_toml(value)}\n" for name, value in values.items())


def _read(file: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror}); give a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{file}: not TOML ({' '.join(str(error).split())[:200]})") from None
    for name in values:
        if name not in KNOWN:
            near = get_close_matches(name, KNOWN, 1)
            way = f"did you mean {near[0]}?" if near else f"known are {', '.join(KNOWN)}"
            raise InputError(f"{file}: {name[:60]!r} is no setting; {way}")
        if name in PATHS:
            if not isinstance(values[name], str):
                raise InputError(f"{file}: {name} must be the path to a file, in quotes")
            values[name] = str(file.parent / values[name])
    return values


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{text(str(n))} = {_toml(v)}" for n, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return text(str(value))
