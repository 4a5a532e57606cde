"""The tutorial does what it says: its blocks are parts of its last one, and that one is run here."""

import importlib.util
import re
from pathlib import Path

import pytest

from models.engine import liveness
from models.engine.explore import explore as explore_with_promises
from models.engine.mutants import mutants_of, outcome
from models.engine.reference import explore
from models.verdict import Verdict
from proofs.contracts import ROOT
from spec.world import Model, World

TEXT = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
BLOCKS: list[str] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
FIRST, *PARTS, WHOLE = BLOCKS
THE_GUARD = "    require(Client.HOLDING not in w.client.values())\n"


def world_of(folder: Path, text: str) -> World:
    """The world in a file with this text."""
    path = folder / "my_lock.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("my_lock", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    [world] = module.WORLDS
    assert isinstance(world, World)
    return world


def without(*parts: str) -> str:
    text = WHOLE
    for part in parts:
        assert part in text
        text = text.replace(part, "")
    return text


def told(verdict: str) -> set[tuple[int, ...]]:
    """States, transitions and depth in the transcripts."""
    rows = re.findall(rf"^{verdict} +my-lock +(\d+) +(\d+) +(\d+) ", TEXT, re.MULTILINE)
    return {tuple(map(int, row)) for row in rows}


@pytest.mark.parametrize("part", PARTS, ids=lambda part: re.findall(r"def (\w+)|$", part)[0])
def test_each_block_stands_in_the_finished_file(part: str) -> None:
    assert part in WHOLE


def test_the_transcripts_give_the_sizes_that_the_first_and_the_last_file_have(tmp_path: Path) -> None:
    found = [explore(world_of(tmp_path, text)) for text in (FIRST, WHOLE)]

    assert {(one.states, one.transitions, one.depth) for one in found} == told("holds")
    assert {one.verdict for one in found} == {Verdict.HOLDS}


def test_the_finished_world_is_as_it_expects_and_keeps_its_promise(tmp_path: Path) -> None:
    world = world_of(tmp_path, WHOLE)
    model = Model(world)

    assert explore(world).surprises() == []
    assert liveness.check(model, liveness.graph_of(model)).breaches == ()


def test_without_the_repair_two_clients_hold_the_lock_after_four_steps(tmp_path: Path) -> None:
    [breach] = explore(world_of(tmp_path, without(THE_GUARD))).breaches

    assert (breach.property, len(breach.trace.moves)) == ("one_client_holds_the_lock", 4)
    assert re.fullmatch(r"c\d and c\d both hold the lock", breach.sentences[0])


def test_two_clients_are_too_few_for_the_witness(tmp_path: Path) -> None:
    result = explore(world_of(tmp_path, WHOLE).at(clients=2))

    assert result.verdict is Verdict.VACUOUS
    assert result.missing[0] in TEXT


@pytest.mark.parametrize("weaker", [("STRONG", "WEAK"), (", fair=STRONG", "")])
def test_with_less_fairness_somebody_waits_for_ever(tmp_path: Path, weaker: tuple[str, str]) -> None:
    model = Model(world_of(tmp_path, WHOLE.replace(*weaker)))

    [breach] = liveness.check(model, liveness.graph_of(model)).breaches

    assert breach.property == "whoever_waits_gets_the_lock"


def test_two_guards_survive_until_a_property_says_what_they_are_for(tmp_path: Path) -> None:
    [turns] = [part for part in PARTS if part.startswith("@step")]

    before = mutants_in(world_of(tmp_path, without(turns)))
    after = mutants_in(world_of(tmp_path, WHOLE))

    assert [line for line, who in before if not who] == told_of_mutants("SURVIVED")
    assert [f"{line}  by {who}" for line, who in after] == told_of_mutants("killed")


def mutants_in(world: World) -> list[tuple[str, str]]:
    """Each mutant as the transcripts tell it, and who noticed it; nobody is an empty name."""
    tried = [
        (one, outcome(one.world, lambda world: explore_with_promises(world, "reference")))
        for one in mutants_of(world)
    ]
    return [(f"{one.line}  {one.change}", ", ".join(found.because)) for one, found in tried]


def told_of_mutants(head: str) -> list[str]:
    """What the transcripts say of mutants, without the name of the file."""
    return re.findall(rf"^{head} +models/worlds/my_lock\.py:(.*)$", TEXT, re.MULTILINE)


def test_the_tutorial_shows_every_command_for_worlds() -> None:
    commands = set(re.findall(r"\./braid (\w+)", TEXT))

    assert commands == {"check", "replay", "show", "pin", "sample", "stats", "mutants"}
