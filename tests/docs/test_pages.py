"""Pages claim what their code shows: every fenced block of README and docs is carried out."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from blocks import ROOT, Block, Reader, blocks

from honestdp import InputError

GENERATED = {"command-line.md"}  # held to the command line as a whole by test_reference.py
# A process for every command; plans of every kind.
SLOW = {"README.md", "extend.md", "planning.md", "procedures.md", "tour-shell.md"}
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def marked(page: Path) -> object:
    return pytest.param(page, marks=pytest.mark.slow) if page.name in SLOW else page


@pytest.mark.parametrize(
    "page",
    [marked(page) for page in PAGES if page.name not in GENERATED],
    ids=lambda page: page.name,
)
def test_every_block_does_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    reader = Reader(tmp_path)
    for block in blocks(page.read_text()):
        try:
            reader.does(block)
        except Exception as error:
            error.add_note(f"in the block at {page.name}, line {block.line}")
            raise


@pytest.mark.slow
def test_the_package_of_the_page_on_adding_builds(tmp_path: Path) -> None:
    """With every file of the page beside it, as a reader has them."""
    for block in blocks((ROOT / "docs" / "extend.md").read_text()):
        if block.title is not None:
            (tmp_path / block.title).write_text(block.text)
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index",
         "--disable-pip-version-check", "--wheel-dir", str(tmp_path), str(tmp_path)],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as made:
        names = made.namelist()
        [points] = [made.read(name).decode() for name in names if "entry_points" in name]
    modules = re.findall(r"^[a-z-]+ = (\w+):", points, re.MULTILINE)
    assert len(modules) == 2
    assert {f"{module}.py" for module in modules} <= set(names)


WRONG = {
    "ruby": [("ruby", "puts 1")],
    "ended with 1": [("sh", "false")],
    "not said": [("sh", "echo one"), ("text", "two")],
    "not here": [("sh", "echo one; echo two"), ("text", "two\none")],
    "0.2 is not printed": [("python", "print(0.1)  # it is: 0.2")],
    "a is not 2": [("python", "dict(a=1)  # {'a': 2}")],
    "no coffee": [("sh", "make coffee")],
    "something else": [("sh", "pip install something")],
    "another repository": [("sh", "git clone something")],
    "a is 1": [("sh", "echo '{\"a\": 1}'"), ("json", '{"a": 2}')],
    "did you mean epsilon": [("toml", "epsilom = 1")],
    "name is missing": [("toml", "columns = 1")],
    "author": [("bibtex", "@misc{a,\n  title = {b},\n}")],
    "here: 'b'": [("console", "$ echo a\nb")],
    "no address|names no": [("sh", "echo --serve")],
}


@pytest.mark.parametrize("words", WRONG)
def test_what_is_wrong_is_found(words: str, tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    *before, last = [Block(kind, None, f"{text}\n", 1) for kind, text in WRONG[words]]
    for block in before:
        reader.does(block)
    with pytest.raises((AssertionError, InputError), match=words):
        reader.does(last)


SERVER = """
from http.server import HTTPServer, SimpleHTTPRequestHandler
server = HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler)
print(f"open http://127.0.0.1:{server.server_port}/ in a browser", flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    print("stopped")
"""


def test_what_serves_is_asked_once_and_stopped(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    reader.does(Block("python", "server.py", SERVER, 1))
    reader.does(Block("sh", None, "echo before\npython server.py --serve\necho after\n", 2))
    reader.does(Block("text", None, "before\nopen http://127.0.0.1:.../\nafter\n", 3))


def test_blocks_are_found_with_their_kind_title_and_line() -> None:
    page = 'a\n\n```toml title="a.toml"\nb = 1\n```\n\n- c\n\n  ```sh\n  ls\n  ```\n'
    assert [(b.kind, b.title, b.line) for b in blocks(page)] == [
        ("toml", "a.toml", 3),
        ("sh", None, 9),
    ]
