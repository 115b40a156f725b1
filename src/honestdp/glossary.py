"""The terms that commands and reports use, each explained in a sentence or two."""

from __future__ import annotations

from typing import Final

GLOSSARY: Final[dict[str, str]] = {
    "epsilon": "How much may be found out about one record, at most. At 0 nothing; at 1 someone "
    "who bets whether a record is real wins at most 74 times in 100 instead of 50; at 3, 96.",
    "delta": "A small chance that epsilon does not hold. It should be far below 1/n for n rows.",
    "unit": "Whom epsilon protects: what one row stands for, such as one person or one visit.",
    "schema": "What is public about a table: its columns, their bounds, categories and classes. "
    "Known without looking at the rows, and not protected.",
    "ledger": "A file that keeps the total of epsilon and delta that may ever be spent on a table, "
    "and every charge. All runs on the table share it; a charge is never given back.",
    "charge": "What a run costs; written to the ledger before the rows are read.",
    "candidate": "One setting (learning rate, clip norm, ...) that may be trained.",
    "grid": "The candidates to choose among.",
    "procedure": "How the best candidate is chosen, and what of the search may be seen.",
    "lot": "The rows that one step reads. A coin decides for each row, so lots differ in size.",
    "steps": "How many updates a training makes, each from the rows of a new lot.",
    "clip norm": "The longest gradient that one row may contribute to a step; longer ones are "
    "shortened to it.",
    "noise multiplier": "The noise added to every step, in units of the clip norm. More noise: "
    "more privacy, or more candidates, and a worse model.",
    "rule": "How a training updates its model: dpsgd, dpmomentum, dpadam and others; balanced "
    "needs no tuning, as its step size follows from public facts.",
    "average": "The model is the mean over the second half of the steps, which removes much of "
    "their noise.",
    "kappa": "How far the noise of a whole training may move a prediction under the rule balanced, "
    "whose step size follows from it.",
    "noisy score": "How well a candidate did on rows held out from training, with noise added: "
    "the true score would reveal more than was paid for.",
    "metric": "What candidates are compared by: accuracy, auc, log-loss and others. It does not "
    "change what a search costs.",
    "class weight": "A public number by which the loss of a class's rows is multiplied before they "
    "are clipped, so that rare classes count. It costs nothing.",
    "bound": "The theorem an epsilon comes from: pld (exact composition of losses), rdp (Renyi "
    "curves), profile, papernot-steinke, liu-talwar. All hold; the smallest counts.",
    "card": "All that was promised about a released model, in a file and in sentences.",
    "curator": "Who publishes a release. `tune --curator` puts the name on the card, and "
    "--intended-use and --justification what for and why this epsilon.",
    "release": "What leaves: the model and its card. There is one release for each charge.",
    "head": "The last hash of a ledger. It is on the card, and shows if the ledger was changed "
    "later.",
    "simulation": "A run with a known seed, to try things out. It protects nobody and says so.",
    "hit probability": "How likely a random search draws the best candidate at least once.",
}
