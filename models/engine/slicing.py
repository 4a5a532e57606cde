"""
Leave out what nobody asks about: the cone of influence of the properties.

A place is in the cone if a property may read it, or if an action that may write a place in the cone may read
it. What is outside never changes what is seen inside, so actions that write only there can be left out, and
so can what the others write there. A trace of the rest is a trace of the whole, and the other way round.
"""

from dataclasses import dataclass

from models.engine.footprint import check_footprints, footprints, within_footprint
from spec.machine import Sort
from spec.world import Model


@dataclass(frozen=True, slots=True)
class Slice:
    """The instances and the places that matter, by their numbers in the model."""

    instances: tuple[int, ...]
    places: frozenset[int]
    why: str
    """Why everything is kept, or what is left out and what is therefore not known of it."""
    left_out: tuple[str, ...] = ()
    """Actions of which an instance is left out: if they never happen, or never fail, that proves nothing."""


def slice_of(model: Model, stuttering: bool = False) -> Slice:
    """
    What has to be explored so that every property of a world has the same answer.

    A step of an action that is left out looks like one that changes nothing. Whoever says `stuttering` asks
    every `step` property about the step from each state to itself as well, and explores everything if one of
    them objects; otherwise nothing is left out where there are such properties.
    """
    reason = _kept_because(model, stuttering)
    if reason:
        return Slice(tuple(range(len(model.instances))), frozenset(range(len(model.slots))), reason)

    actions = footprints(model)
    cone = set(within_footprint(model).reads)
    cone.update(place for found in check_footprints(model) for place in found.reads)
    kept: set[int] = set()
    while more := [i for i, one in enumerate(actions) if i not in kept and not one.writes.isdisjoint(cone)]:
        kept.update(more)
        cone.update(place for i in more for place in actions[i].reads)

    left_out = tuple(dict.fromkeys(one.of.name for i, one in enumerate(model.instances) if i not in kept))
    return Slice(tuple(sorted(kept)), frozenset(cone), _told(model, kept, cone, left_out), left_out)


def _kept_because(model: Model, stuttering: bool) -> str:
    sorts = {check.of.sort for check in model.checks}
    if model.finals:
        return "everything is kept: whether nothing can happen any more depends on every action"
    if Sort.LEADS_TO in sorts:
        return "everything is kept: what must happen in the end depends on what else can happen for ever"
    if Sort.STEP in sorts and not stuttering:
        return "everything is kept: a property of steps sees those of every action"
    return ""


def _told(model: Model, kept: set[int], cone: set[int], left_out: tuple[str, ...]) -> str:
    fewer, unseen = len(model.instances) - len(kept), len(model.slots) - len(cone)
    if not fewer and not unseen:
        return "everything is kept: everything has a bearing on what is asked"
    told = f"left out, because it has no bearing on what is asked: {fewer} instances, {unseen} variables"
    return f"{told}; whether {', '.join(left_out)} ever happen or fail is not known" if left_out else told
