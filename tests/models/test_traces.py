"""Traces are kept under short ids, told step by step, and exported in forms that others read."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from models import worlds
from models.asking import Usage, asked, design_called, told
from models.engine import reference, weighted
from models.engine.explore import explore
from models.engine.result import Limits, Move, NotReplayable, Trace, breach_of, replay
from models.engine.shorten import shortened
from models.events import Check, Decided, Record, Violated, as_plain, story_as_plain
from models.reports import junit, sarif
from models.traces import itf, mermaid, page, pin, store, text
from models.traces.again import breach_along, reached_by
from models.traces.store import Kept, fetch, keep
from models.traces.story import Story, diff, tell
from models.verdict import Outcome, Verdict
from proofs.contracts import ROOT
from spec.design import HARDENED, Readiness
from spec.immutable import Unordered
from spec.machine import Domain, Family, Machine, Variable, action, always, require
from spec.machine import step as every_step
from spec.world import Model, World
from tests.models.planted import HIGH, PLANTED, SOUND, STAIRS, STUCK, TIRED, TRACK, UNFAIR, Medal, Mood

UNTIRED = Trace((Move("run(r1, 0)"), Move("run(r1, 1)"), Move("run(r2, 0)"), Move("run(r2, 1)")), 0, 4)
"""Two runners at the goal, and then nothing for ever."""


@pytest.fixture(autouse=True)
def _planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds, "all_worlds", lambda: PLANTED)


def broken(world: World) -> Kept:
    """The first breach of a world, ready to be kept."""
    breach = reference.explore(world).breaches[0]
    sort = next((p.sort.value for p in world.properties or () if p.name == breach.property), "")
    return store.of(
        world, breach.property, breach.trace, ids=breach.ids, sort=sort, sentences=breach.sentences
    )


def story(world: World, kept: Kept | None = None) -> Story:
    model = Model(world)
    kept = kept or replace(broken(world), id="t7kp2")
    return tell(model, kept, replay(model, kept.trace))


def repeating() -> Kept:
    return store.of(TIRED, "every_runner_gets_a_medal", UNTIRED, sort="leads_to", sentences=("never",))


def test_a_trace_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    kept = keep(tmp_path, broken(UNFAIR))

    assert re.fullmatch("[a-z2-9]{5}", kept.id)
    assert fetch(tmp_path, kept.id) == kept
    assert store.world_of(kept) == UNFAIR.at()
    assert [path.name for path in tmp_path.iterdir()] == [f"{kept.id}.json"]


def test_the_same_trace_has_the_same_id_whoever_found_it(tmp_path: Path) -> None:
    kept = keep(tmp_path, broken(UNFAIR))

    assert keep(tmp_path, replace(broken(UNFAIR), engine="fast", sentences=())).id == kept.id
    assert keep(tmp_path, broken(UNFAIR.at(runners=3))).id != kept.id


def test_two_traces_never_share_an_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "LENGTH", 1)
    bounds = [{"runners": number} for number in range(20)]
    kept = [keep(tmp_path, replace(broken(TRACK), bounds=bound)) for bound in bounds]

    assert len({one.id for one in kept}) == 20
    assert [fetch(tmp_path, one.id).bounds for one in kept] == bounds


@pytest.mark.parametrize("id", ["zzzzz", "", "../x", "t7kp2.json", "l0000", "t" * 9])
def test_an_unknown_id_is_refused(tmp_path: Path, id: str) -> None:
    with pytest.raises(Usage, match="there is no trace"):
        fetch(tmp_path, id)


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "{}", '{"version": 99}', "null", "\x00", '{"version": 1, "trace": {"moves": 3}}'],
)
def test_a_broken_file_is_refused_and_says_which(tmp_path: Path, content: str) -> None:
    (tmp_path / "t7kp2.json").write_text(content)

    with pytest.raises(Usage) as refused:
        fetch(tmp_path, "t7kp2")
    assert refused.value.args[0].startswith("trace t7kp2 cannot be read")
    assert "t7kp2.json" in refused.value.args[1]


def test_a_file_with_a_loop_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    kept = keep(tmp_path, repeating())
    path = tmp_path / f"{kept.id}.json"
    path.write_text(path.read_text().replace('"loop": 4', '"loop": 5'))

    with pytest.raises(Usage, match="repeats nowhere"):
        fetch(tmp_path, kept.id)


def test_only_what_changed_is_told() -> None:
    model = Model(UNFAIR)
    states = replay(model, broken(UNFAIR).trace)

    changes = diff(model, states)

    assert [[c.variable for c in step] for step in changes[:2]] == [
        ["place[r1]", "seen[r1, 0]"],
        ["place[r1]", "seen[r1, 1]"],
    ]
    for step, (before, after) in zip(changes, pairwise(states), strict=True):
        assert len(step) == sum(a != b for a, b in zip(before, after, strict=True))


def test_a_long_value_is_told_by_the_fields_that_changed() -> None:
    [change] = story(UNFAIR).steps[-1].changes

    assert (change.variable, change.before, change.after) == ("medal.holders", "{r1}", "{r1, r2}")


def test_a_failure_as_a_person_sees_it() -> None:
    assert "\n".join(text.lines(story(UNFAIR))) == "\n".join(
        (
            "VIOLATED  RACE-ONE  one_runner_has_the_medal                        "
            "world race-for-one-medal, design HARDENED",
            "          2 runners hold <one> medal",
            "",
            "  1  runner r1  run(lap 0)  place[r1]      0 → 1",
            "                            seen[r1, 0]    False → True",
            "  2  runner r1  run(lap 1)  place[r1]      1 → 2",
            "                            seen[r1, 1]    False → True",
            "  3  runner r2  run(lap 0)  place[r2]      0 → 1",
            "                            seen[r2, 0]    False → True",
            "  4  runner r2  run(lap 1)  place[r2]      1 → 2",
            "                            seen[r2, 1]    False → True",
            "  5  runner r1  win()       medal.holders  {} → {r1}",
            "  6  runner r2  win()       medal.holders  {r1} → {r1, r2}                                   "
            "← broken here",
            "",
            "  replay   ./braid replay t7kp2        diagram   ./braid show t7kp2 --html        "
            "test   ./braid pin t7kp2",
        )
    )


def test_a_breach_in_an_initial_state_is_told_from_the_start() -> None:
    lines = list(text.steps(story(HIGH)))

    assert len(lines) == 1
    assert re.fullmatch(r"  0  start +height  0 → 1 +← broken here", lines[0])


def test_a_behaviour_without_end_says_from_where_it_repeats() -> None:
    kept = repeating()
    still = list(text.steps(story(TIRED, kept)))
    moving = replace(kept, trace=replace(UNTIRED, loop=2))

    assert still[-1].strip() == "↺ from here on nothing need ever happen"
    lines = list(text.steps(story(TIRED, moving)))
    assert [line.strip() for line in lines].index("↺ from here the behaviour repeats") == 4
    assert not any("broken here" in line for line in lines)


def test_an_action_without_an_actor_belongs_to_the_system() -> None:
    assert story(TRACK).steps[0].actor == "system"
    assert story(TRACK).steps[0].fault


def test_whoever_is_touched_by_a_step_is_known() -> None:
    trace = Trace((Move("run(r2, 0)"), Move("wink(r1)", (0, 0))))
    told = story(SOUND, store.of(SOUND, "somebody_is_tired", trace, sort="sometimes"))

    assert (told.steps[1].action, told.steps[1].towards) == ("wink()", ("runner r2",))
    assert next(iter(text.lines(told))).startswith("REACHED")
    assert list(text.steps(told))[-1].endswith("← reached")
    assert "  p1->>p0: 2 wink()" in list(mermaid.lines(told))
    assert 'class="arrow"' in html_of(SOUND, told.kept)


def test_every_breach_is_found_again_along_its_trace() -> None:
    for world in (UNFAIR, TRACK, STAIRS, HIGH, STUCK):
        for breach in reference.explore(world).breaches:
            assert breach_along(Model(world), breach.property, breach.trace) == breach.sentences, world.name


def test_a_failing_action_is_found_again() -> None:
    trace = Trace((Move("go()"), Move("go()"), Move("go()"), Move("stumble()")))

    [sentence] = breach_along(Model(STAIRS), "no_action_fails", trace)
    assert "the third stair is missing" in sentence
    assert breach_along(Model(STAIRS), "no_action_fails", Trace(trace.moves[:3])) == ()


def test_a_promise_is_broken_only_on_a_fair_loop() -> None:
    model = Model(TIRED)
    unfair = Trace(UNTIRED.moves[:3], 0, 3)
    without_end = replace(UNTIRED, loop=None)
    kept_by_r1 = Trace((*UNTIRED.moves[:2], Move("win(r1)"), *UNTIRED.moves[2:], Move("win(r2)")), 0, 6)

    assert breach_along(model, "every_runner_gets_a_medal", UNTIRED) == (
        "what it waits for since step 2 never comes",
    )
    assert breach_along(model, "every_runner_gets_a_medal", unfair) == ()
    assert breach_along(model, "every_runner_gets_a_medal", without_end) == ()
    assert breach_along(model, "every_runner_gets_a_medal", kept_by_r1) == ()
    assert breach_along(model, "every_runner_gets_a_medal", replace(UNTIRED, loop=1)) == ()


def test_a_property_that_is_gone_is_no_verdict() -> None:
    with pytest.raises(LookupError, match="has no property"):
        breach_along(Model(TRACK), "everybody_is_nice", Trace(()))
    with pytest.raises(LookupError, match="cannot be broken"):
        breach_along(Model(SOUND), "somebody_is_tired", Trace(()))


def test_a_witness_is_reached_again() -> None:
    trace = reference.explore(SOUND).witnesses["somebody_is_tired"]
    assert trace is not None

    assert reached_by(Model(SOUND), "somebody_is_tired", trace)
    assert not reached_by(Model(SOUND), "somebody_is_tired", Trace(trace.moves[:-1]))


def test_a_mermaid_diagram_has_an_arrow_for_each_step() -> None:
    lines = list(mermaid.lines(story(UNFAIR)))

    assert lines[0] == "sequenceDiagram"
    assert "  participant p0 as runner r1" in lines
    assert next(line for line in lines if "->>" in line) == "  p0->>p0: 1 run(lap 0)"
    assert sum("->>" in line for line in lines) == 6
    assert lines[-1] == "  Note over p0,p1: 2 runners hold #60;one#62; medal"


def test_a_mermaid_diagram_shows_a_loop_and_a_fault() -> None:
    looping = list(mermaid.lines(story(TIRED, replace(repeating(), trace=replace(UNTIRED, loop=2)))))

    assert looping.index("  end") > looping.index("  loop from here the behaviour repeats")
    assert "  p0--xp0: 1 trip()" in list(mermaid.lines(story(TRACK)))
    assert "  participant p0 as start" in list(mermaid.lines(story(HIGH)))


def holds_itf(value: Any) -> None:
    """Fail unless a value is one of the format's."""
    assert not isinstance(value, int) or isinstance(value, bool), "numbers are written as #bigint"
    assert value is not None
    if isinstance(value, dict):
        if "#bigint" in value:
            assert re.fullmatch(r"-?\d+", value["#bigint"])
        for key in ("#tup", "#set"):
            for part in value.get(key, ()):
                holds_itf(part)
        for pair in value.get("#map", ()):
            assert len(pair) == 2
            holds_itf(pair[0])
            holds_itf(pair[1])
        for key, part in value.items():
            if not key.startswith("#"):
                holds_itf(part)


