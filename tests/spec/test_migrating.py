"""What no world of migration checks: the facts that the machine rests on, and the order of its steps."""

import pytest

from spec.design import AS_WRITTEN, HARDENED
from spec.migration import RegularTopic, migrated_layout, synthetic_view
from spec.protocols.migrating import Step, plan
from spec.protocols.one_name import KEY_NAMES, NAME
from spec.routing import Routing, TopicView, route


@pytest.mark.parametrize("key", KEY_NAMES)
def test_keys_change_place_at_the_flip(key: str) -> None:
    """Otherwise no world would see a message of a key overtake one in another partition."""
    topic = RegularTopic(NAME, 2)
    before = synthetic_view(topic)
    after = TopicView(before.identity, migrated_layout(topic), Routing.RANGE)

    assert route(before, key).segment_id + 2 != route(after, key).segment_id


@pytest.mark.claims("475-STEP-07")
def test_as_written_a_migration_is_one_write() -> None:
    assert plan(AS_WRITTEN) == (Step.CHECK, Step.PUBLISH, Step.RELEASE)


def test_nothing_is_touched_before_it_is_confirmed() -> None:
    steps = plan(HARDENED)

    assert set(steps) == set(Step)
    touching = (Step.CLOSE, Step.SEAL, Step.CREATE)
    assert max(steps.index(Step.ANNOUNCE), steps.index(Step.FENCE)) < steps.index(Step.CONFIRM)
    assert steps.index(Step.CONFIRM) < min(map(steps.index, touching))
    assert steps.index(Step.SEAL) < steps.index(Step.DISCOVER) < steps.index(Step.CREATE)
