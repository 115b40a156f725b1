"""Figures 4 and 5: loss over (learning rate, clip norm), ENRON; and Theorem 2.

Their captions say synthetic: a slip. Logistic regression on the scaled counts of 5512 words.
"""

from __future__ import annotations

from pathlib import Path

from honestdp.paper import heatmap_figures
from honestdp.paper.experiment import Choice, Result, Told
from honestdp.paper.heatmaps import Maps, train_all, wanted
from honestdp.report.picture import Picture

REPETITIONS = {100: 3}  # of each number of steps
TITLE = "Figures 4 and 5: training loss over learning rate and clip norm, ENRON"


def run(choice: Choice, folder: Path, tell: Told) -> None:
    train_all(wanted("enron", REPETITIONS, choice), Maps(folder), tell)


def result(choice: Choice, folder: Path) -> Result:
    return heatmap_figures.result("enron", REPETITIONS, choice, Maps(folder))


def text(result: Result) -> str:
    return heatmap_figures.text(TITLE, result)


def picture(result: Result) -> Picture:
    return heatmap_figures.picture(TITLE, result)
