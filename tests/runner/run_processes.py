"""Real runs in real processes that are killed, race, and share; run as a program by the tests.

    python run_processes.py kill <folder> <kills> <seed>
    python run_processes.py race <folder> <processes> <epsilon of the ledger>
    python run_processes.py share <folder> <processes> <rounds>

One program imports and compiles once and forks its workers, each of which opens the ledger itself
and does what a user does: run(plan, path, ledger). The kernel tells who opened the data. It prints
one line of JSON and exits with 0, or dies of the first thing that is not as it should be.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import statistics
import sys
import time
import traceback
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from file_watch import FileWatch, opened, opened_before_commit
from tiny_runs import NAMES, new_ledger, search, write_csv

from honestdp.errors import InputError
from honestdp.ledger import Ledger, Receipt
from honestdp.runner.run import run

PLAN = search()
BATCH = 20  # kills on one ledger: reading a long one would take the time
REUSED = 5  # receipts of those kills that are used again


@dataclass(frozen=True)
class Worker:
    """A process on its way through `run`."""

    pid: int
    pipe: int

    def told(self) -> str:
        """All it said, once it has ended: "released <head>", "refused <line>", or nothing."""
        with os.fdopen(self.pipe) as lines:
            said = lines.read().strip()
        os.waitpid(self.pid, 0)
        return said


def start(
    table: Path,
    ledger: Path,
    receipt: Receipt | None = None,
    *,
    gate: int | None = None,
    stay: bool = False,
) -> Worker:
    """Fork a worker; returns as soon as it is about to call `run` (or waits at the gate)."""
    out, into = os.pipe()
    if not (pid := os.fork()):
        status = 1
        try:
            own = Ledger.open(ledger, **NAMES)
            os.write(into, b".")
            if gate is not None:
                os.read(gate, 1)
            try:
                said = f"released {run(PLAN, table, own, receipt=receipt).head}"
            except InputError as error:
                said = f"refused {error}"
            os.write(into, said.encode())
            while stay:  # until it is killed
                signal.pause()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(into)
    assert os.read(out, 1) == b"."
    return Worker(pid, out)


def kill(folder: Path, kills: int, seed: int) -> dict[str, float]:
    """Kill runs at times spread over all of a run and a little more; count where they were."""
    rng = random.Random(seed)
    total: Counter[str] = Counter()
    times = []
    for first in range(0, kills, BATCH):
        ledger, table = folder / f"{first}.ledger", folder / f"{first}.csv"
        new_ledger(ledger)
        write_csv(table)
        watch = FileWatch(folder)
        times.append(_time_of_a_run(table, ledger))
        count = min(BATCH, kills - first)
        delays = [1.15 * times[-1] * (i + rng.random()) / count for i in range(count)]
        rng.shuffle(delays)
        for delay in delays:
            total.update(_kill_one(table, ledger, watch, delay))
        total.update(_use_again(table, ledger, watch))
        watch.close()
    return {"run_seconds": round(statistics.median(times), 4), **total}


def _time_of_a_run(table: Path, ledger: Path) -> float:
    times = []
    for _ in range(3):
        worker = start(table, ledger)
        began = time.perf_counter()
        assert os.read(worker.pipe, 9) == b"released "
        times.append(time.perf_counter() - began)
        worker.told()
    return statistics.median(times)


def _kill_one(table: Path, path: Path, watch: FileWatch, delay: float) -> list[str]:
    """Where the kill landed, and what was found then, as things to count."""
    before = Ledger.open(path, **NAMES)
    known = _facts(before)
    watch.events()
    worker = start(table, path, stay=True)
    time.sleep(delay)
    os.kill(worker.pid, signal.SIGKILL)
    told, events = worker.told(), watch.events()
    found = ["kills"]
    if path.with_name(f"{path.name}-journal").exists():
        found.append("mid_commit")

    ledger = Ledger.open(path, **NAMES)
    ledger.verify(before.head)  # with all that led to it
    _check_file(path)
    assert _facts(ledger)[: len(known)] == known, "the past changed"
    new = ledger.history()[len(known) :]
    assert len(new) <= 1, "one run, two charges"
    used = opened(events, table)
    if used:
        found.append("uses")
        assert new, "data used without a charge"
        assert not opened_before_commit(events, table, path), "data used, then charged"
    found += ["charges"] * len(new)
    if not new:
        assert not told
        return [*found, "before_charge"]
    if not new[0].released:
        assert not told, "a result without a release"
        return [*found, "before_opening" if not used else "before_release"]
    assert used, "the witness sees nothing"
    assert told in ("", f"released {ledger.head}")
    return [*found, "after_release"]


def _facts(ledger: Ledger) -> list[tuple[Receipt, bool]]:
    return [(charge.receipt, charge.released) for charge in ledger.history()]


def _check_file(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def _use_again(table: Path, path: Path, watch: FileWatch) -> list[str]:
    """What killed runs paid for is still theirs: one release each, no second, no new charge."""
    ledger = Ledger.open(path, **NAMES)
    history = ledger.history()
    owed = [charge.receipt for charge in history if not charge.released][:REUSED]
    for receipt in owed:
        said = start(table, path, receipt).told()
        assert said == f"released {ledger.head}", said
        watch.events()
        again = start(table, path, receipt).told()
        assert again.startswith(f"refused receipt={receipt.id}: was released before"), again
        assert not opened(watch.events(), table), "opened for a receipt that was used up"
    assert [charge.receipt for charge in ledger.history()] == [c.receipt for c in history]
    return ["used_again"] * len(owed)


def race(folder: Path, processes: int, epsilon: float) -> dict[str, int]:
    """Everyone runs a search, all at once, on a ledger without room for all."""
    path = new_ledger(folder / "one.ledger", epsilon).path
    tables = [write_csv(folder / f"{i}.csv") for i in range(processes)]  # whose opens are whose
    watch = FileWatch(folder)
    gate, into = os.pipe()
    workers = [start(table, path, gate=gate) for table in tables]
    os.write(into, b"." * processes)
    told = [worker.told() for worker in workers]
    events = watch.events()
    granted = [said.removeprefix("released ") for said in told if said.startswith("released ")]
    refused = [said for said in told if said.startswith("refused plan costs epsilon=")]
    assert len(granted) + len(refused) == processes, told
    assert all("left are" in line and "\n" not in line for line in refused)
    for said, table in zip(told, tables, strict=True):
        assert opened(events, table) == said.startswith("released "), "used what it did not get"
    ledger = Ledger.open(path, **NAMES)
    _check_file(path)
    for head in granted:
        ledger.verify(head)
    history = ledger.history()
    assert len(set(granted)) == len(history)
    assert all(charge.released for charge in history)
    ids = [charge.receipt.id for charge in history]
    together = sum(b - a == 1 for a, b in pairwise(ids))  # no release between
    return {"granted": len(granted), "refused": len(refused), "charged_together": together}


def share(folder: Path, processes: int, rounds: int) -> dict[str, int]:
    """One receipt, several processes at the same time: one release."""
    tables = [write_csv(folder / f"{i}.csv") for i in range(processes)]
    ledger = new_ledger(folder / "one.ledger")
    watch = FileWatch(folder)
    gate, into = os.pipe()
    total: Counter[str] = Counter()
    for _ in range(rounds):
        receipt = ledger.reserve(PLAN.spending, PLAN.public())  # all a killed run may leave
        watch.events()
        workers = [start(table, ledger.path, receipt, gate=gate) for table in tables]
        os.write(into, b"." * processes)
        told = [worker.told() for worker in workers]
        released = [said for said in told if said == f"released {ledger.head}"]
        refused = [said for said in told if "was released before" in said]
        assert (len(released), len(refused)) == (1, processes - 1), told
        events = watch.events()
        total["both_on_their_way"] += sum(opened(events, table) for table in tables) > 1
    history = ledger.history()
    assert [charge.released for charge in history] == [True] * rounds
    return {"rounds": rounds, **total}


if __name__ == "__main__":
    what, where, count, number = sys.argv[1:]
    run(PLAN, write_csv(Path(where) / "simulated.csv"), seed=1)  # compiles, for all who follow
    match what:
        case "kill":
            answer: object = kill(Path(where), int(count), int(number))
        case "race":
            answer = race(Path(where), int(count), float(number))
        case "share":
            answer = share(Path(where), int(count), int(number))
    print(json.dumps(answer))
