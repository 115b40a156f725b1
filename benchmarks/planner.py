"""How long the planner's page waits: 200 random moves of one slider at a time, from the README's
example, each asked of a running server as the page asks. Prints a table of wall times and, as the
server runs in this process, of its CPU times: what a machine without other work would show. A
point of the plot costs what a table does.

"every slider's ends" moves all the way along them, so it also meets plans nobody would make
(lots of a few records out of millions), whose losses need the finest grids.
"""

from __future__ import annotations

import random
import statistics
import sys
import threading
import time
from collections.abc import Sequence
from http.client import HTTPConnection
from urllib.parse import urlencode

from honestdp.planner.answers import PlannerInputs
from honestdp.planner.serve import LOOPBACK, Server
from honestdp.text import columns

MOVES = 200
HEADERS = ("request", "moves", "p50", "p95", "CPU p50", "CPU p95")
START = {"n": 36177, "lot_size": 250, "steps": 2500, "candidates": 40, "epsilon": 1.0}
ENDS = {
    "n": (1e3, 1e7),
    "lot_size": (10, 1e4),
    "steps": (100, 1e5),
    "candidates": (1, 1000),
    "epsilon": (0.1, 10),
}


def seconds(server: Server, what: str, values: dict[str, object]) -> tuple[float, float]:
    start, busy = time.perf_counter(), time.process_time()
    connection = HTTPConnection(LOOPBACK, server.server_address[1], timeout=600)
    connection.request("GET", f"/answers/{what}?{urlencode(values)}")
    connection.getresponse().read()
    connection.close()
    return time.perf_counter() - start, time.process_time() - busy


def moved(dice: random.Random, near: bool) -> tuple[str, dict[str, object]]:
    """One slider somewhere else: by up to a factor of three, or anywhere between its ends."""
    name = dice.choice(list(ENDS))
    low, high = ENDS[name]
    if near:
        low, high = max(low, START[name] / 3), min(high, START[name] * 3)
    value = low * (high / low) ** dice.random()
    return name, START | {name: round(value, 2) if name == "epsilon" else round(value)}


def measure(server: Server, near: bool, moves: int) -> list[list[object]]:
    dice = random.Random(1)
    times: dict[str, list[tuple[float, float]]] = {"table": [], "candidates": []}
    times |= {f"both, {name} moved": [] for name in ("any slider", *ENDS)}
    for _ in range(moves):
        name, values = moved(dice, near)
        both = [seconds(server, what, values) for what in ("table", "candidates")]
        for what, found in zip(("table", "candidates"), both, strict=True):
            times[what].append(found)
        wall, busy = (sum(part) for part in zip(*both, strict=True))
        for which in ("any slider", name):
            times[f"both, {which} moved"].append((wall, busy))
    rows: list[list[object]] = []
    for what, found in times.items():
        if found:
            wall_times, busy_times = zip(*found, strict=True)
            shown = (*_quantiles(wall_times), *_quantiles(busy_times))
            rows.append([what, len(found), *(f"{x:.2f}" for x in shown)])
    return rows


def _quantiles(found: Sequence[float]) -> tuple[float, float]:
    ordered = sorted(found)
    return statistics.median(ordered), ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]


def main() -> None:
    moves = int(sys.argv[1]) if len(sys.argv) > 1 else MOVES
    with Server(PlannerInputs()) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        first, _ = seconds(server, "table", START)
        print(f"the first table, imports done: {first:.2f} s\n")
        for near, title in ((True, "a factor of three either way"), (False, "every slider's ends")):
            rows = measure(server, near, moves)
            print(f"{moves} moves, {title}; seconds")
            print("\n".join(columns(HEADERS, rows, left=1)))
            print()
        server.shutdown()


if __name__ == "__main__":
    main()
