"""Where an estimator's run keeps its work, so that Ctrl-C leaves something to go on with."""

from __future__ import annotations

import re
import secrets
import shutil
import warnings
from contextlib import nullcontext, suppress
from os import PathLike
from pathlib import Path
from typing import Any

from honestdp.errors import Interrupted
from honestdp.executors import Executor
from honestdp.ledger import Ledger
from honestdp.planning.plan import Plan
from honestdp.progress import Bar
from honestdp.release.released import Release
from honestdp.runner.run import run


def carried_out(
    plan: Plan,
    table: Any,
    ledger: Ledger | None,
    *,
    target: Any,
    seed: int | None,
    folder: str | PathLike[str] | None,
    bar: bool,
    executor: str | Executor,
) -> Release:
    """`run`; in a folder beside the ledger where none is named, removed once it is not needed."""
    own = None
    if ledger is not None:
        runs = Path(f"{ledger.path}.runs").resolve()  # who goes on may be in another folder
        if folder is None:
            _warn_of_unfinished(runs)
            folder = own = runs / secrets.token_hex(4)
        elif _is_own(Path(folder), runs):  # one that was interrupted, and goes on
            folder = own = Path(folder).resolve()
    try:
        with Bar(simulated=ledger is None) if bar else nullcontext() as progress:
            release = run(
                plan,
                table,
                ledger,
                target=target,
                seed=seed,
                progress=progress,
                folder=folder,
                executor=executor,
            )
        if own is not None:
            shutil.rmtree(own, ignore_errors=True)
        return release
    except KeyboardInterrupt as stop:
        if folder is None or not Path(folder).exists():
            raise
        said, go_on = str(stop) or "interrupted", _going_on(Path(folder).resolve())
        raise Interrupted(f"{said}: {go_on}") from None
    finally:
        if own is not None:
            with suppress(OSError):  # this run or others may be kept there
                own.parent.rmdir()


def _going_on(folder: Path) -> str:
    return f"search.set_params(folder={str(folder)!r}).fit(X, y)"


def _is_own(folder: Path, runs: Path) -> bool:
    """Whether a search named this folder itself."""
    place = folder.resolve()
    return place.parent == runs and re.fullmatch("[0-9a-f]{8}", place.name) is not None


def _warn_of_unfinished(runs: Path) -> None:
    """That one lies there is no secret; what is in it is not looked at."""
    found = sorted(runs.glob("*/.private/state"))
    if found:
        go_on = _going_on(found[0].parent.parent)
        said = f"{len(found)} unfinished or still at work in {str(runs)!r}, each paid for"
        warnings.warn(f"{said}; this fit is charged anew. To go on: {go_on}", stacklevel=4)
