"""Bugs of the reproduction: rows in both parts, noise not planned, marks that are missing."""

from seeded import Mutant

PAPER = "honestdp_reproduction/"
DATA = "tests/datasets/test_datasets.py"
FRONTIER = "reproduction/tests/test_honest_frontier.py"
TRAININGS = "reproduction/tests/test_trainings.py"
EXPERIMENTS = "reproduction/tests/test_experiments.py"
VERDICT = "reproduction/tests/test_verdict.py"
THRESHOLD = "reproduction/tests/test_threshold.py"

MUTANTS = [
    Mutant("rows score what they trained", "datasets/dataset.py",
           "return order[:trains], order[trains:]", "return order[:trains], order[:trains]",
           DATA + "::test_the_split_is_a_fixed_permutation"),
    Mutant("any file is the published one", "datasets/files.py",
           "right = self.digest(found) == self.sha256", "right = True",
           "tests/datasets/test_dataset_files.py::test_a_file_that_holds_something_else"),
    Mutant("a played search sees scores without noise", PAPER + "resample.py",
           "scores[trained, settings] + noise * source.standard_normal(len(draws))",
           "scores[trained, settings] + 0.0 * source.standard_normal(len(draws))",
           FRONTIER + "::test_composition_always_finds_it_and_noise_hides_it"),
    Mutant("pools train with half the noise", PAPER + "frontier_rows.py",
           "FRONTIER_GRIDS[pool.grid].candidates(plan.noise_multiplier, plan.row_norm[0])",
           "FRONTIER_GRIDS[pool.grid].candidates(plan.noise_multiplier / 2, plan.row_norm[0])",
           FRONTIER + "::test_a_pool_trains_with_the_noise_that_was_planned"),
    Mutant("balanced trains with half the noise", PAPER + "balanced.py",
           "noise_multiplier=noise,", "noise_multiplier=noise / 2,",
           "reproduction/tests/test_balanced.py::test_it_trains_with_the_noise_of_its_epsilon"),
    Mutant("heat maps train with half the noise", PAPER + "heatmaps.py",
           "noise_multiplier=which.sigma,", "noise_multiplier=which.sigma / 2,",
           "reproduction/tests/test_heatmaps.py::test_it_trains_with_its_sigma"),
    Mutant("the step size is watched at half the noise", PAPER + "step_size.py",
           "Candidate(noise_multiplier=which.sigma,", "Candidate(noise_multiplier=which.sigma / 2,",
           "reproduction/tests/test_step_size.py::test_it_is_trained_with_its_sigma"),
    Mutant("repetitions share their noise", PAPER + "trainings.py",
           'f"-T{self.steps}-{self.repetition}"', 'f"-T{self.steps}"',
           TRAININGS + "::test_no_two_trainings_share_a_seed"),
    Mutant("the luckiest repetition counts", PAPER + "pruning.py",
           "np.mean([curves.accuracy for curves in kept], axis=0)",
           "np.max([curves.accuracy for curves in kept], axis=0)",
           EXPERIMENTS + "::test_repetitions_are_averaged_before_the_maximum"),
    Mutant("a simulation is not marked", PAPER + "experiment.py",
           'WHAT = f"{SIMULATION}: a seeded', 'WHAT = f"a seeded',
           TRAININGS + "::test_what_a_file_says"),
    Mutant("a pool of other settings is taken for this one", PAPER + "pools.py",
           'known.get("pool") != asdict(pool) or known.get("settings") != _settings(pool)',
           'known.get("pool") != asdict(pool)',
           FRONTIER + "::test_a_file_of_another_pool_is_refused"),
    Mutant("a played search runs as often whatever was asked", PAPER + "frontier_lines.py",
           'known = ("procedure", "hit_probability", "mean_runs", "shape")',
           'known = ("procedure", "mean_runs", "shape")',
           FRONTIER + "::test_plans_are_the_planners_and_fit_the_epsilon"),
    Mutant("the bias is moved by the rows that score it", PAPER + "threshold.py",
           "(scores > cut(own, known)) == wanted", "(scores > cut(scores, wanted)) == wanted",
           THRESHOLD + "::test_the_threshold_is_the_training_rows"),
    Mutant("one that passes is enough", PAPER + "verdict.py",
           "    if all(found):\n", "    if any(found):\n", VERDICT + "::test_all_some_none"),
]  # fmt: skip
