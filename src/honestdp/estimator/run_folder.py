"""The folder of an estimator's run, so that it can be resumed after Ctrl-C."""

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
    """Call `run`; without a folder in one beside the ledger, which is removed after the release."""
    own = None
    if ledger is not None:
        runs = Path(f"{ledger.path}.runs").resolve()  # absolute: it may be resumed from elsewhere
        if folder is None:
            _warn_of_unfinished(runs)
            folder = own = runs / secrets.token_hex(4)
        elif _is_own(Path(folder), runs):  # an interrupted one is resumed
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
        reason, call = str(stop) or "interrupted", _resuming_call(Path(folder).resolve())
        raise Interrupted(f"{reason}: {call}") from None
    finally:
        if own is not None:
            with suppress(OSError):  # other runs may be in it
                own.parent.rmdir()


def _resuming_call(folder: Path) -> str:
    return f"search.set_params(folder={str(folder)!r}).fit(X, y)"


def _is_own(folder: Path, runs: Path) -> bool:
    """Whether an estimator created this folder."""
    place = folder.resolve()
    return place.parent == runs and re.fullmatch("[0-9a-f]{8}", place.name) is not None


def _warn_of_unfinished(runs: Path) -> None:
    """Warn of unfinished runs. That they exist is public; their content is not read."""
    found = sorted(runs.glob("*/.private/state"))
    if found:
        call = _resuming_call(found[0].parent.parent)
        state = f"{len(found)} unfinished or running in {str(runs)!r}, each paid for"
        warnings.warn(f"{state}; this fit is a new charge. To resume: {call}", stacklevel=4)
