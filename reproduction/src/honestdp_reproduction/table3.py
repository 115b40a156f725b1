"""Table 3: the final epsilon of three optimizers on four datasets. Only sizes enter, no data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from honestdp.report.picture import Line, Panel, Picture
from honestdp_reproduction.accounting import delta_for, lt, ma, run_curve

# Training rows and steps. The paper prints neither n nor, by dataset, T: these reproduce it.
# Adult, ENRON, Gisette: 80 % of 45222, 5172, 6000 rows; MNIST: its own 60000.
DATASETS = {
    "Adult": (36178, 10_000),
    "ENRON": (4137, 5_000),
    "Gisette": (4800, 5_000),
    "MNIST": (60_000, 10_000),
}
OPTIMIZERS = {
    "DPSGD": ("random-stopping", 40),
    "DPMomentum": ("random-stopping", 280),
    "DPAdam": ("composition", 4),
}
PRINTED = {
    "Adult": (5.01, 5.23, 1.91),
    "ENRON": (30.86, 32.31, 12.80),
    "Gisette": (26.40, 27.64, 10.76),
    "MNIST": (3.01, 3.14, 1.14),
}

NOTES = (
    "Caption slip: the paper says delta = 1e-6 for all. ENRON and Gisette come out at 1e-5 only: "
    "the rule really used is delta = 10^(floor(log10(1/n)) - 1), n the training rows.",
    "Natural log in Upsilon. Ten of the twelve agree in every printed digit. ENRON with "
    "DPMomentum and Gisette with DPSGD come out 0.006 and 0.011 lower. Why is not known: neither "
    "other orders nor a rounded Upsilon gives both.",
    "Gisette is only a number of rows here; no data is read.",
)


def compute() -> dict[str, Any]:
    """The twelve epsilons beside the printed ones."""
    rows = []
    for dataset, (n, steps) in DATASETS.items():
        run, delta = run_curve(n, steps), delta_for(n)
        for (optimizer, (procedure, candidates)), printed in zip(
            OPTIMIZERS.items(), PRINTED[dataset], strict=True
        ):
            stopping = procedure == "random-stopping"
            row = {
                "dataset": dataset,
                "optimizer": optimizer,
                "procedure": procedure,
                "candidates": candidates,
                "n": n,
                "steps": steps,
                "delta": delta,
                "epsilon": lt(run, delta, 1 / candidates)
                if stopping
                else ma(run, delta, candidates),
                "printed": printed,
            }
            rows.append(row)
    return {"rows": rows}


def picture(result: Mapping[str, Any]) -> Picture:
    """The epsilons against n, and how far each is from the printed one."""
    by_optimizer: dict[str, list[Mapping[str, Any]]] = {}
    for row in sorted(result["rows"], key=lambda row: row["n"]):
        by_optimizer.setdefault(row["optimizer"], []).append(row)
    costs, gaps = [], []
    for optimizer, rows in by_optimizer.items():
        name = f"{optimizer} ({rows[0]['procedure']}, {rows[0]['candidates']} candidates)"
        ns = [row["n"] for row in rows]
        costs.append(Line(name, ns, [row["epsilon"] for row in rows], "points"))
        off = [row["epsilon"] - row["printed"] for row in rows]
        gaps.append(Line(optimizer, ns, off, "points"))
    ends = [min(row["n"] for row in result["rows"]), max(row["n"] for row in result["rows"])]
    for edge in (0.005, -0.005):
        gaps.append(Line(f"half a printed digit ({edge:+})", ends, [edge, edge], "dash"))
    sizes = {row["n"]: row["dataset"] for row in result["rows"]}
    x_label = "training rows n  (" + ", ".join(f"{sizes[n]} {n}" for n in sorted(sizes)) + ")"
    return Picture(
        "Table 3: final epsilon, recomputed",
        [
            Panel("What each optimizer's search costs", x_label, "epsilon", costs, "log", "log"),
            Panel("Recomputed minus printed", x_label, "difference in epsilon", gaps, "log"),
        ],
        "delta = 1e-5 for ENRON and Gisette, 1e-6 for Adult and MNIST (the caption says 1e-6 for "
        "all). 5000 steps for ENRON and Gisette, 10000 for the others.",
    )
