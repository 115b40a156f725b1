"""The configuration of `honestdp tune`: from a file, flags or both; stored with the run.

    data = "visits.csv"
    schema = "visits.toml"
    epsilon = 1.0
    grid = { rule = "dpsgd", learning_rate = [0.1, 1.0], clip_norm = [0.5, 1.0] }

Paths in a file are relative to it; flags override. The configuration is written into the run's
folder, where `honestdp resume RUN` reads it.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from honestdp.errors import InputError, fail

if TYPE_CHECKING:
    from honestdp.planning.spec import Spec

PATHS = ("data", "schema", "ledger", "out", "test", "public")
TABLES = ("data", "test", "public")  # of the paths: a file, a folder, a URL, or a list of them
READING = ("delimiter", "decimal", "encoding", "sheet", "query")  # how a table is read
CHOSEN_ON = "chosen_on"  # what a run stores of a choice on public rows, so that it is not made anew
_OPTIONS = "procedure_options"
_BY_CLASS = ("class_weight", "class_shares")  # numbers by class
_LARGEST = 10_000_000  # bytes of a configuration file


@dataclass(frozen=True)
class TuneConfig:
    """Settings by name; only those that the user gave."""

    values: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        file: Path | None,
        flags: Mapping[str, Any],
        further: Iterable[str] = (),
        base: Path | None = None,
    ) -> TuneConfig:
        """Merge a file and flags, which override it. further: settings as `name=value`; base: the
        folder that paths in the file are relative to, by default its own."""
        given = {} if file is None else _read(file, base or file.parent)
        given |= {name: value for name, value in flags.items() if value is not None}
        settings = dict(map(_setting, further))
        procedure = {**given, **settings}.get("procedure")
        given = _with_options(given, procedure, str(file))
        given = _with_options(settings, procedure, "set", given)
        if isinstance(given.get("grid"), str):
            given["grid"] = _grid(given["grid"])
        for name in _BY_CLASS:
            if isinstance(given.get(name), str):
                given[name] = _by_class(name, given[name])
        for name, kind, description in _KINDS:
            value = given.get(name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, kind)):
                raise fail(name, value, f"must be {description}")
        return cls(given)

    def places(self, name: str) -> list[str] | None:
        """Where a table lies; None if it is not given."""
        found = self.values.get(name)
        return None if found is None else [str(each) for each in _listed(found)]

    def path(self, name: str) -> Path | None:
        found = self.values.get(name)
        return None if found is None else Path(found)

    @property
    def facts(self) -> dict[str, Any]:
        """The settings that are fields of `Spec`."""
        return {name: v for name, v in self.values.items() if name in _facts()}

    def with_choice(self, spec: Spec) -> TuneConfig:
        """The configuration to store with a run: a setting that was chosen on public rows instead
        of these rows, which may be gone when the run is resumed."""
        if spec.chosen_on is None:
            return self
        kept = {name: value for name, value in self.values.items() if name != "public"}
        kept |= {"procedure": spec.procedure, "grid": json.dumps([spec.chosen_on.setting])}
        return TuneConfig({**kept, CHOSEN_ON: json.dumps(spec.chosen_on.public())})

    def to_toml(self, base: Path) -> str:
        """The configuration as TOML, with paths relative to this folder and without passwords."""
        from honestdp.schema import toml
        from honestdp.schema.sources.urls import without_secrets

        def stored(place: str) -> str:
            return without_secrets(_moved(place, lambda path: os.path.relpath(path, base)))

        values = {name: _each(v, stored) if name in PATHS else v for name, v in self.values.items()}
        return toml.write({name: _plain(value) for name, value in values.items()})


_KINDS: tuple[tuple[str, Any, str], ...] = (
    *((name, (str, Path), "a path") for name in PATHS if name not in TABLES),
    *((name, (str, Path, list, tuple), "a path, or a list of paths") for name in TABLES),
    *((name, str, "a text") for name in READING),
    ("rows", int, "a whole number"),
    ("seed", int, "a whole number"),
    ("target", str, "the name of a column"),
    ("executor", str, "the name of an executor"),
    (CHOSEN_ON, str, "as a run has stored it"),
)


def _facts() -> tuple[str, ...]:
    """The fields of `Spec` that are settings of the same name."""
    from honestdp.planning.spec import Spec

    others = ("schema", "rows", CHOSEN_ON)
    return tuple(f.name for f in fields(Spec) if f.init and f.name not in others)


def _with_options(
    settings: Mapping[str, Any], procedure: Any, where: str, before: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Settings over those `before`. The procedure's own options, which are no fields of `Spec`,
    become procedure_options; a name that is neither is refused."""
    found = dict(before or {})
    own = _own_options(procedure)
    known = (*(name for name, _, _ in _KINDS), *_facts())
    for name, value in settings.items():
        if name in known:
            found[name] = value
        elif name in own:
            options = found.get(_OPTIONS, {})
            if not isinstance(options, Mapping):
                raise fail(_OPTIONS, options, "must be a table, such as { eta = 3 }")
            found[_OPTIONS] = {**options, name: value}
        else:
            raise InputError(f"{where}: {name[:60]!r} is not a setting; {_way(name, known, own)}")
    return found


