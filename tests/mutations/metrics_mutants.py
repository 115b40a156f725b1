"""Bugs of metrics from counts, of the pick by them, and of class weights."""

from seeded import Mutant

COUNTED = "tests/testing/test_counted_metrics.py::test_"
WEIGHTS = "tests/engine/test_class_weights.py::test_"
RUNS = "tests/runner/test_weighted_runs.py::test_"
MOVES = COUNTED + "one_record_moves_what_is_measured_by_at_most_the_units"
NOISE = COUNTED + "every_count_has_the_noise_that_is_paid_for"
HEAVY = WEIGHTS + "a_heavy_record_moves_it_by_no_more_than_the_clip_norm"
TOLD = RUNS + "weights_reach_the_model_the_plan_and_the_card"

MUTANTS = [
    Mutant("metrics: log loss is not clipped", "engine/score.py",
           "values = torch.nan_to_num(values, nan=worst).clamp(0, UNITS)",
           "values = torch.nan_to_num(values, nan=worst)", MOVES + "[log-loss-2]"),
    Mutant("metrics: a row counts twice", "engine/score.py",
           "model, params, examples) * UNITS", "model, params, examples) * (2 * UNITS)",
           MOVES + "[auc-2]"),
    Mutant("metrics: noise of counts too small by the root of 2", "runner/scoring.py",
           "draw.number, 0, scale, len(units))",
           "draw.number, 0, scale / len(units) ** 0.5, len(units))", NOISE),
    Mutant("metrics: one draw of noise for all counts", "runner/scoring.py",
           "draw.number, 0, scale, len(units))", "draw.number, 0, scale, 1)", NOISE),
    Mutant("metrics: AUC from raw counts", "runner/scoring.py",
           "released = (units + noise).astype(np.float64)",
           "released = (units + noise * (len(units) == 1)).astype(np.float64)", NOISE),
    Mutant("metrics: counts of rows that other rows decide", "engine/score.py",
           "if not isinstance(found, Tensor) or found.shape not in (outputs.shape[:2], "
           "targets.shape):", "if False:",
           COUNTED + "cells_of_another_shape_are_never_counted"),
    Mutant("metrics: a pick by pairs, not by pairs a row", "metrics/counted.py",
           "return twice, 2 * rows", "return twice, 2",
           COUNTED + "the_pick_counts_pairs_and_one_row_lowers_it_by_at_most_one"),
    Mutant("metrics: a pick by what is not monotone", "planning/plan.py",
           '        if self.procedure.scoring == "pick":\n', "        if False:\n",
           COUNTED + "what_does_not_fit_is_refused_before_the_charge"),
    Mutant("weights: after the clip, in the kernels", "engine/kernels/loss.py",
           "square += float64(z[c]) * float64(z[c])",
           "square += float64(z[c] / weight) * float64(z[c] / weight)",
           HEAVY + "[('linear', 'dense', False)]"),
    Mutant("weights: after the clip, in torch", "engine/models/linear.py",
           "norms = (square(d) * examples.squares[rows]).sqrt()",
           "d0 = d / torch.as_tensor(self.loss.weight(examples.targets[rows])).unsqueeze(-1)\n"
           "            norms = (square(d0) * examples.squares[rows]).sqrt()",
           HEAVY + "[('linear', 'dense', True)]"),
    Mutant("weights: after the clip, in a network", "engine/models/two_layer.py",
           "squares = square(d2) * hidden + square(d1) * examples.squares[rows]",
           "squares = square(d2) * hidden + square(d1) * examples.squares[rows]\n"
           "            squares = squares / torch.as_tensor(\n"
           "                self.loss.weight(examples.targets[rows])).square()",
           HEAVY + "[('two-layer', 'dense', False)]"),
    Mutant("weights: after the clip, of a module", "engine/models/module.py",
           "                add_clipped(self, gradients, counts, clip.of(rows), into)",
           "                own = self.loss.weight(y)\n"
           "                plain = {n: g / own.view(*g.shape[:2], *[1] * (g.ndim - 2))\n"
           "                         for n, g in gradients.items()}\n"
           "                before = into.clone()\n"
           "                add_clipped(self, plain, counts, clip.of(rows), into)\n"
           "                into += ((into - before) * (own.max() - 1)).to(into.dtype)",
           HEAVY + "[('module', 'dense', False)]"),
    Mutant("weights: the ledger does not know them", "planning/plan.py",
           "            **self.class_weights,\n", "", TOLD),
    Mutant("weights: the card does not say so", "release/card_builder.py",
           "            **plan.class_weights,\n", "", TOLD),
    Mutant("weights: of a model that does not take them", "runner/training.py",
           "if not isinstance(found, Model) or found.loss.weights != weights:", "if False:",
           RUNS + "a_model_that_takes_none_is_refused_before_the_charge"),
]  # fmt: skip
