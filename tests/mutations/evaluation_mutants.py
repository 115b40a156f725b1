"""Bugs of the evaluation: rows of two roles, or counts that cost more than is said.

Its noise is in `noise_mutants`.
"""

from seeded import Mutant

RUN = "tests/runner/test_evaluating.py::test_"
COUNTS = "tests/evaluation/test_counts.py::test_"
CURVES = "tests/evaluation/test_curves.py::test_"
DATA, COSTS = "runner/private_data.py", "planning/role_costs.py"

MUTANTS = [
    Mutant("evaluation: test rows train too", DATA,
           "training=np.sort(order[:cut])", "training=np.sort(order)",
           RUN + "rows_of_no_part_see_it[composition]"),
    Mutant("evaluation: test rows choose too", DATA,
           "np.sort(order[cut:search])", "np.sort(order[cut:])",
           RUN + "rows_of_no_part_see_it[composition]"),
    Mutant("evaluation: on rows that chose", DATA,
           "np.sort(order[last:])", "np.sort(order[cut:])",
           RUN + "every_procedure_is_evaluated[composition]"),
    Mutant("evaluation: test rows train after the search", DATA,
           "    rest[test] = False\n", "", RUN + "rows_of_no_part_see_it[subset-tuning]"),
    Mutant("evaluation: a level for nothing", "planning/plan.py",
           "times_root(self.test_noise, len(self.evaluator.levels) + bool(self.spec.groups))",
           "times_root(self.test_noise, len(self.evaluator.levels) - 1 + bool(self.spec.groups))",
           RUN + "groups_cost_noise_and_no_epsilon"),
    Mutant("evaluation: groups for nothing", "planning/plan.py",
           "times_root(self.test_noise, len(self.evaluator.levels) + bool(self.spec.groups))",
           "times_root(self.test_noise, len(self.evaluator.levels))",
           RUN + "groups_cost_noise_and_no_epsilon"),
    Mutant("evaluation: not in the bill", COSTS,
           "            found[role] = guarantee.epsilon(asked, delta)",
           "            found[role] = 0.0", RUN + "a_dearer_evaluation_is_charged"),
    Mutant("evaluation: dearer at some orders", COSTS,
           'if both.epsilon(delta, before)["test"] <= most and not dearer:',
           'if both.epsilon(delta, before)["test"] <= most or not dearer:',
           RUN + "a_test_row_pays_no_more_than_others"),
    Mutant("evaluation: not on the ledger's curve", COSTS,
           "            found = found.maximum(guarantee.rdp_curve(counts))",
           "            pass", RUN + "the_ledger_is_charged_the_dearest_role"),
    Mutant("evaluation: rows that are not there", "engine/score.py",
           "inside = (cell >= 0) & (cell < count) & (present > 0)",
           "inside = (cell >= 0) & (cell < count)",
           RUN + "a_group_without_rows_has_none[numbers]"),
    Mutant("evaluation: rows of no class as those of another", "evaluation/binary.py",
           "return (BINS * targets + bins).where(known, bins * 0 - 1)",
           "return (BINS * targets.abs() + bins)",
           RUN + "one_row_moves_one_count_of_each_level_by_one"),
    Mutant("evaluation: rows of a group packed together", DATA,
           "own.append(replace(rows, present=rows.present * mask))",
           "own.append(_with_null(encoded, test[groups[test] == i]))",
           RUN + "a_group_is_read_in_place"),
    Mutant("evaluation: noise left out of the interval", "evaluation/counts.py",
           "noise += block.noise_variance(gradient)", "noise += 0.0",
           "tests/evaluation/test_coverage.py::test_intervals_hold_the_truth_now_and_then[census]"),
    Mutant("evaluation: sampling left out of the interval", "evaluation/counts.py",
           "sampling += math.sqrt(block.sampling_variance(gradient))", "sampling += 0.0",
           "tests/evaluation/test_coverage.py::test_intervals_hold_the_truth_now_and_then[census]"),
    # Not of privacy: intervals that promise too much.
    Mutant("evaluation: bands without noise", "evaluation/curves.py",
           "    square = down**2 + z**2 * (rows - of_whole)",
           "    of_part = of_whole = both = 0.0\n    square = down**2 + z**2 * (rows - of_whole)",
           CURVES + "the_interval_of_a_share_holds_as_often_as_it_says[40-0.5-4.0]"),
    Mutant("evaluation: bands without sampling", "evaluation/curves.py",
           "    rows = max(down, 0.0)", "    rows = 0.0",
           CURVES + "the_interval_of_a_share_holds_as_often_as_it_says[300-0.3-6.0]"),
    Mutant("evaluation: groups that are noise", "evaluation/base.py",
           "group.rows >= 3 * self.noise", "group.rows >= -99 * self.noise",
           "tests/report/test_report_evaluation.py::test_few_rows_are_told_as_such"),
    Mutant("report: a score without its sampling", "report/score_spread.py",
           "noise**2 + mean * (bound - mean) / scored_rows(declared)", "noise**2",
           "tests/report/test_report_page.py"
           "::test_a_score_of_many_rows_is_no_better_known_than_they_are"),
    Mutant("report: the winner's score as quality", "report/view_model.py",
           "    found = [*_evaluated(card), *_tested(tested)]",
           "    found = [*_evaluated(card), *_tested(tested),"
           ' Tile("Score", score_words(card, declared), "")]',
           "tests/report/test_report_page.py::test_the_score_is_not_shown_as_quality"),
]  # fmt: skip