def test_itf_has_the_structure_that_viewers_expect() -> None:
    model, kept = Model(UNFAIR), broken(UNFAIR)
    document = json.loads(json.dumps(itf.document(model, kept, replay(model, kept.trace))))

    assert document["#meta"]["format"] == "ITF"
    assert document["vars"] == [itf.ACTION, "place", "mood", "seen", "medal", "broken", "note"]
    assert "loop" not in document
    assert len(document["states"]) == 7
    for index, state in enumerate(document["states"]):
        assert state["#meta"] == {"index": index}
        assert set(state) == {"#meta", *document["vars"]}
        for name in document["vars"]:
            holds_itf(state[name])
    last = document["states"][-1]
    assert last[itf.ACTION] == "win(r2)"
    assert last["place"] == {"#map": [["r1", {"#bigint": "2"}], ["r2", {"#bigint": "2"}]]}
    assert last["seen"]["#map"][0] == [{"#tup": ["r1", {"#bigint": "0"}]}, True]
    assert last["medal"]["holders"] == {"#set": ["r1", "r2"]}
    assert last["note"] == {"tag": "None", "value": {"#tup": []}}


def test_itf_writes_a_loop_without_its_last_state_twice() -> None:
    model, kept = Model(TIRED), repeating()
    states = replay(model, kept.trace)

    assert itf.document(model, kept, states)["loop"] == 4
    assert len(itf.document(model, kept, states)["states"]) == 5
    moving = itf.document(model, replace(kept, trace=replace(UNTIRED, loop=2)), states)
    assert (moving["loop"], len(moving["states"])) == (2, 4)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (-3, {"#bigint": "-3"}),
        (True, True),
        ("x", "x"),
        (Mood.CALM, "CALM"),
        ((1, "a"), {"#tup": [{"#bigint": "1"}, "a"]}),
        (Unordered({2, 1}), {"#set": [{"#bigint": "1"}, {"#bigint": "2"}]}),
        (Medal("a", "b", frozenset()), {"colour": "a", "engraving": "b", "holders": {"#set": []}}),
        (1.5, {"#unserializable": "1.5"}),
        (b"x", {"#unserializable": "b'x'"}),
    ],
)
def test_every_value_has_a_form_in_itf(value: object, written: object) -> None:
    assert itf.value(value) == written


