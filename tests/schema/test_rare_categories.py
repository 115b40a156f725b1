"""Categories with too few rows for a weight of their own: how they are found and encoded."""

from __future__ import annotations

import numpy as np
import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from honestdp.errors import InputError
from honestdp.schema import Categorical, Cross, Date, Ordinal, Schema, Target, learn_bounds
from honestdp.schema.blocks import as_matrix
from honestdp.schema.cells import cells
from honestdp.schema.kinds.categorical import FEW, LEAST
from honestdp.schema.learn import histogram, with_learnt
from honestdp.testing import check_column_kind

NAMES = ("a", "b", "c", "d")


def ward(**facts) -> Categorical:
    return Categorical(name="ward", categories=NAMES, **facts)


def encoded(column: Categorical, *given) -> list[list[float]]:
    return as_matrix(column.encode(cells(list(given))), column.width).toarray().tolist()


@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("rare", ["learn", "keep", ("a", "d"), ()])
def test_they_keep_the_contract(other, rare):
    check_column_kind(ward(other=other, rare=rare), ["a", "b", "zz", 1, None])
    check_column_kind(ward(other=other, rare="learn", missing="d"), ["a", "d", None])


@pytest.mark.parametrize("facts", [{}, {"other": True}, {"other": True, "rare_other": True}])
def test_a_rare_category_is_encoded_as_one_that_is_not_declared(facts):
    column = ward(rare=("b", "d"), **facts)
    rare, unknown, again, missing = encoded(column, "b", "never heard of", "d", None)
    assert rare == unknown == again == missing
    assert sum(rare) == (facts == {"other": True})
    assert encoded(column, "a", "c") == encoded(ward(other=bool(facts)), "a", "c")


def test_missing_cells_go_with_their_category():
    column = ward(other=True, rare=("d",), missing="d")
    assert encoded(column, None) == encoded(column, "d") == encoded(column, "?")
    column = ward(other=True, rare=("d",), missing="a")
    assert encoded(column, None) == encoded(column, "a") != encoded(column, "?")


def test_a_count_must_be_clear_of_its_noise():
    """A fiftieth of the rows, at least 2 deviations of the noise, at most 3."""
    column = ward(rare="learn")
    for noise, rows, least in ((10.0, 1250, 25.0), (10.0, 100, 20.0), (10.0, 10**6, 30.0)):
        noisy = np.array([least + 0.1, least - 0.1, -50.0, 1e6])
        assert column.learnt_from(noisy, noise, rows) == (1.0, 0.0, 0.0, 1.0)
    assert 1250 * LEAST == 25.0
    made = column.with_learnt((1.0, 0.0, 0.0, 1.0))
    assert (made.rare, made.rare_other, made.learns) == (("b", "c"), False, 0)
    assert column.learnt_facts(made) == {"rare": ["b", "c"]}
    assert column.learnt_words(made).endswith("so encoded as zeros: b, c")
    none = column.with_learnt((1.0,) * 4)
    assert column.learnt_words(none) == "every category has rows enough for a weight of its own"


def test_other_has_the_rows_of_rare_categories_too():
    column = ward(other=True, rare="learn")
    found = column.learnt_from(np.array([1e4, 19.0, 19.0, 19.0, 0.0]), 10.0, 100)
    assert found == (1.0, 0.0, 0.0, 0.0, 1.0)  # 57 rows, noise 20
    made = column.with_learnt(found)
    assert (made.rare, made.rare_other) == (("b", "c", "d"), False)
    assert column.learnt_words(made).endswith("so encoded as other: b, c, d")
    found = column.learnt_from(np.array([1e4, 1e4, 19.0, 1e4, 0.0]), 10.0, 100)
    made = column.with_learnt(found)  # 19 rows, noise 14
    assert (made.rare, made.rare_other) == (("c",), True)
    assert column.learnt_words(made).endswith("so encoded as zeros: c, (other)")
    assert [one.note for one in made.representatives()] == ["", "", FEW, "", FEW]


