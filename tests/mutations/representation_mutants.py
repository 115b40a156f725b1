"""Bugs of how rows become numbers: what is asked before a search, and what other rows could tell.

The questions have their noise in `noise_mutants`; here they are left out of the bill, or answered
with more than a record's own share.
"""

from seeded import Mutant

PAID = "tests/planning/test_questions.py::test_"
EITHER = PAID + "questions_are_paid_for_in_either_role"
CHARGED = PAID + "the_ledger_is_charged_for_the_questions"
COUNTED = PAID + "histograms_are_counted"
AFTER = "tests/privacy/test_after_gaussian.py::test_"
FAILING = AFTER + "what_follows_may_fail_with_some_probability"
SCALE = "tests/schema/test_row_scale.py::test_"
OWN_CELLS = SCALE + "rows_are_scaled_by_their_own_cells"
OLD = "tests/formats/test_old_formats.py::test_fields_added_since_leave_old_fingerprints_alone"
TEXTS = "tests/schema/test_texts_images.py::test_texts_keep_the_contract"

NO_SCALE = "        if self.row_scale is None:\n            del"
COSTS = "planning/role_costs.py"
TOTAL = "levels[0] + rises @ above"
COUNTS = "exact = np.bincount(bins[known], minlength=8 * OCTAVES)"

