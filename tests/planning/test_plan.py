"""`honestdp.plan`: its rows, its order, its laws, its errors."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import honestdp
from honestdp import InputError
from honestdp.planning.costs import default_delta
from honestdp.planning.table import _rounded_up

README = {"n": 36177, "lot_size": 250, "steps": 2500, "candidates": 40}
FIELDS = {
    "procedure", "bound", "shape", "expected_runs", "max_runs",
    "hit_probability", "epsilon", "delta", "noise_multiplier",
}  # fmt: skip
PROCEDURES = {
    "untuned": {"rdp-classic", "rdp", "pld"},
    "composition": {"rdp-classic", "rdp", "pld"},
    "random-stopping": {"liu-talwar", "profile"},
    "random-repeats": {"papernot-steinke", "profile"},
    "random-subset": {"subset"},
    "threshold": {"profile"},
    "subset-tuning": {"papernot-steinke", "profile", "subset"},
}


@pytest.fixture(scope="module")
def by_noise():
    return honestdp.cost_table(**README, noise_multiplier=4)


@pytest.fixture(scope="module")
def by_epsilon():
    return honestdp.cost_table(**README, epsilon=1.0)


def row(table, procedure, bound, shape=None):
    rows = [r for r in table.rows if (r.procedure, r.bound, r.shape) == (procedure, bound, shape)]
    assert len(rows) == 1
    return rows[0]


def test_every_procedure_under_every_bound_that_holds(by_noise, by_epsilon) -> None:
    for table in (by_noise, by_epsilon):
        found = {p: {r.bound for r in table.rows if r.procedure == p} for p in PROCEDURES}
        assert found == PROCEDURES
        shapes = {r.shape for r in table.rows if r.procedure == "random-repeats"}
        assert shapes == {0, 1, "poisson"}


def test_cheapest_first_and_the_smallest_bound_marked(by_noise, by_epsilon) -> None:
    for table in (by_noise, by_epsilon):
        answers = [table.answer(r) for r in table.rows]
        assert answers == sorted(answers)
        marked = [(r.procedure, r.shape) for r in table.rows if table.is_smallest(r)]
        assert len(marked) == len(set(marked)) == len({(r.procedure, r.shape) for r in table.rows})


def test_the_figures_of_the_readme(by_noise) -> None:
    assert by_noise.inputs.delta == 1e-6
    assert row(by_noise, "random-repeats", "profile", 1).epsilon == pytest.approx(0.667, abs=1e-3)
    assert row(by_noise, "composition", "pld").epsilon == pytest.approx(2.533, abs=3e-3)
    assert row(by_noise, "random-stopping", "liu-talwar").epsilon == pytest.approx(2.353, abs=2e-3)


def test_runs_and_chances(by_noise) -> None:
    one = row(by_noise, "untuned", "pld")
    assert (one.expected_runs, one.max_runs, one.hit_probability) == (1, 1, 1 / 40)
    all_ = row(by_noise, "composition", "pld")
    assert (all_.expected_runs, all_.max_runs, all_.hit_probability) == (40, 40, 1)
    stop = row(by_noise, "random-stopping", "profile")
    assert stop.max_runs == math.ceil(40 * math.log(1e20))
    assert stop.expected_runs == pytest.approx(40)
    for shape, hit in ((0, 0.345), (1, 0.506), ("poisson", 0.632)):
        repeats = row(by_noise, "random-repeats", "papernot-steinke", shape)
        assert repeats.expected_runs == pytest.approx(40)
        assert repeats.max_runs is None
        assert repeats.hit_probability == pytest.approx(hit, abs=1e-3)


def test_the_two_questions_answer_each_other(by_epsilon) -> None:
    for r in by_epsilon.rows:
        assert 0.995 <= r.epsilon <= 1.0
        back = honestdp.cost_table(**README, noise_multiplier=r.noise_multiplier)
        assert row(back, r.procedure, r.bound, r.shape).epsilon == r.epsilon
        if r.procedure == "random-repeats":
            break  # one full table back is enough; the rest share its code


def test_a_wanted_hit_probability_is_reached_by_every_random_search() -> None:
    table = honestdp.cost_table(**README, noise_multiplier=4, hit_probability=0.9)
    for r in table.rows:
        if r.procedure != "untuned":
            assert r.hit_probability >= 0.9 - 1e-9
    assert row(table, "random-repeats", "profile", 1).expected_runs == pytest.approx(351, abs=1)


@pytest.mark.parametrize(
    "changed",
    [
        {"noise_multiplier": 5},
        {"steps": 2000},
        {"lot_size": 200},
        {"delta": 1e-5},
        {"candidates": 20},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_less_never_costs_more(by_noise, changed) -> None:
    """More noise, fewer steps, smaller lots, larger delta, fewer candidates."""
    cheaper = honestdp.cost_table(**{**README, "noise_multiplier": 4, **changed})
    for r in cheaper.rows:
        assert r.epsilon <= row(by_noise, r.procedure, r.bound, r.shape).epsilon * (1 + 1e-3)


def test_whole_numbers_stay_whole() -> None:
    huge = 10**20 + 1
    table = honestdp.cost_table(n=huge, lot_size=1, steps=1, candidates=1, noise_multiplier=1)
    assert table.inputs.n == huge


def test_one_candidate_costs_one_run() -> None:
    table = honestdp.cost_table(**{**README, "candidates": 1}, noise_multiplier=4)
    for bound in ("rdp-classic", "rdp", "pld"):
        assert row(table, "composition", bound).epsilon == row(table, "untuned", bound).epsilon
    for shape in (0, 1):
        one = row(table, "random-repeats", "profile", shape)
        assert one.epsilon == pytest.approx(row(table, "untuned", "pld").epsilon)


def test_json_has_the_promised_fields_and_only_plain_values(by_noise, by_epsilon) -> None:
    for table in (by_noise, by_epsilon):
        data = json.loads(json.dumps(table.to_dict(), allow_nan=False))
        assert set(data) == {"inputs", "rows"}
        assert all(set(r) == FIELDS for r in data["rows"])


def test_it_shows_well(by_noise, by_epsilon) -> None:
    for table in (by_noise, by_epsilon):
        text, html = str(table), table._repr_html_()
        for r in table.rows:
            assert r.procedure in text
            assert r.procedure in html
        assert "Neighbours" in text
        assert "<table>" in html
        assert max(map(len, text.splitlines())) <= 120


def test_shown_costs_are_rounded_up(by_noise) -> None:
    for r in by_noise.rows:
        assert float(by_noise.cells(r)[6]) >= r.epsilon


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [(1.0000000000009, 4, "1.001"), (1.0, 4, "1.000"), (2.765, 4, "2.765"), (0.0, 4, "0"),
     (1.0000000000009, 2, "1.01"), (123456.5, 4, "123457"), (9.9999, 4, "10.000"),
     (0.06478000000001, 4, "0.06479"), (None, 4, "-"), (1e40, 4, "1" + "0" * 40)],
)  # fmt: skip
def test_no_digit_is_dropped(value, digits, shown) -> None:
    assert _rounded_up(value, digits) == shown


@given(st.floats(5e-324, 1e308), st.sampled_from([2, 4]))
def test_what_is_shown_is_never_below(value, digits) -> None:
    assert float(_rounded_up(value, digits)) >= value


def test_a_shape_that_cannot_hit_so_often_keeps_its_rows_and_says_why() -> None:
    table = honestdp.cost_table(**README, noise_multiplier=4, hit_probability=0.999)
    for procedure in ("random-repeats", "subset-tuning"):
        for bound in ("papernot-steinke", "profile"):
            lost = row(table, procedure, bound, 0)
            assert (lost.expected_runs, lost.hit_probability, lost.epsilon) == (None, None, None)
            assert table.cells(lost)[3:] == ("-",) * 5
        assert any(note.startswith(f"{procedure}, shape 0: no law") for note in table.notes)
        assert row(table, procedure, "profile", 1).epsilon > 0
    json.dumps(table.to_dict(), allow_nan=False)


def test_no_ratio_without_the_tightest_single_run() -> None:
    """One run needs less noise than is searched for, under "pld" but not under "rdp-classic"."""
    table = honestdp.cost_table(**{**README, "steps": 100, "candidates": 10}, epsilon=1e6)
    assert row(table, "untuned", "pld").noise_multiplier is None
    assert any(table.answer(r) is not None for r in table.rows if r.procedure == "untuned")
    assert table.single_run is None
    assert {table.cells(r)[7] for r in table.rows} == {"-"}


@pytest.mark.parametrize(
    ("n", "delta"),
    [(36177, 1e-6), (4137, 1e-5), (5000, 1e-5), (60000, 1e-6), (950_000, 1e-7), (1, 1e-1),
     (10, 1e-2), (11, 1e-3), (1000, 1e-4), (1001, 1e-5)],
)  # fmt: skip
def test_default_delta(n: int, delta: float) -> None:
    assert default_delta(n) == delta
    assert default_delta(n) == pytest.approx(10 ** (math.floor(-math.log10(n)) - 1))


@pytest.mark.parametrize("n", [20, 49, 36177])
def test_a_delta_of_one_in_n_is_refused(n) -> None:
    """Also where delta * n is rounded to less than 1, as 1/49 * 49 is."""
    facts = {"n": n, "lot_size": 5, "steps": 2, "noise_multiplier": 4}
    way = f"must be below 1 in {n} rows.*leave it out for {default_delta(n):g}$"
    for delta in (1 / n, 0.5):
        for ask in (lambda d: honestdp.cost_table(**facts, candidates=2, delta=d),
                    lambda d: honestdp.affordable(**facts, epsilon=1, delta=d)):  # fmt: skip
            with pytest.raises(InputError, match=rf"^delta={delta!r}: {way}"):
                ask(delta)
    found = honestdp.cost_table(**facts, candidates=2, delta=math.nextafter(1 / n, 0))
    assert found.inputs.delta < 1 / n


BAD = [
    ("n", 0), ("n", -5), ("n", 2.5), ("n", math.nan), ("n", "many"), ("n", True),
    ("lot_size", 0), ("lot_size", 40_000), ("lot_size", math.nan), ("lot_size", None),
    ("steps", 0), ("steps", -1), ("steps", math.inf),
    ("candidates", 0), ("candidates", -2), ("candidates", 1.5),
    ("delta", 0), ("delta", 1), ("delta", -1e-6), ("delta", math.nan), ("delta", 2),
    ("noise_multiplier", 0), ("noise_multiplier", -1), ("noise_multiplier", math.nan),
    ("noise_multiplier", math.inf), ("noise_multiplier", 1e200), ("noise_multiplier", 1e-200),
    ("noise_multiplier", 1.1e9), ("noise_multiplier", 0.9e-6),
    ("hit_probability", 0), ("hit_probability", 1), ("hit_probability", math.nan),
    ("subset", 0), ("subset", 1), ("subset", math.nan),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD)
def test_bad_input_names_the_parameter_its_value_and_the_way_out(name, value) -> None:
    with pytest.raises(InputError) as caught:
        honestdp.cost_table(**{**README, "noise_multiplier": 4, name: value})
    message = str(caught.value)
    assert message.startswith(f"{name}={value!r}: ")
    assert "\n" not in message


@pytest.mark.parametrize("name", ["n", "lot_size", "steps", "candidates", "delta"])
@pytest.mark.parametrize("value", [10**400, -(10**400), 10**5000], ids="abc")
def test_numbers_too_large_for_arithmetic(name, value) -> None:
    with pytest.raises(InputError, match=rf"^{name}=") as caught:
        honestdp.cost_table(**{**README, "noise_multiplier": 4, name: value})
    assert len(str(caught.value)) < 120


@pytest.mark.parametrize("shapes", [[None], ["x"], "poisson", None, 1.0, [math.nan], [10**400]])
def test_bad_shapes(shapes) -> None:
    with pytest.raises(InputError, match=r"^shapes?="):
        honestdp.cost_table(**README, noise_multiplier=4, shapes=shapes)


@pytest.mark.parametrize("noise", [0, 1e200, 1e-200, math.nan, "4"])
def test_bad_noise_affords_nothing(noise) -> None:
    with pytest.raises(InputError, match="noise_multiplier="):
        honestdp.affordable(
            n=1000, lot_size=10, steps=10, noise_multiplier=noise, epsilon=1, delta=1e-6
        )


@pytest.mark.parametrize("noise", [1e-6, 1e6])
@pytest.mark.parametrize("lot_size", [1, 1000])
def test_the_ends_of_the_noise(noise, lot_size) -> None:
    """At its limits every row is a number, or says that it has none."""
    table = honestdp.cost_table(
        n=1000, lot_size=lot_size, steps=10, candidates=3, noise_multiplier=noise
    )
    known = [r.epsilon for r in table.rows if r.epsilon is not None]
    assert known
    assert all(math.isfinite(epsilon) for epsilon in known)


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, 1e-9, 1e9])
def test_bad_or_unreachable_epsilon(value) -> None:
    with pytest.raises(InputError, match="epsilon="):
        honestdp.cost_table(n=100, lot_size=50, steps=10, candidates=3, epsilon=value, delta=1e-12)


@pytest.mark.parametrize("both", [{}, {"epsilon": 1, "noise_multiplier": 2}])
def test_exactly_one_question(both) -> None:
    with pytest.raises(InputError, match="exactly one"):
        honestdp.cost_table(**README, **both)


def test_a_bound_without_an_answer_is_null_and_says_so() -> None:
    table = honestdp.cost_table(**README, noise_multiplier=4, delta=1e-30)
    lost = row(table, "random-stopping", "liu-talwar")  # its own delta_2 is above this delta
    assert lost.epsilon is None
    assert table.cells(lost)[6] == "-"
    assert any(note.startswith("-:") for note in table.notes)


def test_what_a_budget_affords() -> None:
    job = {**README, "noise_multiplier": 4, "delta": 1e-6}
    del job["candidates"]
    most = honestdp.affordable(**job, epsilon=1.0)
    assert set(most) == set(PROCEDURES) - {"untuned"}
    assert most["composition"] < 10 < most["random-repeats"] <= most["threshold"]
    for k, fits in ((most["composition"], True), (most["composition"] + 1, False)):
        table = honestdp.cost_table(**{**README, "candidates": k}, noise_multiplier=4)
        assert (row(table, "composition", "pld").epsilon <= 1.0) == fits
    assert set(honestdp.affordable(**job, epsilon=0.1).values()) == {0}
