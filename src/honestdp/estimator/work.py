"""Where an estimator's run keeps its work, so that Ctrl-C leaves something to go on with."""

from __future__ import annotations

import secrets
import shutil
from contextlib import nullcontext, suppress
from os import PathLike
from pathlib import Path
from typing import Any

from honestdp.errors import Interrupted
from honestdp.ledger import Ledger
from honestdp.planning.plan import Plan
from honestdp.progress import Bar
from honestdp.release.publish import Release
from honestdp.run import run


def carried_out(
    plan: Plan,
    table: Any,
    ledger: Ledger | None,
    *,
    target: Any,
    seed: int | None,
    folder: str | PathLike[str] | None,
    bar: bool,
) -> Release:
    """`run`; in a folder beside the ledger where none is named, removed once it is not needed."""
    own = None
    if folder is None and ledger is not None:
        folder = own = Path(f"{ledger.path}.runs") / secrets.token_hex(4)
    try:
        with Bar(simulated=ledger is None) if bar else nullcontext() as progress:
            release = run(
                plan, table, ledger, target=target, seed=seed, progress=progress, folder=folder
            )
        if own is not None:
            shutil.rmtree(own, ignore_errors=True)
        return release
    except KeyboardInterrupt as stop:
        if folder is None or not Path(folder).exists():
            raise
        said, go_on = str(stop) or "interrupted", f"search.set_params(folder={str(folder)!r})"
        raise Interrupted(f"{said}: {go_on}.fit(X, y)") from None
    finally:
        if own is not None:
            with suppress(OSError):  # this run or others may be kept there
                own.parent.rmdir()
