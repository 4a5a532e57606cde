"""The ledger's own rules: what is malformed, what disagrees, and one spelling for each meaning."""

import pytest

from spec.claims import Claim, Kind, Ledger, Reading, Sort, flaws, format_ledger, linked, parse
from spec.refusals import Reason, Refused

CLAIM = Claim(
    "468-SPLIT-01", ("000",), "Split", Kind.PROTOCOL, 'It says "so" \\ thus,\nand\t\x7f more.', ("law:a",)
)
READING = Reading("468-READ-01", Sort.SILENCE, ("468-SPLIT-01",), "Nobody says.", "We do.")
LEDGER = Ledger((("000", "000_x.txt"),), (CLAIM,), (READING,))
ONE_CLAIM = 'seeds = {}\nreading = []\n[[claim]]\nid = "468-A-01"'
ONE_READING = 'seeds = {}\nclaim = []\n[[reading]]\nid = "468-READ-01"'
CHECKS = {"law:a": ("468-SPLIT-01",)}


def test_a_ledger_is_read_as_it_was_written() -> None:
    many = tuple(f"test:tests/spec/test_layout.py::test_number_{i}" for i in range(4))
    ledger = linked(LEDGER, dict.fromkeys(many, ("468-SPLIT-01",)))

    assert parse(format_ledger(ledger)) == ledger
    assert ledger.claim("468-SPLIT-01").checked_by == many


def test_a_sound_ledger_has_no_flaws() -> None:
    assert list(flaws(LEDGER, CHECKS)) == []


@pytest.mark.parametrize(
    ("claim", "checks", "sentence"),
    [
        (Claim("X-1", ("000",), "s", Kind.VALUE, "", (), "implementation"), {}, "X-1 is not a claim id"),
        (
            Claim("468-A-01", ("9",), "s", Kind.VALUE, "", (), "implementation"),
            {},
            "468-A-01 names the seeds ['9'], known are ['000']",
        ),
        (
            Claim("468-A-01", ("000",), "s", Kind.VALUE, ""),
            {},
            "468-A-01 has no check, and nothing is pending",
        ),
        (
            Claim("468-A-01", ("000",), "s", Kind.VALUE, "", (), "luck"),
            {},
            "468-A-01 waits for 'luck', which is none of ['implementation', 'conformance']",
        ),
        (
            Claim("468-A-01", ("000",), "s", Kind.VALUE, "", ("law:b",)),
            {},
            "468-A-01 is said to be checked by law:b, which does not exist",
        ),
        (
            Claim("468-A-01", ("000",), "s", Kind.VALUE, "", ("law:a",)),
            {},
            "468-A-01 is said to be checked by law:a, which does not name it",
        ),
        (
            Claim("468-A-01", ("000",), "s", Kind.VALUE, "", (), "implementation"),
            {"law:c": ("468-A-01",)},
            "law:c checks 468-A-01, but the ledger does not say so: run ./braid claims --update",
        ),
        (
            Claim("468-A-01", ("000",), "s", Kind.VALUE, "", (), "implementation"),
            {"law:c": ("468-B-01",)},
            "law:c checks 468-B-01, which does not exist",
        ),
        (CLAIM, {}, "468-SPLIT-01 is defined twice"),
    ],
)
def test_each_flaw_is_named(claim: Claim, checks: dict[str, tuple[str, ...]], sentence: str) -> None:
    ledger = Ledger(LEDGER.seeds, (CLAIM, claim), (READING,))

    assert list(flaws(ledger, CHECKS | checks)) == [sentence]


def test_a_reading_is_about_claims_that_exist() -> None:
    astray = Reading("READING", Sort.UNSAFE, ("468-SPLIT-99",), "", "")

    assert list(flaws(Ledger(LEDGER.seeds, (CLAIM,), (astray,)), CHECKS)) == [
        "READING is not the id of a reading",
        "READING is about 468-SPLIT-99, which does not exist",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "not toml",
        "",
        "seeds = 1\nclaim = []\nreading = []",
        "seeds = {}\nclaim = 3\nreading = []",
        "seeds = {}\nclaim = [3]\nreading = []",
        ONE_CLAIM + '\nseeds = ["000"]\nsection = ""\nkind = "value"\nsays = ""\npendng = "implementation"',
        "seeds = {}\nclaim = []\nreadings = []",
        ONE_CLAIM,
        ONE_CLAIM + '\nseeds = ["000"]\nsection = ""\nkind = "gossip"\nsays = ""',
        ONE_READING,
        ONE_READING + '\nsort = "rumour"\nclaims = []\nproblem = ""\nreading = ""',
    ],
)
def test_a_malformed_ledger_is_refused(text: str) -> None:
    with pytest.raises(Refused) as refusal:
        parse(text)
    assert refusal.value.reason is Reason.RECORD_MALFORMED


def test_an_unknown_claim_is_refused() -> None:
    with pytest.raises(Refused) as refusal:
        LEDGER.claim("468-NONE-01")
    assert refusal.value.reason is Reason.CLAIM_UNKNOWN
