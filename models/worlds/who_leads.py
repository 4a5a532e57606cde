"""Is there always one leader again, and never two, whatever sessions and brokers do?"""

from spec.protocols.election import Election, a_topic_gets_a_leader_again
from spec.protocols.topic import Topic
from spec.world import Holds, Violated, World

WHO_LEADS = World(
    name="who-leads",
    asks="When sessions expire and brokers crash, does the topic get a leader again, and never two of them?",
    machines=(Topic, Election),
    bounds={
        "brokers": 2,
        "subscriptions": 1,
        "keys": 1,
        "segments": 1,
        "initial_segments": 1,
        "crashes": 1,
        "expiries": 2,
    },
    expect=Holds(states=2_807, depth=16),
)

WORLDS = (
    WHO_LEADS,
    WHO_LEADS.without("leaders_are_fenced", Violated("one_broker_is_in_office", steps=5)),
    WHO_LEADS.without(
        "lost_sessions_read_again",
        Violated("a_topic_gets_a_leader_again", steps=4),
        properties=(a_topic_gets_a_leader_again,),
    ),
    WHO_LEADS.as_written(Violated("one_broker_is_in_office", steps=5)),
)
