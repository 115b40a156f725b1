"""Bugs by which a record shows in something else than noise: a warning, a type, an exception."""

from seeded import Mutant

RECORD = "tests/neighbours/test_neighbours.py::test_a_record_looks_like_a_null_record"
FEATURES = "tests/schema/test_texts_images.py::"
ROWS = "tests/neighbours/test_neighbour_rows.py::test_other_rows_are_encoded_alike"

MUTANTS = [
    Mutant("a tiny cell makes NumPy warn", "schema/scaling.py",
           'np.multiply(values, factors, out=values, dtype=np.float64, casting="same_kind")',
           "np.multiply(values, np.asarray(factors, np.float32), out=values)",
           RECORD + "[run, row norm]"),
    Mutant("classes of the type that y has", "estimator/search.py",
           "        self._check_classes(schema)\n",
           "        self._check_classes(schema)\n"
           "        if str(getattr(target, 'dtype', '')) == 'object':\n"
           "            self.class_dtype = str\n", RECORD + "[search, pandas]"),
    Mutant("a word in y decides whether fit raises", "estimator/search.py",
           "if self._simulates and schema.target.classes is not None:",
           "if schema.target.classes is not None:", RECORD + "[search, numbers for words]"),
    Mutant("a target that is none decides whether fit raises", "estimator/search.py",
           "if self._simulates:  # never for", "if True:  # never for",
           RECORD + "[search, lists for numbers]"),
    Mutant("a complex cell empties its column", "schema/cells.py",
           "        if isinstance(value, Complex):", "        if False:", ROWS),
    Mutant("text in another encoding makes a run raise", "schema/sources/csv.py",
           'encoding=how, errors="replace"', 'encoding=how, errors="strict"',
           "tests/schema/test_source_csv.py::test_undecodable_cells_become_replacement_characters"),
    Mutant("rows decide on the encoding", "schema/sources/csv.py",
           're.split(rb"[\\r\\n]", line, maxsplit=1)[0].decode(UTF8)',
           "path.read_bytes().decode(UTF8)",
           "tests/schema/test_source_csv.py::test_rows_do_not_decide_on_the_encoding"),
    Mutant("a cell of a database makes a run raise", "schema/sources/sqlite.py",
           "        made.text_factory = _decoded  # the usual one raises if a cell is not UTF-8\n",
           "", "tests/schema/test_source_sql.py::test_any_type_of_cell_in_any_column"),
    Mutant("text that is none makes a run raise", "schema/cells.py",
           "column, kind = column.cast(TEXT), pa.large_binary()", "return column.cast(TEXT)",
           RECORD + "[run, parquet of text]"),
    Mutant("a huge target makes fit raise", "estimator/inputs.py",
           "    if _is_column(y):", "    if False:", RECORD + "[search, polars lenient]"),
    Mutant("a row without a target is refused", "schema/target.py",
           "            return np.maximum(cells.places(self.classes, self.ignore_case), -1)\n",
           "            if (cells.places(self.classes) < 0).any():\n"
           "                raise ValueError('target: some cells are missing')\n"
           "            return np.maximum(cells.places(self.classes, self.ignore_case), -1)\n",
           RECORD + "[run, untuned]"),
    Mutant("the log counts missing targets", "schema/target.py",
           "            return np.maximum(cells.places(self.classes, self.ignore_case), -1)\n",
           "            import logging\n"
           "            log = logging.getLogger('honestdp')\n"
           "            log.info((cells.places(self.classes) < 0).sum())\n"
           "            return np.maximum(cells.places(self.classes, self.ignore_case), -1)\n",
           RECORD + "[run, untuned]"),
    Mutant("runs of words go on into the next text", "schema/tokens.py",
           "inside = row[longer:] == row[:-longer]", "inside = row[longer:] >= row[:-longer]",
           FEATURES + "test_runs_of_words_end_with_their_text_and_weigh_less"),
    Mutant("an image less the mean of all images", "schema/gradients.py",
           "block -= block.mean(axis=0, dtype=np.float64)",
           "block -= block.mean(dtype=np.float64)",
           FEATURES + "test_an_images_features_depend_on_it_alone_to_the_last_bit[size0-1]"),
]  # fmt: skip