class _Tags(HTMLParser):
    """What a page consists of, and what it points at."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.steps = 0
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag not in ("meta", "rect", "line", "path"):
            self.open.append(tag)
        self.steps += (found.get("class") or "").startswith("step")
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("rect", "line", "path"):
            assert self.open.pop() == tag


def html_of(world: World, kept: Kept | None = None) -> str:
    model = Model(world)
    kept = kept or replace(broken(world), id="t7kp2")
    states = replay(model, kept.trace)
    return page.page(model, tell(model, kept, states), states)


@pytest.mark.parametrize("world", [UNFAIR, TRACK, HIGH, STUCK], ids=lambda world: world.name)
def test_a_page_needs_nothing_else(world: World) -> None:
    html = html_of(world)
    tags = _Tags()
    tags.feed(html)

    assert tags.open == []
    assert tags.links == []
    assert not re.search(r"https?://|@import|url\((?!#)|@[A-Z]+@", html)
    assert tags.steps == len(broken(world).trace.moves) + 1
    assert len(html) < 30_000


def test_a_page_says_what_broke_and_lets_no_text_become_markup() -> None:
    html = html_of(UNFAIR, replace(broken(UNFAIR), sentences=("</script><b>x", "@TITLE@")))
    data = re.search(r'id="trace">(.*?)</script>', html, re.DOTALL)
    assert data is not None
    trace = json.loads(data[1])

    assert "&lt;/script&gt;&lt;b&gt;x" in html
    assert "<b>x" not in html
    assert "@TITLE@" in html
    assert trace["mark"] == 6
    assert trace["steps"][6]["changes"] == [["medal.holders", "{r1}", "{r1, r2}"]]
    values = dict(enumerate(trace["start"]))
    for step in trace["steps"][1:]:
        values |= dict(step["set"])
    assert values[trace["variables"].index("place[r2]")] == "2"


def test_a_page_draws_the_loop() -> None:
    html = html_of(TIRED, replace(repeating(), trace=replace(UNTIRED, loop=2)))

    assert 'class="loop"' in html
    assert "↺ this repeats for ever" in html
    assert "↺ from here on nothing need ever happen" in html_of(TIRED, repeating())


def pinned(folder: Path, kept: Kept) -> subprocess.CompletedProcess[str]:
    """Run the test of a trace as anybody would, where the planted worlds are known."""
    (folder / "conftest.py").write_text(
        "from models import worlds\n"
        "from tests.models.planted import PLANTED\n"
        "worlds.all_worlds = lambda: PLANTED\n"
    )
    path = folder / "test_pinned.py"
    path.write_text(pin.test_of(kept))
    pytest_here = [sys.executable, "-m", "pytest", "-q", "-rP", "-c", "pyproject.toml"]
    return subprocess.run(
        [*pytest_here, "--rootdir", folder, path], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_a_pinned_trace_fails_until_it_is_repaired(tmp_path: Path) -> None:
    done = pinned(tmp_path, replace(broken(UNFAIR), id="t7kp2"))

    assert done.returncode == 1, done.stdout + done.stderr
    assert "AssertionError: 2 runners hold <one> medal" in done.stdout
    assert "1 failed" in done.stdout


def test_a_pinned_trace_passes_where_its_property_holds(tmp_path: Path) -> None:
    kept = broken(UNFAIR)

    done = pinned(tmp_path, replace(kept, trace=Trace(kept.trace.moves[:-1]), sentences=('"""\\',)))

    assert done.returncode == 0, done.stdout + done.stderr


