"""The check of a table between the charge and the search, up to CHECKS times a charge.

A check that finds that the table does not fit its schema ends the run before anything is trained.
Its charge is kept and pays for the next attempt: with the corrected table, or, after the schema was
amended, with another plan of the same cost.

Theorem. What all attempts on one charge release together, stops and noisy counts included, costs a
record no more than the charge: the plan's questions, with CHECKS askings of its check, and one
search.
Conditions: (a) an asking is recorded in the ledger, durably, before the rows are asked, and no more
than CHECKS on a charge; (b) each has fresh noise; (c) only one search of the charge is released,
and the ledger says which; (d) every plan that the charge pays for has the same price in each of its
parts: a check's noise multiplier, the other questions, a run, a score, the procedure
(`ledger.chain.moved`); (e) a charge moves to another plan only if each of its askings was answered
and stopped, and no run on it left out the check, which the ledger records before it trains: so
nothing was trained under the plan before; (f) a table is corrected record by
record, in a way that depends on what was released and on public facts alone.
Proof. The attempts are one interaction: asking 1, what was released of it, the choice of a reading
of the table and of a plan, asking 2, ..., at last a search. By (f) neighbouring tables stay
neighbours, whatever was chosen. By (d) each asking, whatever came before it, is dominated by the
pair of one Gaussian of the same noise multiplier (`schema.paid_check`), and the questions and the
search by the pairs that the charge was priced with; by (a) and (c) there are at most CHECKS of the
first and one of the second; by (b) they are independent given what came before. Dominating pairs
compose adaptively (Zhu, Dong and Wang 2022, Theorem 10; Renyi curves likewise: Mironov 2017,
Proposition 1; in the ledger by `privacy.spending.Budget`), and leaving out an asking costs no more
than making it. By (e) no search was begun that another plan could follow. QED

Other charges. Between two attempts other plans may be charged to the ledger and released, and what
they released may decide how an attempt goes on: a charge is one interactive mechanism among others.
A charge with a Renyi curve is a sequence of steps, each with a curve of its own, and these add up
to the charge's; the supermartingale of `Budget` goes from step to step, whichever charge one is of.
A charge known as (epsilon, delta) alone can be answered, question by question, from one draw of
randomised response with these parameters, made at its start (Vadhan and Zhang, Concurrent
Composition Theorems for Differential Privacy, 2023); with such draws in place of the charges the
proof of `Budget` is about plans one after the other again. That their parameters are chosen on the
way is covered as well (Haney and others, Concurrent Composition for Interactive Differential
Privacy with Adaptive Privacy-Loss Parameters, 2023).

A killed process. Before `ask` is recorded nothing was read. After it the asking is used up, whether
or not anybody saw its answer: the run asks again when it is resumed. An asking whose stop was not
recorded looks like one that passed: the charge still pays for its own plan, and moves no more.
Of two processes on one charge each asking is counted under the ledger's lock, one gets a stopped
charge (`Ledger.move`), and one releases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from honestdp.errors import InputError, MisfitError
from honestdp.ledger import Charge, Ledger, Receipt
from honestdp.planning.plan import Plan
from honestdp.randomness import Purpose, Randomness
from honestdp.resume.journal import Journal
from honestdp.runner.progress import Report, tell
from honestdp.schema.paid_check import PaidCheck, decide, noisy_counts, refusal
from honestdp.schema.tables import Table


@dataclass(frozen=True, eq=False, repr=False)
class Checker:
    """Checks the table of one run. wanted: Whether to ask at all, where the plan has a check."""

    plan: Plan
    ledger: Ledger | None
    receipt: Receipt | None
    randomness: Randomness
    journal: Journal
    wanted: bool

    def check(self, table: Table, target: Any, report: Report | None) -> None:
        """Ask whether a table fits its schema; a resumed run that passed does not ask again.

        Args:
            table: The rows. Sensitive: one record moves each count by at most 1, and only noisy
                counts leave this method.
            target: The cells of the target, if they are not a column of the table.
            report: Called with the stage.

        Raises:
            MisfitError: If it does not fit. The charge stands.
            InputError: If all checks of the charge are used, or the ledger cannot be written.
        """
        check = self.plan.check
        if check is None or self.journal.checked:
            return
        if self.wanted:
            if self.receipt is None and not self.randomness.simulated:
                raise InputError("receipt: none; a table is checked only after a charge")
            tell(report, "checking")
            asking = self._ask()  # recorded from here on, even if we crash
            noisy = noisy_counts(check, self.plan.spec.schema, table, self._noise, target)
            reasons = decide(check, noisy)
            if reasons:
                raise self._stop(check, noisy, reasons, asking)
        elif self.ledger is not None and self.receipt is not None:
            self.ledger.leave_unchecked(self.receipt)
        self.journal.passed()

    def _ask(self) -> str:
        if self.ledger is None or self.receipt is None:
            return ""
        return self.ledger.ask(self.receipt)

    def _noise(self, scale: float, amount: int) -> Any:
        return self.randomness.rounded_normals(Purpose.CHECK, 0, 0, scale, amount)

    def _stop(
        self, check: PaidCheck, noisy: list[float], reasons: list[str], asking: str
    ) -> MisfitError:
        """Record the stop, and say what is kept."""
        labels = [*(group.label for group in check.groups), "no known target", "whole rows"]
        facts: dict[str, Any] = {
            "reasons": reasons,
            "rows": check.rows,
            "noise": check.noise,
            "noisy_counts": dict(zip(labels, noisy, strict=True)),
        }
        if self.ledger is None or self.receipt is None:
            kept = "a simulation: nothing was charged"
        else:
            charge = self.ledger.stop(self.receipt, asking)
            facts |= {"charge": charge.receipt.id, "checks_left": charge.checks_left}
            kept = _next_attempt(charge, self.journal.again)
        self.journal.stopped()
        return MisfitError(f"{refusal(reasons)}; {kept}", facts)


def _next_attempt(charge: Charge, again: str) -> str:
    """What is left after a stop, and how to go on."""
    left = charge.checks_left
    checks = "no check is left" if not left else f"{left} check{'s' * (left > 1)} left"
    command = again.startswith("honestdp ")
    resume = f"`{again}`" if command else "run again"
    amend, tune = (
        ("`honestdp ledger amend`", "tune") if command else ("Ledger.amend(schema)", "run")
    )
    return (
        f"charge {charge.receipt.id} stands and pays for the next attempt ({checks}): correct the "
        f"table and {resume}, or correct the schema, {amend} and {tune} again"
    )
