"""The effects of a linear model on its report."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from releases import SCHEMA, released
from test_report_page import PLANTED, Seen, figures

from honestdp.engine.models import Linear
from honestdp.release.effects import Effects, effects_of
from honestdp.release.predictor import Predictor
from honestdp.report.effect_figures import MOST, MOST_BARS, EffectPanels
from honestdp.report.page import report_html, write_report
from honestdp.schema import Categorical, Column, Numeric, Schema, Target


@pytest.fixture(autouse=True)
def _fast(monkeypatch):
    monkeypatch.setattr("honestdp.report.figures.cost_lines", lambda inputs: [])


def made_up(*columns: Column, noise: float | None = 0.1, classes: int = 2) -> Effects:
    target = Target(column="y", classes=[str(i) for i in range(classes)])
    schema = Schema(name="toy", columns=columns, target=target)
    model = Linear(schema.width, classes)
    drawn = np.random.default_rng(0).standard_normal(model.parameters)
    return effects_of(Predictor({}, None, schema, model, torch.from_numpy(drawn).float()), noise)


@pytest.mark.parametrize("kind", ["untuned", "numbers", "repeats", "learnt"])
def test_a_run_folder_has_them_on_its_page(kind, tmp_path):
    release, ledger = released(kind)
    release.save(tmp_path / "run")
    page = write_report(tmp_path / "run", ledger).read_text()
    drawn = figures(page)
    assert {"effect-0", "effect-1"} <= set(drawn)
    text = Seen(page).text
    assert "What the model makes of each column" in text
    assert release.effects().unit in text
    for column in release.effects().columns:
        assert f"{column.size:.3g}" in text


def test_networks_have_a_sentence_and_cards_alone_nothing(tmp_path):
    for kind, words in (("mlp", "a network with one hidden layer, which is not linear"),
                        ("module", "a torch module, which is not linear")):  # fmt: skip
        release, ledger = released(kind)
        release.save(tmp_path / kind)
        page = write_report(tmp_path / kind, ledger).read_text()
        assert words in Seen(page).text
        assert not any(name.startswith("effect") for name in figures(page))
        assert str(tmp_path) not in page
    release, ledger = released("untuned")
    assert "What the model makes" not in report_html(release.card, ledger)
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "card.json").write_bytes(release.card.to_json())
    assert "What the model makes" not in write_report(tmp_path / "alone").read_text()


def test_another_models_effects_are_not_drawn(tmp_path):
    release, _ = released("untuned")
    release.save(tmp_path / "run")
    place = tmp_path / "run" / "model.json"
    facts = json.loads(place.read_text())
    place.write_text(json.dumps(facts | {"honestdp": "0.0.0"}))
    page = write_report(tmp_path / "run").read_text()
    assert "is not of the same run as" in Seen(page).text
    assert not any(name.startswith("effect") for name in figures(page))


def test_curves_have_a_band_and_bars_a_whisker():
    number = Numeric(name="x", bounds=(0, 10))
    ward = Categorical(name="ward", categories=["a", "b"])
    effects = made_up(number, ward)
    found = {p.column: p.figure["data"] for p in EffectPanels.of(effects).panels}
    line = next(c for c in effects.columns if c.column == "x").effects
    band, drawn = found["x"]
    assert drawn["x"] == [0, 10]
    assert drawn["y"] == [e.contribution for e in line]
    assert band["y"] == pytest.approx(
        [drawn["y"][0] + 0.05, drawn["y"][1] + 0.05, drawn["y"][1] - 0.05, drawn["y"][0] - 0.05]
    )
    (bars,) = found["ward"]
    assert bars["x"] == sorted(bars["x"])
    assert bars["error_x"]["array"] == pytest.approx([0.1 / np.sqrt(2)] * 2)
    silent = {p.column: p.figure["data"] for p in EffectPanels.of(made_up(number, ward, noise=None)).panels}  # fmt: skip # noqa: E501
    assert len(silent["x"]) == 1
    assert "error_x" not in silent["ward"][0]


def test_all_share_one_scale_and_the_largest_come_first():
    columns = [Numeric(name=f"x{i}", bounds=(0, 1)) for i in range(MOST + 5)]
    found = EffectPanels.of(made_up(*columns))
    assert len(found.panels) == MOST
    assert found.hidden == 5
    sizes = [float(panel.size) for panel in found.panels]
    assert sizes == sorted(sizes, reverse=True)
    (span,) = {tuple(panel.figure["layout"]["yaxis"]["range"]) for panel in found.panels}
    assert span[0] < min(min(p.figure["data"][1]["y"]) for p in found.panels)


def test_many_categories_and_many_classes():
    many = Categorical(name="ward", categories=[f"ward number {i} {'x' * 40}" for i in range(50)])
    (panel,) = EffectPanels.of(made_up(many)).panels
    assert len(panel.figure["data"][0]["y"]) == MOST_BARS
    assert panel.figure["layout"]["title"]["text"] == f"ward ({50 - MOST_BARS} more)"
    effects = made_up(Numeric(name="x", bounds=(0, 1)), classes=4)
    found = EffectPanels.of(effects)
    assert found.several
    ranges = {name: abs(effects.columns[0].of_class(name)[0].contribution) for name in "0123"}
    assert found.panels[0].column == f"x, for {max(ranges, key=lambda name: ranges[name])}"


def test_hostile_names_stay_text():
    effects = made_up(Numeric(name=PLANTED, bounds=(0, 1)),
                      Categorical(name="c", categories=[PLANTED, "<b>x</b>"]))  # fmt: skip
    page = report_html(released("untuned")[0].card, effects=effects)
    assert PLANTED not in page
    assert "<b>x" not in page
    assert len(Seen(page).of("script")) == 3
    drawn = figures(page)
    titles = [drawn[f"effect-{i}"]["layout"]["title"]["text"] for i in range(2)]
    assert any(title.startswith("&lt;/script&gt;") for title in titles)
    assert SCHEMA.name in page
