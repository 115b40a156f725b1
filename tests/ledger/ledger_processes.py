"""Real processes that spend, race and are killed; run as a program by the tests.

    python ledger_processes.py race <ledger> <processes> <epsilon of a plan>
    python ledger_processes.py kill <ledger> <kills> <seed>
    python ledger_processes.py kill-create <folder> <kills> <seed>

One program imports once and forks its workers, each of which opens the file itself. It prints one
line of JSON and exits with 0, or dies of the first thing that is not as it should be.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from honestdp.errors import InputError
from honestdp.ledger import Ledger
from honestdp.privacy.spending import Spending

NAMES = {"dataset": "adult", "schema": "f00d"}


def race(path: Path, processes: int, epsilon: float) -> dict[str, object]:
    """Everyone spends until refused; what each got comes back through a pipe."""
    gate_out, gate_in = os.pipe()
    out, into = os.pipe()
    workers = []
    for worker in range(processes):
        if not (pid := os.fork()):
            os.close(gate_in)
            ledger = Ledger.open(path, **NAMES)
            os.read(gate_out, 1)  # until all are there
            status = 1
            try:
                while True:
                    receipt = ledger.reserve(Spending.of_pair(epsilon, 0.0), {"by": worker})
                    os.write(into, f"{worker} {receipt.entry_hash}\n".encode())
            except InputError as error:
                status = 0 if "left are" in str(error) else 2
                if status:
                    print(error, file=sys.stderr)
            finally:
                os._exit(status)
        workers.append(pid)
    os.close(into)
    time.sleep(0.3)
    os.close(gate_in)
    with os.fdopen(out) as lines:
        granted = [line.split() for line in lines]
    assert all(os.waitpid(pid, 0)[1] == 0 for pid in workers)
    ledger = Ledger.open(path, **NAMES)
    ledger.verify()
    hashes = [hash_ for _, hash_ in granted]
    assert sorted(c.receipt.entry_hash for c in ledger.history()) == sorted(hashes)
    return {"granted": len(granted), "winners": len({worker for worker, _ in granted})}


def kill(path: Path, kills: int, seed: int) -> dict[str, int]:
    """Workers reserve, note the receipt ("use the data"), release; and are killed at any time."""
    rng = random.Random(seed)
    log = path.with_suffix(".used")
    log.touch()
    unused = journals = 0
    for _ in range(kills):
        ready_out, ready_in = os.pipe()
        if not (pid := os.fork()):
            ledger = Ledger.open(path, **NAMES)
            used = os.open(log, os.O_WRONLY | os.O_APPEND)
            os.write(ready_in, b".")
            while True:
                receipt = ledger.reserve(Spending.of_pair(1e-4, 0.0), {"pid": os.getpid()})
                os.write(used, f"{receipt.entry_hash}\n".encode())
                ledger.release(receipt)
        os.close(ready_in)
        os.read(ready_out, 1)
        os.close(ready_out)
        time.sleep(rng.uniform(0, 0.08))
        os.kill(pid, signal.SIGKILL)
        assert os.waitpid(pid, 0)[1] == signal.SIGKILL
        journals += Path(f"{path}-journal").exists()
        ledger = Ledger.open(path, **NAMES)
        ledger.verify()
        charged = {c.receipt.entry_hash for c in ledger.history()}
        used_hashes = log.read_text().split()
        assert set(used_hashes) <= charged, "data used without a charge"
        released = {c.receipt.entry_hash for c in ledger.history() if c.released}
        assert released <= set(used_hashes)
        assert len(charged) - len(used_hashes) - unused in (0, 1)
        unused = len(charged) - len(used_hashes)
        if len(charged) > 150:  # a fresh file: reading the long one would take the time
            path.unlink()
            log.write_text("")
            unused = 0
            Ledger.create(path, **NAMES, epsilon=1000, delta=1e-6)
    return {"kills": kills, "mid_commit": journals, "charged_unused": unused}


def kill_create(folder: Path, kills: int, seed: int) -> dict[str, int]:
    """Makers of a ledger are killed: there is a whole ledger of that name, or none."""
    rng = random.Random(seed)
    made = 0
    for i in range(kills):
        path = folder / f"{i}.ledger"
        ready_out, ready_in = os.pipe()
        if not (pid := os.fork()):
            os.write(ready_in, b".")
            Ledger.create(path, **NAMES, epsilon=1, delta=1e-6)
            time.sleep(10)
            os._exit(1)
        os.close(ready_in)
        os.read(ready_out, 1)
        os.close(ready_out)
        time.sleep(rng.uniform(0, 0.12))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        if path.exists():
            made += 1
            Ledger.open(path, **NAMES).verify()
        else:
            Ledger.create(path, **NAMES, epsilon=1, delta=1e-6)
    return {"kills": kills, "made": made}


if __name__ == "__main__":
    what, where, count, number = sys.argv[1:]
    match what:
        case "race":
            answer: object = race(Path(where), int(count), float(number))
        case "kill":
            answer = kill(Path(where), int(count), int(number))
        case "kill-create":
            answer = kill_create(Path(where), int(count), int(number))
    print(json.dumps(answer))
