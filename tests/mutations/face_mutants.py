"""Bugs of command line, report and planner: a budget forgotten, a promise overstated."""

from seeded import Mutant

TUNE = "tests/cli/test_tune_cli.py"
PAGE = "tests/report/test_report_page.py"
GUESS = "tests/privacy/test_guess.py"
SERVE = "tests/planner/test_serve.py"
LOSSES = "tests/privacy/test_pld.py"

MUTANTS = [
    Mutant("a ledger is made unasked", "cli/tune.py", "    if not yes:\n", "    if False:\n",
           TUNE + "::test_a_ledger_is_made_only_if_the_user_agrees"),
    Mutant("a ledger for every run", "cli/tune.py",
           'return Path(home.with_name(f"{home.name.split(\'.\')[0] or home.name}.ledger"))',
           'return Path(f"{config.path(\'out\')}.ledger")',
           TUNE + "::test_all_runs_on_a_table_share_its_ledger"),
    Mutant("the header is looked at after paying", "cli/tune.py",
           "        if file is not None:\n            file.check(",
           "        if False:\n            file.check(",
           TUNE + "::test_a_table_that_is_not_the_schemas_is_found_before_it_is_paid"),
    Mutant("the table itself is called public", "cli/tune.py",
           "if public is not None and same_table(table, public):", "if data == test:",
           TUNE + "::test_the_table_itself_is_no_public_test"),
    Mutant("a copy of the table is called public", "schema/files.py",
           "            same &= chunk == second.read(_CHUNK)", "            same = False",
           TUNE + "::test_the_table_itself_is_no_public_test"),
    Mutant("only the end of a copy counts", "schema/files.py",
           "            same &= chunk == second.read(_CHUNK)",
           "            same = chunk == second.read(_CHUNK)",
           "tests/schema/test_schema_files.py::test_one_file_by_two_names_or_of_equal_bytes"),
    Mutant("a fault tells its text", "cli/__init__.py", "kind = type(error).__name__",
           "kind = str(error)",
           "tests/cli/test_every_command.py::test_a_fault_in_here_is_told_by_its_kind"),
    Mutant("any ledger stands behind a report", "report/page.py",
           "charge = None if ledger is None else verify(card, ledger)", "charge = None",
           PAGE + "::test_the_ledgers_history"),
    Mutant("column names are markup", "report/page.py", "autoescape=True", "autoescape=False",
           PAGE + "::test_what_is_planted_stays_text"),
    Mutant("a report may fetch", "report/page.py", "\"default-src 'none'\"", "\"default-src *\"",
           PAGE + "::test_nothing_is_fetched"),
    Mutant("pictures of a simulation are not marked", "report/page.py",
           "    if not card.mark:\n        return figure\n", "    return figure\n",
           PAGE + "::test_a_simulation_says_so_in_every_section_and_claims_nothing"),
    Mutant("a guess is thought rarer", "privacy/guess.py",
           "(1 + delta * shrunk) / (1 + shrunk) * _ROUNDING", "1 / (1 + shrunk)",
           GUESS + "::test_known_values"),
    Mutant("a swap for the price of a null", "privacy/guess.py",
           "guess_chance(2 * epsilon,", "guess_chance(epsilon,", GUESS + "::test_known_values"),
    Mutant("half a budget is thought used", "privacy/spending.py",
           "return 1 / low", "return 0.5 / low",
           "tests/privacy/test_spending.py::"
           "test_the_share_used_is_full_where_nothing_more_fits"),
    Mutant("the cheaper direction twice", "privacy/pld.py",
           "map(direction, (AdjacencyType.REMOVE, AdjacencyType.ADD))",
           "map(direction, (AdjacencyType.ADD, AdjacencyType.ADD))",
           LOSSES + "::test_one_step_and_many_are_dp_accountings[0.6-0.007]"),
    Mutant("the tails of losses are cut", "privacy/pld.py",
           "slack = math.log(2 / _TAIL)", "slack = 0.0",
           LOSSES + "::test_the_reach_holds_all_but_the_tail"),
    Mutant("one run fewer is composed", "privacy/pld.py",
           "fft.rfft(probs, fast) ** count", "fft.rfft(probs, fast) ** (count - 1)",
           LOSSES + "::test_one_step_and_many_are_dp_accountings[0.6-0.007]"),
    Mutant("the planner listens to all", "planner/serve.py", 'LOOPBACK = "127.0.0.1"',
           'LOOPBACK = "0.0.0.0"', SERVE + "::test_no_other_site"),
    Mutant("the planner answers by any name", "planner/serve.py",
           "if host not in self.server.hosts:", "if False:", SERVE + "::test_no_other_site"),
]  # fmt: skip
