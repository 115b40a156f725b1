"""Bugs of what leaves and of what is kept to go on with."""

from seeded import Mutant

RESUME = "tests/resume/test_resume.py"
CARD = "tests/release/test_card.py"
FILES = "tests/release/test_model_files.py"
LEAKS = "tests/search/test_search_leaks.py"
PLANTED = "tests/leaks/test_planted_values.py"
FIT = "tests/estimator/test_estimator_fit.py"

MUTANTS = [
    Mutant("coins drawn anew", "run.py", "Randomness(journal.coins)", "Randomness()", RESUME),
    Mutant("a second charge for one run", "sealing.py",
           "own = None if journal.nonce is None else ledger.charge_of(journal.nonce)",
           "own = None", RESUME),
    Mutant("a copy is published too", "release/publish.py",
           "or card.digest != left.what:", "or False:", RESUME),
    Mutant("told to the ledger before it is kept", "release/publish.py",
           "    journal.stage({**files, CARD: _written(plan, card)})\n", "", RESUME),
    Mutant("what is done is done again", "resume/journal.py",
           "if self._steps > state.done:", "if True:", RESUME),
    Mutant("bounds learnt twice", "resume/journal.py",
           "if self._state.bounds is None:", "if True:", RESUME),
    Mutant("kept after the release", "resume/journal.py",
           "            self.close()\n            shutil.rmtree(self._private)\n",
           "            self.close()\n", RESUME),
    Mutant("kept for all to read", "private_files.py", "os.O_TRUNC, 0o600)", "os.O_TRUNC, 0o644)",
           RESUME),
    Mutant("the state grows with K", "resume/state.py",
           "        return write_tensors(made, self._facts)",
           '        made["work"] = made["work"][: 1 + len(state.at_work)].clone()\n'
           "        return write_tensors(made, self._facts)", RESUME),
    Mutant("two work in one folder", "private_files.py",
           "fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)", "pass", RESUME),
    Mutant("a simulation is gone on with for real", "resume/state.py",
           'if facts.get("simulated") != self._facts["simulated"]:', "if False:", RESUME),
    Mutant("another plan is gone on with", "resume/state.py",
           'if facts.get("plan") != self._facts["plan"]:', "if False:", RESUME),
    Mutant("the card's length tells who won", "release/publish.py",
           "return card.to_json(room_for(card.winner, might) if card.winner else 0)",
           "return card.to_json(0)", LEAKS),
    Mutant("the model's length tells who won", "release/model_files.py",
           "room = room_for(file.winner, might) if file.winner else 0", "room = 0", LEAKS),
    Mutant("any card will do", "release/card.py",
           "if charge.left.what != card.digest:", "if False:", CARD),
    Mutant("at any head", "release/card.py",
           "if charge.left is None or charge.left.head != entry.head:", "if False:", CARD),
    Mutant("a card for nothing", "release/card.py",
           "exclude={\"ledger\"}", "exclude={\"ledger\", \"guarantee\"}", CARD),
    Mutant("a simulation's card is not marked", "release/card_of.py",
           'mark=SIMULATION if simulated else "",', 'mark="",', CARD),
    Mutant("a simulation's numbers are not marked", "release/model_files.py",
           '{"honestdp": SIMULATION if simulated else "model"}', '{"honestdp": "model"}', CARD),
    Mutant("a score of a pick is shown", "release/publish.py",
           "    if not plan.shows_scores:\n        return None\n", "", CARD),
    Mutant("altered numbers are read", "release/model_files.py",
           "if sha256(files[TENSORS]) != file.tensors_sha256:", "if False:", FILES),
    Mutant("another run's card is read", "release/saved.py",
           "if card.model_sha256 != sha256(files[MODEL]):", "if False:", FILES),
    Mutant("a schema is inferred for real", "estimator/search.py",
           "if self._infers and not self._simulates:", "if False:", FIT),
    Mutant("protected rows are scored", "estimator/search.py",
           "if not self.release_.simulated and public is not True:", "if False:", FIT),
    Mutant("losers reach the logger", "estimator/search.py",
           "if self.on_candidate is not None and not plan.shows_all:", "if False:", FIT),
]  # fmt: skip