@settings(deadline=None)
@given(
    rows=st.lists(st.sampled_from([*NAMES, "x", "", None, 3]), min_size=1, max_size=9),
    one=st.sampled_from([*NAMES, "x", None]),
    other=st.booleans(),
    missing=st.sampled_from([None, "c"]),
)
def test_a_record_moves_one_count_by_one(rows, one, other, missing):
    column = ward(rare="learn", other=other, missing=missing)
    bins = column.histogram_bins(512)
    with_, without = (histogram(column, cells(given), bins) for given in ([one, *rows], rows))
    assert bins == column.width == len(with_)
    assert 0 <= (with_ - without).sum() == np.abs(with_ - without).sum() <= 1
    # What is counted is what is encoded.
    plain = ward(other=other, missing=missing)
    assert with_.tolist() == np.sum(encoded(plain, one, *rows), axis=0).tolist()


def test_they_are_learnt_with_noise_from_the_rows():
    schema = Schema(
        name="t", columns=(ward(rare="learn"),), target=Target(column="y", classes=("n", "y"))
    )
    table = {"ward": ["a"] * 500 + ["b"] * 497 + ["c"] * 3}
    source = np.random.default_rng(0)
    seen = []

    def draws(scale, count):
        seen.append(count)
        return np.rint(scale * source.standard_normal(count)).astype(np.int64)

    made, learnt = learn_bounds(schema, table, 12.0, draws)
    assert made.columns[0].rare == ("c", "d")
    assert (learnt.columns, seen) == (("ward",), [4])
    assert Schema.from_toml(made.to_toml()) == made
    assert made.encode_inputs(table).shape == (1000, 4)


def pairs_with_sex(**facts) -> Schema:
    sex = Categorical(name="sex", categories=("f", "m"))
    cross = Cross(name="both", columns=("ward", "sex"))
    target = Target(column="y", classes=("n", "y"))
    return Schema(name="t", columns=(ward(**facts), sex, cross), target=target)


def pairs(schema: Schema, wards: list[str]) -> list[list[float]]:
    start = sum(column.width for column in schema.columns[:2])
    table = {"ward": wards, "sex": ["f"] * len(wards)}
    return schema.encode_inputs(table, sparse=False)[:, start:].tolist()


def test_a_pair_with_a_rare_category_is_that_of_an_unknown_one():
    kept = pairs(pairs_with_sex(rare="keep"), ["a", "b"])
    assert kept == pairs(pairs_with_sex(), ["a", "b"])
    assert [sum(row) for row in kept] == [1, 1]
    for facts in ({}, {"other": True}, {"other": True, "rare_other": True}):
        common, rare, unknown = pairs(pairs_with_sex(rare=("b",), **facts), ["a", "b", "attic"])
        assert common[0] == sum(common) == 1
        assert rare == unknown
        assert sum(rare) == (facts == {"other": True})


def test_pairs_follow_what_was_learnt_about_their_columns():
    asked = pairs_with_sex(rare="learn")
    made = with_learnt(asked, {"ward": (1.0, 0.0, 1.0, 1.0)})
    assert made == pairs_with_sex(rare=("b",))
    assert made == Schema.from_toml(made.to_toml())
    assert pairs(made, ["a", "b"]) == pairs(pairs_with_sex(rare=("b",)), ["a", "b"])
    assert sum(pairs(made, ["b"])[0]) == 0


def grade(**facts) -> Ordinal:
    return Ordinal(name="grade", categories=NAMES, **facts)


def day(**facts) -> Date:
    return Date(name="day", first="2021-07-01", last="2024-06-30", **facts)


@pytest.mark.parametrize("rare", ["learn", "keep", (), "some"])
@pytest.mark.parametrize(("column", "some"), [(grade, ("b", "d")), (day, ("2021", "2024"))])
def test_grades_and_years_keep_the_contract(column, some, rare):
    cells = ["a", "b", None, "2021-08-31", "2023-02-03 10:00"]
    check_column_kind(column(rare=some if rare == "some" else rare), cells)


