"""`honestdp plan` as a shell user meets it; in a process of its own where that matters."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from honestdp import make_plan
from honestdp.cli import main
from honestdp.datasets import adult
from honestdp.planning.spec import Spec

README = ["--n", "36177", "--lot-size", "250", "--steps", "2500", "--candidates", "40"]
RUN = "import sys; from honestdp.cli import main; sys.argv[0] = 'honestdp'; main()"


def honestdp(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", RUN, *words], capture_output=True, text=True, timeout=120
    )


def imported_by(code: str) -> set[str]:
    """The modules that a fresh interpreter holds after running this code."""
    show = "\nimport sys as _s\nprint('MODULES', *_s.modules, file=_s.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code + show], capture_output=True, text=True, timeout=120
    )
    return set(done.stderr.split("MODULES")[-1].split())


def test_version() -> None:
    import honestdp as package

    assert honestdp("--version").stdout.strip() == f"honestdp {package.__version__}"


@pytest.mark.parametrize(
    "words",
    [[], ["--help"], ["plan", "--help"], ["ledger"], ["ledger", "--help"]],
)
def test_help_has_an_example(words) -> None:
    done = honestdp(*words)
    assert done.returncode == 0
    assert "Example: honestdp" in " ".join(done.stdout.split())
    assert done.stdout.count("\n") > 3


def test_the_table() -> None:
    done = honestdp("plan", *README, "--noise-multiplier", "4")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "random-repeats   profile *           1" in done.stdout
    assert "\x1b" not in done.stdout  # colours only on a terminal


def test_json(shell) -> None:
    data = json.loads(shell("plan", *README, "--noise-multiplier", "4", "--json").out)
    assert data["inputs"]["delta"] == 1e-6
    assert data["rows"][0]["procedure"] == "untuned"


def test_the_default_share_is_the_librarys(shell) -> None:
    from honestdp.procedures.base import SUBSET_SHARE

    words = ["--n", "2000", "--lot-size", "50", "--steps", "50", "--candidates", "5"]
    said = shell("plan", *words, "--noise-multiplier", "2", "--json")
    assert json.loads(said.out)["inputs"]["subset"] == SUBSET_SHARE
    assert f"default {SUBSET_SHARE:g}" in " ".join(shell("plan", "--help").out.split())


@pytest.mark.parametrize("suffix", ["png", "html"])
def test_the_plot(suffix, tmp_path, shell) -> None:
    target = tmp_path / f"cost.{suffix}"
    words = ["--n", "2000", "--lot-size", "50", "--steps", "50", "--candidates", "5"]
    said = shell("plan", *words, "--noise-multiplier", "2", "--plot", str(target))
    assert said.code == 0, said.err
    assert target.stat().st_size > 10_000
    if suffix == "html":
        page = target.read_text()
        assert "subset-tuning" in page
        assert '<script src="http' not in page  # one offline file


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["plan", *README, "--noise-multiplier", "0"], "noise_multiplier=0.0"),
        (["plan", *README, "--noise-multiplier", "nan"], "noise_multiplier=nan"),
        (["plan", *README, "--delta", "1.5", "--epsilon", "1"], "delta=1.5"),
        (["plan", *README], "exactly one of"),
        (["plan", *README, "--epsilon", "1e-12"], "epsilon=1e-12"),
        (["plan", "--n", "many"], "'many' is not a whole number"),
        (["plan", *README, "--epsilon", "one"], "'one' is not a number"),
        (["plan", "--n", "100"], "Missing option '--steps'"),
        (["plan", "--epsilon", "1"], "Missing option '--n'"),
        (["plan", *README, "--epsilon", "1", "--plot", "cost.pdf"], "ends in .html or .png"),
        (["plan", *README, "--epsilon", "1", "--plot", "no/such/a.png"], "does not exist"),
        (["plan", *README, "--epsilons", "1"], "No such option: --epsilons"),
        (["plan", "--n", "100", "--lot-size", "200", "--steps", "1", "--candidates", "1",
          "--epsilon", "1"], "lot_size=200"),
        (["plann"], "No such command 'plann'"),
        *((["plan", *README, option, "1" + "0" * 400, "--epsilon", "1"], "must be below 1e308")
          for option in ("--n", "--lot-size", "--steps", "--candidates")),
        (["plan", *README, "--noise-multiplier", "1e200"], "between 1e-06 and 1e+06"),
        (["plan", *README, "--noise-multiplier", "1e-200"], "between 1e-06 and 1e+06"),
    ],
)  # fmt: skip
def test_wrong_input_is_one_line_and_exit_code_2(words, says, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["honestdp", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    out, told = capsys.readouterr()
    assert ended.value.code == 2
    assert out == ""
    assert told.count("\n") == 1
    assert told.startswith("honestdp: ")
    assert says in told


def test_so_it_is_in_a_process_of_its_own() -> None:
    done = honestdp("plan", *README, "--noise-multiplier", "0")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("honestdp: noise_multiplier=0.0")


def test_light_imports() -> None:
    assert not {"torch", "numpy", "dp_accounting"} & imported_by("import honestdp")
    run = (
        "import sys; from honestdp.cli import main\nsys.argv = {}\n"
        "try: main()\nexcept SystemExit: pass"
    )
    helped = imported_by(run.format(["honestdp", "--help"]))
    assert not {"torch", "dp_accounting"} & helped
    planned = imported_by(run.format(["honestdp", "plan", *README, "--noise-multiplier", "4"]))
    assert "dp_accounting" in planned
    assert "torch" not in planned


def test_rows_and_epsilon_are_enough() -> None:
    """A newcomer need not know steps and lot sizes: they are those of the default model."""
    done = honestdp("plan", "--n", "10000", "--epsilon", "1")
    assert done.returncode == 0, done.stderr
    assert "steps 300, lot size 289, candidates 4" in done.stderr
    assert "likely: a guess, from 6 public tables and not from yours" in done.stderr
    found = json.loads(honestdp("plan", "--n", "10000", "--epsilon", "1", "--json").stdout)
    assert (found["inputs"]["steps"], found["inputs"]["candidates"]) == (300, 4)
    hits = {row["hit_probability"] for row in found["rows"] if row["procedure"] != "untuned"}
    assert min(hits - {None}) >= 0.9 - 1e-9
    spec = Spec(schema=adult().schema, rows=10000, epsilon=1.0)
    plan = make_plan(spec)
    assert (plan.training.steps, plan.training.lot_size) == (300, 289)
