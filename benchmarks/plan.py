"""Calibration beside `dp_accounting.calibrate_dp_mechanism`, on the same question, in one run.

The question: which noise multiplier trains within (epsilon, delta)? Both sides are asked for
one training and for a composition of 40, by RDP and by PLD. dp-accounting is given its default
tolerance and, to be fair to it, one as coarse as our four digits. Then the wall time of whole
commands, imports included. Prints a table and writes benchmarks/results/plan.json.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import dp_accounting
from dp_accounting import dp_event, pld, rdp

from honestdp.privacy import calibrate, curve, guarantee, profile
from honestdp.privacy.events import Repeated, training
from honestdp.text import columns

Q, STEPS, DELTA, EPSILON = 250 / 36177, 2500, 1e-6, 1.0
REPEATS = 3
RESULTS = Path(__file__).parent / "results" / "plan.json"
README = ["plan", "--n", "36177", "--lot-size", "250", "--steps", "2500", "--candidates", "40"]


def ours(accountant: str, candidates: int) -> float:
    for cached in (
        curve.sampled_gaussian,
        profile.loss_distribution,
        guarantee.profile,
        guarantee.rdp_curve,
    ):
        cached.cache_clear()  # every repetition starts cold
    return calibrate.noise_multiplier(
        lambda sigma: guarantee.epsilon(
            Repeated(training(Q, sigma, STEPS), candidates), DELTA, accountant
        ),
        EPSILON,
    )


def theirs(accountant: str, candidates: int, tolerance: float | None) -> float:
    make = rdp.RdpAccountant if accountant == "rdp" else pld.PLDAccountant
    return dp_accounting.calibrate_dp_mechanism(
        make,
        lambda sigma: dp_event.SelfComposedDpEvent(
            dp_event.PoissonSampledDpEvent(Q, dp_event.GaussianDpEvent(sigma)), STEPS * candidates
        ),
        EPSILON,
        DELTA,
        bracket_interval=dp_accounting.LowerEndpointAndGuess(0.3, 2.0),
        tol=tolerance,
    )


def timed(job: Callable[[], float]) -> tuple[float, float]:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        answer = job()
        times.append(time.perf_counter() - start)
    return statistics.median(times), answer


def calibration_rows() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for candidates in (1, 40):
        for accountant in ("rdp", "pld"):
            mine, sigma = timed(lambda a=accountant, k=candidates: ours(a, k))
            for name, tolerance in (("default", None), ("1e-3", 1e-3)):
                peer, peer_sigma = timed(
                    lambda a=accountant, k=candidates, t=tolerance: theirs(a, k, t)
                )
                rows.append(
                    {
                        "candidates": candidates,
                        "accountant": accountant,
                        "their_tolerance": name,
                        "honestdp_seconds": mine,
                        "dp_accounting_seconds": peer,
                        "times_faster": peer / mine,
                        "honestdp_noise": sigma,
                        "dp_accounting_noise": peer_sigma,
                    }
                )
    return rows


def command_rows() -> list[dict[str, object]]:
    run = "import sys; from honestdp.cli import main; main()"
    rows: list[dict[str, object]] = []
    for words in (["--help"], [*README, "--noise-multiplier", "4"], [*README, "--epsilon", "1"]):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", run, *words], check=True, capture_output=True)
        rows.append({"command": " ".join(words), "seconds": time.perf_counter() - start})
    return rows


def main() -> None:
    rows, commands = calibration_rows(), command_rows()
    headers = list(rows[0])
    shown = [[f"{v:.4g}" if isinstance(v, float) else v for v in row.values()] for row in rows]
    print("\n".join(columns(headers, shown)), end="\n\n")
    lines = [[c["command"], f"{c['seconds']:.2f}"] for c in commands]
    print("\n".join(columns(["command", "seconds, imports included"], lines, left=1)))
    machine = {"system": platform.machine(), "cores": os.cpu_count(), "python": sys.version[:6]}
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(
        json.dumps({"machine": machine, "calibration": rows, "commands": commands}, indent=2) + "\n"
    )


if __name__ == "__main__":
    main()
