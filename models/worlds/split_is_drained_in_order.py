"""A segment with a backlog is split while its consumers read, and its children are read after it."""

from dataclasses import replace

from models.worlds.half_open_connections import LISTENS_TO_ONE, OF_SESSIONS, WITHOUT_FAILURES_OF_BROKERS
from spec.design import HARDENED, Readiness
from spec.protocols.connections import (
    Connections,
    a_name_has_two_connections,
    somebody_died_and_is_back,
    somebody_was_evicted_alive,
)
from spec.protocols.consuming import (
    Consuming,
    a_child_is_read_after_all_its_ancestors,
    every_message_is_handled,
    every_segment_is_read_in_the_end,
    somebody_reads_a_child,
)
from spec.protocols.coordination import Coordination
from spec.protocols.election import Election
from spec.protocols.layout_change import LayoutChange
from spec.protocols.producing import LookingUp, Producing
from spec.protocols.topic import keys_stay_in_order
from spec.world import Holds, Violated, World

WORLD = World(
    name="split-is-drained-in-order",
    asks="When a segment is split, do its consumers drain it before they read its children, and read those?",
    machines=(Election, LayoutChange, Producing, LookingUp, Coordination, Connections, Consuming),
    bounds={
        "brokers": 1,
        "subscriptions": 1,
        "keys": 1,
        "segments": 3,
        "initial_segments": 1,
        "crashes": 0,
        "expiries": 0,
        "operations": 1,
        "lost_replies": 0,
        "producers": 1,
        "messages": 1,
        "lost_acknowledgements": 0,
        "consumers": 2,
        "drops": 0,
        "deaths": 0,
        "leaves": 0,
        "backlog": 1,
        "checkpointing": 0,
    },
    properties=(
        keys_stay_in_order,
        *(
            p
            for p in (*OF_SESSIONS, *Consuming.properties)
            if p not in (a_name_has_two_connections, somebody_died_and_is_back, somebody_was_evicted_alive)
        ),
    ),
    idle=(
        *WITHOUT_FAILURES_OF_BROKERS,
        *LISTENS_TO_ONE,
        "begin_merge",
        "discover",
        "publish_without_an_answer",
        "learn_the_outcome",
        "finish_change",
        "send_unacknowledged",
        "send_again",
        "give_up",
        "let_the_grace_period_end",
        "drop_connection",
        "drop_while_registering",
        "register_late",
        "notice_the_end",
        "die",
        "start_again",
        "leave",
        "move_the_cursor_to_the_checkpoint",
    ),
    expect=Holds(states=6_623, depth=33),
)

IN_ORDER_AND_IN_THE_END = (
    keys_stay_in_order,
    a_child_is_read_after_all_its_ancestors,
    every_message_is_handled,
    every_segment_is_read_in_the_end,
    somebody_reads_a_child,
)

CHECKPOINTS = replace(
    WORLD,
    name="checkpoints-pass-a-split",
    asks="When a segment is split that CheckpointConsumers read, do they ever come to read its children?",
    bounds={**WORLD.bounds, "checkpointing": 1, "consumers": 1},
    idle=tuple(name for name in WORLD.idle if name != "move_the_cursor_to_the_checkpoint"),
    properties=IN_ORDER_AND_IN_THE_END,
    expect=Holds(states=509, depth=29),
)

TWICE = replace(
    WORLD,
    name="child-is-split-before-its-parent-is-drained",
    asks="When a segment is split and then one of its children, which is empty, does everything before the "
    "grandchildren come first?",
    bounds={**WORLD.bounds, "segments": 5, "consumers": 1},
    properties=IN_ORDER_AND_IN_THE_END,
    expect=Holds(states=8_183, depth=40),
)

WORLDS = (
    WORLD,
    WORLD.without(
        "readiness", Violated("every_message_is_handled", steps=18), properties=(every_message_is_handled,)
    ),
    WORLD.as_written(Violated("keys_stay_in_order", steps=16), properties=(keys_stay_in_order,)),
    CHECKPOINTS,
    CHECKPOINTS.without(
        "checkpoints_say_what_is_drained", Violated("every_segment_is_read_in_the_end", steps=17)
    ),
    TWICE,
    replace(
        TWICE,
        name="child-is-split-before-its-parent-is-drained-with-parents-alone",
        design=replace(HARDENED, readiness=Readiness.PARENTS_DRAINED),
        expect=Violated("keys_stay_in_order", steps=27),
        properties=(keys_stay_in_order,),
    ),
)
