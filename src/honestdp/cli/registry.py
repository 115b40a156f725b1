"""The commands of `honestdp`, loaded when they are called: the library's own and plug-ins.

A command is an entry point of the group `honestdp.commands`. Its name is what the user types; its
value names a function (one command, with typer's annotations) or a `typer.Typer` (a command with
subcommands). A command of the library may have a name of two words, beside one that is called by
the first alone: `honestdp schema check` and `honestdp schema TABLE`. A package adds a command in
its `pyproject.toml`:

    [project.entry-points."honestdp.commands"]
    hello = "hello_honestdp:command"

A plug-in is imported only when its command is called: `honestdp --help` shows the summary of its
package instead. One that cannot be imported, or that crashes, fails with one line that names it and
does not affect others.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer
from typer.core import TyperGroup

from honestdp.errors import InputError, one_line

GROUP = "honestdp.commands"

OWN = {
    name: EntryPoint(name, f"honestdp.cli.{place}", GROUP)
    for name, place in {
        "tune": "tune:command",
        "resume": "tune:resume",
        "plan": "plan:command",
        "schema": "schema:command",
        "schema check": "check:sample",
        "check": "check:command",
        "simulate": "simulate:command",
        "predict": "predict:command",
        "explain": "explain:command",
        "card": "card:command",
        "verify": "verify:command",
        "report": "report:command",
        "words": "words:command",
        "ledger": "ledger:app",
    }.items()
}

_BLAMED = "_honestdp_plugin"  # attribute of an exception that came out of a plug-in

# Commands of packages that belong to this project, by the package to install.
ELSEWHERE = {"paper": "honestdp-reproduction"}


class Commands(Mapping[str, Any]):
    """Every command by name, loaded on access: the library's own first, then plug-ins by name."""

    @cached_property
    def plugins(self) -> dict[str, EntryPoint]:
        """The plug-ins by name. One whose name is taken is ignored with a warning."""
        found: dict[str, EntryPoint] = {}
        for point in sorted(entry_points(group=GROUP), key=lambda p: (p.name, package(p))):
            taken = "honestdp" if point.name in OWN else None
            if point.name in found:
                taken = package(found[point.name])
            if taken is None:
                found[point.name] = point
            else:
                print(
                    f"honestdp: ignoring the command {point.name!r} of {package(point)}: "
                    f"{taken} has one of this name",
                    file=sys.stderr,
                )
        return found

    def __iter__(self) -> Iterator[str]:
        yield from OWN
        yield from self.plugins

    def __len__(self) -> int:
        return len(OWN) + len(self.plugins)

    def __getitem__(self, name: str) -> Any:
        """The command of this name, ready for typer.

        Raises:
            KeyError: If there is none.
            InputError: If its package is not installed, or cannot be imported.
        """
        if name in OWN:
            return _command(name, OWN[name].load())
        if name in self.plugins:
            return _plugin(self.plugins[name])
        if name in ELSEWHERE:
            raise InputError(
                f"{name}: this command comes with a package of its own: pip install "
                f"{ELSEWHERE[name]} (in a checkout: pip install ./reproduction)"
            )
        raise KeyError(name)

    def summary(self, name: str, limit: int) -> str:
        """One line for the list of commands; for a plug-in the summary of its package."""
        if name in OWN:
            return str(self[name].get_short_help_str(limit))
        point = self.plugins[name]
        text = (point.dist.metadata["Summary"] if point.dist else None) or f"See {package(point)}."
        return text if len(text) <= limit else f"{text[: limit - 3].rsplit(' ', 1)[0]}..."


class LazyGroup(TyperGroup):
    """A typer group whose commands are loaded one by one."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands: Any = Commands()

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        try:
            return self.commands.get(cmd_name)
        except InputError:
            if ctx.resilient_parsing:  # shell completion: nothing to offer
                return None
            raise

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that the words begin with; a name may be two of them."""
        two = " ".join(args[:2])
        if len(args) > 1 and two in OWN:
            args = [two, *args[2:]]
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as error:
            name = ctx.invoked_subcommand
            if name not in OWN and name in self.commands.plugins:
                point = self.commands.plugins[name]
                setattr(error, _BLAMED, f"error in the command {name!r} of {package(point)}")
            raise

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        names = self.list_commands(ctx)
        limit = formatter.width - 6 - max(map(len, names))
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.commands.summary(name, limit)) for name in names])


def at_fault(error: Exception) -> str:
    """What failed: honestdp itself, or the plug-in whose command raised the error."""
    return str(getattr(error, _BLAMED, "internal error"))


def package(point: EntryPoint) -> str:
    """The name of the package that an entry point comes with."""
    return point.dist.name if point.dist else "a package without metadata"


def _plugin(point: EntryPoint) -> Any:
    try:
        return _command(point.name, point.load())
    except Exception as error:
        why = one_line(error)
        message = f"{point.name}: cannot load this command of {package(point)} ({why})"
        raise InputError(message) from error


def _command(name: str, found: Any) -> Any:
    if isinstance(found, typer.Typer):
        made: Any = typer.main.get_group(found)
    elif callable(found):
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(name)(found)
        made = typer.main.get_command(alone)
    else:
        raise TypeError(f"{type(found).__name__} is neither a function nor a typer.Typer")
    made.name = name
    return made
