"""The findings, the designs, the ledger, the worlds and the pages agree with one another."""

from functools import cache

import pytest

from models.asking import known
from models.findings import Shown, flaws, shown, story_of
from models.reports.findings import pages
from models.traces.story import Story
from proofs.checks import read_findings, read_ledger
from proofs.contracts import ROOT
from spec import holes
from spec.holes import Finding

FINDINGS = read_findings()
PAGES = ROOT / "docs" / "findings"
UPDATE = "run ./braid findings --update"


def id_of(finding: Finding) -> str:
    return finding.id


@cache
def explored(finding: Finding) -> tuple[Shown, Story]:
    """The trace of a finding, looked for once."""
    one = shown(finding, known())
    return one, story_of(one)


def test_every_difference_between_the_designs_is_a_finding_and_the_other_way_round() -> None:
    assert sorted(one.repair for one in FINDINGS) == sorted(holes.repairs())


def test_every_finding_fits_the_ledger_and_the_designs() -> None:
    assert list(holes.flaws(FINDINGS, read_ledger())) == []


@pytest.mark.parametrize("finding", FINDINGS, ids=id_of)
def test_a_world_holds_with_the_repair_and_breaks_this_property_without_it(finding: Finding) -> None:
    assert list(flaws(finding, known())) == []


@pytest.mark.parametrize("finding", FINDINGS, ids=id_of)
def test_the_page_of_a_finding_is_what_the_checker_says_now(finding: Finding) -> None:
    name = f"{finding.id}.md"

    made = pages([explored(finding)], read_ledger())

    assert (PAGES / name).is_file(), UPDATE
    assert (PAGES / name).read_text(encoding="utf-8") == made[name], UPDATE


def test_the_index_lists_every_finding_and_no_other_page_is_there() -> None:
    made = pages([explored(finding) for finding in FINDINGS], read_ledger())

    assert sorted(path.name for path in PAGES.glob("*.md")) == sorted(made), UPDATE
    assert (PAGES / "README.md").read_text(encoding="utf-8") == made["README.md"], UPDATE
