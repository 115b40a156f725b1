"""Losses over learning rate and clip norm: trained, resumed, marked; and Theorem 2's rate."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from honestdp.errors import InputError
from honestdp_reproduction import heatmap_enron, heatmap_synthetic, heatmaps, theorem2
from honestdp_reproduction.experiment import Choice
from honestdp_reproduction.heatmaps import GRID, Map, Maps, train_all, wanted
from honestdp_reproduction.store import Store

ANYTIME = {"seconds", "core_seconds", "commit", "machine"}


def quiet(_: str, __: float) -> None:
    """Tells nobody."""


def contents(store: Store) -> dict[str, Any]:
    """Everything saved that does not depend on when it was."""
    names = store.names("heatmaps")
    found = {name: store.read("heatmaps", name, "candidates") or {} for name in names}
    return {
        name: {k: v for k, v in known.items() if k not in ANYTIME} for name, known in found.items()
    }


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heatmaps, "GRID", (0.01, 0.1, 1.0))
    monkeypatch.setattr(heatmaps, "TOGETHER", 4)
    monkeypatch.setattr(heatmap_synthetic, "REPETITIONS", {3: 2})


def test_grid_is_the_papers() -> None:
    assert len(GRID) == 30
    assert GRID[:6] == (1e-4, 2e-4, 4e-4, 5e-4, 8e-4, 1e-3)
    assert GRID[-5:] == (10.0, 20.0, 40.0, 50.0, 80.0)


@pytest.mark.usefixtures("small")
def test_interrupted_map_goes_on_to_the_same_losses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, parts = Store(tmp_path / "whole"), Store(tmp_path / "parts")
    heatmap_synthetic.run(Choice(), whole, quiet)
    save, saves = Maps.save, []

    def interrupted(*what: Any) -> None:
        save(*what)
        saves.append(1)
        if len(saves) in (2, 7):
            raise KeyboardInterrupt

    monkeypatch.setattr(Maps, "save", interrupted)
    for _ in (0, 1):
        with pytest.raises(KeyboardInterrupt):
            heatmap_synthetic.run(Choice(), parts, quiet)
    heatmap_synthetic.run(Choice(), parts, quiet)
    assert contents(whole) == contents(parts)
    assert len(contents(whole)) == 6
    before = len(saves)
    heatmap_synthetic.run(Choice(), parts, quiet)
    assert len(saves) == before


@pytest.mark.usefixtures("small")
def test_it_trains_with_its_sigma(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from honestdp.engine import train

    asked = set()

    def spy(model, rows, chosen, *rest, **more):
        asked.update(c.noise_multiplier for c in chosen)
        return train(model, rows, chosen, *rest, **more)

    monkeypatch.setattr("honestdp.engine.train", spy)
    heatmap_synthetic.run(Choice(sigmas=(2.0,)), Store(tmp_path), quiet)
    assert asked == {2.0}


@pytest.mark.usefixtures("small")
def test_result_text_and_picture_of_a_tiny_map(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not trained yet"):
        heatmap_synthetic.result(Choice(), Store(tmp_path))
    heatmap_synthetic.run(Choice(), Store(tmp_path), quiet)
    found = heatmap_synthetic.result(Choice(), Store(tmp_path))
    assert found == json.loads(json.dumps(found))
    assert "SIMULATION" in heatmap_synthetic.text(found)
    assert heatmap_synthetic.picture(found).simulation


def test_another_map_in_the_same_file_is_refused(tmp_path: Path) -> None:
    train_all([Map("synthetic", "dpsgd", 2, grid=(0.1,))], Maps(Store(tmp_path)), quiet)
    with pytest.raises(InputError, match="holds another map; use another folder"):
        Maps(Store(tmp_path)).read(Map("synthetic", "dpsgd", 2, grid=(0.2,)))


def test_no_two_maps_share_their_noise() -> None:
    names = [m.name for m in wanted("synthetic", {100: 3, 5000: 1}, Choice(sigmas=(2.0, 4.0)))]
    assert len({heatmaps.seed(name) for name in names}) == len(names) == 24


def test_synthetic_rows_are_raw_and_the_optimum_has_no_loss() -> None:
    import torch

    model, rows = heatmaps.load("synthetic")
    assert len(rows) == 10_000
    assert float(rows.targets.max()) > 70
    best = torch.tensor([10.0] * 10 + [0.0])
    scores = heatmaps.scored(model, torch.stack([best, 0 * best, best * math.nan]), rows, [1.0] * 3)
    assert scores[0][0] == pytest.approx(0, abs=1e-9)
    assert scores[0][1] == 0
    assert scores[1] == [pytest.approx(float(rows.targets.double().square().mean()), rel=1e-5), 1]
    assert scores[2][0] is None


def test_logistic_loss_by_hand() -> None:
    import torch

    from honestdp.engine import Linear, examples

    rows = examples(np.array([[1.0], [2.0]]), np.array([1, 0]))
    [[loss, clipped]] = heatmaps.scored(Linear(1, 2), torch.tensor([[0.5, 0.0]]), rows, [1.0])
    first, second = 1 / (1 + math.exp(0.5)), 1 / (1 + math.exp(-1.0))
    assert loss == pytest.approx(-(math.log(1 - first) + math.log(1 - second)) / 2, rel=1e-5)
    assert [first * math.sqrt(2) > 1, second * math.sqrt(5) > 1] == [False, True]
    assert clipped == 0.5


def test_nine_of_900_are_white_and_dpadams_by_dpsgds_threshold() -> None:
    losses = np.random.default_rng(1).permutation(900).reshape(30, 30) + 1.0
    threshold = theorem2.first_percentile(losses)
    assert sorted(losses[theorem2.white(losses, threshold)]) == list(range(1, 10))
    assert theorem2.white(losses / 2, threshold).sum() > 9
    losses[0, 0] = math.inf
    assert math.isfinite(theorem2.first_percentile(losses))
    assert not theorem2.white(losses, threshold)[0, 0]


@pytest.mark.parametrize(("clip", "steps", "d"), [(0.1, 100, 11), (1.0, 5000, 11), (2, 100, 5513)])
def test_corrected_rate_is_where_the_bound_is_least(clip: float, steps: int, d: int) -> None:
    setting = theorem2.Setting(31.6, d, steps, 4.0, 250)
    least = minimize_scalar(lambda log: setting.bound(math.exp(log), clip), bounds=(-20, 20))
    assert setting.corrected(clip) == pytest.approx(math.exp(least.x), rel=1e-3)
    written_out = 31.6 / (clip * math.sqrt(steps * (1 + d * 16 / 62500)))
    assert setting.corrected(clip) == pytest.approx(written_out)
    assert setting.printed(clip) == pytest.approx(31.6 / (clip * steps * math.sqrt(17)))


def test_printed_rate_is_not_least_even_in_the_papers_own_bound() -> None:
    own = theorem2.Setting(31.6, 1, 100, 4.0, 1)  # d = L = 1
    assert own.bound(own.printed(1.0), 1.0) > 4 * own.bound(own.corrected(1.0), 1.0)
    assert own.corrected(1.0) == pytest.approx(10 * own.printed(1.0))
    # T steps of length rate * C, noise aside, end short of the optimum
    assert own.printed(1.0) * 1.0 * own.steps < own.distance / 4


def made_up(power: float, scale: float = 2.0) -> tuple[list[float], theorem2.Losses]:
    """Losses with their least, for each clip norm, nearest to rate = scale * C^power."""
    grid = [float(2.0**k) for k in range(-12, 13)]
    logs = np.array([[abs(math.log(r / (scale * c**power))) for c in grid] for r in grid])
    return grid, logs


@pytest.mark.parametrize("power", [-1.0, -0.5, 0.0])
def test_slope_is_found_again(power: float) -> None:
    grid, logs = made_up(power)
    [branch] = theorem2.branches(theorem2.best_rates(grid, logs, np.ones_like(logs)))
    assert branch["slope"] == pytest.approx(power, abs=0.03)
    assert branch["clipped"]
    if power == -1:
        assert branch["product"] == pytest.approx(2.0)
        assert branch["points"] == len(grid) - 2  # one at the edge, one whose least is beyond


def test_a_jump_and_the_end_of_clipping_start_new_branches() -> None:
    grid, logs = made_up(-1.0, 1.0)
    low, far = made_up(-1.0, 64.0)
    half = len(grid) // 2
    logs[:, :half] = far[:, :half]
    clipped = np.ones_like(logs)
    clipped[:, half + 6 :] = 0.0
    found = theorem2.branches(theorem2.best_rates(low, logs, clipped))
    assert [b["clipped"] for b in found] == [True, True, False]
    assert [round(b["product"]) for b in found] == [64, 1, 1]
    assert found[2]["from"] == grid[half + 6]


def test_spread_and_line_of_marked_cells() -> None:
    grid = [0.01, 0.1, 1.0, 10.0]
    marked = np.zeros((4, 4), dtype=bool)
    marked[[0, 1, 2], [2, 1, 0]] = True  # rate * clip = 0.01
    marked[2, 3] = True
    found = theorem2.spread(grid, marked)
    assert (found["cells"], found["rates"], found["clips"]) == (4, 3, 4)
    assert found["clips_without"] == []
    assert found["rates_without"] == [10.0]
    assert (found["best_rate"], found["clips_at_best_rate"]) == (1.0, 2)
    assert found["clip_decades_at_best_rate"] == pytest.approx(3)
    line = theorem2.on_one_line(grid, marked)
    assert line["cells"] == 3
    assert line["product"] == pytest.approx(0.01)
    assert theorem2.on_one_line(grid, np.zeros((4, 4), dtype=bool))["cells"] == 0


@pytest.mark.parametrize("experiment", [heatmap_synthetic, heatmap_enron])
def test_committed_results_need_neither_torch_nor_data(experiment: Any) -> None:
    name = experiment.__name__.rpartition(".")[2]
    code = (
        "import sys; sys.modules['torch'] = None\n"
        f"from honestdp_reproduction import {name} as e\n"
        "from honestdp_reproduction.experiment import Choice\n"
        "from honestdp_reproduction.store import SHIPPED, Store\n"
        "found = e.result(Choice(), Store(SHIPPED))\n"
        "print(e.text(found), e.picture(found).title)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=_without_data()
    )
    assert done.returncode == 0, done.stderr
    assert "Theorem 2" in done.stdout


def _without_data() -> dict[str, str]:
    import os

    return {k: v for k, v in os.environ.items() if k != "HONESTDP_DATA"}
