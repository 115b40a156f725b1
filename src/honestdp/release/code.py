"""The commit of honestdp itself, where it can be known; never a path of this machine."""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from honestdp.release.card_fields import Code
from honestdp.version import __version__

_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_PATIENCE = 5.0  # seconds for git


@cache
def code() -> Code:
    """The version and commit of the code that runs.

    The commit is known in a checkout, by git, and after an installation from a repository, by what
    pip wrote down (`direct_url.json`). Elsewhere it is None.
    """
    package = Path(__file__).parents[1]
    found = _of_checkout(package) or _of_installation(package)
    commit, modified = found or (None, None)
    return Code(version=__version__, commit=commit, modified=modified)


def _of_checkout(package: Path) -> tuple[str, bool] | None:
    """The commit of a checkout, and whether the package differs from it.

    Only where the package lies in the checkout as in honestdp's own: an environment may lie in the
    checkout of another project, whose commit says nothing of this code.
    """
    root = package.parents[1]
    if package.relative_to(root).as_posix() != "src/honestdp" or not (root / ".git").exists():
        return None
    git = ["git", "--no-optional-locks", "-C", str(root)]
    try:
        commit = _answer([*git, "rev-parse", "HEAD"]).strip()
        changes = _answer([*git, "status", "--porcelain", "--", "src/honestdp"])
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return (commit, bool(changes.strip())) if _COMMIT.fullmatch(commit) else None


def _answer(command: list[str]) -> str:
    done = subprocess.run(
        command, capture_output=True, check=True, timeout=_PATIENCE, stdin=subprocess.DEVNULL
    )
    return done.stdout.decode()


def _of_installation(package: Path) -> tuple[str, None] | None:
    try:
        installed = distribution("honestdp")
        if Path(str(installed.locate_file("honestdp"))).resolve() != package.resolve():
            return None  # another copy is imported than the one that is installed
        facts = json.loads(installed.read_text("direct_url.json") or "null")
        commit = facts["vcs_info"]["commit_id"]
    except (PackageNotFoundError, OSError, ValueError, KeyError, TypeError):
        return None
    return (commit, None) if isinstance(commit, str) and _COMMIT.fullmatch(commit) else None
