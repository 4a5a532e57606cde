"""The ledger, the checks and the specification's own text agree with one another."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from proofs.checks import LEDGER, all_checks, citations, read_ledger, worlds_with_claims
from spec.claims import Kind, flaws, format_ledger, linked, parse
from spec.machine import Machine, Variable, action, always, sometimes
from spec.world import Violated, World

SEEDS = ("000", "001", "002", "003", "004")


def test_ledger_and_checks_name_each_other() -> None:
    assert list(flaws(read_ledger(), all_checks())) == []


def test_the_ledger_stands_in_its_one_spelling() -> None:
    ledger = read_ledger()

    assert LEDGER.read_text(encoding="utf-8") == format_ledger(linked(ledger, all_checks()))
    assert parse(format_ledger(ledger)) == ledger


@pytest.mark.parametrize("seed", SEEDS)
def test_every_seed_has_claims_that_are_checked(seed: str) -> None:
    own = [claim for claim in read_ledger().claims if seed in claim.seeds]

    assert any(claim.checked_by for claim in own)


def test_every_cited_claim_exists() -> None:
    known = {claim.id for claim in read_ledger().claims}

    assert set(citations()) <= known


def test_every_checked_value_and_default_can_be_found_in_the_specification() -> None:
    cited = citations()
    lost = [
        claim.id
        for claim in read_ledger().claims
        if claim.kind in (Kind.VALUE, Kind.DEFAULT, Kind.SECURITY)
        and claim.checked_by
        and claim.id not in cited
    ]

    assert lost == []


def test_a_world_checks_the_claims_of_its_rules_unless_it_is_expected_to_be_violated() -> None:
    class Machinery(Machine):
        on = Variable[bool](False)

    @action("468-SPLIT-11", "SWITCH")
    def switch(w: Machinery) -> None:
        w.on = True

    @always("468-SPLIT-01")
    def it_stays_off(w: Machinery) -> Iterator[str]:
        if w.on:
            yield "it is on"

    @sometimes("468-SPLIT-02", "468-READ-11")
    def it_is_on(w: Machinery) -> object:
        return w.on

    whole = World(name="whole", asks="?", machines=(Machinery,), bounds={})
    less = replace(whole, name="less", properties=(it_is_on,))
    wrong = replace(whole, name="wrong", expect=Violated("it_stays_off"))

    assert dict(worlds_with_claims((whole, less, wrong))) == {
        "world:whole": ("468-SPLIT-11", "468-SPLIT-01", "468-SPLIT-02"),
        "world:less": ("468-SPLIT-11", "468-SPLIT-02"),
    }


def test_worlds_of_the_controller_are_linked_and_nothing_waits_for_them() -> None:
    claim = read_ledger().claim("468-SPLIT-11")

    assert {"world:split-merge", "world:subscribe-during-split"} <= set(claim.checked_by)
    assert claim.pending is None
