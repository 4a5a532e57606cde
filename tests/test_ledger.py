"""The ledger, the checks and the specification's own text agree with one another."""

import pytest

from proofs.checks import LEDGER, all_checks, citations, read_ledger
from spec.claims import Kind, flaws, format_ledger, linked, parse

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
