"""A real browser: headless Chromium, of Debian's package, driven by Playwright.

Where it is missing and we are root it is installed; elsewhere its tests are skipped and say so.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")
INSTALL = "apt-get install -y --no-install-recommends chromium fonts-dejavu-core"


def _found() -> str | None:
    return next((path for path in map(shutil.which, NAMES) if path), None)


def _install() -> None:
    """Quietly, and without insisting: what it says is of use only if the browser is not there."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "timeout": 300}
    told = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in ("apt-get update", INSTALL):
        with suppress(subprocess.TimeoutExpired):  # a network that does not answer
            subprocess.run(command.split(), env=told, check=False, **quiet)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path to Chromium."""
    if _found() is None and os.geteuid() == 0 and shutil.which("apt-get"):
        with open(Path(gettempdir()) / "honestdp-chromium.lock", "w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)  # of two test processes one installs, the other waits
            if _found() is None:
                _install()
    path = _found()
    if path is None:
        pytest.skip(f"no Chromium here, and it could not be installed; as root: {INSTALL}")
    return path


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        # Root may not use Chromium's sandbox; the pages are our own.
        opened = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


class Troubles(list[str]):
    """What a page complained of, or asked the network for."""

    def watch(self, page: Page) -> None:
        page.on(
            "console", lambda said: said.type in ("error", "warning") and self.append(said.text)
        )
        page.on("pageerror", lambda error: self.append(str(error)))
        page.on("requestfailed", lambda asked: self.append(f"failed: {asked.url[:200]}"))


@pytest.fixture
def troubles() -> Troubles:
    return Troubles()


@pytest.fixture
def page(browser: Browser, troubles: Troubles) -> Iterator[Page]:
    """A page without a network; whatever it complains of is in `troubles`."""
    context = browser.new_context(offline=True, viewport={"width": 1200, "height": 900})
    opened = context.new_page()
    troubles.watch(opened)
    yield opened
    context.close()
