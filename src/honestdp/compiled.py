"""numba's compiler, with a cache that knows everything a kernel was made from.

Compiling takes seconds, so numba keeps the result in a file. It makes it anew when the file that
holds the kernel changes, but not when a file does whose functions the kernel calls: after an update
a kernel might go on clipping by the old rule. Here the cache belongs to the text of every file that
the kernel's own imports, directly or through others: what it calls and its constants are there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import njit

# No `nnan`, no `ninf`: what is not finite must stay visible.
_FAST = frozenset({"contract", "reassoc", "nsz", "arcp"})
_FOLDER = Path(__file__).parent


def compiled(function: Callable[..., Any]) -> Any:
    """Compiled to machine code that runs without Python's lock; divides as NumPy does."""
    return _kept(function, frozenset())


def compiled_fused(function: Callable[..., Any]) -> Any:
    """The same, and a product and a sum may be rounded once instead of twice: for code whose error
    bound is proved, in the order in which it is written."""
    return _kept(function, frozenset({"contract"}))


def compiled_fast(function: Callable[..., Any]) -> Any:
    """The same, and sums may be taken in another order, eight at a time."""
    return _kept(function, _FAST)


def _kept(function: Callable[..., Any], fastmath: frozenset[str]) -> Any:
    options = {"fastmath": set(fastmath)} if fastmath else {}
    dispatcher = njit(nogil=True, error_model="numpy", **options)(function)
    dispatcher.enable_caching()
    # numba has no public name for this; should it change, the import fails and nothing is stale.
    file = dispatcher._cache._cache_file
    if not hasattr(file, "_source_stamp"):
        raise ImportError("this version of numba keeps its cache in another way; take an older one")
    text = _stamp(Path(function.__code__.co_filename))
    file._source_stamp = " ".join([text, *sorted(fastmath)])
    return dispatcher


@cache
def _stamp(file: Path) -> str:
    """The text of a file and of all that it imports from here, directly or through others."""
    found, left = set[Path](), [file, Path(__file__)]  # this file says how it is compiled
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left.extend(_imported(one))
    digest = sha256()
    for one in sorted(found):
        digest.update(one.read_bytes())
    return digest.hexdigest()


@cache
def _imported(file: Path) -> frozenset[Path]:
    """The files of this package that a file imports, or imports something from."""
    names: set[str] = set()
    for node in _statements(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise ImportError(f"{file}: a module that is compiled imports by full names")
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
            names.add(str(node.module))
    ours = (_FOLDER.parent.joinpath(*name.split(".")) for name in names if _is_ours(name))
    files = (file for path in ours for file in (path.with_suffix(".py"), path / "__init__.py"))
    return frozenset(file for file in files if file.is_file())


def _statements(block: ast.AST) -> Iterator[ast.AST]:
    """Every statement in a block, however deep; expressions, which are many, are not walked."""
    yield block
    for part in ("body", "orelse", "handlers", "finalbody", "cases"):
        for inner in getattr(block, part, ()):
            yield from _statements(inner)


def _is_ours(name: str) -> bool:
    return name.split(".")[0] == _FOLDER.name
