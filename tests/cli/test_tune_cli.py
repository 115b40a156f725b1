"""`honestdp tune`: from a file and a budget to a model, in one command."""

from __future__ import annotations

import io
import json
import sys
import time
import tomllib
from pathlib import Path

import pytest
from cli_calls import QUICK, SCHEMA, complaint

import honestdp
from honestdp import Ledger
from honestdp.executors import executors
from honestdp.procedures import procedures

KEYS = {"epsilon", "delta", "procedure", "best_params", "score", "out", "remaining"}
GRID = '{"rule": "dpsgd", "learning_rate": [0.1, 1.0], "clip_norm": 1.0}'


@pytest.fixture
def own_kinds():
    """A procedure with an option of its own and an executor, both from outside."""
    import own_kinds

    procedures.register(own_kinds.FirstOfFew)
    executors.register(own_kinds.Counting)
    yield own_kinds
    procedures.unregister("first-of-few")
    executors.unregister("counting")


def everything(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_one_command_to_a_model(shell, tmp_path) -> None:
    said = shell("tune", "visits.csv", *QUICK, "--out", "run", "--yes", "--test", "test.csv")
    assert said.code == 0
    assert "untuned: epsilon" in said.err  # the plan, first
    assert "A new ledger, visits.ledger: epsilon 2" in said.err
    assert "accuracy on 100 public test rows" in said.out
    assert "left in visits.ledger" in said.out
    assert {"card.json", "model.json", "model.safetensors", "report.html", "asked.toml",
            "test.json"} == {p.name for p in (tmp_path / "run").iterdir()}  # fmt: skip
    assert honestdp.verify("run", Ledger.inspect("visits.ledger")).released


def test_json_for_scripts(shell) -> None:
    said = shell("tune", "visits.csv", *QUICK, "--out", "run", "--yes", "--json")
    found = json.loads(said.out)
    assert (said.code, said.err, set(found)) == (0, "", KEYS)
    release = honestdp.load("run")
    assert found["epsilon"] == release.epsilon
    assert found["best_params"] == release.winner.setting
    assert found["score"] is None  # nothing was scored
    assert found["remaining"]["epsilon"] == Ledger.inspect("visits.ledger").remaining().epsilon
    tried = shell("tune", "visits.csv", *QUICK, "--seed", 1, "--out", "other", "--json",
                  "--test", "test.csv", "--grid", GRID, "--procedure", "composition")  # fmt: skip
    found = json.loads(tried.out)
    assert set(found) == {*KEYS, "mark", "test_accuracy"}
    assert found["mark"] == "SIMULATION, NOT PRIVATE"
    assert found["remaining"] is None
    assert found["score"] is not None


def test_a_dry_run_touches_nothing(shell, tmp_path) -> None:
    before = everything(tmp_path)
    said = shell("tune", "visits.csv", *QUICK, "--out", "run", "--dry-run")
    assert said.code == 0
    assert "noise multiplier" in said.err
    planned = json.loads(shell("tune", "visits.csv", *QUICK, "--dry-run", "--json").out)
    assert planned["rows"] == 300
    assert everything(tmp_path) == before


def test_all_runs_on_a_table_share_its_ledger(shell, tmp_path) -> None:
    shell("ledger", "create", "visits.ledger", "--schema", "visits.toml", "--epsilon", 4,
          "--delta", 1e-4)  # fmt: skip
    assert shell("tune", "visits.csv", *QUICK, "--out", "first").code == 0
    said = shell("tune", "visits.csv", *QUICK, "--out", "second", "--epsilon", 4)
    tried = shell("tune", "visits.csv", *QUICK, "--epsilon", 4, "--dry-run")
    assert "visits.ledger has too little left for it" in tried.out
    tried = shell("tune", "visits.csv", *QUICK, "--epsilon", 0.1, "--dry-run")
    assert "visits.ledger would pay for it" in tried.out
    line = complaint(said, 3)
    assert "visits.ledger: plan costs epsilon=" in line
    assert "would fit" in line
    assert not (tmp_path / "second").exists()
    assert len(Ledger.inspect("visits.ledger").history()) == 1


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 2), ("", 2)])
def test_a_ledger_is_made_only_if_the_user_agrees(typed, code, shell, monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    said = shell("tune", "visits.csv", *QUICK, "--out", "run")
    assert said.code == code
    assert "It keeps the total that may ever be spent on 'visits'" in said.err
    assert "Make it, with epsilon 2 and delta 0.0001?" in said.out + said.err
    assert Path("visits.ledger").exists() == Path("run").exists() == (code == 0)
    if code:
        assert "--yes makes it" in complaint(said)


@pytest.mark.parametrize("silent", ["--json", "--quiet"])
def test_nobody_is_asked_where_nobody_reads(silent, shell) -> None:
    said = shell("tune", "visits.csv", *QUICK, "--out", "run", silent)
    assert "--yes makes it" in complaint(said)
    assert said.err.count("\n") == 1
    assert not Path("visits.ledger").exists()


def test_a_folder_in_use_is_found_out_before_a_ledger_is_made(shell) -> None:
    Path("run").mkdir()
    Path("run/notes.txt").write_text("mine")
    said = shell("tune", "visits.csv", *QUICK, "--out", "run", "--yes")
    assert "out='run': is not empty" in complaint(said)
    assert not Path("visits.ledger").exists()


def test_a_file_can_hold_all_of_it_and_flags_override(shell, tmp_path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "spec.toml").write_text(
        'data = "../visits.csv"\nschema = "../visits.toml"\nledger = "own.ledger"\nout = "run"\n'
        'epsilon = 1.0\nsteps = 20\nlot_size = 50\nprocedure = "composition"\n'
        'grid = { rule = "dpsgd", learning_rate = [0.1, 1.0] }\nscores = false\n'
        "validation = 0.3\ntest = '../test.csv'\n"
    )
    said = shell("tune", "--spec", "elsewhere/spec.toml", "--epsilon", 3, "--yes", "--json")
    found = json.loads(said.out)
    assert 2.5 < found["epsilon"] <= 3
    assert found["procedure"] == "composition"
    assert (found["out"], found["score"]) == ("elsewhere/run", None)
    assert found["test_accuracy"] > 0
    assert (folder / "own.ledger").is_file()
    card = honestdp.load(folder / "run").card
    assert card.declared_public["validation_rows"] == 90
    kept = tomllib.loads((folder / "run" / "asked.toml").read_text())
    assert kept["grid"] == {"rule": "dpsgd", "learning_rate": [0.1, 1.0]}
    assert kept["epsilon"] == 3


def test_probabilities_are_corrected_and_answers_have_a_threshold(shell) -> None:
    words = ("tune", "visits.csv", *QUICK, "--seed", 3, "--calibration-share", 0.3)
    said = shell(*words, "--decision-threshold", "balanced", "--out", "run")
    assert "probabilities corrected by counts of class" in said.err
    assert "noisy counts of 90 rows of their own" in said.out
    found = json.loads(shell(*words, "--decision-threshold", 0.2, "--out", "2", "--json").out)
    assert found["calibration"]["rows"] == 90
    assert found["decision_threshold"] == 0.2
    kept = tomllib.loads(Path("2/asked.toml").read_text())
    assert (kept["calibration_share"], kept["decision_threshold"]) == (0.3, 0.2)
    refused = shell(*words, "--decision-threshold", "half", "--out", "3")
    assert "decision_threshold='half': must be a probability" in complaint(refused)


def test_settings_without_a_flag_of_their_own(shell) -> None:
    words = ("--grid", GRID, "--procedure", "random-repeats", "--seed", 3)
    further = ("--set", "mean_runs=3", "--set", "shape=logarithmic", "--set", "split-seed=7")
    said = shell("tune", "visits.csv", *QUICK, "--out", "run", *words, *further, "--json")
    procedure = honestdp.load("run").card.declared_public["procedure"]
    assert said.code == 0
    assert procedure["name"] == "random-repeats"
    assert procedure["runs"]["shape"] == 0.0


def test_a_procedures_own_options_are_settings(shell, own_kinds) -> None:
    words = ("tune", "visits.csv", *QUICK, "--grid", GRID, "--seed", 3, "--out")
    own = ("--procedure", "first-of-few")
    assert shell(*words, "one", *own, "--set", "favourite=1").code == 0
    card = honestdp.load("one").card
    assert card.declared_public["search"]["favourite"] == 1
    assert card.winner.setting["learning_rate"] == 1.0
    kept = tomllib.loads(Path("one/asked.toml").read_text())
    assert kept["procedure_options"] == {"favourite": 1}
    # In a file too, where --set overrides it; the procedure may come from either.
    Path("spec.toml").write_text('favourite = 1\nprocedure = "first-of-few"\n')
    further = ("--spec", "spec.toml", "--set", "favourite=0")
    assert shell(*words, "two", *further).code == 0
    assert honestdp.load("two").card.winner.setting["learning_rate"] == 0.1
    further = ("--set", "procedure=first-of-few", "--set", "favourite=0")
    assert shell(*words, "three", *further).code == 0


def test_an_option_of_another_procedure_is_told_whose_it_is(shell, own_kinds) -> None:
    words = ("tune", "visits.csv", *QUICK, "--seed", 3)
    said = complaint(shell(*words, "--set", "favourite=1"))
    assert "set: 'favourite' is not a setting; it is an option of procedure first-of-few" in said
    said = complaint(shell(*words, "--procedure", "first-of-few", "--set", "favorite=1"))
    assert "did you mean favourite?" in said
    wrong = ("--procedure", "first-of-few", "--set", "favourite=1", "--set", "procedure_options=3")
    assert "procedure_options" in complaint(shell(*words, *wrong))
    Path("spec.toml").write_text('executer = "local"\n')
    said = complaint(shell(*words, "--spec", "spec.toml"))
    assert "spec.toml: 'executer' is not a setting; did you mean executor?" in said


@pytest.mark.parametrize(
    "words", [("--executor", "counting"), ("--set", "executor=counting"), ("--spec", "spec.toml")]
)
def test_an_executor_by_name(words, shell, own_kinds) -> None:
    Path("spec.toml").write_text('executor = "counting"\n')
    own_kinds.Counting.asked = 0
    assert shell("tune", "visits.csv", *QUICK, "--out", "run", "--yes", *words).code == 0
    assert own_kinds.Counting.asked > 0
    assert tomllib.loads(Path("run/asked.toml").read_text())["executor"] == "counting"


def test_an_unknown_executor_is_refused_before_a_ledger_is_made(shell) -> None:
    for word, says in (("ray", "executor='ray': must be one of local"), ("3", "executor=")):
        said = shell("tune", "visits.csv", *QUICK, "--yes", "--set", f"executor={word}")
        assert says in complaint(said)
    assert not Path("visits.ledger").exists()


def test_a_search_that_ends_with_nothing_says_so(shell) -> None:
    words = ("--grid", GRID, "--procedure", "threshold", "--seed", 3)
    further = ("--set", "threshold=1.0", "--set", "mean_runs=2")
    said = shell("tune", "visits.csv", *QUICK, "--out", "run", *words, *further)
    assert said.code == 4
    assert "ended without a model" in said.out


def test_test_rows_without_a_known_answer_are_left_out_and_told(shell) -> None:
    text = Path("test.csv").read_text()
    Path("test.csv").write_text(text + "50,north,x,\n50,north,x,maybe\n")
    said = shell("tune", "visits.csv", *QUICK, "--out", "run", "--yes", "--test", "test.csv")
    assert "accuracy on 100 public test rows" in said.out
    assert "(2 more have no known readmitted)" in said.out
    assert json.loads(Path("run/test.json").read_text())["rows"] == 100


def _copied(data: Path, test: Path) -> None:
    test.write_bytes(data.read_bytes())


OWN_TABLE = {
    "a symbolic link": lambda data, test: test.symlink_to(data.name),
    "a hard link": lambda data, test: test.hardlink_to(data),
    "a copy": _copied,
}


@pytest.mark.parametrize("how", OWN_TABLE)
@pytest.mark.parametrize("words", [("--yes",), ("--seed", 1), ("--dry-run",)], ids=lambda w: w[0])
def test_the_table_itself_is_no_public_test(how, words, shell, tmp_path) -> None:
    """It would show the exact accuracy in training, on rows that it calls public."""
    OWN_TABLE[how](Path("visits.csv"), Path("own.csv"))
    before = everything(tmp_path)
    said = shell("tune", "visits.csv", *QUICK, "--out", "run", "--test", "own.csv", *words)
    assert "test='own.csv': is the protected table or a copy of it" in complaint(said)
    assert "give public rows, or leave --test out" in complaint(said)
    assert "accuracy on" not in said.out
    assert everything(tmp_path) == before


@pytest.mark.parametrize("name", ["visits.csv", "./visits.csv", "../{}/visits.csv"])
def test_the_table_by_any_path_is_no_public_test(name, shell, tmp_path) -> None:
    test = name.format(tmp_path.name)
    Path("spec.toml").write_text(f'data = "visits.csv"\ntest = "{test}"\n')
    said = shell("tune", "--spec", "spec.toml", *QUICK, "--out", "run", "--yes")
    assert "is the protected table or a copy of it" in complaint(said)
    assert not Path("visits.ledger").exists()


def test_misspelt_classes_are_found_on_public_rows_before_they_cost(shell) -> None:
    Path("visits.toml").write_text(SCHEMA.replace('["no", "yes"]', '["No", "Yes"]'))
    said = shell("tune", "visits.csv", *QUICK, "--out", "run", "--yes", "--test", "test.csv")
    assert "no cell of 'readmitted' in test.csv is one of 'No', 'Yes'" in complaint(said)
    assert not Path("visits.ledger").exists()


def test_a_second_ledger_for_one_table_is_not_made_by_the_way(shell) -> None:
    assert shell("tune", "visits.csv", *QUICK, "--out", "run", "--yes").code == 0
    said = shell("tune", "visits.csv", *QUICK, "--out", "more", "--yes", "--ledger", "b.ledger")
    assert "visits.ledger is a ledger for 'visits' already" in complaint(said)
    assert not Path("b.ledger").exists()


def test_few_rows_are_told_what_to_expect(shell) -> None:
    said = shell("tune", "visits.csv", *QUICK, "--dry-run")
    assert "Fewer than 1000 rows" in said.err


def test_a_number_to_predict(shell) -> None:
    Path("visits.toml").write_text(
        SCHEMA.replace('classes = ["no", "yes"]', "bounds = [0, 100]")
        .replace('column = "readmitted"', 'column = "cost"')
    )  # fmt: skip
    for name in ("visits.csv", "test.csv"):
        text = Path(name).read_text().replace("readmitted", "cost")
        Path(name).write_text(text.replace(",yes", ",80.5").replace(",no\n", ",20.25\n"))
    said = shell("tune", "visits.csv", *QUICK, "--out", "run", "--yes", "--json", "--test",
                 "test.csv")  # fmt: skip
    assert set(json.loads(said.out)) == {*KEYS, "test_r2"}


WRONG = {
    "no epsilon": (("--schema", "visits.toml"), "epsilon: none; give the budget"),
    "no schema": (("--epsilon", 1), "`honestdp schema visits.csv --out schema.toml`"),
    "another target": ((*QUICK, "--target", "age"), "the schema's target is 'readmitted'"),
    "no such schema": (("--schema", "none.toml", "--epsilon", 1), "none.toml: cannot be read"),
    "no such model": ((*QUICK, "--model", "forest"), "logistic, linear, mlp"),
    "no such procedure": ((*QUICK, "--procedure", "luck"), "must be one of"),
    "no such grid": ((*QUICK, "--grid", "dpsgd-41"), "dpsgd-40"),
    "a grid that is not JSON": ((*QUICK, "--grid", "{rule: dpsgd}"), "is not JSON"),
    "no such setting": ((*QUICK, "--set", "mean_run=20"), "did you mean mean_runs?"),
    "a setting without a value": ((*QUICK, "--set", "mean_runs"), "write it as name=value"),
    "a setting of another procedure": ((*QUICK, "--set", "cap=3"), "cap=3"),
    "a delta that protects nobody": ((*QUICK, "--delta", 0.5), "must be below 1 in 300 rows"),
    "not a number": (("--epsilon", "much"), "'much' is not a number"),
    "epsilon of nothing": (("--schema", "visits.toml", "--epsilon", 0), "epsilon=0"),
    "no such option": (("--budget", 1), "No such option"),
    "test rows without answers": ((*QUICK, "--test", "blind.csv"), "no column 'readmitted'"),
    "no such test rows": ((*QUICK, "--test", "none.csv"), "none.csv: cannot be read"),
    "the wrong row count": ((*QUICK, "--rows", 299), "rows=299: the table has 300"),
    "test rows that are none": ((*QUICK, "--test", "none-in-it.csv"), "holds no row"),
    "a path that is a number": ((*QUICK, "--set", "ledger=3"), "ledger=3: must be a path"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_wrong_is_one_line_and_nothing_is_spent(kind, shell, tmp_path) -> None:
    Path("blind.csv").write_text("age,ward\n1,north\n")
    Path("none-in-it.csv").write_text("age,ward,readmitted\n")
    before = everything(tmp_path)
    words, expected = WRONG[kind]
    assert expected in complaint(shell("tune", "visits.csv", *words, "--out", "run", "--yes"))
    assert everything(tmp_path) == before


FILES = {
    "not TOML": ("epsilon = = 1", "not TOML"),
    "unknown": ("epsilom = 1", "did you mean epsilon?"),
    "no path": ("data = 3", "data must be the path to a file"),
    "rows in words": ('rows = "many"', "rows='many': must be a whole number"),
    "a list as seed": ("seed = [1]", "seed="),
    "not text": (b"\xff\xfe", "not TOML"),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_bad_spec_file(kind, shell) -> None:
    content, expected = FILES[kind]
    raw = content if isinstance(content, bytes) else content.encode()
    Path("spec.toml").write_bytes(raw)
    assert expected in complaint(shell("tune", "--spec", "spec.toml"))


def test_a_table_that_is_not_the_schemas_is_found_before_it_is_paid(shell) -> None:
    Path("visits.csv").write_text("age,station,readmitted\n1,north,yes\n")
    said = shell("tune", "visits.csv", *QUICK, "--out", "run", "--yes")
    assert "no column 'ward'" in complaint(said)
    assert not Path("visits.ledger").exists()


def test_a_schema_that_was_not_filled_in(shell) -> None:
    assert shell("schema", "visits.csv", "--out", "mine.toml").code == 0
    said = shell("tune", "visits.csv", "--schema", "mine.toml", "--epsilon", 1)
    assert "mine.toml" in complaint(said)


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_resume_goes_on_with_the_same_charge(shell, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("honestdp.runner.training.Trainer.train", _interrupted)
        said = shell("tune", "visits.csv", *QUICK, "--out", "my run", "--yes", "--test", "test.csv")
    assert "Run again with honestdp resume 'my run' to go on" in complaint(said, 130)
    assert "charge 1 stands" in said.err
    done = shell("resume", "my run", "--json")
    assert done.code == 0
    assert json.loads(done.out)["test_accuracy"] > 0
    assert len(Ledger.inspect("visits.ledger").history()) == 1
    assert "is finished" in complaint(shell("resume", "my run"))


def test_resume_of_what_is_no_run(shell) -> None:
    assert "holds no interrupted run" in complaint(shell("resume", "."))


def test_resume_without_the_ledger_that_holds_its_charge(shell, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("honestdp.runner.training.Trainer.train", _interrupted)
        shell("tune", "visits.csv", *QUICK, "--out", "run", "--yes")
    assert "its run is not finished" in complaint(shell("card", "run"))
    Path("visits.ledger").rename("elsewhere")
    assert "restore it: it holds the charge" in complaint(shell("resume", "run"))
    Path("elsewhere").rename("visits.ledger")
    assert shell("resume", "run").code == 0


def test_no_files_time_tells_how_long_a_run_took(shell, monkeypatch, tmp_path) -> None:
    """Under best-of-K that would tell how many candidates there were."""
    from honestdp.runner.training import Trainer

    usual, seen = Trainer.train, []

    def slow(*given: object) -> object:
        seen.append(time.time())
        time.sleep(0.3)
        return usual(*given)

    monkeypatch.setattr(Trainer, "train", slow)
    words = ("--grid", GRID, "--procedure", "random-repeats", "--set", "mean_runs=3")
    shell("tune", "visits.csv", *QUICK, "--out", "run", "--yes", *words)
    times = [path.stat() for path in (tmp_path / "run").rglob("*")]
    assert len(times) == 5
    assert min(min(t.st_mtime, t.st_ctime) for t in times) > seen[-1] + 0.29


def test_a_simulation_is_paid_by_no_ledger(shell) -> None:
    said = shell("tune", "visits.csv", *QUICK, "--ledger", "visits.ledger", "--seed", 3)
    assert "seed=3: makes a simulation, which no ledger pays for" in complaint(said)


def test_the_table_that_comes_with_it(shell) -> None:
    words = ("--steps", 20, "--lot-size", 500)
    found = json.loads(shell("tune", *words, "--yes", "--json").out)
    assert (found["out"], found["delta"]) == ("adult-run", 1e-6)
    assert 0.9 < found["epsilon"] <= 1
    assert found["test_accuracy"] > 0.7
    again = shell("tune", *words, "--out", "other")
    assert "Adult itself is public: to start over, remove adult.ledger" in complaint(again, 3)
    assert "data: none, but a schema" in complaint(shell("tune", "--schema", "visits.toml"))


def test_a_csv_is_parsed_once(shell, monkeypatch) -> None:
    from honestdp.schema.sources import csv

    parsed = []
    for name in ("read_csv", "csv_header"):
        call = getattr(csv, name)

        def counted(path, *given, call=call, name=name):
            parsed.append((name, path.name))
            return call(path, *given)

        monkeypatch.setattr(csv, name, counted)
    said = shell("tune", "visits.csv", *QUICK, "--out", "run", "--yes", "--test", "test.csv")
    assert said.code == 0
    each = [
        (name, file) for file in ("visits.csv", "test.csv") for name in ("read_csv", "csv_header")
    ]
    assert sorted(parsed) == sorted(each)
