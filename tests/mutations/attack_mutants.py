"""Bugs of what an attacker can do: each would call a release less revealing than it is."""

from seeded import Mutant

ATTACK = "tests/privacy/test_attack.py"
COMPOSED = "tests/privacy/test_composed.py"
PLAN = "tests/planning/test_plan_attack.py"
LEDGER = "tests/ledger/test_ledger_attack.py"
GOLDEN = "tests/golden/test_attacks.py"
PAGE = "tests/report/test_report_page.py"
ENUMERATED = ATTACK + "::test_no_test_does_better_and_the_best_nearly_as_well"
GAUSSIAN = ATTACK + "::test_gaussians_have_closed_forms[1.0]"
PAIR = ATTACK + "::test_randomised_response_and_the_worst_of_all[1.0]"
STORED = COMPOSED + "::test_stored_points_are_never_below[profile0]"

MUTANTS = [
    Mutant(
        "attack: one direction of neighbours",
        "privacy/profile.py",
        "self._directions = [_Losses(distribution._pmf_remove)]",
        "self._directions = [_Losses(distribution._pmf_add)]",
        GOLDEN + "::test_a_training_and_riskcal_agrees",
    ),
    Mutant("attack: delta at zero is read further out", "privacy/attack.py",
           "    shrunk = np.exp(-losses)\n    return min(1.0, float(np.min((1 + deltas * shrunk)",
           "    shrunk = np.exp(-losses)\n    return min(1.0, float(np.min((1 + deltas[-1] * "
            "shrunk)",
           GAUSSIAN),
    Mutant("attack: every loss is nothing", "privacy/attack.py",
           "    shrunk = np.exp(-losses)\n", "    shrunk = np.ones_like(losses)\n", GAUSSIAN),
    Mutant("attack: a swap is one step", "privacy/attack.py",
           "        swapped=success_swapped(losses, deltas),",
           "        swapped=success(losses, deltas),", GAUSSIAN),
    Mutant("attack: points of the curve are joined", "privacy/attack.py",
           "    corners, values = kept.polygon\n",
           "    corners, values = touched[order := np.argsort(touched)], tail.at(touched[order])\n",
           GAUSSIAN),
    Mutant("attack: corners are rounded up", "privacy/attack.py",
           "math.floor(less / digit) * digit", "(math.floor(less / digit) + 1) * digit",
           GAUSSIAN),
    Mutant("attack: mu at the middle alone", "privacy/attack.py",
           "    half = corners + values <= 1 + 1e-9",
           "    half = abs(corners + values - 1) <= np.min(abs(corners + values - 1)) + 1e-9",
           ATTACK + "::test_a_training_is_no_gaussian_and_mu_covers_it"),
    Mutant("attack: more is put aside than is said", "privacy/attack.py",
           "(values[half] - aside) / (1 - aside)", "(values[half] - 0.05) / 0.95", GAUSSIAN),
    Mutant("attack: stored deltas are rounded down", "privacy/points.py",
           "math.ceil(delta / digit) * digit:.6g}\")\n    return min(1.0, "
            "rounded if rounded >= delta",
           "math.floor(delta / digit) * digit:.6g}\")\n    return min(1.0, "
            "rounded if True", STORED),
    Mutant("attack: between stored points the next counts", "privacy/points.py",
           "    share = np.expm1(into) / np.expm1(wide)", "    share = np.ceil(into / wide)",
            STORED),
    Mutant("attack: beyond the last stored point is nothing", "privacy/points.py",
           "found * (1 + 1e-12))\n\n    def to_dict",
           "found * (epsilons < self.epsilons[-1]))\n\n    def to_dict",
           COMPOSED + "::test_stored_points_are_never_below[profile4]"),
    Mutant("attack: what is put aside tells nothing", "privacy/points.py",
           "found = self._aside + (1 - self._aside) * ", "found = (1 - self._aside) * ", PAIR),
    Mutant("attack: the dearer price counts", "privacy/points.py",
           "if price <= epsilon), default", "if price <= 2 * epsilon), default",
           COMPOSED + "::test_a_price_as_a_profile"),
    Mutant("attack: equal profiles count once", "privacy/composed.py",
           "counts[profile] = counts.get(profile, 0) + 1", "counts[profile] = 1",
           COMPOSED + "::test_gaussians_and_trainings[False]"),
    Mutant("attack: a hull below the points", "privacy/composed.py",
           "    found: Floats = np.clip(deltas[a] + share *",
           "    found: Floats = np.clip(deltas[b] + 0 * share *",
           COMPOSED + "::test_gaussians_and_trainings[False]"),
    Mutant("attack: losses end before they do", "privacy/composed.py",
           "pld.repeated(_losses(profile, ends[profile][1], step), count)",
           "pld.repeated(_losses(profile, ends[profile][0] / 2, step), count)",
           COMPOSED + "::test_gaussians_and_trainings[False]"),
    Mutant("attack: questions before tell nothing", "planning/role_costs.py",
           "    if before is None:\n        return profile_of(",
           "    if True:\n        return profile_of(",
           PLAN + "::test_questions_before_are_in_it[random-repeats]"),
    Mutant("attack: questions are left out of a plan", "planning/plan.py",
           "self.role_costs.profile(self.delta, self.questions.event)",
           "self.role_costs.profile(self.delta, None)",
           PLAN + "::test_a_plan_has_its_questions_in_it"),
    Mutant("attack: scores tell nothing", "planning/role_costs.py",
           "        if self.scoring is not None:\n            found.append(profile_after(",
           "        if False:\n            found.append(profile_after(",
           PLAN + "::test_the_worst_of_the_roles_counts[validation]"),
    Mutant("attack: an evaluation tells nothing", "planning/role_costs.py",
           "            found.append(guarantee.profile(asked))", "            pass",
           PLAN + "::test_the_worst_of_the_roles_counts[test]"),
    Mutant("attack: a calibration tells nothing", "planning/role_costs.py",
           "        for counts in self._counts.values():\n            asked =",
           "        for counts in filter(None, [self.testing]):\n            asked =",
           PLAN + "::test_the_worst_of_the_roles_counts[calibration]"),
    Mutant("attack: the profile of another procedure", "procedures/checks.py",
           "    if _says_itself(type(procedure)):", "    if True:",
           PLAN + "::test_what_costs_more_than_it_inherits_is_not_taken_for_that"),
    Mutant("attack: only the last charge counts", "privacy/spending.py",
           "    together = composed(own)\n", "    together = composed(own[-1:])\n",
           LEDGER + "::test_charges_compose_as_losses"),
    Mutant("attack: the curve of one charge for all", "privacy/spending.py",
           "compose(spendings).best_profile())", "compose(spendings[:1]).best_profile())",
           LEDGER + "::test_charges_compose_as_losses"),
    Mutant("attack: a selection for the profile of a run", "procedures/random_repeats.py",
           "return guarantee.profile(Selection(run, self.runs))", "return guarantee.profile(run)",
           "tests/testing/test_procedures.py::"
            "test_every_procedure_keeps_the_contract[random-repeats]"),
    Mutant("attack: the report shows one figure for both", "report/view_model.py",
           "worst = in_100(guess_chance(epsilon, delta))", "worst = right",
           PAGE + "::test_the_figure_of_the_release_and_the_worst_case"),
    Mutant("attack: figures are rounded down", "text.py",
           "math.ceil(1000 * share) / 10", "math.floor(1000 * share) / 10",
           PLAN + "::test_it_is_what_the_plan_costs_or_less[untuned]"),
]  # fmt: skip
