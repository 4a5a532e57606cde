"""CrossHair confirms every contract of the specification, and finds the bug that was planted for it."""

from models.verdict import Verdict
from proofs.contracts import all_contracts, canary, run


def test_every_contract_is_confirmed_over_all_paths() -> None:
    outcomes = run(all_contracts())

    assert len(outcomes) >= 10
    assert {o.check: o.explanation for o in outcomes if o.verdict is not Verdict.HOLDS} == {}


def test_the_planted_bug_is_found() -> None:
    assert canary().verdict is Verdict.HOLDS
