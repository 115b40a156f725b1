"""Figures 4 and 5: loss over (learning rate, clip norm), ENRON; and Theorem 2.

Their captions say synthetic: a slip. Logistic regression on the scaled counts of 5512 words.
"""

from __future__ import annotations

from honestdp.report.picture import Picture
from honestdp_reproduction import heatmap_figures
from honestdp_reproduction.experiment import Choice, ReportProgress, Result
from honestdp_reproduction.heatmaps import Maps, train_all, wanted
from honestdp_reproduction.store import Store

REPETITIONS = {100: 3}  # of each number of steps
TITLE = "Figures 4 and 5: training loss over learning rate and clip norm, ENRON"

WHY = (
    "C far below all gradients: only their directions are left, and training goes straight. The "
    "slope is -1, but the travel rate x C x T is what counts, so 1/T and not 1/sqrt(T); it comes "
    "near the printed formula by accident. Such clipping costs: its loss is far from the best.",
    "C from 0.1 to 1, some rows clipped: here the corrected formula holds to a factor of 3 (4 for "
    "averaged iterates), as far as R can be said.",
    "C above the gradients: the noise still grows with C, the signal does not. Runs end short of "
    "the optimum, and the best rate falls faster than 1/C.",
)


def run(choice: Choice, store: Store, tell: ReportProgress) -> None:
    train_all(wanted("enron", REPETITIONS, choice), Maps(store), tell)


def result(choice: Choice, store: Store) -> Result:
    return heatmap_figures.result("enron", REPETITIONS, choice, Maps(store))


def text(result: Result) -> str:
    return heatmap_figures.text(TITLE, result, WHY)


def picture(result: Result) -> Picture:
    return heatmap_figures.picture(TITLE, result)
