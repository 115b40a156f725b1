"""Bugs of choices on public rows: protected rows have a part in them, or nobody is told."""

from seeded import Mutant

CHOICE = "tests/runner/test_public_choice.py"
CLI = "tests/cli/test_public_cli.py"
ALONE = CHOICE + "::test_the_plan_is_that_of_the_setting_alone"
CARD = CHOICE + "::test_the_card_says_so"

MUTANTS = [
    Mutant("public: settings are compared on the protected table", "cli/tune.py",
           "spec = _chosen(spec, public, executor, console)",
           "spec = _chosen(spec, table, executor, console)",
           CLI + "::test_a_file_names_public_rows_beside_it"),
    Mutant("public: the protected table is called public", "cli/tune_tables.py",
           '(("test", tested, "accuracy"), ("public", chosen, "best setting"))',
           '(("test", tested, "accuracy"),)',
           CLI + "::test_the_table_itself_is_not_public[True]"),
    Mutant("public: the protected X is called public", "estimator/search.py",
           "        if any(X is part for part in _parts(self.public)):", "        if False:",
           "tests/estimator/test_estimator_public.py::test_what_is_wrong_is_one_line"),
    Mutant("public: the card does not say so", "release/card_builder.py",
           "chosen_on=spec.chosen_on,", "chosen_on=None,", CARD),
    Mutant("public: the card calls it covered", "release/card_builder.py",
           "*(() if spec.chosen_on is None else (spec.chosen_on.not_covered,)),", "", CARD),
    Mutant("public: the sentences of the card leave it out", "release/card.py",
           "            *_chosen_on(self),\n", "", CARD),
    Mutant("public: the ledger does not know", "planning/plan.py",
           "**({} if spec.chosen_on is None else {CHOSEN_ON: spec.chosen_on.public()}),", "",
           ALONE),
    Mutant("public: any setting is called chosen", "planning/spec.py",
           "if [dict(one) for one in settings] != [self.chosen_on.setting]:", "if False:",
           CHOICE + "::test_a_choice_goes_with_its_setting"),
    Mutant("public: a search of protected rows as well", "runner/choosing.py",
           "    if spec.procedure not in (AUTO, Untuned.name):", "    if False:",
           CHOICE + "::test_bad_input_is_one_line[changes2-public2-procedure='composition']"),
    Mutant("public: more noise than the plan has", "runner/choosing.py",
           "self.plan.noise_multiplier * schedule.lot_size / self.plan.training.lot_size",
           "self.plan.noise_multiplier",
           CHOICE + "::test_public_rows_train_with_the_noise_of_the_plan[5000-60-300]"),
    Mutant("public: models are scored on rows they saw", "runner/choosing.py",
           "yield order[~held], order[held]", "yield order, order[held]",
           CHOICE + "::test_no_row_is_scored_by_a_model_that_saw_it"),
    Mutant("public: the largest loss wins", "runner/choosing.py",
           "better = scores if metric.larger_is_better else -scores", "better = scores",
           CHOICE + "::test_numbers_are_chosen_by_the_smaller_loss"),
]  # fmt: skip
