"""A tenth less noise and its like, for every procedure: what the audits of known power are for."""

from seeded import Mutant

AUDIT = "tests/audit/test_release_law.py::test_what_is_released_has_the_law_claimed"
SEARCHES = ("composition", "random-stopping", "random-repeats", "threshold", "subset-tuning")


def mutant(name: str, file: str, good: str, bad: str, procedure: str) -> Mutant:
    return Mutant(f"{name}, {procedure}", file, good, bad, f"{AUDIT}[{procedure}]")


MUTANTS = [
    *(mutant("training noise x 0.9", "planning/plan.py",
             "candidates(self.noise_multiplier, ", "candidates(0.9 * self.noise_multiplier, ", one)
      for one in ("untuned", *SEARCHES)),
    *(mutant("score noise x 0.9", "runner/scoring.py",
             "scale = scoring.noise * UNITS", "scale = 0.9 * scoring.noise * UNITS", one)
      for one in SEARCHES),
    mutant("noise x 0.9 in the search alone", "runner/training.py",
           "[every[draw.setting] for draw in draws]",
           "[replace(every[draw.setting], "
           "noise_multiplier=0.9 * self.plan.noise_multiplier) for draw in draws]",
           "subset-tuning"),
    mutant("noise x 0.9 in the last training alone", "runner/training.py",
           "return for_lots(candidate, rest.steps,",
           "candidate = replace(candidate, noise_multiplier=0.9 * candidate.noise_multiplier)\n"
           "    return for_lots(candidate, rest.steps,",
           "subset-tuning"),
    mutant("every row in every lot", "runner/private_data.py",
           "return Schedule(steps, first), None", "return Schedule(steps, first, 1.0), None",
           "random-repeats"),
    mutant("rows in more lots than claimed", "runner/private_data.py",
           "return Schedule(steps, first), None",
           "return Schedule(steps, first, min(1.0, 1.2 * q)), None", "threshold"),
    mutant("one run more than drawn", "procedures/draws.py",
           "count = runs.draw_exactly(coin(0))\n    return",
           "count = 1 + runs.draw_exactly(coin(0))\n    return",
           "random-repeats"),
]  # fmt: skip
