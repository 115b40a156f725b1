"""Bugs of the checks of a table: of the one that is paid for, and of the one for its keeper."""

from seeded import Mutant

PAID = "tests/schema/test_paid_check.py::test_"
NOISED = PAID + "every_count_is_noised_with_the_scale_that_is_priced"
ERRS = PAID + "it_errs_once_in_a_million"
FILE = "tests/cli/test_check_cli.py::test_a_file_is_marked_too_and_for_its_owner_alone"

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
    Mutant("check: not marked", "schema/table_check.py",
           "return None if self.public else KEEPER", "return None",
           "tests/schema/test_check.py::test_for_whom_it_is"),
    Mutant("check: a file for everybody", "cli/check.py",
           "new_file(out, OWNER)", "new_file(out)", FILE + "[words0]"),
]  # fmt: skip
