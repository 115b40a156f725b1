"""Tests of the ledger's tests: a bug, put in, must make a test fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from seeded import Mutant, check_caught, check_line, name

SPENDING = "tests/privacy/test_spending.py"
LEDGER = "tests/ledger/test_ledger.py"
TAMPERING = "tests/ledger/test_tampering.py"
DISK = "tests/ledger/test_disk.py"
PROCESSES = "tests/ledger/test_ledger_processes.py"

MUTANTS = [
    Mutant("decided before the lock is held", "ledger/store.py",
           '_transaction(path, "BEGIN IMMEDIATE") as connection:\n'
           "        chain = _chain(connection)",
           '_transaction(path, "BEGIN") as connection:\n        chain = _chain(connection)\n'
           '        connection.execute("COMMIT")\n        connection.execute("BEGIN")', PROCESSES),
    Mutant("plain BEGIN: racers fail", "ledger/store.py",
           '_transaction(path, "BEGIN IMMEDIATE")', '_transaction(path, "BEGIN")', PROCESSES),
    Mutant("receipt before the commit", "ledger/store.py",
           '            connection.execute("COMMIT")\n        except BaseException:',
           "            pass\n        except BaseException:", LEDGER),
    Mutant("commits need not be durable", "ledger/store.py",
           '"synchronous=EXTRA"', '"synchronous=OFF"', LEDGER),
    Mutant("nobody waits", "ledger/store.py",
           "timeout=BUSY_SECONDS", "timeout=0", PROCESSES),
    Mutant("opening makes a file", "ledger/store.py",
           'connect(path, "rw")', 'connect(path, "rwc")', DISK),
    Mutant("a new ledger overwrites", "ledger/store.py",
           "os.link(draft, path)", "os.replace(draft, path)", LEDGER),
    Mutant("a new ledger grows in place", "ledger/store.py",
           'draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}.new")',
           'draft = path', LEDGER),
    Mutant("triggers not looked for", "ledger/store.py",
           "if found != _SCHEMA:", "if False:", TAMPERING),
    Mutant("replace allowed", "ledger/store.py",
           "WHEN NEW.position IS NOT", "WHEN NEW.position > ", LEDGER),
    Mutant("updates allowed", "ledger/store.py",
           "BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never changed'); END",
           "BEGIN SELECT 1; END", LEDGER),
    Mutant("lock outlives an error", "ledger/store.py",
           "ORDER BY position\").fetchall())", "ORDER BY position\"))", TAMPERING),
    Mutant("release not checked", "ledger/budget.py",
           "    if charge.released:", "    if False:", LEDGER),
    Mutant("any receipt", "ledger/budget.py",
           "if c.receipt == receipt), None)", "if c.receipt.id == receipt.id), None)", LEDGER),
    Mutant("first released for all", "ledger/chain.py",
           "left=left.get(charge.receipt.id)", "left=None", LEDGER),
    Mutant("reserve without asking", "ledger/budget.py",
           "if not budget.covers([*chain.spendings, spending]):", "if False:", LEDGER),
    Mutant("asked as if nothing were spent", "ledger/budget.py",
           "if not budget.covers([*chain.spendings, spending]):",
           "if not budget.covers([spending]):", LEDGER),
    Mutant("roll-back not seen in a session", "ledger/budget.py",
           "if known not in chain.hashes:", "if False:", LEDGER),
    Mutant("head not looked for", "ledger/budget.py",
           "if head is not None and head not in chain.hashes:", "if False:", TAMPERING),
    Mutant("any dataset", "ledger/budget.py",
           '"dataset": dataset, "schema": schema, "epsilon": epsilon',
           '"schema": schema, "epsilon": epsilon', LEDGER),
    Mutant("hash without the body before", "ledger/chain.py",
           'f"{previous}\\n{body}".encode()', 'f"\\n{body}".encode()', TAMPERING),
    Mutant("hash without the amount", "ledger/chain.py",
           'f"{previous}\\n{body}".encode()',
           'f"{previous}\\n{body[body.find(chr(34) + \'kind\'):]}".encode()', TAMPERING),
    Mutant("hashes not compared", "ledger/chain.py",
           "or link(previous, body) != stored:", "or False:", TAMPERING),
    Mutant("total not recomputed", "ledger/chain.py",
           "    if not within:", "    if False:", TAMPERING),
    Mutant("fingerprint not compared", "ledger/chain.py",
           'if fingerprint(plan) != facts["plan_fingerprint"]:', "if False:", TAMPERING),
    Mutant("slack not kept", "ledger/chain.py",
           '"slack": spending.slack,', '"slack": 0.0,', LEDGER),
    Mutant("a time is kept", "ledger/chain.py",
           '"kind": "release",', '"kind": "release", "time": id(receipt),', LEDGER),
    Mutant("two ledgers are the same chain", "ledger/budget.py",
           "nonce=secrets.token_hex(16),", 'nonce="0",', LEDGER),
    Mutant("two copies come to one head", "ledger/chain.py",
           "return secrets.token_hex(16)", 'return "0"', TAMPERING),
    Mutant("delta not shared among orders", "privacy/spending.py",
           "d = (1 - SLACK_SHARE) * self.delta / len(self.orders)",
           "d = (1 - SLACK_SHARE) * self.delta", SPENDING),
    Mutant("slack does not count", "privacy/spending.py",
           "if total.slack > SLACK_SHARE * self.delta:", "if False:", SPENDING),
    Mutant("delta left by slack goes to the orders", "privacy/spending.py",
           "d = (1 - SLACK_SHARE) * self.delta / len(self.orders)",
           "d = (self.delta - total.slack) / len(self.orders)", SPENDING),
    Mutant("either rule, whichever is kinder", "privacy/spending.py",
           "return rule(_Total.of(spendings, self.orders))",
           "return any(r(_Total.of(spendings, self.orders)) for r in (self._basic, self._renyi))",
           SPENDING),
    Mutant("later plans alone", "privacy/spending.py",
           "return rule(_Total.of(spendings, self.orders))",
           "return rule(_Total.of(spendings[-1:], self.orders))", SPENDING),
    Mutant("a curve's largest loss is its epsilon", "privacy/spending.py",
           "return cls(tightest, delta, slack, curve)",
           "return cls(tightest, delta, slack, curve, tightest)", SPENDING),
    Mutant("nearest known order", "privacy/spending.py",
           "line = np.interp(wanted, xs, ys, right=math.inf) / (wanted - 1)",
           "line = np.interp(wanted, xs, ys) / (wanted - 1)", SPENDING),
    Mutant("values themselves interpolated low", "privacy/spending.py",
           "exact.get(a, between) for a, between", "exact.get(a, 0.99 * between) for a, between",
           SPENDING),
    Mutant("pure curve halved", "privacy/curve.py",
           "slope = epsilon * min(epsilon, 2.0) / 2", "slope = epsilon * min(epsilon, 2.0) / 4",
           SPENDING),
    Mutant("a pair without slack", "privacy/spending.py",
           "return cls(e, delta, delta, pure(e), e)", "return cls(e, delta, 0.0, pure(e), e)",
           SPENDING),
    Mutant("slack not taken off delta", "privacy/spending.py",
           "own = curve.epsilon(delta - slack)", "own = curve.epsilon(delta)", SPENDING),
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=name)
def test_the_line_is_there(mutant: Mutant) -> None:
    check_line(mutant)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=name)
def test_the_bug_is_caught(mutant: Mutant, tmp_path: Path) -> None:
    check_caught(mutant, tmp_path)
