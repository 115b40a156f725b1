"""Other private learners on the rows of `representation.py`, in an environment of their own.

The benchmark calls `peer_scores`, which writes the rows into a folder and starts this file with the
Python of that environment; there `fitted` reads them. Each peer is taken with its own defaults:
  DP-EBM        interpret's DPExplainableBoostingClassifier, on raw cells, given the schema's bounds
                and the plan's epsilon and delta; it learns categories and bins itself, paid for
  diffprivlib   its LogisticRegression on the encoded rows, given their norm; epsilon, delta is 0
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

PEERS = ("DP-EBM", "diffprivlib")
Row = dict[str, Any]


def peer_scores(python: str, peer: str, data: Any, encoded: Any, plan: Any, seed: int) -> Row:
    """Accuracy, AUC and version of a peer on a table in memory with two classes."""
    inputs, targets, test, truth = encoded
    names = [column.name for column in data.schema.columns]
    numeric = {c.name: list(c.range) for c in data.schema.columns if c.kind == "numeric"}
    facts = {"names": names, "bounds": numeric, "epsilon": plan.spec.epsilon, "delta": plan.delta}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        dense = {"train": _dense(inputs), "test": _dense(test), "y": targets, "truth": truth}
        np.savez(place / "encoded.npz", **dense)
        for part, table in (("train", data.train), ("test", data.validation)):
            cells = {name: table[name].to_pylist() for name in names}
            (place / f"{part}.json").write_text(json.dumps(cells))
        (place / "facts.json").write_text(json.dumps(facts | {"peer": peer, "seed": seed}))
        done = subprocess.run(
            [python, __file__, folder], capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise SystemExit(f"{peer}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def _dense(inputs: Any) -> Any:
    return inputs.toarray() if hasattr(inputs, "toarray") else np.asarray(inputs)


def fitted(place: Path) -> Row:
    """In the other environment: fit the peer, score it."""
    from sklearn.metrics import roc_auc_score

    facts, rows = json.loads((place / "facts.json").read_text()), np.load(place / "encoded.npz")
    fit = {"DP-EBM": _dp_ebm, "diffprivlib": _diffprivlib}[facts["peer"]]
    found, version = fit(place, facts, rows)
    truth = rows["truth"]
    accuracy = float(((found > 0.5) == truth).mean())
    return {"accuracy": accuracy, "auc": float(roc_auc_score(truth, found)), "version": version}


def _dp_ebm(place: Path, facts: Row, rows: Any) -> tuple[Any, str]:
    import interpret
    import pandas
    from interpret.privacy import DPExplainableBoostingClassifier

    train, test = (pandas.read_json(place / f"{part}.json") for part in ("train", "test"))
    bounds = {name: tuple(pair) for name, pair in facts["bounds"].items()}
    model = DPExplainableBoostingClassifier(
        feature_types=["continuous" if n in bounds else "nominal" for n in facts["names"]],
        privacy_bounds=bounds,
        epsilon=facts["epsilon"],
        delta=facts["delta"],
        random_state=facts["seed"],
        n_jobs=1,
    )
    model.fit(train[facts["names"]], rows["y"])
    return model.predict_proba(test[facts["names"]])[:, 1], f"interpret {interpret.__version__}"


def _diffprivlib(place: Path, facts: Row, rows: Any) -> tuple[Any, str]:
    import diffprivlib
    from diffprivlib.models import LogisticRegression

    norm = float(np.sqrt((rows["train"] ** 2).sum(1).mean()))  # rows are scaled to it: public
    model = LogisticRegression(epsilon=facts["epsilon"], data_norm=norm, random_state=facts["seed"])
    model.fit(rows["train"], rows["y"])
    version = f"diffprivlib {diffprivlib.__version__}"
    return model.predict_proba(rows["test"])[:, 1], version


if __name__ == "__main__":
    print(json.dumps(fitted(Path(sys.argv[1]))))
