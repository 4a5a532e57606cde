"""A run as SARIF 2.1.0: a rule for each check or property, a result for each that is not as expected."""

from typing import Any

from models.events import Check, Decided, Record
from models.traces.story import Story
from models.verdict import Verdict

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def document(record: Record, version: str) -> dict[str, Any]:
    """The whole document; a trace is a code flow, from action to action."""
    results: list[dict[str, Any]] = []
    rules: dict[str, dict[str, Any]] = {}
    for one in record.decided:
        if one.expected:
            continue
        stories = record.stories(one.check) if one.outcome.verdict is Verdict.VIOLATED else []
        for story in stories:
            rules.setdefault(f"{one.check.id}/{story.kept.property}", _rule(story.says, story.kept.ids))
            results.append(_trace(one.check, story))
        if not stories:
            rules.setdefault(one.check.id, _rule(one.check.says, one.check.claims))
            results.append(_verdict(one))
    for result in results:
        result["ruleIndex"] = list(rules).index(result["ruleId"])
    driver = {
        "name": "braid",
        "version": version,
        "rules": [{"id": id, **rule} for id, rule in rules.items()],
    }
    code = record.finished.exit
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": code != 2, "exitCode": code}],
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(says: str, ids: tuple[str, ...]) -> dict[str, Any]:
    rule: dict[str, Any] = {"shortDescription": {"text": says or "(nothing said)"}}
    return {**rule, "properties": {"tags": list(ids)}} if ids else rule


def _verdict(one: Decided) -> dict[str, Any]:
    undecided = one.outcome.verdict in (Verdict.UNKNOWN, Verdict.VACUOUS)
    return {
        "ruleId": one.check.id,
        "level": "warning" if undecided else "error",
        "message": {"text": f"{one.verdict}: {one.outcome.explanation or one.check.says}"},
        "locations": [_location(one.check.place, one.check.id)],
    }


def _trace(check: Check, story: Story) -> dict[str, Any]:
    kept = story.kept
    steps = [
        {
            "executionOrder": step.number,
            "location": {
                **_location(step.place, step.action),
                "message": {"text": f"{step.actor} {step.action}"},
            },
            "state": {c.variable: {"text": f"{c.before} → {c.after}"} for c in step.changes},
        }
        for step in story.steps
    ]
    message = " ".join(kept.sentences) or f"{kept.about()} does not hold"
    again = f" Replay with ./braid replay {kept.id}." if kept.id else ""
    result = {
        "ruleId": f"{check.id}/{kept.property}",
        "level": "error",
        "message": {"text": f"{message}{again}"},
        "locations": [_location(story.place, f"{kept.world}.{kept.about()}")],
    }
    return {**result, "codeFlows": [{"threadFlows": [{"locations": steps}]}]} if steps else result


def _location(place: tuple[str, int], name: str) -> dict[str, Any]:
    found: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": name}]}
    if place[0]:
        found["physicalLocation"] = {
            "artifactLocation": {"uri": place[0], "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": place[1]},
        }
    return found
