"""Bugs of the checks of a table: of the one that is paid for, and of the one for its keeper."""

from seeded import Mutant

PAID = "tests/schema/test_paid_check.py::test_"
NOISED = PAID + "every_count_is_noised_with_the_scale_that_is_priced"
ERRS = PAID + "it_errs_once_in_a_million"
FILE = "tests/cli/test_check_cli.py::test_a_file_is_marked_too_and_for_its_owner_alone"

ASKS = "tests/runner/test_checking.py::test_"
BEFORE = ASKS + "the_asking_is_recorded_before_a_row_is_counted"
CHECKING, CHAIN, BUDGET = "runner/checking.py", "ledger/chain.py", "ledger/budget.py"
ASK = "asking = self._ask()  # recorded from here on, even if we crash\n"
COUNT = "noisy = noisy_counts(check, self.plan.spec.schema, table, self._noise, target)\n"
RUN = [
    Mutant("paid check: recorded when it is answered", CHECKING,
           f"{ASK}            {COUNT}", f"{COUNT}            {ASK}", BEFORE),
    Mutant("paid check: recorded nowhere", CHECKING,
           "return self.ledger.ask(self.receipt)", 'return ""', BEFORE),
    Mutant("paid check: its stop is recorded nowhere", CHECKING,
           "charge = self.ledger.stop(self.receipt, asking)",
           "charge = self.ledger.check(self.receipt)", BEFORE),
    Mutant("paid check: before a charge", CHECKING,
           "if self.receipt is None and not self.randomness.simulated:", "if False:",
           ASKS + "nobody_checks_a_table_unpaid"),
    Mutant("paid check: asked although it is left out", CHECKING,
           "        if self.wanted:\n", "        if True:\n", ASKS + "no_check_asks_nothing"),
    Mutant("paid check: a model is trained all the same", CHECKING,
           "            if reasons:\n", "            if False:\n",
           ASKS + "a_stop_keeps_the_charge_and_trains_nothing"),
    Mutant("paid check: an error with rows in its frames", "runner/session.py",
           "return MisfitError(str(error), error.facts)", "return error",
           ASKS + "a_stop_keeps_the_charge_and_trains_nothing"),
    Mutant("paid check: three for the price of one", "planning/questions.py",
           "return Repeated(Gaussian(self.noise_multiplier), CHECKS)",
           "return Gaussian(self.noise_multiplier)", ASKS + "a_plan_pays_for_every_asking"),
    Mutant("paid check: free", "planning/questions.py",
           'object.__setattr__(self, "noise_multiplier", self.check.noise_multiplier)',
           'object.__setattr__(self, "noise_multiplier", 9e5)',
           ASKS + "a_plan_pays_for_every_asking"),
    Mutant("paid check: asked again whenever a run is resumed", "resume/journal.py",
           "self._state.checked = True", "self._state.checked = False",
           ASKS + "a_resumed_run_that_passed_does_not_ask_again"),
    Mutant("paid check: its folder is not free", "resume/journal.py",
           "(self._private / STATE).unlink()", "pass",
           ASKS + "a_stopped_folder_holds_nothing_of_the_run"),
    Mutant("paid check: old fingerprints change", "planning/plan.py",
           "        asked: dict[str, Any] = {}", '        asked: dict[str, Any] = {"check": None}',
           ASKS + "plans_without_a_check_say_nothing_of_it"),
    Mutant("paid check: a charge in use looks stopped", "runner/charging.py",
           "    if charge.stopped:", "    if False:",
           ASKS + "a_charge_that_was_trained_on_unchecked_does_not_move"),
]  # fmt: skip

