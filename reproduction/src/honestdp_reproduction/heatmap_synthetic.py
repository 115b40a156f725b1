"""Figures 2 and 3: loss over (learning rate, clip norm), synthetic regression; and Theorem 2.

The paper says 5000 iterations, and 100 two lines on: both are here. Its n and L are not given: here
n = 10000 and L = 250.
"""

from __future__ import annotations

from honestdp.report.picture import Picture
from honestdp_reproduction import heatmap_figures
from honestdp_reproduction.experiment import Choice, ReportProgress, Result
from honestdp_reproduction.heatmaps import Maps, train_all, wanted
from honestdp_reproduction.store import Store

REPETITIONS = {100: 3, 5000: 1}  # of each number of steps
TITLE = "Figures 2 and 3: training loss over learning rate and clip norm, synthetic regression"

WHY = (
    "The printed rate cannot arrive: T steps of at most rate x C go R / sqrt(1 + sigma^2) far, at "
    "sigma = 4 a quarter of the way.",
    "The best lies between R / (C T), which just arrives, and the corrected R / (C sqrt(T)): the "
    "bound knows no curvature, and about a curved optimum the last steps' length costs its square. "
    "Averaged iterates (here of the second half; the theorem's are of all) allow longer steps and "
    "come nearer to it.",
    "C above the last gradients: nothing is clipped near the optimum, curvature limits the rate, "
    "and it no longer depends on C as 1/C.",
)


def run(choice: Choice, store: Store, tell: ReportProgress) -> None:
    train_all(wanted("synthetic", REPETITIONS, choice), Maps(store), tell)


def result(choice: Choice, store: Store) -> Result:
    return heatmap_figures.result("synthetic", REPETITIONS, choice, Maps(store))


def text(result: Result) -> str:
    return heatmap_figures.text(TITLE, result, WHY)


def picture(result: Result) -> Picture:
    return heatmap_figures.picture(TITLE, result)
