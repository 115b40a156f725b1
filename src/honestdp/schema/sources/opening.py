"""Open the source that a path, a folder, a URL, or a list of them stands for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeGuard

from honestdp.errors import InputError
from honestdp.schema.sources.base import Source, kind_of
from honestdp.schema.sources.options import TableOptions
from honestdp.schema.sources.several import Part, SeveralFiles, files_of_folder
from honestdp.schema.sources.urls import is_url, split_url, without_secrets

Place = str | os.PathLike[str]


def is_place(table: Any) -> TypeGuard[Place | Sequence[Place]]:
    """Whether this says where a table lies, and is not a table itself."""
    if isinstance(table, (list, tuple)):
        return bool(table) and all(isinstance(each, (str, os.PathLike)) for each in table)
    return isinstance(table, (str, os.PathLike))


def open_source(table: Place | Sequence[Place], options: TableOptions) -> Source:
    """Open a table as far as its names.

    Args:
        table: A path to a file or a folder, the URL of a database, or a list of them.
        options: How it is written.

    Raises:
        InputError: If there is none, it has no header, an option does not fit, or a file is given
            twice: its records would count twice.
    """
    places = _texts(table)
    if len(places) == 1 and not _is_folder(places[0]):
        return kind_of(places[0])(places[0], options)
    parts = [Part(kind_of(place)(place, options), partition) for place, partition in _files(places)]
    _check_once(parts)
    first = places[0]
    shown = without_secrets(split_url(first).address) if is_url(first) else first
    called = shown if len(places) == 1 else f"{shown} and {len(places) - 1} more"
    home = parts[0].source.home if is_url(first) else Path(first)
    return SeveralFiles(called, home, parts, options)


def options_of(table: Place | Sequence[Place]) -> frozenset[str]:
    """The names of the options that fit all of a table."""
    kinds = [kind_of(place) for place, _ in _files(_texts(table))]
    return frozenset.intersection(*(kind.options for kind in kinds))


def _texts(table: Place | Sequence[Place]) -> list[str]:
    places = [table] if isinstance(table, (str, os.PathLike)) else table
    return [os.fspath(place) for place in places]


def _is_folder(place: str) -> bool:
    return not is_url(place) and os.path.isdir(place)


def _files(places: Sequence[str]) -> list[tuple[str, dict[str, str | None]]]:
    """Every file and URL, a folder being those in it; each with its partition."""
    if len(places) > 1 and not any(is_url(place) or os.path.exists(place) for place in places):
        # They may be cells that were given by mistake: not shown.
        raise InputError(f"table: none of these {len(places)} texts is a path; give paths of files")
    found: list[tuple[str, dict[str, str | None]]] = []
    for place in places:
        found += files_of_folder(Path(place)) if _is_folder(place) else [(place, {})]
    return found


def _check_once(parts: Sequence[Part]) -> None:
    """Raise InputError if a file or a query is there twice."""
    seen: set[object] = set()
    for part in parts:
        source = part.source
        for one in (*map(os.path.realpath, source.files), *source.queries):
            if one in seen:
                raise InputError(f"{source}: is given twice; its records would count twice")
            seen.add(one)
