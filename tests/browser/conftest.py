"""A real browser: headless Chromium, of Debian's package, driven by Playwright.

`make browser` installs it. Where it is missing its tests are skipped and say so; in `.ci/run`,
which sets HONESTDP_CI, they fail.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path to Chromium."""
    path = next((path for path in map(shutil.which, NAMES) if path), None)
    if path is None:
        told = "no Chromium here; `make browser`, as root, installs it"
        if os.environ.get("HONESTDP_CI"):
            pytest.fail(told, pytrace=False)
        pytest.skip(told)
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
