"""What the compiled loops know of a world: everything that was learned, as arrays."""

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

U0, U1, U16, U32 = np.uint64(0), np.uint64(1), np.uint64(16), np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)


class Program(NamedTuple):
    """Everything that was learned, as arrays."""

    offset: Array
    """By place: where its values begin in the tables over all (place, value)."""
    random: Array
    """By (place, value): the word that stands for it in fingerprints."""
    first: Array
    """By (place, value): which actions look at this place first and are not disabled by it, from and to."""
    go_on: Array
    """For each of these, the node or leaf (negative) to go on with."""
    roots: Array
    """The places that some action looks at first."""
    tree: Array
    """
    At each node the place that it asks for, for how many value ids it has a child right here, and these: a
    node, a leaf (negative), or 0 if nothing is known.
    """
    hash_key: Array
    hash_child: Array
    """Children for the other value ids, by node << 32 | value."""
    leaf: Array
    """By leaf: its alternatives, from and to, and its instance."""
    way: Array
    """By alternative: its writes, from and to, its move, and its kind."""
    change: Array
    """By alternative: what it does to a fingerprint, if it has read all that it writes."""
    write: Array
    """Place and value id."""
    watch: Array
    """By place: which state predicates may change when it is written, a bit each."""
    predicate: Array
    """The roots of the state predicates that are still of interest, 0 for the others."""
    looked_at: Array
    """The places that some state predicate looks at first."""
    false_by: Array
    """By (place, value): which state predicates look at this place first and are false by it, a bit each."""
    step: Array
    final: Array
    within: Array
    """Roots of step predicates, of final predicates, of `within`; empty where there is no such question."""
    packing: Array
    """By place: word, shift, mask."""
    group: Array
    """By interchangeable domain: its members, from and to; empty without symmetry."""
    orbit: Array
    """By (place, value): the names that it mentions, from and to, and where its words begin."""
    mention: Array
    """By mention: the member, and how far its rank moves among the words."""
    sign: Array
    """By mention: what it says of the member, whoever the others are."""
    orbit_word: Array
    """By (place, value) and the ranks of the mentioned members: the word in fingerprints of orbits."""
    bring: Array
    """By leaf: the instances that a reduced set with this one must contain, a bit each; empty without it."""
    hidden: Array
    """By leaf: whether no property could notice what it does."""
    blocked: Array
    """By instance: the same for an action that is disabled by the first place that it reads."""
