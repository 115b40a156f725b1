"""The planner's answers are the library's, to the letter."""

from __future__ import annotations

import json
import shlex

import pytest

from honestdp.planner.answers import PlannerInputs, answer, command, read
from honestdp.planning.affordable import affordable
from honestdp.planning.costs import cost_table
from honestdp.privacy.guess import guess_chance
from honestdp.text import in_100

SMALL = {"n": "2000", "lot_size": "50", "steps": "50", "candidates": "5", "epsilon": "1"}
FACTS = {
    "n": 2000, "lot_size": 50, "steps": 50, "candidates": 5, "epsilon": 1.0, "hit_probability": 0.9,
}  # fmt: skip


@pytest.fixture(scope="module")
def planned():
    return cost_table(**FACTS)


def test_every_row_of_the_table(planned) -> None:
    found = answer("table", SMALL)
    assert [tuple(row["cells"]) for row in found["rows"]] == [
        planned.cells(row) for row in planned.rows
    ]
    assert [row["smallest"] for row in found["rows"]] == [
        planned.is_smallest(row) for row in planned.rows
    ]
    assert found["headers"] == planned.headers
    assert found["notes"] == planned.notes
    assert found["delta"] == "1e-05"
    for row, known in zip(found["rows"], planned.rows, strict=True):
        assert row["bets"] == (None if known.success is None else in_100(known.success))
    assert [row["bets"] is None for row in found["rows"]] == [
        not row["smallest"] for row in found["rows"]
    ]
    assert found["worst_bets"] == in_100(guess_chance(1.0, 1e-5))
    assert max(row["share"] for row in found["rows"] if row["smallest"]) == 1
    json.dumps(found, allow_nan=False)


def test_a_point_is_the_table_of_as_many_candidates(planned) -> None:
    costs = answer("point", SMALL)["point"]["costs"]
    smallest = [row for row in planned.rows if planned.is_smallest(row)]
    assert [value for value, _ in costs.values()] == [row.noise_multiplier for row in smallest]
    assert answer("table", SMALL)["point"]["costs"] == costs


def test_affordable_at_a_chosen_noise() -> None:
    found = answer("candidates", SMALL | {"noise_multiplier": "3"})
    facts = {
        name: value
        for name, value in FACTS.items()
        if name not in ("candidates", "hit_probability")
    }
    most = affordable(**facts, noise_multiplier=3.0, delta=1e-5)
    said = {0: "none: not even one run fits", 10_000: "10000 or more"}
    assert [(name, text) for name, text, _ in found["most"]] == [
        (name, said.get(number, str(number))) for name, number in most.items()
    ]
    assert found["noise_multiplier"] == "3"


def test_affordable_at_the_noise_the_search_needs(planned) -> None:
    found = answer("candidates", SMALL)
    usual = next(
        row for row in planned.rows if (row.procedure, row.shape) == ("random-repeats", 1.0)
    )
    assert float(found["noise_multiplier"]) == usual.noise_multiplier
    assert "random-repeats, shape 1 needs for 5 candidates" in found["of"]
    assert int({name: text for name, text, _ in found["most"]}["random-repeats"]) >= 5


def test_hit_probability_delta_and_subset_reach_the_library() -> None:
    more = {"hit_probability": "0.8", "delta": "1e-7", "subset": "0.2"}
    found = answer("table", SMALL | more)
    table = cost_table(**FACTS | {name: float(text) for name, text in more.items()})
    assert [tuple(row["cells"]) for row in found["rows"]] == [
        table.cells(row) for row in table.rows
    ]


def test_the_command_asks_the_same(monkeypatch, capsys, planned) -> None:
    import sys

    from honestdp.cli import main

    words = shlex.split(command(read(SMALL | {"delta": "1e-5"})))
    monkeypatch.setattr(sys, "argv", [*words, "--json"])
    with pytest.raises(SystemExit):
        main()
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(planned.to_dict()))


def test_rows_and_epsilon_are_enough() -> None:
    """What is left out or empty follows from them, as in a plan of the default model."""
    assert read({}) == read({"n": "", "delta": " "}) == PlannerInputs()
    assert command(PlannerInputs(n=10_000, epsilon=1.0)) == (
        "honestdp plan --n 10000 --epsilon 1 --candidates 4 --hit-probability 0.9 --lot-size 289 "
        "--steps 300"
    )
    found = answer("table", {"n": "10000"})
    assert found["usual"] == {"lot_size": "289", "steps": "300"}
    assert found["likely"].startswith("a guess, from 6 public tables")
    assert answer("table", {"n": "20", "epsilon": "0.1"})["likely"] == ""
    hits = {float(row["cells"][5]) for row in found["rows"] if row["cells"][0] != "untuned"}
    assert min(hits - {1.0}) >= 0.9


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("n", "many", "n='many': must be a whole number"),
        ("n", "0", "n=0: must be"),
        ("n", "1", "n=1: must be at least 2"),
        ("epsilon", "1e9", "below 1000"),
        ("n", "1e5", "must be a whole number"),
        ("n", "9" * 30, "the page computes up to 100000000"),
        ("steps", "100001", "the page computes up to 100000"),
        ("candidates", "10001", "the page computes up to 10000"),
        ("lot_size", "2001", "a lot cannot exceed the n=2000 records"),
        ("epsilon", "-1", "epsilon=-1.0: must be"),
        ("epsilon", "nan", "epsilon=nan"),
        ("epsilon", "one", "must be a number"),
        ("delta", "2", "strictly between 0 and 1"),
        ("delta", "0.0005", "delta=0.0005: must be below 1 in 2000 rows"),
        ("hit_probability", "1", "strictly between 0 and 1"),
        ("subset", "1", "strictly between 0 and 1"),
        ("noise_multiplier", "0", "noise_multiplier=0.0"),
    ],
)
def test_a_bad_input_is_one_line_beside_it(name, text, says) -> None:
    error = answer("candidates", SMALL | {name: text})["error"]
    assert error["name"] == name
    assert says in error["text"]
    assert "\n" not in error["text"]


def test_a_lot_of_almost_nobody_is_left_to_the_command() -> None:
    error = answer("table", {"n": "100000000", "lot_size": "99"})["error"]
    assert error["name"] == "lot_size"
    assert "the page computes from 100 up at n=100000000" in error["text"]


def test_an_unknown_input_is_named() -> None:
    error = answer("table", {"file": "data.csv"})["error"]
    assert error["name"] == ""
    assert "input='file': is unknown" in error["text"]
