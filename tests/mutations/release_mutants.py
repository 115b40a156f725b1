"""Bugs of what leaves and of what is kept to go on with."""

from seeded import Mutant

RESUME = "tests/resume/test_resume.py"
CARD = "tests/release/test_card.py"
FILES = "tests/release/test_model_files.py"
LEAKS = "tests/search/test_search_leaks.py"

MUTANTS = [
    Mutant("coins drawn anew", "run.py", "Randomness(journal.coins)", "Randomness()", RESUME),
    Mutant("a second charge for one run", "sealing.py",
           "own = None if journal.nonce is None else ledger.charge_of(journal.nonce)",
           "own = None", RESUME),
    Mutant("a copy is published too", "release/publish.py",
           "or card.digest != left.what:", "or False:", RESUME),
    Mutant("told to the ledger before it is kept", "release/publish.py",
           "        journal.stage({**files, CARD: _written(plan, card)})\n", "        pass\n",
           RESUME),
    Mutant("gone on with by another ledger", "sealing.py", "elif journal.begun:", "elif False:",
           RESUME),
    Mutant("gone on with on other rows", "resume/journal.py",
           "elif self._state.rows != whole.digest():", "elif False:", RESUME),
    Mutant("a nonce is charged twice", "ledger/budget.py",
           "if nonce is not None and any(charge.nonce == nonce for charge in chain.charges):",
           "if False:", "tests/ledger/test_ledger.py"),
    Mutant("a damaged state is gone on with", "resume/state.py",
           'if facts.get("sha256") != _digest(found):', "if False:", RESUME),
    Mutant("another's files are removed", "resume/journal.py",
           "if self._private.is_symlink() or {one.name for one in self._private.iterdir()} - ours:",
           "if False:", RESUME),
    Mutant("a model that cannot leave is paid for", "run.py",
           "    check_can_leave(plan, models)\n", "", FILES),
    Mutant("another's net answers", "release/model_files.py",
           "if len(answers) != len(known) or not all(map(_close, answers, known)):", "if False:",
           FILES),
    Mutant("a folder's model is not looked at", "release/card.py",
           "        _check_model(Path(folder), card)\n", "        pass\n", CARD),
    Mutant("bounds learnt twice", "resume/journal.py",
           "if self._state.bounds is None:", "if True:", RESUME),
    Mutant("kept after the release", "resume/journal.py",
           "        remove_files(self._private, (STATE, *FILES, LOCK))\n", "", RESUME),
    Mutant("kept for all to read", "private_files.py", "os.O_TRUNC, 0o600)", "os.O_TRUNC, 0o644)",
           RESUME),
    Mutant("the state grows with K", "resume/state.py",
           "        return write_tensors(made, {",
           '        made["work"] = made["work"][: 1 + len(state.at_work)].clone()\n'
           "        return write_tensors(made, {", RESUME),
    Mutant("two work in one folder", "private_files.py",
           "fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)", "pass", RESUME),
    Mutant("a simulation is gone on with for real", "resume/state.py",
           'if facts.get("seed") != self._facts["seed"]:', "if False:", RESUME),
    Mutant("another plan is gone on with", "resume/state.py",
           'if facts.get("plan") != self._facts["plan"]:', "if False:", RESUME),
    Mutant("the card's length tells who won", "release/publish.py",
           "return card.to_json(room_for(card.winner, might) if card.winner else 0)",
           "return card.to_json(0)", LEAKS),
    Mutant("the model's length tells who won", "release/model_files.py",
           "        room = room_for(file.winner, might)", "        room = 0", LEAKS),
    Mutant("any card will do", "release/card.py",
           "if charge.left.what != card.digest:", "if False:", CARD),
]  # fmt: skip