def test_a_pinned_trace_that_can_no_longer_happen_passes_and_says_so(tmp_path: Path) -> None:
    kept = broken(UNFAIR)

    done = pinned(tmp_path, replace(kept, trace=Trace((*kept.trace.moves, Move("win(r2)")))))

    assert done.returncode == 0, done.stdout + done.stderr
    assert "the trace can no longer happen: step 7: win(r2) cannot happen there" in done.stdout


def test_a_trace_of_another_world_cannot_happen() -> None:
    with pytest.raises(NotReplayable):
        replay(Model(TRACK), Trace((Move("win(r1)"),)))


def test_a_design_is_told_by_its_name_and_its_differences() -> None:
    changed = replace(HARDENED, merge_weighs_the_sum=False, readiness=Readiness.PARENTS_DRAINED)

    assert told(HARDENED) == "HARDENED"
    assert told(changed) == "HARDENED but readiness=PARENTS_DRAINED, merge_weighs_the_sum=false"
    assert design_called(told(changed)) == changed


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("SOFT", "there is no design called 'SOFT'"),
        ("HARDENED but colour=red", "a design has no field 'colour'"),
        ("HARDENED but merge_weighs_the_sum=maybe", "merge_weighs_the_sum cannot be 'maybe'"),
        ("HARDENED but readiness=NEVER", "readiness cannot be 'NEVER'"),
    ],
)
def test_a_design_that_does_not_exist_is_refused(text: str, problem: str) -> None:
    with pytest.raises(Usage, match=problem):
        design_called(text)


