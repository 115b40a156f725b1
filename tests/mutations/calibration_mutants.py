"""Bugs of the recalibration: rows of two roles, or counts that cost more than is said.

Its noise is in `noise_mutants`.
"""

from seeded import Mutant

RUN = "tests/runner/test_calibrating.py::test_"
PLAN = "tests/planning/test_calibration_part.py::test_"
DATA, COSTS, CALIBRATING = (
    "runner/private_data.py",
    "planning/role_costs.py",
    "runner/calibrating.py",
)
THRESHOLD = "threshold_of(plan.spec.decision_threshold, None if found is None else found.share)"
ROWS = "data.of(winner.draw).calibration"

MUTANTS = [
    Mutant("calibration: on test rows", CALIBRATING, ROWS, "data.of(winner.draw).test.all",
           RUN + "a_test_row_changes_nothing_before_the_evaluation[untuned]"),
    Mutant("calibration: on training rows", CALIBRATING, ROWS, "data.of(winner.draw).train.rows",
           RUN + "a_training_row_is_not_counted"),
    Mutant("calibration: its rows train too", DATA,
           "training=np.sort(order[:cut])",
           "training=np.sort(np.r_[order[:cut], order[search:last]])",
           RUN + "a_calibration_row_neither_trains_nor_chooses[untuned]"),
    Mutant("calibration: its rows choose too", DATA,
           "validation=np.sort(order[cut:search])", "validation=np.sort(order[cut:last])",
           RUN + "the_parts_are_disjoint"),
    Mutant("calibration: its rows test too", DATA,
           "test=np.sort(order[last:])", "test=np.sort(order[search:])",
           RUN + "the_parts_are_disjoint"),
    Mutant("calibration: its rows train after the search", DATA,
           "    rest[calibration] = False\n", "",
           RUN + "a_calibration_row_neither_trains_nor_chooses[subset-tuning]"),
    Mutant("calibration: the threshold from test rows", CALIBRATING, THRESHOLD,
           "float((data.of(winner.draw).test.all.targets == 1).float().mean())",
           RUN + "a_test_row_changes_nothing_before_the_evaluation[untuned]"),
    Mutant("calibration: the threshold from exact counts", CALIBRATING, THRESHOLD,
           "float((data.of(winner.draw).calibration.targets == 1).float().mean())",
           RUN + "the_threshold_follows_from_what_is_on_the_card"),
    Mutant("calibration: levels for nothing", "planning/plan.py",
           "times_root(self.calibration_noise, len(self.calibrator.levels))",
           "self.calibration_noise", PLAN + "a_count_has_the_noise_of_its_levels"),
    Mutant("calibration: not in the bill", COSTS,
           '{"test": self.testing, "calibration": self.calibrating}', '{"test": self.testing}',
           PLAN + "noise_too_small_for_the_budget_is_refused"),
    Mutant("calibration: rows of no class as those of another", "evaluation/platt.py",
           "return (BINS * targets + bins).where(known, bins * 0 - 1)",
           "return (BINS * targets.abs() + bins)",
           "tests/evaluation/test_calibrators.py::"
           "test_a_row_is_counted_by_its_class_and_its_log_odds"),
    Mutant("calibration: the exact counts leave", CALIBRATING,
           "counts[level.name] = noisy.astype", "counts[level.name] = exact.astype",
           "tests/runner/test_noise_sources.py::"
           "test_the_scale_is_the_one_that_was_priced"),
]  # fmt: skip
