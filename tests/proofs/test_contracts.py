"""What CrossHair says is taken at its word, and its silence for what it is."""

import pytest

from models.verdict import Verdict
from proofs.contracts import Contract, contracts_of, judge

CONTRACT = Contract("spec.ranges.halves", 10, 20, 2, ("468-LAYOUT-14",), "Cut.")


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("f.py:12: info: Confirmed over all paths.\nf.py:13: info: Confirmed over all paths.", Verdict.HOLDS),
        ("f.py:12: info: Confirmed over all paths.", Verdict.UNKNOWN),
        ("f.py:12: info: Confirmed over all paths.\nf.py:13: info: Not confirmed.", Verdict.UNKNOWN),
        (
            "f.py:12: info: Confirmed over all paths.\nf.py:99: info: Confirmed over all paths.",
            Verdict.UNKNOWN,
        ),
        ("f.py:12: info: Confirmed over all paths.\nf.py:13: error: false when calling", Verdict.VIOLATED),
        ("f.py:11: info: Unable to meet precondition.", Verdict.VACUOUS),
        ("", Verdict.UNKNOWN),
    ],
)
def test_verdicts(said: str, verdict: Verdict) -> None:
    assert judge(CONTRACT, said, "", 0.1).verdict is verdict


def test_a_crash_of_crosshair_is_unknown_and_explained() -> None:
    outcome = judge(CONTRACT, "", "Traceback: no such module", 0.1)

    assert outcome.verdict is Verdict.UNKNOWN
    assert outcome.explanation == "Traceback: no such module"


def test_contracts_are_found_with_their_postconditions() -> None:
    found = {contract.function: contract for contract in contracts_of("spec.ranges")}

    assert found["spec.ranges.halves"].postconditions >= 3
    assert found["spec.ranges.halves"].claims
    assert "spec.ranges.equal_slices" not in found