def _own_options(procedure: Any) -> tuple[str, ...]:
    """The options of a procedure; none of "auto", or of one that is not registered."""
    from honestdp.procedures import procedures

    return tuple(procedures.get(procedure).options) if procedure in procedures else ()


def _way(name: str, known: tuple[str, ...], own: tuple[str, ...]) -> str:
    from honestdp.procedures import procedures

    has = [kind.name for kind in procedures if name in kind.options]
    if has:
        return f"it is an option of procedure {' and '.join(has)}"
    near = get_close_matches(name, (*known, *own), 1)
    names = dict.fromkeys((*known, *own))
    return f"did you mean {near[0]}?" if near else f"the settings are {', '.join(names)}"


def _read(file: Path, base: Path) -> dict[str, Any]:
    try:
        with open(file, "rb") as opened:
            values = tomllib.loads(opened.read(_LARGEST).decode())
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror}); give a TOML file") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: not TOML ({' '.join(str(error).split())[:200]})") from None
    for name in values:
        if name in PATHS:
            texts = _listed(values[name]) if name in TABLES else [values[name]]
            if not texts or not all(isinstance(text, str) for text in texts):
                raise InputError(f"{file}: {name} must be the path to a file, in quotes")
            values[name] = _each(values[name], lambda place: _moved(place, _under(base)))
    return values


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _each(value: Any, change: Callable[[str], str]) -> str | list[str]:
    """A path or every path of a list, changed; a list of one is that one."""
    changed = [change(str(each)) for each in _listed(value)]
    return changed[0] if len(changed) == 1 else changed


def _moved(place: str, change: Callable[[str], str]) -> str:
    from honestdp.schema.sources.urls import with_path

    return with_path(place, change)


def _under(base: Path) -> Callable[[str], str]:
    return lambda path: str(base / path)


def _setting(text: str) -> tuple[str, Any]:
    """Parse `mean_runs=20`: a name, and a value in TOML or as plain text."""
    name, equals, value = text.partition("=")
    if not equals:
        raise fail("set", text, "write it as name=value, such as mean_runs=20")
    name = name.strip().replace("-", "_")
    try:
        return name, tomllib.loads(f"value = {value}")["value"]
    except ValueError:
        return name, value.strip()


def _grid(text: str) -> Any:
    """A name, or settings in JSON."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise fail(
            "grid", text, 'is not JSON; write it as {"rule": "dpsgd", "learning_rate": [0.1, 1]}'
        ) from None


def _by_class(name: str, text: str) -> Any:
    """A name, or numbers by class in JSON."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise fail(name, text, 'is not JSON; write it as {"yes": 5.0}') from None


def _plain(value: Any) -> Any:
    """Convert a value to a TOML type: number, boolean, list, table; anything else to text."""
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return str(value)