MUTANTS = [
    Mutant("questions are free", COSTS,
           "    if before is None:\n", "    if True:\n", EITHER + "[untuned]"),
    Mutant("questions are free before one training", COSTS,
           "Composition(before, whole)", "Composition(whole)", EITHER + "[untuned]"),
    Mutant("questions are free before a search", COSTS,
           "return epsilon_after_gaussian(lambda d: priced(procedure, bound, *runs, d), noise,"
           " delta)",
           "return priced(procedure, bound, *runs, delta)", EITHER + "[random-repeats]"),
    Mutant("questions are free of a validation record", COSTS,
           "priced_after(other, self.bound, before, self._scores, delta)",
           "priced_after(other, self.bound, None, self._scores, delta)", EITHER + "[composition]"),
    Mutant("questions are free of a training record", COSTS,
           "priced_after(self.procedure, self.bound, before, self._trains, delta)",
           "priced_after(self.procedure, self.bound, None, self._trains, delta)",
           EITHER + "[composition]"),
    Mutant("questions are not in the ledger's epsilon", "planning/plan.py",
           "cost = max(roles.epsilon(delta, before).values())",
           "cost = max(roles.epsilon(delta).values())", CHARGED + "[untuned]"),
    Mutant("questions are not in the ledger's curve", "planning/plan.py",
           "curve = curve + guarantee.rdp_curve(before)", "curve = curve", CHARGED + "[untuned]"),
    Mutant("the search is planned without the questions", "planning/make.py",
           "self.chosen, self.bound, before, (run, run), delta, composes",
           "self.chosen, self.bound, None, (run, run), delta, composes",
           PAID + "the_search_gets_what_is_left_and_all_of_it[untuned]"),
    Mutant("the share is ignored", "planning/questions.py",
           "math.sqrt(histograms / share)", "math.sqrt(histograms)", COUNTED),
    Mutant("all histograms with the noise of one", "planning/questions.py",
           "math.sqrt(histograms / share)", "math.sqrt(1 / share)", COUNTED),
    Mutant("all histograms for the price of one", "planning/questions.py",
           "len(self.columns))", "1)", COUNTED),
    Mutant("the norms of rows are free", "planning/questions.py",
           "(one.event for one in self)", "(one.event for one in self[:1])", COUNTED),
    Mutant("a whole budget for a share", "planning/questions.py",
           "return math.exp(brentq(excess,", "return 1.2 * math.exp(brentq(excess,",
           PAID + "a_whole_share_is_the_whole_budget[1.0]"),
    Mutant("after a Gaussian: the smaller of two levels", "privacy/after_gaussian.py",
           TOTAL, "levels[0] + rises[:-1] @ above[1:] + rises[-1] * above[-1]", FAILING),
    Mutant("after a Gaussian: without the last term", "privacy/after_gaussian.py",
           TOTAL, "levels[0] + rises[:-1] @ above[:-1]", FAILING),
    Mutant("after a Gaussian: only where the loss is above its level", "privacy/after_gaussian.py",
           TOTAL, "rises @ above", FAILING),
    Mutant("after a Gaussian: the loss of the other direction", "privacy/after_gaussian.py",
           "ndtr((mu**2 / 2 - (epsilon", "ndtr((-(mu**2) / 2 - (epsilon", FAILING),
    Mutant("Gaussians cost what the dearest does", "privacy/guarantee.py",
           "precision = math.fsum(", "precision = max(", COUNTED),
    Mutant("Gaussians alike cost what one does", "privacy/guarantee.py",
           "count / _sampled(atom, count)[1] ** 2 for", "1 / _sampled(atom, 1)[1] ** 2 for",
           COUNTED),
    Mutant("row norms: a row is counted twice", "schema/learn.py", COUNTS,
           "exact = np.bincount(np.repeat(bins[known], 2), minlength=8 * OCTAVES)",
           SCALE + "a_row_answers_once_however_many_cells_it_has"),
    Mutant("row norms: a row is in two bins", "schema/learn.py", COUNTS,
           COUNTS + "\n    exact[1:] += exact[:-1]",
           SCALE + "a_row_answers_once_however_many_cells_it_has"),
    Mutant("row norms: a row of zeros is counted", "schema/learn.py", COUNTS,
           "exact = np.bincount(bins, minlength=8 * OCTAVES)",
           SCALE + "a_row_answers_once_however_many_cells_it_has"),
    Mutant("row norms: read off the exact counts", "schema/learn.py",
           "clear = np.where(noisy > noise", "clear = np.where(exact > noise",
           SCALE + "every_count_is_noised_and_nothing_else_is_read"),
    Mutant("row norms: the mean of the rows where nothing stands out", "schema/learn.py",
           "if clear.any() else typical", "if clear.any() else float(norms.mean())",
           SCALE + "every_count_is_noised_and_nothing_else_is_read"),
    Mutant("row norms: of cells, not of rows", "schema/scaling.py",
           '        return _squares(inputs)\n',
           '        return _squares(inputs.reshape(-1, 1))\n',
           SCALE + "a_row_answers_once_however_many_cells_it_has"),
    Mutant("rows are scaled by the mean of all rows", "schema/scaling.py",
           "    norms = np.sqrt(squares)\n",
           "    norms = np.sqrt(np.full_like(squares, squares.mean() if len(squares) else 0))\n",
           OWN_CELLS + "[{'row_norm': 2.0}-False]"),
    Mutant("counts are scaled by the whole table", "schema/scaling.py",
           "factors = _factors(BLOCK_NORM, sum(map(_squares, parts), np.zeros(len(inputs))))",
           "squares = sum(map(_squares, parts), np.zeros(len(inputs)))\n"
           "        factors = _factors(BLOCK_NORM, np.full_like(squares, squares.sum()))",
           OWN_CELLS + "[{}-False]"),
    Mutant("stored counts are scaled by the whole table", "schema/scaling.py",
           "_row_squares(np.where(own, data, 0), of_row, rows)",
           "np.full(rows, (np.where(own, data, 0.0) ** 2).sum())", OWN_CELLS + "[{}-True]"),
    Mutant("texts are scaled by all texts", "schema/scaling.py",
           "_factors(norm, squared_norms(encoded))[_rows_of(encoded)]",
           "norm / max(1e-9, squared_norms(encoded).sum() ** 0.5)", TEXTS),
    Mutant("a missing target shows the cells of a headerless table", "schema/encode.py",
           "opened.check([schema.target.column])", "opened.check(_names(schema))",
           "tests/schema/test_patterns.py::test_a_missing_target_shows_no_name_either"),
    Mutant("a table given as a code book is quoted", "schema/codebook.py",
           "if 2 * len(unknown) > len(row):", "if False:",
           "tests/schema/test_codebook.py::test_a_table_given_by_mistake_is_not_quoted[book.csv]"),
    Mutant("a view of bytes is its address", "schema/cells.py",
           "isinstance(value, (bytes, bytearray, memoryview))", "isinstance(value, bytes)",
           "tests/schema/test_source_sql.py::test_bytes_of_any_type_are_text"),
    Mutant("a spline between the smallest and the largest cell", "schema/kinds/numeric.py",
           "knots = np.array(self.knots)",
           "knots = np.array(self.knots)\n        if len(values):\n"
           "            knots[0], knots[-1] = values.min(), values.max()",
           "tests/schema/test_splines.py::test_other_cells_move_no_knot"),
    Mutant("a missing cell is the mean of the others", "schema/kinds/numeric.py",
           "values = np.clip(np.where(np.isnan(values), self.missing_value, values), *self.range)",
           "values = np.clip(np.where(np.isnan(values), np.nanmean([*values, self.missing_value]), "
           "values), *self.range)",
           "tests/schema/test_splines.py::"
           "test_a_missing_cell_is_its_declared_number_or_a_case_apart"),
    Mutant("texts by a vocabulary of the column", "schema/tokens.py",
           "at = (runs % np.uint64(buckets)).astype(np.int64)",
           "at = np.unique(runs, return_inverse=True)[1] % buckets", TEXTS),
    Mutant("words of all texts are counted", "schema/tokens.py",
           "present.data[:] = RUN_WEIGHT**longer",
           "present.data[:] = RUN_WEIGHT**longer * np.log1p(len(found))",
           "tests/schema/test_texts_images.py::test_many_texts_are_read_part_by_part"),
    Mutant("old fingerprints change: row_scale", "schema/schema.py",
           NO_SCALE, NO_SCALE.replace("self.row_scale is None", "False"), OLD),
    Mutant("old fingerprints change: the target's ignore_case", "schema/schema.py",
           "if not self.target.ignore_case:", "if False:", OLD),
    Mutant("old fingerprints change: encode", "schema/kinds/numeric.py",
           'frozenset({"encode", "bins", "edges", "scale"})',
           'frozenset({"bins", "edges", "scale"})', OLD),
    Mutant("a fingerprint that does not see row_scale", "schema/schema.py",
           NO_SCALE, NO_SCALE.replace("self.row_scale is None", "True"), OLD),
]  # fmt: skip