CHECKS = "tests/ledger/test_checks.py::test_"
ONLY = CHECKS + "a_chain_holds_only_what_may_be"
PRICE = CHECKS + "a_charge_does_not_move_to_a_plan_of_another_price"
KEPT = [
    Mutant("paid check: a fourth asking", BUDGET,
           "if charge.checks_left < 1:", "if charge.checks_left < 0:",
           CHECKS + "no_more_askings_than_are_paid_for"),
    Mutant("paid check: a fourth asking in a chain", CHAIN,
           "or charge.checks_left < 1:", "or charge.checks_left < 0:", ONLY),
    Mutant("paid check: askings are not counted", CHAIN,
           "return self.checks - len(self.askings)", "return self.checks",
           CHECKS + "no_more_askings_than_are_paid_for"),
    Mutant("paid check: of a charge that was released", CHAIN,
           "after = charge and not charge.released and", "after = charge and", ONLY),
    Mutant("a charge moves to any plan", CHAIN,
           "if not charge.stopped or _priced(plan) != _priced(charge.plan):",
           "if not charge.stopped:", PRICE + "[{'steps': 21}]"),
    Mutant("a charge moves to a plan with less noise in its check", CHAIN,
           '"model", "grid", "reason"})', '"model", "grid", "reason", "check"})', PRICE),
    Mutant("a charge moves to a plan of another cost", BUDGET,
           "fits = wanted and charge.pays_for(spending, orders)", "fits = wanted", PRICE),
    Mutant("a charge moves that may be trained on", CHAIN,
           "all(asking.stopped for asking in self.askings)",
           "self.askings[-1].stopped",
           CHECKS + "a_charge_whose_check_may_have_passed_does_not_move"),
    Mutant("a charge moves that was never checked", CHAIN,
           "if not charge.stopped or _priced", "if _priced",
           CHECKS + "a_charge_whose_check_may_have_passed_does_not_move"),
    Mutant("two runs get a stopped charge", CHAIN,
           "plan=dict(plan), nonce=nonce, free=False)", "plan=dict(plan), nonce=nonce, free=True)",
           CHECKS + "only_one_gets_a_stopped_charge"),
    Mutant("a receipt outlives the move of its charge", CHAIN,
           "receipt = replace(charge.receipt, plan_fingerprint=fingerprint(plan))",
           "receipt = charge.receipt",
           CHECKS + "a_stopped_charge_pays_for_another_plan_of_its_cost"),
    Mutant("an amendment to another data set", BUDGET,
           "            self._check_opening(facts)\n            if new", "            if new",
           CHECKS + "an_amended_ledger_is_for_the_new_schema"),
    Mutant("an amendment that is not read", CHAIN,
           'opening = replace(opening, schema=_text(facts["schema"]))', 'pass',
           CHECKS + "an_amended_ledger_is_for_the_new_schema"),
]  # fmt: skip

MUTANTS = [
    Mutant("paid check: counts as they are", "schema/paid_check.py",
           "(exact * UNITS + draws) / UNITS", "(exact * UNITS + 0 * draws) / UNITS", NOISED),
    Mutant("paid check: nine tenths of the noise", "schema/paid_check.py",
           "rounded_normals(check.noise * UNITS,", "rounded_normals(0.9 * check.noise * UNITS,",
           NOISED),
    Mutant("paid check: priced as one question", "schema/paid_check.py",
           "return self.noise / math.sqrt(self.questions) * (1 - 2**-50)",
           "return self.noise * (1 - 2**-50)", NOISED),
    Mutant("paid check: a row answers for each cell", "schema/paid_check.py",
           "found.append(int((2 * bad > there).sum()))", "found.append(int(bad.sum()))",
           PAID + "a_record_moves_each_count_by_at_most_one"),
    Mutant("paid check: an error for each question", "schema/paid_check.py",
           "ndtri(FAILURE / questions)", "ndtri(FAILURE)", ERRS),
    Mutant("paid check: twice the margin", "schema/paid_check.py",
           "margin = rows / 4 - 1 / UNITS", "margin = rows / 2 - 1 / UNITS", ERRS),
    Mutant("paid check: a quarter is most", "schema/paid_check.py",
           "count > check.rows / 2 for count", "count > check.rows / 4 for count",
           PAID + "draws_within_the_margin_decide_rightly"),
    *RUN,
    *KEPT,
    Mutant("check: not marked", "schema/table_check.py",
           "return None if self.public else KEEPER", "return None",
           "tests/schema/test_check.py::test_for_whom_it_is"),
    Mutant("check: a file for everybody", "cli/check.py",
           "new_file(out, OWNER)", "new_file(out)", FILE + "[words0]"),
]  # fmt: skip
