"""The findings ledger: what its files must say, and how it must fit claims and designs."""

from dataclasses import fields, replace

import pytest

from proofs.checks import read_ledger
from spec.design import AS_WRITTEN, HARDENED, Design
from spec.holes import Finding, Severity, flaws, parse, repairs, unexplained
from spec.refusals import Reason, Refused
from spec.world import Violated, World

TEXT = '''
id = "468-HOLE-09"
repair = "leaders_are_fenced"
title = "A deposed leader goes on changing the topic."
seed = "000"
claims = ["468-ELECT-01", "468-CTRL-01"]
world = "two-leaders"
property = "one_broker_is_in_office"
severity = "two owners"
says = """
The lock decides who leads.
Nothing else does."""
wrong = "The old leader has not noticed."
mended = "Write the term into the record."
black_box = false
how = "The old leader cannot be stopped between two steps from outside."
'''


def changed(old: str, new: str) -> str:
    assert old in TEXT
    return TEXT.replace(old, new)


def test_a_finding_is_read_as_it_is_written() -> None:
    finding = parse("leaders_are_fenced.toml", TEXT)

    assert (finding.id, finding.repair, finding.seed) == ("468-HOLE-09", "leaders_are_fenced", "000")
    assert finding.claims == ("468-ELECT-01", "468-CTRL-01")
    assert finding.severity is Severity.TWO_OWNERS
    assert finding.severity.means == "two act where only one may"
    assert finding.says == "The lock decides who leads.\nNothing else does."
    assert finding.black_box is False


def test_the_broken_world_is_called_as_worlds_call_it() -> None:
    finding = parse("leaders_are_fenced.toml", TEXT)
    world = World(name=finding.world, asks="?", machines=(), bounds={})

    assert finding.broken() == world.without(finding.repair, Violated(finding.property)).name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id = ", "one.toml is not TOML"),
        (changed('seed = "000"\n', ""), "one.toml does not say seed"),
        (TEXT + "author = 1\n", "one.toml: what is author?"),
        (changed('"two owners"', '"bad"'), "one.toml: severity is one of loss, dirty, "),
        (changed('"two owners"', "3"), "not 3"),
        (changed('"468-HOLE-09"', "9"), "one.toml: id cannot be 9"),
        (changed('"000"', '" "'), "one.toml: seed cannot be ' '"),
        (changed("false", '"no"'), "one.toml: black_box cannot be 'no'"),
        (changed('["468-ELECT-01", "468-CTRL-01"]', "[]"), "one.toml: claims cannot be []"),
        (changed('["468-ELECT-01", "468-CTRL-01"]', "[1]"), "one.toml: claims cannot be [1]"),
        (changed('["468-ELECT-01", "468-CTRL-01"]', '"468-ELECT-01"'), "one.toml: claims cannot be '468-"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_name_of_the_file(text: str, said: str) -> None:
    with pytest.raises(Refused) as refused:
        parse("one.toml", text)

    assert refused.value.reason is Reason.RECORD_MALFORMED
    assert said in str(refused.value)


def test_every_severity_has_a_meaning() -> None:
    assert len({severity.means for severity in Severity}) == len(Severity)


def test_the_repairs_are_what_the_two_designs_decide_differently() -> None:
    alike = [f.name for f in fields(Design) if getattr(AS_WRITTEN, f.name) == getattr(HARDENED, f.name)]

    assert set(repairs()).isdisjoint(alike)
    assert len(repairs()) + len(alike) == len(fields(Design))
    assert "leaders_are_fenced" in repairs()


def test_a_repair_that_no_finding_explains_is_named() -> None:
    finding = parse("one.toml", TEXT)

    assert set(repairs()) - set(unexplained([finding])) == {"leaders_are_fenced"}
    assert list(unexplained(replace(finding, repair=name) for name in repairs())) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": "468-SPLIT-09"}, "468-SPLIT-09 is not the id of a finding"),
        ({"id": "468-HOLE-9"}, "468-HOLE-9 is not the id of a finding"),
        ({"repair": "leaders_are_kind"}, "mended by leaders_are_kind, in which the designs do not differ"),
        ({"seed": "005"}, "468-HOLE-09 is about seed 005, which does not exist"),
        ({"claims": ("468-ELECT-01", "468-ELECT-99")}, "468-HOLE-09 is about 468-ELECT-99, which does not"),
    ],
)
def test_a_finding_that_does_not_fit_is_a_flaw(change: dict[str, object], said: str) -> None:
    finding = parse("one.toml", TEXT)

    [flaw] = flaws([replace(finding, **change)], read_ledger())  # type: ignore[arg-type]

    assert said in flaw


def test_ids_and_repairs_are_taken_once() -> None:
    one: Finding = parse("one.toml", TEXT)
    same_id, same_repair = replace(one, repair="readiness"), replace(one, id="468-HOLE-10")

    assert list(flaws([one], read_ledger())) == []
    assert list(flaws([one, same_id], read_ledger())) == ["there are two findings 468-HOLE-09"]
    assert list(flaws([one, same_repair], read_ledger())) == ["there are two findings leaders_are_fenced"]
