"""`Registry`: the implementations of one contract, by name; any package can add to it.

Whatever can be extended (procedures, metrics, optimizers, models, column kinds, executors) is a
package: `base.py` holds the contract, every other module one or a few kinds, each registered where
it is defined. Your own kind is registered in the same way,

    @procedures.register
    class Halving(Procedure):
        name = "halving"

or declared by an installed package as an entry point of the registry's group, in its
pyproject.toml:

    [project.entry-points."honestdp.procedures"]
    halving = "our_package.halving:Halving"
"""

from __future__ import annotations

import pkgutil
import warnings
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from threading import RLock
from typing import Generic, TypeVar

from honestdp.errors import fail

T = TypeVar("T")


class Registry(Generic[T]):
    """The kinds of one thing by name: the library's own, and those that were added.

    Args:
        thing: What the kinds are kinds of, for error messages: "procedure".
        package: The package whose modules define the library's own kinds. They are imported when
            the registry is first used.
        group: The entry point group by which installed packages add kinds. They are imported when a
            name is not found among the others, or when all names are listed.

    Example:
        >>> from honestdp.procedures import procedures
        >>> procedures.get("untuned").name
        'untuned'
    """

    def __init__(self, thing: str, package: str, group: str) -> None:
        self.thing = thing
        self.group = group
        self._package = package
        self._kinds: dict[str, T] = {}
        self._loaded = False
        self._lock = RLock()
        self._plugged = False

    def register(self, kind: T) -> T:
        """Add a kind, under its `name`; usable as a decorator.

        Args:
            kind: A class or an object with a `name`.

        Returns:
            The kind itself.

        Raises:
            InputError: If the name is not a text, or another kind has it.
        """
        name = self.name_of(kind)
        if not isinstance(name, str) or not name:
            raise fail("name", name, f"a {self.thing} needs a name: a text")
        if not self.is_own(kind):
            self._load()  # so that a name the library has is refused here, not when it is loaded
        known = self._kinds.get(name)
        if known is not None and not _same(known, kind):
            raise fail("name", name, f"is the name of another {self.thing}; choose another")
        self._kinds[name] = kind
        return kind

    def name_of(self, kind: T) -> object:
        """The name of a kind: by default its attribute `name`.

        Args:
            kind: A class or an object.
        """
        return getattr(kind, "name", None)

    def is_own(self, kind: T) -> bool:
        """Whether a kind is the library's own, defined in the registry's package.

        Args:
            kind: A class or an object.
        """
        return str(getattr(kind, "__module__", "")).startswith(f"{self._package}.")

    def unregister(self, name: str) -> None:
        """Remove a kind that was added; for tests of your own kinds.

        Args:
            name: The name of the kind; an unknown one is ignored.
        """
        self._kinds.pop(name, None)

    def get(self, name: object) -> T:
        """Look up a kind by its name.

        Args:
            name: The name.

        Returns:
            The kind.

        Raises:
            InputError: If there is none; the message lists the names.
        """
        if isinstance(name, str):
            found = self._find(name)
            if found is not None:
                return found
        raise fail(self.thing, name, f"must be one of {', '.join(self.names())}")

    def names(self) -> tuple[str, ...]:
        """The names of all kinds, sorted."""
        return tuple(str(self.name_of(kind)) for kind in self)

    def __iter__(self) -> Iterator[T]:
        self._load()
        self._plug_in()
        return iter([self._kinds[name] for name in sorted(self._kinds)])

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def _find(self, name: str) -> T | None:
        self._load()
        if name not in self._kinds:
            self._plug_in()
        return self._kinds.get(name)

    def _load(self) -> None:
        with self._lock:  # other threads must not see some of the kinds only
            if not self._loaded:
                package = import_module(self._package)
                for module in pkgutil.iter_modules(package.__path__, f"{self._package}."):
                    import_module(module.name)
                self._loaded = True

    def _plug_in(self) -> None:
        if not self._plugged:
            self._plugged = True
            for point in entry_points(group=self.group):
                self._plug(point)

    def _plug(self, point: EntryPoint) -> None:
        # One broken package must not affect the others: warn, and leave it out.
        try:
            self.register(point.load())
        except Exception as error:
            warnings.warn(
                f"the {self.thing} {point.name!r} of {point.value} cannot be loaded "
                f"({type(error).__name__}: {error}); it is left out",
                stacklevel=2,
            )


def _same(one: object, other: object) -> bool:
    """Whether two kinds come from the same definition: a notebook may run a cell twice."""
    places = [
        (getattr(k, "__module__", None), getattr(k, "__qualname__", None)) for k in (one, other)
    ]
    return one is other or (places[0] == places[1] and None not in places[0])