def test_what_a_world_expects_it_expects_of_its_own_design_and_bounds() -> None:
    assert asked("race-for-one-medal") == UNFAIR
    assert asked("race-for-one-medal", "HARDENED") == UNFAIR
    assert asked("race-for-one-medal", "AS_WRITTEN").expect != UNFAIR.expect
    assert asked("race-without-rules", bounds={"runners": 3}).expect == SOUND.at().expect
    with pytest.raises(Usage, match="has no bound brokers"):
        asked("race-without-rules", bounds={"brokers": 3})
    with pytest.raises(Usage) as refused:
        asked("race-without")
    assert refused.value.args[1] == "did you mean race-without-rules?"


def test_the_cheapest_trace_avoids_what_breaks() -> None:
    shortest = reference.explore(STAIRS).breaches[0].trace
    [cheapest] = [
        b.trace for b in weighted.explore(STAIRS, 9).breaches if b.property == "nobody_is_at_the_bottom"
    ]

    assert [move.label for move in shortest.moves] == ["jump()"]
    assert ([move.label for move in cheapest.moves], cheapest.start) == (["go()"] * 3, 1)


@pytest.mark.parametrize("world", [w for w in PLANTED if w is not TIRED], ids=lambda world: world.name)
def test_where_faults_cost_one_step_costs_are_steps(world: World) -> None:
    plain, costs = reference.explore(world), weighted.explore(world, 1)

    assert costs.verdict is plain.verdict
    found = {b.property: len(b.trace.moves) for b in costs.breaches}
    assert found.items() >= {b.property: len(b.trace.moves) for b in plain.breaches}.items() or (
        min(found.values()) == min(len(b.trace.moves) for b in plain.breaches)
    )
    if plain.verdict is Verdict.HOLDS:
        assert (costs.states, costs.transitions, costs.levels) == (
            plain.states,
            plain.transitions,
            plain.levels,
        )
        assert costs.fired == plain.fired


def test_the_search_for_the_cheapest_obeys_its_limits() -> None:
    assert weighted.explore(SOUND, 5, Limits(states=10)).cut == "10 states reached"
    assert weighted.explore(SOUND, 5, Limits(depth=2)).depth == 2
    assert weighted.explore(SOUND, 5, Limits(depth=0)).states == 1


class Shelf(Machine):
    """Two cups, each of which can fall."""

    fallen = Family[str, bool](Domain("cup", "c"), False)
    steps = Variable[int](0)


@action(cup=Domain("cup", "c"))
def fall(w: Shelf, cup: str) -> None:
    require(cup == "c2")
    w.fallen[cup] = True


