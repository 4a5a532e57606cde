"""Laws of who may do what."""

from collections.abc import Set

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from models.laws.law import law, seen
from spec.authorization import NEEDS, SCOPE, Operation, Permission, Scope, authorize
from spec.refusals import Reason, Refused
from spec.surface import ADMIN_CALLS, ENDPOINTS, AdminCall, Endpoint

operations: SearchStrategy[Operation] = st.sampled_from(Operation)
holdings: SearchStrategy[Set[Permission]] = st.frozensets(st.sampled_from(Permission))

BROKERS_OWN = (
    Operation.CREATE_SEGMENT,
    Operation.TERMINATE_SEGMENT,
    Operation.DELETE_SEGMENT,
    Operation.REPORT_LOAD,
    Operation.HOLD_LEADER_LOCK,
)


@law(
    "475-SEC-02",
    operation=operations,
    held=holdings,
    sometimes=("allowed", "refused", "refused to a super-user in all but the one thing"),
)
def an_operation_is_open_to_exactly_those_with_its_one_permission(
    operation: Operation, held: Set[Permission]
) -> None:
    """One permission alone opens an operation, and nothing else makes up for it."""
    keys = [permission for permission in Permission if _opens(operation, {permission})]

    assert len(keys) == 1
    assert _opens(operation, held) == (keys[0] in held)
    assert not _opens(operation, set(Permission) - set(keys))
    seen("allowed" if keys[0] in held else "refused")
    seen("refused to a super-user in all but the one thing", len(held) == len(Permission) - 1)


@law(operation=operations, held=holdings, more=holdings, sometimes=("the difference was made",))
def more_permissions_never_close_anything(
    operation: Operation, held: Set[Permission], more: Set[Permission]
) -> None:
    """Whoever is granted something can do everything that they could do before."""
    before, after = _opens(operation, held), _opens(operation, held | more)

    assert after or not before
    seen("the difference was made", after and not before)


@law(
    "468-SEC-05",
    "468-SEC-06",
    "483-SEC-03",
    "483-SEC-04",
    operation=st.sampled_from(BROKERS_OWN),
    held=holdings.map(lambda held: held - {Permission.BROKER}),
    sometimes=("nothing is held", "everything else is held"),
)
def no_client_does_what_brokers_do(operation: Operation, held: Set[Permission]) -> None:
    """Without a broker's identity nobody touches segment topics, load records or the leader lock."""
    seen("nothing is held", not held)
    seen("everything else is held", len(held) == len(Permission) - 1)

    assert not _opens(operation, held)
    assert _opens(operation, {Permission.BROKER})


@law(
    "468-SEC-01",
    "468-SEC-02",
    "483-SEC-01",
    "483-SEC-02",
    request=st.sampled_from((*ENDPOINTS, *ADMIN_CALLS)),
    sometimes=("on a topic", "on a namespace", "on the cluster"),
)
def a_request_names_what_its_permission_is_granted_on(request: Endpoint | AdminCall) -> None:
    """Where a topic's permission is asked for there is a topic, and where there is none, a namespace's."""
    scope = SCOPE[NEEDS[request.operation]]
    seen(
        {Scope.TOPIC: "on a topic", Scope.NAMESPACE: "on a namespace", Scope.CLUSTER: "on the cluster"}[scope]
    )

    if isinstance(request, Endpoint):
        named = Scope.TOPIC if "{topic}" in request.path else Scope.NAMESPACE
    else:
        named = Scope.NAMESPACE if request.parameters[0].endswith("namespace") else Scope.TOPIC
    assert scope in (named, Scope.CLUSTER)


def _opens(operation: Operation, held: Set[Permission]) -> bool:
    """Whether these permissions are enough; the only other answer is the named refusal."""
    try:
        authorize(operation, held)
    except Refused as refusal:
        if refusal.reason is Reason.UNAUTHORIZED:
            return False
        raise
    return True