def test_a_rare_grade_is_told_by_its_place_alone():
    a, b, d, unknown = encoded(grade(rare=("b", "d")), "a", "b", "d", "?")
    assert a == encoded(grade(), "a")[0]
    assert b == [pytest.approx(1 / 3), 0, 0, 0, 0]
    assert d == [1, 0, 0, 0, 0]
    assert sum(unknown) == 0
    assert [one.note for one in grade(rare=("b",)).representatives()] == ["", FEW, "", ""]
    one, other = grade(rare=("b",)).as_one_hot(), ward(rare=("b",))
    assert encoded(one, *NAMES, "?") == encoded(other, *NAMES, "?")


def test_a_rare_year_is_told_by_the_position_alone():
    column = day(rare=("2021", "2024"))
    names = column.encoded_names
    for cell, year in (("2021-08-02", 0), ("2023-08-02", 1), ("2030-01-01", 0), ("2020-01-01", 0)):
        found = dict(zip(names, encoded(column, cell)[0], strict=True))
        plain = dict(zip(names, encoded(day(), cell)[0], strict=True))
        years = [f"day {each}" for each in (2021, 2022, 2023, 2024)]
        assert sum(found[each] for each in years) == year
        assert sum(plain.pop(each) for each in years) == 1
        assert plain == {name: value for name, value in found.items() if name not in years}
    assert {names[at]: why for at, why in column.never_used().items()} == {
        "day 2021": FEW, "day 2024": FEW}  # fmt: skip


@settings(deadline=None)
@given(
    rows=st.lists(st.sampled_from([*NAMES, "x", None, "2021-12-31", "2024-01-01"]), max_size=9),
    one=st.sampled_from([*NAMES, "x", None, "2021-12-31", "2030-01-01"]),
    column=st.sampled_from([grade(rare="learn"), day(rare="learn")]),
)
def test_a_record_moves_one_count_of_grades_or_years_by_one(rows, one, column):
    bins = column.histogram_bins(512)
    with_, without = (histogram(column, cells(given), bins) for given in ([one, *rows], rows))
    assert bins == len(with_) == column.learns == 4
    assert 0 <= (with_ - without).sum() == np.abs(with_ - without).sum() <= 1
    plain = column.model_copy(update={"rare": None})
    inputs = np.sum(encoded(plain, one, *rows), axis=0)  # what is counted is what is encoded
    assert with_.tolist() == inputs[1:5].tolist()


@pytest.mark.parametrize(
    ("column", "words"),
    [(grade, "told by their place in the order: b"), (day, "told by the position alone: 2022")],
)
def test_grades_and_years_are_learnt_from_clear_counts(column, words):
    asked = column(rare="learn")
    numbers = asked.learnt_from(np.array([30.1, 29.9, 1e6, 1e6]), 10.0, 10**6)
    assert numbers == (1.0, 0.0, 1.0, 1.0)
    made = asked.with_learnt(numbers)
    assert asked.learnt_words(made).endswith(words)
    assert asked.learnt_facts(made) == {"rare": [words.split(": ")[1]]}
    assert asked.learnt_words(asked.with_learnt((1.0,) * 4)).startswith("every ")


def test_wrong_declarations_are_refused():
    target = {"column": "y", "classes": ["n", "y"]}
    for facts, text in (
        ({"rare": ["e"]}, "none of the categories"),
        ({"rare": "some"}, '"learn", "keep" or a list'),
        ({"rare": ["a"], "rare_other": True}, "rare_other is for other = true"),
        ({"other": True, "rare_other": True}, "rare_other is for other = true"),
    ):
        column = {"kind": "categorical", "name": "ward", "categories": list(NAMES), **facts}
        whole = {"name": "t", "target": target, "columns": [column]}
        with pytest.raises(InputError, match=text):
            Schema.from_toml(tomli_w.dumps(whole))


@pytest.mark.parametrize("rare", [["2020"], "2021", ["x"]])
def test_wrong_years_are_refused(rare):
    with pytest.raises(InputError, match="rare"):
        day(rare=rare)


def test_a_schema_that_leaves_it_open_has_the_fingerprint_it_had():
    assert {"rare", "rare_other"}.isdisjoint(ward().facts())
    assert "rare" not in {*grade().facts(), *day().facts()}
    assert ward(rare="keep").facts()["rare"] == "keep"
