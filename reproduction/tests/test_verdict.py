"""The verdict: it follows from the results, and the page says what the results say."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from honestdp.errors import InputError
from honestdp_reproduction import verdict_accounting, verdict_trainings
from honestdp_reproduction.cli.experiments import EXPERIMENTS
from honestdp_reproduction.store import SHIPPED, Store
from honestdp_reproduction.verdict import Claim, Measured, claims, text, verdict
from kept import unpacked

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import paper_page  # noqa: E402


@pytest.fixture(scope="module")
def found() -> list[Claim]:
    return claims(Store(SHIPPED))


def test_there_are_enough_and_each_is_whole(found) -> None:
    assert len(found) >= 20
    assert len({(claim.says, claim.place) for claim in found}) == len(found)
    for claim in found:
        assert claim.verdict in ("holds", "holds in part", "does not hold")
        assert all((claim.place, claim.says, claim.rule, claim.measured))
        assert "Gisette LR" not in claim.measured  # it is a stand-in
        assert claim.command.startswith("honestdp p")
        assert not claim.picture or (paper_page.IMAGES / f"{claim.picture}.png").is_file()
    said = text(found)
    assert "SIMULATION" in said
    assert f"{len(found)}. " in said


def test_what_is_said_of_their_number(found) -> None:
    count = Counter(claim.verdict for claim in found)
    numbers = {2: "two", 10: "ten", 20: "twenty"}
    said = [numbers[count[kind]] for kind in ("holds", "holds in part", "does not hold")]
    for page in (ROOT / "README.md", paper_page.PAGE):
        words = " ".join(page.read_text().split())
        assert f"of {len(found)} claims {said[0]} hold, {said[1]} hold in part" in words.lower()
        assert f"{said[2]} do not" in words


def test_every_experiment_is_behind_a_claim_or_on_the_page(found) -> None:
    behind = {claim.command.split()[-1] for claim in found}
    page = paper_page.PAGE.read_text()
    for name in EXPERIMENTS:
        assert name in behind or f"honestdp paper {name}" in page
        assert f"images/paper/{name}.png" in page


def test_the_page_says_what_the_results_say() -> None:
    """`python tools/paper_page.py` writes it."""
    page = paper_page.PAGE.read_text()
    assert paper_page.page(page) == page


@pytest.mark.parametrize(
    ("passed", "said"),
    [
        ([True, True], "holds"),
        ([True, False], "holds in part"),
        ([False, False], "does not hold"),
    ],
)
def test_all_some_none(passed, said) -> None:
    assert verdict(passed) == said


def defaults(gap: float) -> dict[str, Any]:
    row = {"dataset": "adult", "model": "lr", "sigma": 4.0, "best": 0.9, "default": 0.9 - gap}
    return {"panels": [row | {"best_by_rate": {"0.001": 0.9 - gap}}]}


@pytest.mark.parametrize(
    ("gap", "said"),
    [
        (0.0, ["holds", "holds"]),
        (0.009, ["holds in part", "holds"]),  # close to the best, and not it
        (0.011, ["does not hold", "does not hold"]),
    ],
)
def test_a_verdict_turns_with_the_figures(gap, said) -> None:
    made = list(verdict_trainings._defaults(defaults(gap)))
    assert [claim.verdict for claim in made] == said
    assert f"Adult LR {-100 * gap + 0.0:+.2f}" in made[0].measured


def adaptive(adadp: float, wosm: float) -> dict[str, Any]:
    """DPAdam has 0.8 throughout; MNIST and Adult, one setting each."""
    rows = []
    for dataset in ("adult", "mnist"):
        lines = {
            "dpadam-4": [0.8] * 100,
            "adadp-4": [0.8 + adadp * (1 if dataset == "adult" else -1)] * 100,
            "dpadamwosm-4": [0.8 + wosm] * 100,
        }
        row = {"dataset": dataset, "model": "lr", "sigma": 4.0, "steps": list(range(100))}
        rows.append(row | {"best": lines, "median": lines})
    times = {"dpadam-4": 1.0, "dpadamwosm-4": 1.0 - wosm, "adadp-4": 1.0}
    return {
        "panels": rows,
        "milliseconds": [{"dataset": "adult", "model": "lr", "milliseconds": times}],
    }


def test_the_adaptive_rules() -> None:
    def verdicts(**given: float) -> list[str]:
        return [claim.verdict for claim in verdict_trainings._adaptive(adaptive(**given))]

    # alongside, median, early, cheaper, ADADP beneath except on Adult
    assert verdicts(adadp=0.03, wosm=0.005) == [*["holds"] * 3, "does not hold", "holds"]
    assert verdicts(adadp=-0.03, wosm=-0.02) == ["does not hold"] * 5
    assert verdicts(adadp=0.03, wosm=0.025) == ["does not hold", *["holds"] * 4]


def test_what_is_not_the_papers_is_shown_and_not_judged() -> None:
    found = defaults(0.0)
    found["panels"].append(found["panels"][0] | {"dataset": "enron-counts", "best": 0.99})
    made = next(verdict_trainings._defaults(found))
    assert made.verdict == "holds"
    assert "(ENRON (raw counts) LR -9.00)" in made.measured


def test_missing_trainings_are_one_line(tmp_path) -> None:
    store = unpacked(tmp_path)
    next((tmp_path / "trainings").glob("adult-lr-dpsgd-40*")).unlink()
    with pytest.raises(InputError, match="are missing; run honestdp paper advantage first"):
        claims(store)


@pytest.mark.parametrize(("gone", "name"), [("pools", "honest-frontier"), ("timings", "adaptive")])
def test_missing_pools_and_times_are_one_line(tmp_path, gone, name) -> None:
    store = unpacked(tmp_path)
    shutil.rmtree(tmp_path / gone)
    with pytest.raises(InputError, match=f"are missing; run honestdp paper {name} first"):
        Measured(store).of(name)


def test_the_accounting_claims_are_computed(monkeypatch) -> None:
    before = {claim.says: claim.verdict for claim in verdict_accounting.claims(None)}
    monkeypatch.setattr(verdict_accounting, "lt", lambda run, delta, gamma, log=None: 3.0 / gamma)
    after = {claim.says: claim.verdict for claim in verdict_accounting.claims(None)}
    changed = [says for says in before if before[says] != after[says]]
    assert len(changed) >= 2
