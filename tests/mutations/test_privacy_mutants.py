"""Tests of the tests: a privacy bug, put in, must make a test fail.

Each mutant changes one line of a copy of the source to a plausible mistake that would state too
small a cost, and names the test that must notice.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from seeded import Mutant, check_caught, check_line, name

GUARANTEE = "tests/privacy/test_guarantee.py"
SELECTION = "tests/privacy/test_selection.py"
ARITHMETIC = "tests/privacy/test_arithmetic.py"
CALIBRATE = "tests/privacy/test_calibrate.py"
NOTES = "tests/golden/test_notes_section_4.py"
EXACT = "tests/laws/test_selection_exact.py"
RUNS = "tests/laws/test_runs.py"
OWN_LAWS = "tests/laws/test_own_laws.py"
PLAN = "tests/planning/test_plan.py"

MUTANTS = [
    Mutant("count lost", "privacy/guarantee.py",
           "return Counter({atom: n * count for atom, n in _atoms(inner).items()})",
           "return _atoms(inner)", GUARANTEE),
    Mutant("equal events counted once", "privacy/guarantee.py",
           "return sum((_atoms(inner) for inner in events), Counter())",
           "return Counter({a: 1 for inner in events for a in _atoms(inner)})", GUARANTEE),
    Mutant("disjoint parts cost the minimum", "privacy/guarantee.py",
           "reduce(RdpCurve.maximum,", "reduce(RdpCurve.minimum,", GUARANTEE),
    Mutant("disjoint profiles: the smaller side", "privacy/profile.py",
           "return max(profile.epsilon(delta) for profile in self.profiles)",
           "return min(profile.epsilon(delta) for profile in self.profiles)", GUARANTEE),
    Mutant("one direction only", "privacy/profile.py",
           "self._directions = [_Losses(distribution._pmf_remove)]",
           "distribution = type(distribution)(distribution._pmf_add)\n"
           "        self._directions = [_Losses(distribution._pmf_remove)]", GUARANTEE),
    Mutant("optimistic slack", "privacy/profile.py",
           "found * (1 + 1e-9) + self.slack)", "found * (1 - 1e-2))", ARITHMETIC),
    Mutant("infinite loss forgotten", "privacy/profile.py",
           "return self._infinite + np.maximum(inside, 0.0)",
           "return 0.9 * np.maximum(inside, 0.0)", GUARANTEE),
    Mutant("rounding of curves to the wrong side", "privacy/curve.py",
           "* (1 + 1e-8) + (ulps * q * a + cut) / (a - 1)", "* (1 - 1e-8)", ARITHMETIC),
    Mutant("rounding of integer orders to the wrong side", "privacy/curve.py",
           "np.logaddexp(0, log_excess) * (1 + 1e-8) / (a - 1)",
           "np.logaddexp(0, log_excess) * (1 - 1e-8) / (a - 1)", ARITHMETIC),
    Mutant("gaps filled with nothing", "privacy/curve.py",
           "filled[inside] = np.interp(orders[inside], xs, ys) / (orders[inside] - 1)",
           "filled[inside] = 0.0", ARITHMETIC),
    Mutant("classic conversion without its order", "privacy/curve.py",
           "math.log(delta) / (orders - 1)", "math.log(delta) / orders", "tests/paper"),
    Mutant("Lambda left out", "privacy/selection.py",
           "return 0.0 if inner == 0 else self.shift + inner", "return inner", NOTES),
    Mutant("E[K] left out", "privacy/selection.py",
           "inner = self._run.epsilon(min(delta / self.multiplier, 1 - 1e-15))",
           "inner = self._run.epsilon(delta)", NOTES),
    Mutant("profile bound as if K were fixed", "privacy/selection.py",
           "return min(1.0, self.multiplier * self._run.delta(max(0.0, epsilon - self.shift)))",
           "return min(1.0, self.multiplier * self._run.delta(epsilon))", EXACT),
    Mutant("cap ignored", "privacy/selection.py",
           "if c < 1e-9 * gamma:", "if True:", NOTES),
    Mutant("Papernot-Steinke without 1 + eta", "privacy/selection.py",
           "found = found + (1 + runs.shape) * constant", "found = found + constant", SELECTION),
    Mutant("Papernot-Steinke without ln E[K]", "privacy/selection.py",
           "found = values + math.log(runs.mean) / (orders - 1)", "found = values", SELECTION),
    Mutant("a theorem on Poisson for its children", "privacy/selection.py",
           "if type(runs) is Poisson:", "if isinstance(runs, Poisson):", OWN_LAWS),
    Mutant("a theorem on shapes for their children", "privacy/selection.py",
           "return type(runs) is TruncatedNegativeBinomial",
           "return isinstance(runs, TruncatedNegativeBinomial)", OWN_LAWS),
    Mutant("corners of laws of one's own", "privacy/selection.py",
           "if type(runs) in (TruncatedNegativeBinomial, Poisson, Binomial):",
           "if isinstance(runs, TruncatedNegativeBinomial | Poisson | Binomial):", OWN_LAWS),
    Mutant("laws derive from laws", "privacy/runs.py",
           "if any(issubclass(base, RunCount) and base is not RunCount for base in cls.__bases__):",
           "if False:", OWN_LAWS),
    Mutant("Liu-Talwar at twice the run", "privacy/selection.py",
           "return 3 * epsilon + 3 * root,", "return 2 * epsilon + 3 * root,", NOTES),
    Mutant("Liu-Talwar's rounds rounded down", "privacy/selection.py",
           "return math.ceil(math.log(1 / slack) / gamma)",
           "return math.floor(math.log(1 / slack) / gamma)", SELECTION),
    Mutant("Liu-Talwar's delta not squared", "privacy/selection.py",
           "return ((delta - slack) / rounds) ** 2 / 2 * (1 - 1e-12)",
           "return ((delta - slack) / rounds) / 2", SELECTION),
    Mutant("subset tuning: one expression only", "privacy/selection.py",
           "return (max(0.0, float(max(forward, backward))) + ulps) / (a - 1)",
           "return max(0.0, float(min(forward, backward))) / (a - 1)", EXACT),
    Mutant("threshold without a shift", "privacy/selection.py",
           "selection_shift(profile, lambda p: -np.log(s(p)), True))", "0.0)", NOTES),
    Mutant("worst tail from the good side", "privacy/selection.py",
           "return u, np.maximum(g, u)", "return u, u", NOTES),
    Mutant("law of K with the wrong mean", "privacy/runs.py",
           "return (1 - g) / g * _expm1_ratio(self.shape, math.log(g))",
           "return (1 - g) / g / 2 * _expm1_ratio(self.shape, math.log(g))", RUNS),
    Mutant("noise rounded down", "privacy/calibrate.py",
           "math.ceil(value / unit - 1e-9)", "math.floor(value / unit)", CALIBRATE),
    Mutant("budget overspent by a thousandth", "privacy/calibrate.py",
           "            if gap >= -1e-3:", "            if True:", CALIBRATE),
    Mutant("too little noise accepted", "privacy/calibrate.py",
           "        if found > epsilon:", "        if gap > 0.01:", CALIBRATE),
    Mutant("costs compared by rounded logarithms", "privacy/calibrate.py",
           "        if found > epsilon:", "        if gap > 0:", CALIBRATE),
    Mutant("costs shown rounded down", "planning/table.py",
           "rounding=ROUND_CEILING", 'rounding="ROUND_FLOOR"', PLAN),
    Mutant("costs shown rounded to the nearest", "planning/table.py",
           "rounding=ROUND_CEILING", 'rounding="ROUND_HALF_EVEN"', PLAN),
    Mutant("all candidates for the price of one", "planning/procedures.py",
           "return guarantee.epsilon(Repeated(run, self.candidates), delta, bound)",
           "return guarantee.epsilon(run, delta, bound)", NOTES),
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=name)
def test_the_line_is_there(mutant: Mutant) -> None:
    check_line(mutant)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=name)
def test_the_bug_is_caught(mutant: Mutant, tmp_path: Path) -> None:
    check_caught(mutant, tmp_path)
