"""Tests of the engine's tests: a bug that breaks privacy, put in, must make a test fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from seeded import Mutant, check_caught, check_line, name

NOISE, LOTS, SUMS, TRAIN, MODULE = (
    f"tests/engine/test_{name}.py::test_"
    for name in ("noise", "lots", "clipped_sums", "train", "module")
)
STREAMS, RULES = "tests/engine/test_streams.py::test_", "tests/engine/test_rules.py::test_"
ON_GRID = "tests/engine/test_noise_grid.py::test_"
SCALE = NOISE + "scale_in_every_coordinate_is_sigma_c_over_l"
OWN_NOISE = NOISE + "noise_is_independent_between_candidates_steps_and_coordinates"
OWN_LOTS = LOTS + "lots_are_independent_between_candidates_and_steps"
LOOP = SUMS + "equal_to_a_loop_over_the_examples"
NOT_FINITE = SUMS + "an_example_without_a_finite_gradient_counts_as_zero"

MUTANTS = [
    Mutant("half the noise", "engine/noise.py",
           "return self.multipliers[rows] * total.sensitivity[rows]",
           "return self.multipliers[rows] * total.sensitivity[rows] / 2",
           SCALE),
    Mutant("half the noise, seen in a training", "engine/noise.py",
           "return self.multipliers[rows] * total.sensitivity[rows]",
           "return self.multipliers[rows] * total.sensitivity[rows] / 2",
           TRAIN + "the_divisor_is_the_expected_lot_and_the_noise_has_the_stated_scale"),
    Mutant("noise without the clip norm", "engine/noise.py",
           "return self.multipliers[rows] * total.sensitivity[rows]",
           "return self.multipliers[rows]",
           SCALE),
    Mutant("noise one per cent too small", "engine/normal.py",
           "o[i] = np.rint((t[i] + wide * z[i]) * fine) * mean",
           "o[i] = np.rint((t[i] + 0.99 * wide * z[i]) * fine) * mean",
           SCALE),
    Mutant("a noisy sum as it comes", "engine/normal.py",
           "o[i] = np.rint((t[i] + wide * z[i]) * fine) * mean",
           "o[i] = (t[i] + wide * z[i]) * inverse",
           ON_GRID + "a_training_releases_points_of_the_grid"),
    Mutant("a noisy sum as it comes, seen by an attacker", "engine/normal.py",
           "o[i] = np.rint((t[i] + wide * z[i]) * fine) * mean",
           "o[i] = (t[i] + wide * z[i]) * inverse",
           "tests/audit/test_low_bits.py::test_low_bits_tell_no_more_than_is_claimed"),
    Mutant("the noise on the grid, not the sum", "engine/normal.py",
           "o[i] = np.rint((t[i] + wide * z[i]) * fine) * mean",
           "o[i] = (t[i] + np.rint(wide * z[i] * fine) * grid) * inverse",
           ON_GRID + "every_noisy_sum_is_on_the_grid_next_to_it"),
    Mutant("a noisy sum as it comes in torch", "engine/noise.py",
           "on_grid(part + scales * z, scales)", "(part + scales * z)",
           ON_GRID + "every_noisy_sum_is_on_the_grid_next_to_it"),
    Mutant("division by the drawn lot", "engine/work.py",
           "        lots = self._lots.draw(step)\n",
           "        lots = self._lots.draw(step)\n"
           "        self._noise.expected_lot = max(1.0, float(lots.counts[0]))\n",
           TRAIN + "the_mean_gradient_is_over_the_expected_lot_not_the_drawn_one"),
    Mutant("sum divided by its own lot", "engine/kernels/linear.py",
           "                sums[k, f * outputs + c] = total[c, f]",
           "                sums[k, f * outputs + c] = total[c, f] / max(1, counts[k])",
           LOOP),
    Mutant("one lot for all candidates", "engine/lots.py",
           "fill_tile(key, purpose, candidates[k], step, block, tile)",
           "fill_tile(key, purpose, candidates[0], step, block, tile)",
           OWN_LOTS),
    Mutant("the same lot every step", "engine/lots.py",
           "fill_tile(key, purpose, candidates[k], step, block, tile)",
           "fill_tile(key, purpose, candidates[k], uint32(0), block, tile)",
           OWN_LOTS),
    Mutant("lots of a fixed size", "engine/lots.py",
           "        counts[k] = count\n", "        counts[k] = int(n * q)\n",
           LOTS + "every_row_is_a_coin_of_probability_q"),
    Mutant("a long lot is cut", "engine/lots.py",
           "            if longest <= self._rows.shape[1]:\n",
           "            np.minimum(self._counts, self._rows.shape[1], out=self._counts)\n"
           "            if True:\n",
           LOTS + "a_lot_larger_than_the_buffer_is_whole"),
    Mutant("one noise for all candidates", "engine/normal.py",
           "fill_tile(key, purpose, candidate, step, uint32((first + start) // 16), tile)",
           "fill_tile(key, purpose, uint32(0), step, uint32((first + start) // 16), tile)",
           OWN_NOISE),
    Mutant("the same noise every step", "engine/normal.py",
           "fill_tile(key, purpose, candidate, step, uint32((first + start) // 16), tile)",
           "fill_tile(key, purpose, candidate, uint32(0), uint32((first + start) // 16), tile)",
           OWN_NOISE),
    Mutant("the noise repeats within a step", "engine/normal.py",
           "fill_tile(key, purpose, candidate, step, uint32((first + start) // 16), tile)",
           "fill_tile(key, purpose, candidate, step, uint32(0), tile)",
           OWN_NOISE),
    Mutant("a stream used twice", "randomness/streams.py",
           "if self._used.get(candidate, -1) >= first:", "if False:",
           TRAIN + "production_resumes_with_fresh_noise_and_uses_no_stream_twice"),
    Mutant("used streams forgotten after a failure", "engine/train.py",
           "claim.last = work.step + 1  # before the streams are read, not after",
           "claim.last = work.step - 12",
           TRAIN + "a_failure_in_the_middle_still_uses_up_its_streams"),
    Mutant("no clip in the linear kernel", "engine/kernels/linear.py",
           "factor = clip_factor(square, bounds[k], automatic[k])\n                for c",
           "factor = float32(1)\n                for c",
           LOOP),
    Mutant("NaN passes the compiled clip", "engine/kernels/loss.py",
           "return float32(factor) if math.isfinite(norm) and factor >= SMALLEST else float32(-1)",
           "return float32(factor)",
           NOT_FINITE),
    Mutant("zero times NaN in the two-layer kernel", "engine/kernels/two_layer.py",
           "h[i] = h[i] if finite else float32(0)", "h[i] = h[i]",
           NOT_FINITE),
    Mutant("NaN passes the clip in torch", "engine/clipping.py",
           "return torch.nan_to_num_(values, nan=0.0, posinf=0.0, neginf=0.0)",
           "return values",
           NOT_FINITE),
    Mutant("norm without the bias", "engine/examples.py",
           "squares = np.bincount(owner, values.astype(np.float64) ** 2, matrix.shape[0]) + 1",
           "squares = np.bincount(owner, values.astype(np.float64) ** 2, matrix.shape[0])",
           LOOP),
    Mutant("norm of the last layer only", "engine/kernels/two_layer.py",
           "clip_factor(output_square * hidden_square + d1_square * square, bound, automatic)",
           "clip_factor(output_square * hidden_square, bound, automatic)",
           LOOP),
    Mutant("automatic clipping without its offset's side", "engine/kernels/loss.py",
           "limit / (norm + AUTOMATIC_OFFSET)",
           "limit / (norm - AUTOMATIC_OFFSET)",
           LOOP),
    Mutant("duplicate columns are not summed", "engine/examples.py",
           "    matrix.sum_duplicates()", "    matrix.sorted_indices()",
           SUMS + "a_column_stored_twice_is_its_sum"),
    Mutant("a wrong label counts", "engine/kernels/loss.py",
           "counts = present and label >= 0 and label < z.size", "counts = present",
           SUMS + "a_target_that_means_nothing_contributes_nothing"),
    Mutant("module: norm of the last layer only", "engine/module.py",
           "        add_squares(g.numpy(), squares.numpy())\n",
           "        squares.zero_()\n        add_squares(g.numpy(), squares.numpy())\n",
           MODULE + "equal_to_a_loop"),
    Mutant("module: rows scored together", "engine/module.py",
           "vmap(vmap(one, in_dims=(None, 0)), in_dims=(0, None))(named(self, params), x[0])",
           "vmap(lambda m, r: functional_call(self._copy(), m, (r,)), in_dims=(0, None))("
           "named(self, params), x[0])",
           MODULE + "no_example_reaches_another"),
    Mutant("squares of small gradients vanish", "engine/kernels/loss.py",
           "square += float64(z[c]) * float64(z[c])", "square += z[c] * z[c]",
           SUMS + "a_tiny_loss_gradient_times_a_huge_row_is_clipped"),
    Mutant("module: threads share one", "engine/module.py",
           "return deepcopy(self.module, {id(tensor): tensor for tensor in tensors})",
           "return self.module",
           MODULE + "every_use_has_its_own_structure_around_the_same_tensors"),
    Mutant("the root is constant", "randomness/streams.py",
           "self._set_up(os.urandom(32), ", "self._set_up(bytes(32), ",
           STREAMS + "simulation_repeats_and_production_never_does"),
    Mutant("the root is kept like the coins", "randomness/streams.py",
           "self._set_up(os.urandom(32), ", "self._set_up(coins or os.urandom(32), ",
           STREAMS + "resumed_run_keeps_its_coins_and_nothing_else"),
    Mutant("noise from the root that is kept", "randomness/streams.py",
           "COINS = (Purpose.COINS, Purpose.SUBSET)",
           "COINS = (Purpose.COINS, Purpose.SUBSET, Purpose.SCORES)",
           STREAMS + "resumed_run_keeps_its_coins_and_nothing_else"),
    Mutant("no step size of the theorem", "engine/rules.py",
           "effective = k.learning_rate / (k.noise + k.stability)",
           "effective = k.learning_rate / (k.noise * 2 + k.stability)",
           RULES + "adam_without_second_moments_by_hand"),
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=name)
def test_the_line_is_there(mutant: Mutant) -> None:
    check_line(mutant)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=name)
def test_the_bug_is_caught(mutant: Mutant, tmp_path: Path) -> None:
    check_caught(mutant, tmp_path)
