"""The registry of commands: an outside package adds one, and none can break the others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_calls import complaint

from honestdp.cli import registry

HELLO = '''
"""What a package needs for a command: this file, and an entry point."""
from typing import Annotated
import typer
from honestdp.cli.options import Json, Quiet
from honestdp.cli.console import Console
from honestdp.errors import fail

def command(
    name: Annotated[str, typer.Argument(help="Whom to greet.")],
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Greet somebody.

    Example: honestdp hello Ada
    """
    if not name.isalpha():
        raise fail("name", name, "must be letters")
    console = Console(json_, quiet)
    console.note("about to greet")
    console.answer(f"Hello, {name}.", {"greeted": name})
'''
SEVERAL = '''
import typer
app = typer.Typer(help="Several commands.")

@app.command("one")
def one() -> None:
    """The only one so far."""
    print("one was called")
'''


@pytest.fixture
def install(tmp_path, monkeypatch) -> Callable[..., None]:
    """Puts a package of one module on the path, as pip would."""
    place = tmp_path / "site-packages"
    monkeypatch.syspath_prepend(str(place))

    def put(package: str, code: str, value: str, command: str | None = None) -> None:
        info = place / f"{package}-1.0.dist-info"
        info.mkdir(parents=True)
        (place / f"{package}.py").write_text(code)
        about = f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\nSummary: About {package}."
        (info / "METADATA").write_text(about)
        entry = f"[{registry.GROUP}]\n{command or package} = {value}\n"
        (info / "entry_points.txt").write_text(entry)
        monkeypatch.delitem(sys.modules, package, raising=False)

    return put


def test_one_file_adds_a_command(install, shell) -> None:
    install("hello", HELLO, "hello:command")
    assert "hello About hello." in " ".join(shell("--help").out.split())
    said = shell("hello", "Ada")
    assert (said.code, said.out, said.err) == (0, "Hello, Ada.\n", "about to greet\n")
    assert shell("hello", "Ada", "--json") == (0, '{\n  "greeted": "Ada"\n}\n', "")
    assert complaint(shell("hello", "7")) == "honestdp: name='7': must be letters"
    assert "--nonsense" in complaint(shell("hello", "Ada", "--nonsense"))
    assert "Example: honestdp hello Ada" in shell("hello", "--help").out
    assert "Did you mean 'hello'?" in complaint(shell("helo"))


def test_one_file_adds_several(install, shell) -> None:
    install("several", SEVERAL, "several:app")
    assert shell("several", "one").out == "one was called\n"
    assert "The only one so far." in shell("several", "--help").out


def test_it_works_in_a_process_of_its_own(install, tmp_path) -> None:
    install("hello", HELLO, "hello:command")
    code = "import sys; from honestdp.cli import main; sys.argv[0] = 'honestdp'; main()"
    path = os.pathsep.join([str(tmp_path / "site-packages"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", code, "hello", "Ada", "-q"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("Hello, Ada.\n", "")


@pytest.mark.parametrize(
    ("code", "value", "why"),
    [
        ("import a_package_that_is_not_there", "broken:app", "ModuleNotFoundError: No module"),
        ("1 / 0", "broken:app", "ZeroDivisionError: division by zero"),
        ("", "broken:app", "AttributeError: module 'broken' has no attribute 'app'"),
        ("app = 7", "broken:app", "TypeError: int is neither a function nor a typer.Typer"),
    ],
)
def test_a_broken_plugin_is_one_line_and_breaks_nothing_else(
    install, shell, code, value, why
) -> None:
    install("broken", code, value)
    said = shell("--help")
    assert (said.code, said.err) == (0, "")
    assert "broken About broken." in " ".join(said.out.split())
    assert shell("words", "epsilon").code == 0
    line = complaint(shell("broken", "--anything"))
    assert line.startswith("honestdp: broken: cannot load this command of broken (")
    assert why in line


CRASHING = """
import typer
app = typer.Typer()

def parsed(text):
    return text if text != "bad" else {}["row 7 holds Quokkazyx"]

@app.command("one")
def one(number=typer.Argument("good", parser=parsed)) -> None:
    raise ZeroDivisionError("row 7 holds Quokkazyx")

@app.command("two")
def two() -> None:
    raise typer.Exit(7)
"""


@pytest.mark.parametrize(
    ("value", "words", "kind"),
    [
        ("crashing:one", (), "ZeroDivisionError"),
        ("crashing:app", ("one",), "ZeroDivisionError"),
        ("crashing:app", ("one", "bad"), "KeyError"),
    ],
)
def test_a_plugin_that_crashes_is_named_in_one_line(install, shell, value, words, kind) -> None:
    install("crashing", CRASHING, value, command="crash")
    said = shell("crash", *words)
    assert complaint(said, 1) == (
        f"honestdp: error in the command 'crash' of crashing ({kind}); "
        "HONESTDP_DEBUG=1 shows the traceback, and maybe rows"
    )
    assert said.err.count("\n") == 1


def test_a_plugin_may_choose_its_exit_code(install, shell) -> None:
    install("crashing", CRASHING, "crashing:app")
    assert shell("crashing", "two") == (7, "", "")


def test_help_imports_no_plugin(install, shell) -> None:
    install("slow_to_import", SEVERAL, "slow_to_import:app")
    assert "slow_to_import" in shell("--help").out
    assert "slow_to_import" not in sys.modules


def test_a_command_of_the_librarys_name_is_ignored(install, shell) -> None:
    install("intruder", HELLO, "intruder:command", command="tune")
    said = shell("--help")
    assert said.code == 0
    ignored = "honestdp: ignoring the command 'tune' of intruder: honestdp has one of this name\n"
    assert said.err == ignored
    assert "Train and tune a private model" in shell("tune", "--help").out


def test_of_two_plugins_of_one_name_the_first_by_package_counts(install, shell) -> None:
    install("hello", HELLO, "hello:command", command="greet")
    install("another", SEVERAL, "another:app", command="greet")
    said = shell("greet", "one")
    assert said.out == "one was called\n"
    assert said.err.startswith("honestdp: ignoring the command 'greet' of hello: another has one")


def test_own_commands_look_for_no_plugins(shell, monkeypatch) -> None:
    monkeypatch.setattr(registry, "entry_points", lambda **_: pytest.fail("looked for plug-ins"))
    assert shell("words", "epsilon").code == 0


def test_the_paper_says_how_to_install_it(shell, monkeypatch) -> None:
    monkeypatch.setattr(registry, "entry_points", lambda **_: [])
    line = complaint(shell("paper", "honest-frontier", "--show"))
    assert line == (
        "honestdp: paper: this command comes with a package of its own: pip install "
        "honestdp-reproduction (in a checkout: pip install ./reproduction)"
    )
    assert "paper" not in shell("--help").out
    assert (Path(__file__).parents[2] / "reproduction" / "pyproject.toml").is_file()


def test_completion_survives_a_broken_plugin(install, tmp_path) -> None:
    install("broken", "1 / 0", "broken:app")
    path = os.pathsep.join([str(tmp_path / "site-packages"), os.environ.get("PYTHONPATH", "")])
    told = {"_HONESTDP_COMPLETE": "complete_bash", "COMP_WORDS": "honestdp ", "COMP_CWORD": "1"}
    code = "import sys; from honestdp.cli import main; sys.argv[0] = 'honestdp'; main()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **told, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert {"tune", "ledger"} <= set(done.stdout.split())
    assert done.stderr == ""
