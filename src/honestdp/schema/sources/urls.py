"""URLs of databases, and what of them may be shown and stored: all but passwords.

    sqlite:///visits.db?query=SELECT age, ward FROM visits ORDER BY id
    postgresql://reader@db.example.org/hospital

`query=` comes last: everything after it is the query, as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_QUERY = re.compile(r"[?&]query=")
_PASSWORD = re.compile(r"^([^:]+://[^:/@]*):.*@", re.DOTALL)  # to the last @: it may hold one
# In the name or in the value: odbc_connect=DRIVER=..;PWD=.. holds a password, too
_SECRET = re.compile(r"(?<=[?&])[^&]*(?:pass|pwd|secret|token|key|cred|auth)[^&]*&?", re.IGNORECASE)
_SQLITE = re.compile(r"^(sqlite(?:\+\w+)?:///)([^?]+)(.*)$", re.DOTALL | re.IGNORECASE)


class Url(NamedTuple):
    """A URL in two parts. address: with the password. query: SQL; None if it holds none."""

    address: str
    query: str | None


def is_url(place: object) -> bool:
    return isinstance(place, str) and _URL.match(place) is not None


def scheme_of(url: str) -> str:
    found = _URL.match(url)
    return "" if found is None else found[1].lower()


def split_url(url: str) -> Url:
    found = _QUERY.search(url)
    return Url(url, None) if found is None else Url(url[: found.start()], url[found.end() :])


def without_secrets(place: str) -> str:
    """A path as it is; a URL without its password, and without parameters that look like one."""
    if not is_url(place):
        return place
    address, query = split_url(place)
    public = _SECRET.sub("", _PASSWORD.sub(r"\1@", address)).rstrip("?&")
    if query is None:
        return public
    return f"{public}{'&' if '?' in public else '?'}query={query}"


def sqlite_path(url: str) -> str | None:
    """The path of the database file in a URL; None if the database is not a file."""
    found = _SQLITE.match(split_url(url).address)
    return None if found is None else found[2]


def with_path(place: str, change: Callable[[str], str]) -> str:
    """A path, or the path in the URL of a database file, changed; any other URL as it is."""
    if not is_url(place):
        return change(place)
    found = _SQLITE.match(place)
    return place if found is None else f"{found[1]}{change(found[2])}{found[3]}"
