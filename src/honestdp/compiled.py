"""numba's compiler, with a cache that knows everything a kernel was made from.

Compiling takes seconds, so numba keeps the result in a file. It makes it anew when the file that
holds the kernel changes, but not when a file does whose functions the kernel calls: after an update
a kernel might go on clipping by the old rule. Here the cache belongs to the text of the whole
package instead.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import njit

# No `nnan`, no `ninf`: what is not finite must stay visible.
_FAST = {"contract", "reassoc", "nsz", "arcp"}


def compiled(function: Callable[..., Any]) -> Any:
    """Compiled to machine code that runs without Python's lock; divides as NumPy does."""
    return _kept(njit(nogil=True, error_model="numpy")(function))


def compiled_fused(function: Callable[..., Any]) -> Any:
    """The same, and a product and a sum may be rounded once instead of twice: for code whose error
    bound is proved, in the order in which it is written."""
    return _kept(njit(nogil=True, error_model="numpy", fastmath={"contract"})(function))


def compiled_fast(function: Callable[..., Any]) -> Any:
    """The same, and sums may be taken in another order, eight at a time."""
    return _kept(njit(nogil=True, error_model="numpy", fastmath=_FAST)(function))


def _kept(dispatcher: Any) -> Any:
    dispatcher.enable_caching()
    # numba has no public name for this; should it change, the import fails and nothing is stale.
    file = dispatcher._cache._cache_file
    if not hasattr(file, "_source_stamp"):
        raise ImportError("this version of numba keeps its cache in another way; take an older one")
    file._source_stamp = _package_stamp()
    return dispatcher


@cache
def _package_stamp() -> str:
    folder = Path(__file__).parent
    files = [*folder.glob("*.py"), *folder.glob("engine/**/*.py"), *folder.glob("randomness/*.py")]
    digest = sha256()
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.hexdigest()