@action()
def wait(w: Shelf) -> None:
    require(w.steps < 3)
    w.steps += 1


@always("SHELF-CUP", cup=Domain("cup", "c"))
def a_cup_stays_on_the_shelf(w: Shelf, cup: str) -> Iterator[str]:
    if w.fallen[cup]:
        yield "broken"


@every_step("SHELF-STEP", cup=Domain("cup", "c"))
def no_cup_falls(before: Shelf, after: Shelf, cup: str) -> Iterator[str]:
    if after.fallen[cup] and not before.fallen[cup]:
        yield "it falls"


CHECK = Check("world:cups", "worlds", "", "?", ())
CUPS = World(
    name="cups", asks="?", machines=(Shelf,), bounds={"cups": 2}, properties=(a_cup_stays_on_the_shelf,)
)
FALLING = replace(CUPS, name="falling-cups", properties=(no_cup_falls,))


@pytest.mark.parametrize("engine", ["reference", "fast"])
@pytest.mark.parametrize(
    ("world", "label"), [(CUPS, "a_cup_stays_on_the_shelf(c2)"), (FALLING, "no_cup_falls(c2)")]
)
def test_a_breach_names_the_arguments_for_which_a_property_fails(
    engine: str, world: World, label: str
) -> None:
    [breach] = explore(world, engine).breaches

    assert breach.label == label


def test_a_property_without_arguments_needs_no_label() -> None:
    assert [breach.label for breach in reference.explore(UNFAIR).breaches] == [""]
    assert [breach.label for breach in reference.explore(STUCK).breaches] == [""]


@pytest.mark.parametrize(
    ("world", "label"), [(CUPS, "a_cup_stays_on_the_shelf(c2)"), (FALLING, "no_cup_falls(c2)")]
)
def test_a_trace_that_is_made_shorter_says_what_breaks_at_its_end(world: World, label: str) -> None:
    [check] = [check.of for check in Model(world).checks if check.label == label]
    long = Trace((Move("wait()"), Move("wait()"), Move("fall(c2)")))

    short = shortened(Model(world), breach_of(check, "another(c1)", (), long))

    assert (short.trace.moves, short.label) == ((Move("fall(c2)"),), label)


def labelled() -> Kept:
    breach = reference.explore(CUPS).breaches[0]
    return replace(
        store.of(
            CUPS,
            breach.property,
            breach.trace,
            ids=breach.ids,
            sort="always",
            sentences=breach.sentences,
            label=breach.label,
        ),
        id="t7kp2",
    )


def test_the_arguments_are_told_in_every_form() -> None:
    model, kept = Model(CUPS), labelled()
    states = replay(model, kept.trace)
    told = tell(model, kept, states)
    decided = Decided(CHECK, Outcome(CHECK.id, Verdict.VIOLATED, "", 0.0), False)
    record = Record(decided=[decided], violated=[Violated(CHECK, told, False)])
    forms = {
        "terminal": next(iter(text.lines(told))),
        "mermaid": "\n".join(mermaid.lines(told)),
        "page": page.page(model, told, states),
        "itf": itf.document(model, kept, states)["#meta"]["description"],
        "test": pin.test_of(kept),
        "junit": junit.document(record),
        "sarif": json.dumps(sarif.document(record, "0")),
        "events": json.dumps(as_plain(Violated(CHECK, told, False))),
    }

    assert [form for form, shown in forms.items() if "a_cup_stays_on_the_shelf(c2)" not in shown] == []
    assert forms["terminal"].startswith("VIOLATED  SHELF-CUP  a_cup_stays_on_the_shelf(c2) ")
    assert story_as_plain(told)["property"] == "a_cup_stays_on_the_shelf"
    assert story_as_plain(story(UNFAIR))["label"] == ""


def test_a_trace_that_was_kept_before_there_were_labels_can_be_read(tmp_path: Path) -> None:
    kept = keep(tmp_path, labelled())
    path = tmp_path / f"{kept.id}.json"
    document = json.loads(path.read_text())
    assert fetch(tmp_path, kept.id) == kept
    assert document.pop("label") == "a_cup_stays_on_the_shelf(c2)"
    path.write_text(json.dumps(document))

    old = fetch(tmp_path, kept.id)

    assert old == replace(kept, label="")
    assert old.about() == "a_cup_stays_on_the_shelf"
    assert keep(tmp_path, labelled()).id == kept.id
