"""
A trace in the Informal Trace Format, which the viewers for Apalache and Quint open.

A family is one variable that holds a map. A value has the nearest form that the format knows: a dataclass is
a record, an enumeration's member its name, None a variant without content.
"""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from models.traces.store import Kept
from spec.immutable import members, ordered
from spec.world import Model, State

FORMAT = "https://apalache-mc.org/docs/adr/015adr-trace.html"
ACTION = "mbt::actionTaken"
"""The variable in which the viewers look for the action that led to a state."""


def document(model: Model, kept: Kept, states: Sequence[State]) -> dict[str, Any]:
    """All states of a trace, as the format wants them."""
    loop = kept.trace.loop
    if loop is not None and loop < len(states) - 1:
        states = states[:-1]
    actions = ["init", *(move.label for move in kept.trace.moves)]
    names = list(dict.fromkeys(slot.family for slot in model.slots))
    return {
        "#meta": {
            "format": "ITF",
            "format-description": FORMAT,
            "source": f"world {kept.world}, design {kept.design}",
            "description": f"{kept.about()}: {' '.join(kept.sentences)}".rstrip(": "),
            "status": "ok" if kept.sort == "sometimes" else "violation",
        },
        "vars": [ACTION, *names],
        **({} if loop is None else {"loop": loop}),
        "states": [
            {"#meta": {"index": index}, ACTION: action, **_variables(model, state)}
            for index, (action, state) in enumerate(zip(actions, states, strict=False))
        ],
    }


def _variables(model: Model, state: State) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for slot, held in zip(model.slots, state, strict=True):
        if not slot.over:
            found[slot.name] = value(held)
        else:
            key = slot.key if len(slot.key) > 1 else slot.key[0]
            found.setdefault(slot.family, {"#map": []})["#map"].append([value(key), value(held)])
    return found


def value(held: Any) -> Any:
    """One value in the format's terms."""
    if held is None:
        return {"tag": "None", "value": {"#tup": []}}
    if isinstance(held, Enum):
        return held.name
    if isinstance(held, bool | str):
        return held
    if isinstance(held, int):
        return {"#bigint": str(held)}
    if isinstance(held, tuple) and hasattr(held, "_fields"):
        return {name: value(part) for name, part in zip(held._fields, held, strict=True)}
    if isinstance(held, tuple):
        return {"#tup": [value(part) for part in held]}
    if isinstance(held, frozenset):
        return {"#set": [value(part) for part in ordered(members(held))]}
    if is_dataclass(held):
        return {field.name: value(getattr(held, field.name)) for field in fields(held)}
    return {"#unserializable": repr(held)}
