"""What `engine.py` shows of its measurements: tables, ratios and a picture."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from workloads import REQUIRED

from honestdp.text import columns

Row = dict[str, Any]
COLOURS = {
    "honestdp": "#1b7f5c",
    "opacus": "#c2571a",
    "plain-torch": "#5b6b8c",
    "floor": "#b5b5b5",
    "before": "#8fbfae",
}


def ratios(rows: list[Row]) -> dict[str, Row]:
    """How many times faster honestdp is than each of the others, per workload."""
    made: dict[str, Row] = {}
    for workload in dict.fromkeys(row["workload"] for row in rows):
        here = {row["system"]: row for row in rows if row["workload"] == workload}
        if "honestdp" not in here:
            continue
        ms = {system: row["ms_per_candidate_step"] for system, row in here.items()}
        ratio: Row = {}
        if best := best_opacus(ms):
            ratio = {
                "best_opacus": best,
                "opacus": ms[best] / ms["honestdp"],
                "opacus_one_a_core": one_a_core(here) / ms["honestdp"],
                "required": REQUIRED[workload],
                "ok": ms[best] / ms["honestdp"] >= REQUIRED[workload],
            }
        for system in ("plain-torch", "floor"):
            if system in ms:
                ratio[system.replace("-", "_")] = ms[system] / ms["honestdp"]
        if "before" in ms:
            ratio["times_before"] = ms["honestdp"] / ms["before"]
        made[workload] = ratio
    return made


def best_opacus(ms: dict[str, float]) -> str | None:
    modes = [system for system in ms if system.startswith("opacus-")]
    return min(modes, key=ms.__getitem__, default=None)


def one_a_core(here: dict[str, Row]) -> float:
    """The least that Opacus could take with a one-thread process on every core."""
    times = []
    for system, row in here.items():
        if system.startswith("opacus-"):
            cores = max(int(variant.split()[0]) for variant in row["variants"])
            times += [row["ms_per_candidate_step"], row["variants"]["1 thread"] / cores]
    return min(times)


def show(results: Row) -> None:
    blocks = [
        system_lines(results["rows"]),
        ratio_lines(results["ratios"]),
        scaling_lines(results["scaling"]),
    ]
    print("\n\n".join("\n".join(lines) for lines in blocks if lines))


def system_lines(rows: list[Row]) -> list[str]:
    lines = []
    for row in rows:
        here = {
            r["system"]: r["ms_per_candidate_step"]
            for r in rows
            if r["workload"] == row["workload"]
        }
        best = best_opacus(here)
        ms = row["ms_per_candidate_step"]
        times = f"{here[best] / ms:.1f}" if best else ""
        lines.append([row["workload"], row["system"], row["variant"], f"{ms:.4f}", times])
    headers = ["workload", "system", "variant", "ms/candidate-step", "x Opacus' best"]
    return columns(headers, lines, left=3) if lines else []


def ratio_lines(made: dict[str, Row]) -> list[str]:
    lines = []
    for workload, ratio in made.items():
        parts = []
        if "opacus" in ratio:
            parts.append(
                f"{ratio['opacus']:.1f} times faster than Opacus' best ({ratio['best_opacus']}; "
                f"{ratio['opacus_one_a_core']:.1f} if every core ran its own)"
            )
        if "plain_torch" in ratio:
            parts.append(f"{ratio['plain_torch']:.1f} times plain torch")
        if "floor" in ratio:
            parts.append(f"{1 / ratio['floor']:.1f} floors")
        if "times_before" in ratio:
            parts.append(f"at {ratio['times_before']:.2f} times the time before")
        if "required" in ratio:
            parts.append(f"required {ratio['required']:g}: {'ok' if ratio['ok'] else 'BELOW'}")
        if parts:
            lines.append(f"{workload:<13} honestdp is {', '.join(parts)}")
    return lines


def scaling_lines(scaling: list[Row]) -> list[str]:
    lines = []
    for row in scaling:
        before, after = row["ms_per_candidate_step"]
        text = f"{row['workload']:<13} {row['what']}: {before:.4f} -> {after:.4f} ms"
        text += f", ratio {row['ratio']:.2f}"
        if "allowed" in row:
            verdict = "ok" if row["ratio"] <= row["allowed"] else "ABOVE"
            text += f" (allowed {row['allowed']}: {verdict})"
        if "peak_mb" in row:
            small, large = row["peak_mb"]
            text += f", peak {small:.1f} -> {large:.1f} MB (own state {row['state_mb']:.1f})"
        lines.append(text)
    return lines


def draw(results: Row, path: Path) -> None:
    """A panel a workload, its systems as bars; one logarithmic axis for all, to compare them."""
    rows = [row for row in results["rows"] if ":" not in row["system"]]
    names = list(dict.fromkeys(row["workload"] for row in rows))
    across = min(3, max(1, len(names)))
    down = max(1, math.ceil(len(names) / across))
    figure = Figure(figsize=(4.6 * across, 2.3 * down + 0.6), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False, sharex=True)
    for axis in axes.flat[len(names) :]:
        axis.set_visible(False)
    for axis, name in zip(axes.flat, names, strict=False):
        panel(axis, name, [row for row in rows if row["workload"] == name])
    ms = [row["ms_per_candidate_step"] for row in rows] or [1.0]
    axes[0, 0].set_xlim(min(ms) / 2, max(ms) * 8)  # room for the figures
    figure.supxlabel("ms per candidate-step (less is better, logarithmic)", fontsize=10)
    cores = results["machine"]["cores"]
    figure.suptitle(f"40 candidates, DPAdam, expected lot 250, {cores} cores", fontsize=11)
    figure.savefig(path, dpi=130)


def panel(axis: Any, name: str, rows: list[Row]) -> None:
    systems = [row["system"] for row in rows]
    ms = [row["ms_per_candidate_step"] for row in rows]
    colours = [next(c for start, c in COLOURS.items() if s.startswith(start)) for s in systems]
    axis.barh(systems, ms, color=colours)
    axis.invert_yaxis()
    axis.set_xscale("log")
    axis.set_title(name, fontsize=10, loc="left")
    axis.tick_params(labelsize=8, labelbottom=True)
    axis.spines[["top", "right"]].set_visible(False)
    for place, value in enumerate(ms):
        axis.text(value * 1.1, place, f"{value:.3g}", va="center", fontsize=8)
