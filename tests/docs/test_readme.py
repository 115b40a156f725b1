"""What README and Makefile say of each other."""

from __future__ import annotations

import re

from blocks import ROOT

README = (ROOT / "README.md").read_text()


def test_the_demo_is_the_readmes_example() -> None:
    demo = (ROOT / "Makefile").read_text().split("demo: ")[1].splitlines()[1]
    (words,) = re.findall(r"\.venv/bin/honestdp (plan .*) --noise-multiplier", README)
    assert words in demo
