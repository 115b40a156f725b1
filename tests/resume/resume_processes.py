"""Real runs in folders that are killed again and again; run as a program by the tests.

    python resume_processes.py kill <folder> <kills> <seed>
    python resume_processes.py interrupt <folder>

Each run is killed at random times until it comes to its end; then its ledger must hold one charge
and one release, its folder the three files and nothing else. It prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from bombs import SCHEMA, new_ledger, plan_of, table

from honestdp import Ledger, load, verify
from honestdp.errors import Interrupted
from honestdp.resume import journal
from honestdp.resume.state import StateFile
from honestdp.runner.run import run
from honestdp.runner.training import models_of

KINDS = ("random-repeats", "subset-tuning", "composition")


def worker(kind: str, place: Path, seconds: float | None) -> bool:
    """Whether a run in a process of its own came to its end before it was killed."""
    if not (pid := os.fork()):
        status = 1
        try:
            journal.EVERY = 0.01
            ledger = Ledger.open(place / "toy.ledger", schema=SCHEMA)
            run(plan_of(kind, steps=60), table(), ledger, folder=place / "run")
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    end = time.monotonic() + (1e9 if seconds is None else seconds)
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert status == 0
            return True
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return False


def kill(folder: Path, kills: int, seed: int) -> dict[str, int]:
    rng, total = random.Random(seed), Counter[str]()
    for kind in KINDS:  # compile before anyone is forked
        run(plan_of(kind, steps=60), table(), seed=1)
    while total["kills"] < kills:
        kind = rng.choice(KINDS)
        place = folder / str(total["runs"])
        place.mkdir()
        ledger = new_ledger(place)
        for _ in range(6):
            if (place / "run" / "card.json").exists():
                break
            if worker(kind, place, rng.uniform(0.0, 0.25)):
                break
            total["kills"] += 1
            state = place / "run" / ".private"
            total["with work kept" if state.exists() else "before or after"] += 1
        if not (place / "run" / "card.json").exists():
            assert worker(kind, place, None)
        (charge,) = ledger.history()
        assert charge.released
        assert load(place / "run").card.ledger.charge == charge.receipt.id
        verify(place / "run", ledger)
        left = {f.name for f in (place / "run").iterdir()}
        total["killed while tidying up"] += ".private" in left
        assert left - {".private"} == {"card.json", "model.json", "model.safetensors"}
        total["runs"] += 1
    return dict(total)


def interrupt(folder: Path) -> dict[str, object]:
    """Ctrl-C in the middle of a run; what it says, and whether it then goes on."""
    plan = plan_of("random-repeats", steps=40_000)
    ledger = new_ledger(folder)
    run(plan_of("random-repeats"), table(), seed=1)
    if not (pid := os.fork()):
        time.sleep(0.4)
        os.kill(os.getppid(), signal.SIGINT)
        os._exit(0)
    stopped = None
    try:
        run(plan, table(), ledger, folder=folder / "run")
    except Interrupted as error:
        stopped = error
    assert stopped.__context__ is None
    os.waitpid(pid, 0)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    kept = StateFile(plan, models_of(plan), None).read(
        (folder / "run" / ".private" / "state").read_bytes()
    )
    steps = sorted({state.step for _, state in kept.at_work})
    release = run(plan, table(), ledger, folder=folder / "run")
    verify(release.card, ledger)
    return {"said": str(stopped), "steps": steps, "charges": len(ledger.history())}


if __name__ == "__main__":
    what, folder, *numbers = sys.argv[1:]
    found = {"kill": kill, "interrupt": interrupt}[what](Path(folder), *map(int, numbers))
    print(json.dumps(found))
