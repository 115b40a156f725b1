"""The figures of docs/promise.md that an attack has shown, shown again."""

from __future__ import annotations

import re

import pytest
from blocks import ROOT


@pytest.mark.slow
def test_what_low_digits_reveal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "audit"))
    import test_low_bits as attack

    text = " ".join((ROOT / "docs" / "promise.md").read_text().split())
    (said,) = re.findall(r"ε above ([\d.]+) without the grid, and no more than ([\d.]+)", text)
    assert f"with {attack.DRAWS:,} trainings of a single step" in text
    assert f"where ε = {attack.EPSILON:g} is claimed" in text
    assert attack.audited(attack.gaps).epsilon <= float(said[1])
    assert attack.audited(attack.residue).epsilon <= float(said[1])
    attack.in_torch(monkeypatch)
    monkeypatch.setattr(attack.noise, "on_grid", lambda noisy, scales: noisy)
    assert attack.audited(attack.gaps).epsilon >= float(said[0])
