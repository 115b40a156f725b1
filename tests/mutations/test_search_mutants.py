"""Tests of the search's tests: a privacy bug, put in, must make a test fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from seeded import Mutant, check_caught, check_line, name

PLAN = "tests/search/test_make_plan.py"
RUN = "tests/search/test_search_run.py"
LEAKS = "tests/search/test_search_leaks.py"
BAD_INPUT = "tests/run/test_run_bad_input.py"
PURE = "tests/privacy/test_pure.py"
LAWS = "tests/laws/test_runs.py"

MUTANTS = [
    Mutant("training noise halved", "training.py",
           "candidates(plan.noise_multiplier, ", "candidates(plan.noise_multiplier / 2, ", RUN),
    Mutant("raw scores", "select.py", "(exact + scale * ndtri(uniforms))", "exact", RUN),
    Mutant("score noise halved", "select.py",
           "scale = scoring.noise * plan.sensitivity",
           "scale = scoring.noise * plan.sensitivity / 2", RUN),
    Mutant("one noise for all scores", "select.py",
           "randomness.uniforms(Purpose.SCORES, draw.number, 0, 1)[0]",
           "randomness.uniforms(Purpose.SCORES, 0, 0, 1)[0]", RUN),
    Mutant("Gaussian noise for the pick", "select.py",
           "return exact - scale * np.log(-np.log1p(-uniforms))",
           "return exact + scale * ndtri(uniforms)", RUN),
    Mutant("a ranking for the price of a pick", "select.py", "    if plan.shows_scores:",
           "    if True:", RUN),
    Mutant("a pick priced at half", "planning/sides.py", "Pure(1 / noise)", "Pure(0.5 / noise)",
           PLAN),
    Mutant("scores are free of charge", "planning/plan.py",
           "if not max(costs.values()) <= allowed.epsilon:",
           'if not costs["training"] <= allowed.epsilon:',
           f"{PLAN}::test_a_dearer_score_is_charged"),
    Mutant("the ledger sees the training side only", "planning/sides.py",
           "return found.maximum(self._validator.curve(*self._scores, delta))", "return found",
           PLAN),
    Mutant("a score through one run, not the procedure", "planning/sides.py",
           "return Untuned(self.procedure.candidates)\n        return self.procedure",
           "pass\n        return Untuned(self.procedure.candidates)", PLAN),
    Mutant("bounds learnt for nothing", "planning/plan.py",
           "return compose([self.learnt, search]) if self.learnt else search", "return search",
           PLAN),
    Mutant("the whole budget beside the bounds", "planning/plan.py",
           "left = _less(epsilon, spec.learn_share * epsilon), _less(delta, own)",
           "left = epsilon, delta", PLAN),
    Mutant("shares that round up", "planning/plan.py", "while rest + part > whole:", "while False:",
           PLAN),
    Mutant("best of K priced as one run", "planning/procedures.py",
           "    def curve(self, run: Event, final: Event, delta: float) -> RdpCurve:\n"
           "        return guarantee.rdp_curve(Repeated(run, self.candidates))",
           "    def curve(self, run: Event, final: Event, delta: float) -> RdpCurve:\n"
           "        return guarantee.rdp_curve(run)", PLAN),
    Mutant("a plan may be changed", "planning/plan.py",
           "if not max(costs.values()) <= allowed.epsilon:", "if False:", PLAN),
    Mutant("a plan without scores", "planning/sides.py",
           "            if not isinstance(procedure, Untuned) or score_noise is not None:",
           "            if False:", PLAN),
    Mutant("everyone trains", "private_data.py",
           "Part(_examples(encoded, training), ",
           "Part(_examples(encoded, np.arange(plan.spec.rows)), ", RUN),
    Mutant("split by position", "private_data.py",
           'order = np.argsort(draws, kind="stable")', "order = np.arange(len(draws))", RUN),
    Mutant("the subset's own size in the divisor", "private_data.py",
           "Part(_with_null(encoded, training[chosen[training]]), first),",
           "Part(_with_null(encoded, training[chosen[training]]),\n"
           "                 Schedule(first.steps, 0.125 * chosen[training].sum(), 0.125)),", RUN),
    Mutant("lots by the subset's own size", "private_data.py",
           "Schedule(steps, q * plan.share * plan.training.n, q),",
           "Schedule(steps, q * plan.share * plan.training.n),", RUN),
    Mutant("the subset trains again", "private_data.py", "np.flatnonzero(~chosen)",
           "np.arange(len(chosen))", RUN),
    Mutant("the final training reuses a stream", "training.py", "_FINAL = 2**32 - 2", "_FINAL = 0",
           RUN),
    Mutant("one run more", "select.py",
           "procedure.runs.draw(_coin(randomness, 0))",
           "1 + procedure.runs.draw(_coin(randomness, 0))", RUN),
    Mutant("K forgets its cap", "privacy/runs.py",
           "self.law.probabilities(min(largest, self.cap - 1))",
           "self.law.probabilities(largest)", LAWS),
    Mutant("K cut without a word", "planning/plan.py",
           "law.beyond(LARGEST_DRAW) > 1e-9 * defaults.delta(spec)", "False", PLAN),
    Mutant("settings by turns, not drawn", "select.py",
           "Draw(i, math.floor(coin * settings))", "Draw(i, i % settings)", RUN),
    Mutant("ties to the first", "select.py",
           "key=lambda outcome: (-outcome.score, outcome.coin)",
           "key=lambda outcome: -outcome.score", RUN),
    Mutant("the best above the threshold, not the first", "select.py",
           "return [*kept, *first][:1]",
           "return sorted([*kept, *first], key=lambda o: -o.score)[:1]", RUN),
    Mutant("losers leave", "release.py",
           "everyone = tuple(fitted) if plan.shows_all else ()", "everyone = tuple(fitted)", RUN),
    Mutant("losers are kept", "select.py", "        return ranked[:1]\n", "        return ranked\n",
           RUN),
    Mutant("the winner's memory holds the losers", "release.py",
           "            o.parameters.clone(),",
           "            torch.stack([o.parameters] * (1 + o.draw.number))[0],", LEAKS),
    Mutant("progress tells K", "training.py",
           "progress=told if report and plan.shows_all else None",
           "progress=told if report else None", LEAKS),
    Mutant("failures tell all", "sealing.py",
           "        if plan.shows_all or receipt is None:\n            raise\n        kind",
           "        raise\n        kind", LEAKS),
    Mutant("opened before it is paid for", "run.py",
           "    charged = paid(plan, ledger, receipt)  # spent now, even if we crash\n",
           "    PrivateData.open(plan, table, target, Receipt(0, '', '', 1, 1), randomness)\n"
           "    charged = paid(plan, ledger, receipt)\n",
           "tests/run/test_run_processes.py"),
    Mutant("never released", "run.py",
           "head = ledger.release(charged) if ledger and charged else None", "head = None", RUN),
    Mutant("any ledger pays", "sealing.py", "        if found != value:", "        if False:",
           BAD_INPUT),
    Mutant("any receipt will do", "sealing.py",
           "if receipt.plan_fingerprint != fingerprint(plan.public()):", "if False:", BAD_INPUT),
    Mutant("a cheap receipt for a dear plan", "sealing.py",
           "if not charge.pays_for(plan.spending, ledger.opening.orders):", "if False:", RUN),
    Mutant("many trainings for the price of one", "planning/plan.py",
           "if isinstance(self.procedure, Untuned) and len(self.grid) != 1:", "if False:", PLAN),
    Mutant("a ledger's run with a seed", "sealing.py",
           "if ledger is not None and seed is not None:", "if False:", BAD_INPUT),
    Mutant("pure mechanisms at a quarter", "privacy/curve.py",
           "slope = epsilon * min(epsilon, 2.0) / 2", "slope = epsilon * min(epsilon, 2.0) / 8",
           PURE),
    Mutant("a pure profile without its other half", "privacy/profile.py",
           "return less / (1 + math.exp(-self._epsilon))",
           "return less / (1 + math.exp(self._epsilon))", PURE),
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=name)
def test_the_line_is_there(mutant: Mutant) -> None:
    check_line(mutant)


FAST = ("raw scores", "losers leave", "split by position")


@pytest.mark.parametrize(
    "mutant",
    [m if m.name in FAST else pytest.param(m, marks=pytest.mark.slow) for m in MUTANTS],
    ids=name,
)
def test_the_bug_is_caught(mutant: Mutant, tmp_path: Path) -> None:
    check_caught(mutant, tmp_path)
