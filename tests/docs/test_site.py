"""The site builds without a warning, and its pages fetch nothing from anywhere else."""

from __future__ import annotations

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

from blocks import ROOT

FETCHING = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src"}
NOT_FETCHED = {"canonical", "prev", "next", "edit"}  # links that say where, and load nothing


class Fetched(HTMLParser):
    """What a browser would load for a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "link" and given.get("rel") in NOT_FETCHED:
            return
        place = given.get(FETCHING.get(tag, ""))
        if place:
            self.found.append(place)


def test_what_a_page_fetches_is_found() -> None:
    reader = Fetched()
    reader.feed('<a href="x"></a><link rel="stylesheet" href="a.css"><script src="//b/c.js">')
    assert reader.found == ["a.css", "//b/c.js"]


def test_the_site_builds_and_fetches_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "http_proxy": "http://127.0.0.1:9"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    pages = sorted(tmp_path.rglob("*.html"))
    assert len(pages) > 10
    for page in pages:
        reader = Fetched()
        reader.feed(page.read_text())
        for place in reader.found:
            assert not place.startswith(("http:", "https:", "//")), f"{page.name}: {place}"
    for style in tmp_path.rglob("*.css"):
        text = style.read_text()
        assert "@import" not in text, style.name
        assert "url(http" not in text, style.name
        assert "url(//" not in text, style.name
