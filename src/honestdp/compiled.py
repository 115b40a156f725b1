"""numba's compiler, with a cache that depends on everything a kernel was compiled from.

Compiling takes seconds, so numba caches the result in a file. It recompiles when the file that
defines the kernel changes, but not when a file changes whose functions the kernel calls: after an
update a kernel might still clip by the old rule. Here the cache key covers the text of every file
that the kernel's file imports, directly or indirectly: the functions it calls and its constants are
there. Functions from elsewhere, such as the formula of an optimizer, are identified by a
fingerprint of what they compute; without one nothing is cached.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba import njit

# No `nnan`, no `ninf`: values that are not finite must be preserved.
_FAST = frozenset({"contract", "reassoc", "nsz", "arcp"})
_FOLDER = Path(__file__).parent


def compiled(function: Callable[..., Any]) -> Any:
    """Compile to machine code that releases the GIL; division by zero as in NumPy."""
    return _cached(function, frozenset())


def compiled_fused(function: Callable[..., Any]) -> Any:
    """As `compiled`, but a product and a sum may be fused and rounded once: for code with a proved
    error bound in the order in which it is written."""
    return _cached(function, frozenset({"contract"}))


def compiled_fused_inline(function: Callable[..., Any]) -> Any:
    """As `compiled_fused`, and written out wherever it is called: the body of a loop that is to
    run on several numbers in one instruction."""
    return _cached(function, frozenset({"contract"}), inline=True)


def compiled_fast(function: Callable[..., Any]) -> Any:
    """As `compiled`, but sums may be reordered, eight at a time."""
    return _cached(function, _FAST)


def compiled_from(
    function: Callable[..., Any],
    mark: str | None,
    *,
    fast: bool = False,
    keep: bool = False,
    **names: Any,
) -> Any:
    """Compile a copy of a function in which some global names have other values.

    Args:
        function: The function, which is not changed.
        mark: The fingerprint of the values: distinguishes copies of the same function in the cache
            and when compiled code is linked.
        fast: As `compiled_fast`.
        keep: Cache the result in a file, unless there is no mark.
        names: The values of the names.
    """
    assert isinstance(function, FunctionType)
    scope = {**function.__globals__, **names} if names else function.__globals__
    made = FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, function.__closure__
    )
    made.__qualname__ = f"{function.__name__}_{mark or id(function)}"
    made.__module__ = function.__module__
    fastmath = _FAST if fast else frozenset[str]()
    return _cached(made, fastmath) if keep and mark else _compiled(made, fastmath)


def fingerprint(function: Callable[..., Any]) -> str | None:
    """A digest of everything that a function computes with, the same in every process.

    Args:
        function: A Python function that is to be compiled.

    Returns:
        A digest of its code, its constants, the global numbers and functions that it reads, and
        theirs; None if it reads something whose value has no digest.
    """
    digest = sha256()
    try:
        for part in _parts(function, ()):
            digest.update(f"{part!r};".encode())
    except TypeError:
        return None
    return digest.hexdigest()[:16]


_LIBRARIES = ("builtins", "math", "numba", "numpy")


def _parts(value: Any, above: tuple[Any, ...]) -> Iterator[Any]:
    yield type(value).__name__
    if any(value is one for one in above):
        return
    above = (*above, value)
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        yield value
    elif isinstance(value, np.generic):
        yield value.dtype.str, value.tobytes()
    elif isinstance(value, tuple):
        for item in value:
            yield from _parts(item, above)
    elif isinstance(value, CodeType):
        yield value.co_code, value.co_names, value.co_varnames, value.co_freevars
        yield from _parts(value.co_consts, above)
    elif isinstance(value, FunctionType):
        cells = tuple(cell.cell_contents for cell in value.__closure__ or ())
        yield from _parts((value.__code__, value.__defaults__, cells), above)
        for name in sorted(value.__globals__.keys() & set(_names(value.__code__))):
            yield name
            yield from _parts(value.__globals__[name], above)
    elif hasattr(value, "py_func") and hasattr(value, "targetoptions"):  # compiled by numba
        yield sorted((name, repr(option)) for name, option in value.targetoptions.items())
        yield from _parts(value.py_func, above)
    elif isinstance(value, ModuleType) and value.__name__ in _LIBRARIES:
        yield value.__name__, getattr(value, "__version__", "")
    elif _library(value) in _LIBRARIES and isinstance(value, (type, BuiltinFunctionType, np.ufunc)):
        yield getattr(value, "__qualname__", None) or value.__name__
    else:
        raise TypeError(type(value).__name__)


def _library(value: Any) -> str:
    return str(getattr(value, "__module__", None) or type(value).__module__).split(".")[0]


def _names(code: CodeType) -> Iterator[str]:
    """The global names that code may read, including those of inner functions."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _compiled(
    function: Callable[..., Any], fastmath: frozenset[str], *, inline: bool = False
) -> Any:
    options = {"fastmath": set(fastmath)} if fastmath else {}
    return njit(nogil=True, error_model="numpy", forceinline=inline, **options)(function)


def _cached(function: Callable[..., Any], fastmath: frozenset[str], *, inline: bool = False) -> Any:
    dispatcher = _compiled(function, fastmath, inline=inline)
    dispatcher.enable_caching()
    # numba has no public name for this. If it changes, the import fails; no stale cache is used.
    file = dispatcher._cache._cache_file
    if not hasattr(file, "_source_stamp"):
        raise ImportError("this version of numba has another kind of cache; install an older one")
    text = _stamp(Path(function.__code__.co_filename))
    file._source_stamp = " ".join([text, *sorted(fastmath)])
    return dispatcher


@cache
def _stamp(file: Path) -> str:
    """A digest of a file and all files of this package that it imports, directly or indirectly."""
    found, left = set[Path](), [file, Path(__file__)]  # this file determines how it is compiled
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
                raise ImportError(f"{file}: a compiled module must use absolute imports")
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
