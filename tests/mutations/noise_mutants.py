"""For every source of noise: none, a tenth too little, one stream for ever, one for all.

The sources are those of docs/arithmetic.md. "Fixed": every run draws the same noise; "shared":
candidates, draws or columns do.
"""

from __future__ import annotations

from seeded import Mutant

SOURCES = "tests/runner/test_noise_sources.py::test_"
SCALE, OWN, FRESH = (
    SOURCES + name
    for name in (
        "the_scale_is_the_one_that_was_priced",
        "every_stream_is_its_own",
        "noise_is_fresh",
    )
)


def bugs(
    source: str, file: str, line: str, none: str, less: str, fixed: str, shared: str
) -> list[Mutant]:
    """The four bugs of one source, each a change to one line of its file."""
    return [
        Mutant(f"{source}: no noise", file, line, none, SCALE),
        Mutant(f"{source}: nine tenths of the noise", file, line, less, SCALE),
        Mutant(f"{source}: fixed noise", file, line, fixed, FRESH),
        Mutant(f"{source}: shared noise", file, line, shared, OWN),
    ]


WIDTH = "return self.multipliers[rows] * UNITS"
TRAINING = "streams = (self.key, np.uint32(Purpose.NOISE), self.candidates[rows], np.uint32(step))"
IN_TORCH = """            self.key, Purpose.NOISE, numbers, step, scales, part.shape[1], part.device
"""
SCORES = "randomness.rounded_normals(Purpose.SCORES, draw.number, 0, scale, len(units))"
PICK = "randomness.uniform(Purpose.SCORES, draw.number, 0).gumbel(scale)"
BOUNDS = "self._randomness.rounded_normals(Purpose.BOUNDS, stream, 0, scale, amount)"
ROW_NORMS = "scale = learn_row_scale(unscaled.inputs, typical, noise, self._noise)"
COUNTED = "learn_numbers(schema, self._opened, noise, self._noise, only=only)"
LEARN = "tests/schema/test_schema_learn.py::test_every_count_is_noised_and_nothing_else_is_read"


CHECK = "self.randomness.rounded_normals(Purpose.CHECK, 0, 0, scale, amount)"


TEST = "randomness.rounded_normals(Purpose.TEST, stream, 0, deviation, len(exact))"


def of_categories(draws: str) -> str:
    """Categories counted with other noise."""
    other = f"lambda s, n: {draws} if kind is AboutCategories else self._noise(s, n)"
    return COUNTED.replace("self._noise", other)


def of_rows(draws: str) -> str:
    """The norms of rows counted with other noise."""
    return ROW_NORMS.replace("self._noise)", f"lambda s, n: {draws})")


MUTANTS = [
    Mutant("training: no noise", "engine/noise.py", WIDTH, WIDTH + " * 0", SCALE),
    Mutant("training: nine tenths of the noise", "engine/noise.py", WIDTH, WIDTH + " * 0.9", SCALE),
    Mutant("training: fixed noise", "engine/noise.py", TRAINING,
           TRAINING.replace("self.key", "np.zeros_like(self.key)"), FRESH),
    Mutant("training: shared noise", "engine/noise.py", TRAINING,
           TRAINING.replace("self.candidates[rows]", "np.zeros_like(self.candidates[rows])"), OWN),
    *bugs(
        "training in torch", "engine/noise.py", IN_TORCH,
        IN_TORCH.replace("scales", "scales * 0 + 1e-30"),
        IN_TORCH.replace("scales", "scales * 0.9"),
        IN_TORCH.replace("self.key", "np.zeros_like(self.key)"),
        IN_TORCH.replace("numbers", "np.zeros_like(numbers)"),
    ),
    *bugs(
        "scores", "runner/scoring.py", SCORES,
        SCORES + " * 0",
        SCORES.replace("scale", "0.9 * scale"),
        SCORES.replace("randomness", "Randomness.simulation(9)"),
        SCORES.replace("draw.number", "0"),
    ),
    *bugs(
        "pick", "runner/scoring.py", PICK,
        PICK + " * 0",
        PICK.replace("scale", "0.9 * scale"),
        PICK.replace("randomness", "Randomness.simulation(9)"),
        PICK.replace("draw.number", "0"),
    ),
    *bugs(
        "check of the table", "runner/checking.py", CHECK,
        CHECK + " * 0",
        CHECK.replace("scale", "0.9 * scale"),
        CHECK.replace("self.randomness", "Randomness.simulation(9)"),
        CHECK.replace("amount", "1") + ".repeat(amount)",
    ),
    *bugs(
        "evaluation", "runner/evaluating.py", TEST,
        TEST + " * 0",
        TEST.replace("deviation", "0.9 * deviation"),
        TEST.replace("randomness", "Randomness.simulation(9)"),
        TEST.replace("stream", "0"),
    ),
    Mutant("evaluation: the noise of bounds", "runner/evaluating.py",
           TEST, TEST.replace("TEST", "BOUNDS"), SOURCES + "sources_do_not_share_a_stream"),
    Mutant("check of the table: the noise of bounds", "runner/checking.py",
           CHECK, CHECK.replace("CHECK", "BOUNDS"), SOURCES + "sources_do_not_share_a_stream"),
    *bugs(
        "learnt bounds", "runner/private_data.py", BOUNDS,
        BOUNDS + " * 0",
        BOUNDS.replace("scale,", "0.9 * scale,"),
        BOUNDS.replace("self._randomness", "Randomness.simulation(9)"),
        BOUNDS.replace("stream,", "0,"),
    ),
    *bugs(
        "row norms", "runner/private_data.py", ROW_NORMS,
        of_rows("0 * self._noise(s, n)"),
        of_rows("self._noise(0.9 * s, n)"),
        of_rows("Randomness.simulation(9).rounded_normals(Purpose.BOUNDS, 1, 0, s, n)"),
        of_rows("self._randomness.rounded_normals(Purpose.BOUNDS, 0, 0, s, n)"),
    ),
    *bugs(
        "counts of categories", "runner/private_data.py", COUNTED,
        of_categories("0 * self._noise(s, n)"),
        of_categories("self._noise(0.9 * s, n)"),
        of_categories("Randomness.simulation(9).rounded_normals(Purpose.BOUNDS, 1, 0, s, n)"),
        of_categories("self._randomness.rounded_normals(Purpose.BOUNDS, 0, 0, s, n)"),
    ),
    Mutant("histograms: counts as they are", "schema/learn.py",
           "(exact * UNITS + draws) / UNITS", "(exact * UNITS + 0 * draws) / UNITS", LEARN),
    Mutant("histograms: four fifths of the noise", "schema/learn.py",
           "_draws(rounded_normals, noise * UNITS, len(exact))",
           "_draws(rounded_normals, 0.8 * noise * UNITS, len(exact))", LEARN),
]  # fmt: skip
