"""Refusals are values: named, explained, comparable by their reason."""

from proofs.contracts import ROOT
from spec.refusals import Reason, Refused


def test_a_refusal_says_why_and_what() -> None:
    assert str(Refused(Reason.SEGMENT_UNKNOWN, "7")) == "the layout has no segment with that id: 7"
    assert str(Refused(Reason.SEGMENT_UNKNOWN)) == "the layout has no segment with that id"


def test_refusals_are_equal_when_their_reason_is() -> None:
    assert Refused(Reason.SEGMENT_UNKNOWN, "7") == Refused(Reason.SEGMENT_UNKNOWN, "8")
    assert Refused(Reason.SEGMENT_UNKNOWN) != Refused(Reason.SEGMENT_NOT_ACTIVE)
    assert Refused(Reason.SEGMENT_UNKNOWN) != Reason.SEGMENT_UNKNOWN
    assert len({Refused(Reason.SEGMENT_UNKNOWN, "7"), Refused(Reason.SEGMENT_UNKNOWN)}) == 1


def test_every_reason_has_a_sentence_of_its_own() -> None:
    sentences = [reason.value for reason in Reason]

    assert len(set(sentences)) == len(sentences)
    assert all(len(sentence.split()) >= 3 for sentence in sentences)


def test_every_reason_is_given_by_the_specification_and_asked_for_by_a_test() -> None:
    rules = "".join(path.read_text() for path in (ROOT / "spec").glob("*.py") if path.stem != "refusals")
    tests = "".join(path.read_text() for path in (ROOT / "tests" / "spec").glob("*.py"))

    assert [r.name for r in Reason if f"Reason.{r.name}" not in rules] == []
    assert [r.name for r in Reason if f"Reason.{r.name}" not in tests] == []
