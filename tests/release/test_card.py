"""The privacy card: every item of the list, the same in prose, a published form, checked by the
ledger to the letter."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from releases import KINDS, NUMBERS, new_ledger, plan_of, released, table

from honestdp import Card, InputError, Ledger, Spec, make_plan, verify
from honestdp.release.card import json_schema
from honestdp.release.card_builder import build_card
from honestdp.release.card_fields import Audit
from honestdp.release.verify import verify_head
from honestdp.report.page import report_html
from honestdp.runner import publish
from honestdp.runner.private_data import split
from honestdp.runner.run import run
from honestdp.schema import Schema
from honestdp.text import SIMULATION

PUBLISHED = Path(__file__).parents[2] / "docs" / "card.schema.json"

# What "How to DP-fy ML" and the deployment registry ask for, and where it is.
ITEMS = {
    "setting and who is trusted": ("setting", "trusted"),
    "what accesses are covered": ("covered",),
    "what is released": ("released", "winner", "others"),
    "unit of privacy and contribution bound": ("unit", "contribution"),
    "neighbouring relation": ("neighbours",),
    "accountant, conversion, assumptions": ("accounting",),
    "the formal statement": ("guarantee",),
    "what is declared public": ("declared_public",),
    "preprocessing and its charge": ("preprocessing",),
    "noise sampler class": ("noise_sampler",),
    "library versions": ("versions",),
    "ledger head": ("ledger",),
    "audit lower bound if run": ("audit_lower_bound",),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_item_is_on_it_and_in_its_prose(kind):
    card = released(kind)[0].card
    facts = json.loads(card.to_json())
    for item, fields in ITEMS.items():
        for name in fields:
            assert name in facts, item
    said = card.prose()
    for words in (card.unit, card.neighbours, card.released, card.noise_sampler, card.trusted,
                  card.guarantee.statement, card.preprocessing.what, card.procedure,
                  card.ledger.head, card.accounting.conversion):  # fmt: skip
        assert words in said
    for access in card.covered:
        assert access.what in said
    for assumption in card.accounting.assumptions:
        assert assumption.statement in said
    assert "—" not in said


@pytest.mark.parametrize("kind", KINDS)
def test_it_has_the_published_form(kind):
    published = json.loads(PUBLISHED.read_text())
    assert published == json_schema(), "run tools/card_schema.py"
    jsonschema.validate(json.loads(released(kind)[0].card.to_json()), published)


def test_what_it_covers_is_what_was_done():
    def covered(kind):
        return [access.what for access in released(kind)[0].card.covered]

    training, scores = "training of every candidate", "validation score of every candidate"
    assert covered("untuned") == [training]
    assert covered("composition") == [training, scores]
    assert covered("pick") == [training, "validation choice of the winner"]
    assert covered("learnt") == [training, "facts about x"]
    learnt = released("learnt")[0]
    assert 0 < learnt.card.preprocessing.epsilon <= 0.3 * 2.0  # a twentieth of the precision
    assert learnt.card.covered[1].epsilon == learnt.card.preprocessing.epsilon
    for kind in KINDS:
        card, plan = released(kind)[0].card, plan_of(kind)
        assert card.guarantee.epsilon == plan.epsilon
        assert max(access.epsilon for access in card.covered) <= plan.epsilon
        assert card.covered[0].noise == plan.noise_multiplier


@pytest.mark.parametrize("kind", KINDS)
def test_never_on_it(kind):
    """How many ran, seeds of noise or coins, hashes of data."""
    facts = json.loads(released(kind)[0].card.to_json())
    assert facts["declared_public"].pop("split_seed") == 0
    assert "seed" not in json.dumps(facts)
    card = released(kind)[0].card
    shown = kind in ("mlp", "composition", "pick", "module")
    assert bool(card.others) == shown
    if kind == "pick":
        assert card.winner.noisy_score is None


def test_a_simulations_seed_is_not_on_it():
    card = run(plan_of("composition"), table(), seed=918273645).card
    assert "918273645" not in card.to_json().decode() + card.prose()


def test_which_rows_were_held_out_can_be_drawn_again(tmp_path):
    spec = replace(plan_of("composition").spec, split_seed=-(2**53))
    plan, ledger = make_plan(spec), new_ledger(tmp_path / "toy.ledger")
    release = run(plan, table(), ledger)
    release.save(tmp_path / "run")
    verify(tmp_path / "run", ledger)
    seed = json.loads((tmp_path / "run" / "card.json").read_text())["declared_public"]["split_seed"]
    again = split(make_plan(replace(spec, split_seed=seed)))
    others = split(plan_of("composition"))
    for ours, theirs, other in zip(again[:2], split(plan)[:2], others[:2], strict=True):
        assert ours.tolist() == theirs.tolist() != other.tolist()
    assert f"by a public permutation, from split_seed {seed}." in release.card.prose()
    assert "split_seed 0" not in released("untuned")[0].card.prose()  # nothing was held out


def test_all_that_is_declared_is_on_it():
    """What docs/promise.md says is there."""
    plan = plan_of("threshold")
    public = released("threshold")[0].card.declared_public
    assert public["rows"] == plan.spec.rows
    assert Schema.model_validate(public["schema"]) == plan.spec.schema
    assert public["grid"] == [dict(setting) for setting in plan.grid.settings]
    assert public["procedure"] == plan.procedure.to_dict()
    assert public["split_seed"] == plan.spec.split_seed


def test_a_card_from_before_the_split_seed_opens(tmp_path, monkeypatch):
    plan, ledger = plan_of("composition"), new_ledger(tmp_path / "toy.ledger")

    def before(*given, **facts):
        card = build_card(*given, **facts)
        del card.declared_public["split_seed"]
        return card

    monkeypatch.setattr(publish, "build_card", before)
    run(plan, table(), ledger, folder=tmp_path / "run")
    card = Card.load(tmp_path / "run")
    assert "split_seed" not in card.to_json().decode() + card.prose()
    verify(tmp_path / "run", ledger)
    assert "split_seed" not in report_html(card, ledger)


@pytest.mark.parametrize("kind", KINDS)
def test_the_ledger_stands_behind_it(kind, tmp_path):
    release, ledger = released(kind)
    charge = verify(release.card, ledger)
    assert charge.receipt == release.receipt
    release.save(tmp_path)
    for form in (tmp_path, str(tmp_path / "card.json"), json.loads(release.card.to_json())):
        assert verify(form, ledger).receipt == release.receipt


def leaves(value: object, path: tuple = ()) -> list[tuple]:
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in leaves(item, (*path, key))]
    if isinstance(value, list):
        return [leaf for i, item in enumerate(value) for leaf in leaves(item, (*path, i))]
    return [path]


@pytest.mark.parametrize("kind", ["composition", "learnt", "repeats"])
def test_any_change_to_it_is_seen(kind):
    """Every single field, one after the other."""
    release, ledger = released(kind)
    text = release.card.to_json()
    for path in leaves(json.loads(text)):
        facts = json.loads(text)
        place = facts
        for key in path[:-1]:
            place = place[key]
        was = place[path[-1]]
        place[path[-1]] = (
            not was if isinstance(was, bool)
            else was + 0.5 if isinstance(was, float)
            else was + 1 if isinstance(was, int)
            else was + "0" if isinstance(was, str)
            else 1.0
        )  # fmt: skip
        with pytest.raises(InputError):
            verify(facts, ledger)


def test_a_folder_is_verified_with_its_model(tmp_path):
    release, ledger = released("composition")
    release.save(tmp_path)
    for name in ("model.json", "model.safetensors"):
        whole = (tmp_path / name).read_bytes()
        for content in (b"{}", whole[:-1] + b"x", b""):
            (tmp_path / name).write_bytes(content)
            with pytest.raises(InputError, match="its model is not the one"):
                verify(tmp_path, ledger)
        (tmp_path / name).write_bytes(whole)
    verify(tmp_path, ledger)


def test_numbers_that_json_does_not_have(tmp_path):
    release, ledger = released("composition")
    text = release.card.to_json().decode()
    for odd in ("NaN", "Infinity", "1e999"):
        for key in ('"noisy_score": ', '"noise": ', '"epsilon": ', '"rows": '):
            i = text.index(key) + len(key)
            end = min(text.index(mark, i) for mark in ",\n")
            with pytest.raises(InputError):
                verify(json.loads(text[:i] + odd + text[end:]), ledger)
            with pytest.raises(InputError):
                verify(Card.from_json(text[:i] + odd + text[end:]), ledger)


def test_what_a_card_says_of_each_procedure():
    subset, learnt, pick = (released(kind)[0].card for kind in ("subset", "learnt", "pick"))
    assert "of the winner again" in subset.covered[0].what
    assert "not of the model released" in subset.released
    assert "Koskela" in subset.accounting.conversion
    assert len(subset.declared_public["lot_size"]) == 2
    assert "what was learnt before" in learnt.released
    assert "composed with the Gaussian counts" in learnt.accounting.conversion
    assert "which one was picked" in pick.released
    assert released("threshold")[0].card.declared_public["search"]["threshold"] == 0.01
    for kind in KINDS:
        card = released(kind)[0].card
        assert card.declared_public["procedure"] == plan_of(kind).procedure.to_dict()
    simulated = run(plan_of("composition"), table(), seed=1).card
    assert "would be, were its randomness secret" in simulated.guarantee.statement


def test_ledgers_that_do_not_stand_behind_it(tmp_path):
    release, ledger = released("repeats")
    other = new_ledger(tmp_path / "other.ledger")
    with pytest.raises(InputError, match="cut short or replaced"):
        verify(release.card, other)
    twin = run(plan_of("repeats"), table(), other)
    early = twin.card.ledger.model_copy(update={"head": twin.receipt.entry_hash})  # is in the chain
    with pytest.raises(InputError, match="was not released at this head"):
        verify(twin.card.model_copy(update={"ledger": early}), other)
    with pytest.raises(InputError):
        verify(twin.card, ledger)
    with pytest.raises(InputError, match="another dataset"):
        verify(release.card, Ledger.create(tmp_path / "n", schema=NUMBERS.model_copy(
            update={"name": "third"}), epsilon=1.0, delta=1e-5))  # fmt: skip
    with pytest.raises(InputError, match=r"give Ledger\.open"):
        verify(release.card, "toy.ledger")
    with pytest.raises(InputError, match="give a card"):
        verify(7, ledger)


def test_a_simulation_says_so_everywhere(tmp_path):
    release = run(plan_of("composition"), table(), seed=1)
    release.save(tmp_path)
    assert SIMULATION in repr(release)
    assert SIMULATION in release.card.prose().splitlines()[0]
    for file in tmp_path.iterdir():
        assert SIMULATION.encode() in file.read_bytes(), file.name
    assert any(
        not one.holds and "secret" in one.statement for one in release.card.accounting.assumptions
    )
    with pytest.raises(InputError, match="simulation"):
        verify(release.card, new_ledger(tmp_path / "toy.ledger"))


def test_cards_are_read_back():
    for kind in KINDS:
        card = released(kind)[0].card
        assert Card.from_json(card.to_json()) == card


def test_fields_that_earlier_cards_do_not_have_cannot_be_taken_off():
    release, ledger = released("composition")
    for name in ("metric_facts", "procedure_facts", "learnt"):
        facts = json.loads(release.card.to_json())
        for gone in ({**facts, name: None}, {n: v for n, v in facts.items() if n != name}):
            with pytest.raises(InputError, match="something on it is not what the ledger says"):
                verify(gone, ledger)


def test_what_was_learnt_is_on_it_and_in_the_report():
    release, ledger = released("learnt")
    plan, (x, *_), (one,) = release.plan, release.schema.columns, release.card.learnt
    noise = plan.questions[0].noise_multiplier
    assert (one.about, one.noise, one.share) == ("x", noise, plan.spec.learn_share)
    assert one.values == {"bounds": list(x.bounds)}
    words = "bounds {:.6g} to {:.6g}".format(*x.bounds)
    assert one.words == words
    assert f"- Learnt about x: {words} (counts with noise of standard" in release.card.prose()
    assert words in report_html(release.card, ledger)
    other, ledger = released("untuned")
    assert other.card.learnt == ()
    assert "was learnt before the training" not in report_html(other.card, ledger)


def test_every_fact_that_is_learnt_has_its_words():
    facts = {"kind": "numeric", "encode": "both", "bins": 3, "edges": "learn", "scale": "learn"}
    column = {"name": "x", "bounds": "learn", "outer": [-4.0, 4.0], "missing": 3.5, **facts}
    plain = [
        {"kind": "numeric", "name": f"z{i}", "bounds": [0.0, 1.0], "encode": "linear"}
        for i in range(6)
    ]  # whose norm the schema does not tell
    target = {"column": "y", "classes": ["0", "1"]}
    schema = {"name": "toy", "target": target, "columns": [column, *plain]}
    spec = Spec(schema=Schema.model_validate(schema), rows=200, epsilon=2.0)
    cells = {"x": [0.1, 1.0] * 100, "y": [0, 1] * 100} | {f"z{i}": [0.5] * 200 for i in range(6)}
    release = run(make_plan(spec), cells, seed=1)
    made, (one, row) = release.schema, release.card.learnt
    low, high = made.columns[0].bounds
    shift, width = made.columns[0].scale
    cuts = ", ".join(f"{cut:.6g}" for cut in made.columns[0].edges)
    assert one.words == (
        f"bounds {low:.6g} to {high:.6g}; edges {cuts}; "
        f"mean {shift:.6g}, standard deviation {width / 2:.6g}"
    )
    assert (
        {"bounds", "edges", "scale"} <= set(one.values) <= {"bounds", "edges", "scale", "missing"}
    )
    assert row.about == "a typical encoded row"
    assert row.values == {"row_scale": made.row_scale}
    assert row.share == 0.01
    assert f"is multiplied by {made.row_scale:.6g}" in row.words


def test_a_card_from_before_what_was_learnt_was_told_opens(tmp_path, monkeypatch):
    plan = plan_of("learnt")
    ledger = new_ledger(tmp_path / "toy.ledger", plan.spec.schema)

    def before(*given, simulated, **later):
        return build_card(*given, simulated=simulated)

    monkeypatch.setattr(publish, "build_card", before)
    run(plan, table(), ledger, folder=tmp_path / "run")
    place = tmp_path / "run" / "card.json"
    facts = json.loads(place.read_text())
    assert facts.pop("learnt") is None
    place.write_text(json.dumps(facts))  # as such cards were written
    verify(tmp_path / "run", ledger)
    card = Card.load(place)
    assert "Learnt about" not in card.prose()
    assert "was learnt before the training" not in report_html(card, ledger)


def test_a_head_alone_shows_any_change_to_it(tmp_path):
    release, _ = released("composition")
    head, text = release.head, release.card.to_json()
    verify_head(release.card, head)
    release.save(tmp_path)
    verify_head(tmp_path, f" {head.upper()}\n")
    for path in leaves(json.loads(text)):
        facts = json.loads(text)
        place = facts
        for key in path[:-1]:
            place = place[key]
        was = place[path[-1]]
        place[path[-1]] = "other" if isinstance(was, str) else [] if was is None else None
        if path == ("ledger", "dataset"):  # only the ledger knows it
            continue
        with pytest.raises(InputError):
            verify_head(facts, head)
    (tmp_path / "model.json").write_bytes(b"{}")
    with pytest.raises(InputError, match="its model is not the one"):
        verify_head(tmp_path, head)


def test_heads_that_show_nothing(tmp_path):
    release, ledger = released("composition")
    for head in ("", "0" * 64, 7, release.receipt.entry_hash):
        with pytest.raises(InputError, match="is not the one on the card"):
            verify_head(release.card, head)
    old = release.card.ledger.model_copy(update={"previous": None, "nonce": None})
    with pytest.raises(InputError, match="of an earlier version"):
        verify_head(release.card.model_copy(update={"ledger": old}), release.head)
    earlier = release.card.model_copy(update={"ledger": old})
    verify(earlier, ledger)
    with pytest.raises(InputError, match="something on it is not what the ledger says"):
        verify(earlier.model_copy(update={"unit": "one ward"}), ledger)
    simulated = run(plan_of("composition"), table(), seed=1).card
    with pytest.raises(InputError, match="simulation"):
        verify_head(simulated, release.head)


def test_a_release_is_not_lost_with_a_ledger_that_cannot_be_read_right_after(tmp_path, monkeypatch):
    ledger = new_ledger(tmp_path / "toy.ledger")

    def unreadable(self):
        raise InputError("others held it for 60 seconds")

    monkeypatch.setattr(Ledger, "entries", unreadable)
    card = run(plan_of("untuned"), table(), ledger).card
    assert (card.ledger.previous, card.ledger.nonce) == (None, None)
    assert verify(card, ledger).released


def test_the_structured_fields_say_what_the_sentences_say():
    for kind in KINDS:
        release, _ = released(kind)
        card, said = release.card, release.card.prose()
        assert (card.variant, card.neighbour_relation, card.rows_per_unit) == (
            "approximate-dp", "replace-by-null", 1,
        )  # fmt: skip
        assert card.release_type == ("model-with-all-candidates" if card.others else "model")
        assert not card.timing.covered
        best_of_k = "how many candidates were trained" in card.timing.shows
        assert best_of_k == (not release.plan.shows_all)
        assert card.code.version == card.versions["honestdp"]
        assert card.about is card.audit is card.utility is card.utility_by_group is None
        assert f"release {card.release_type}" in said
        assert card.timing.words in said
        assert card.code.words in said
    lost = run(replace_threshold(), table(), seed=1).card
    assert (lost.winner, lost.release_type) == (None, "no-model")


def replace_threshold():
    """A search that ends with nothing: no score is so high."""
    return make_plan(replace(plan_of("threshold").spec, threshold=0.999, cap=1))


def test_quality_is_told_with_its_uncertainty_and_by_group():
    spec = replace(plan_of("untuned").spec, test_share=0.3, groups="c")
    card = run(make_plan(spec), table(), seed=1).card
    found = {one.figure: one for one in card.utility}
    assert list(found) == ["accuracy", "balanced accuracy", "AUC"]
    for name, one in found.items():
        figure = card.evaluation[name]
        assert (one.value, one.low, one.high) == (figure.value, figure.low, figure.high)
        assert (one.baseline, one.rows, one.confidence) == (figure.baseline, 18, 0.95)
        assert f"{name}: {one.value:.4g} " in one.words
    groups = {one.group for one in card.utility_by_group}
    assert groups == {one.group for one in card.evaluation.groups}
    assert {one.column for one in card.utility_by_group} == {"c"}
    assert "accuracy of rows with c a:" in card.utility_by_group[0].words
    assert card.evaluation.sentence in card.prose()


def test_an_audit_is_told_with_its_method():
    card = released("untuned")[0].card
    audit = Audit(method="one-run audit", confidence=0.95, threat_model="sees the model",
                  canaries=100)  # fmt: skip
    found = card.model_copy(update={"audit_lower_bound": 0.5, "audit": audit})
    assert (
        "Audit of this very run: at least 0.5 (one-run audit, 100 canaries, confidence 0.95; the "
        "attacker: sees the model)."
    ) in found.prose()
    assert found.digest != card.digest


def test_no_place_on_this_machine_is_on_it():
    text = released("untuned")[0].card.to_json().decode()
    assert str(PUBLISHED.parents[1]) not in text
    assert str(Path.home()) not in json.dumps(json.loads(text)["code"])
