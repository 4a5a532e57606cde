"""Whether what is promised comes to pass: the graph of a finished search, handed to `liveness`."""

from typing import TYPE_CHECKING

import numpy as np

from models.engine import kernel, liveness
from models.engine.frontier import Block
from models.engine.kernel import EDGES, MISSES, OUTSIDE
from models.engine.program import LOW, Array
from models.engine.visited import OWNERS, Rows

if TYPE_CHECKING:
    from models.engine.fast import Search


def check_promises(search: "Search") -> None:
    """Note every promise that is broken; on a graph that was cut off, say so."""
    answer = liveness.check(search.model, graph(search), cut=search.result.cut)
    search.moved += answer.breaches
    if answer.undecided and not search.result.cut:
        search.result.cut = answer.undecided


def graph(search: "Search") -> liveness.Graph:
    """All states and edges, by number; states that a limit kept from being left are outside."""
    k, visited = search.knowledge, search.visited
    assert isinstance(visited, Rows)
    program = k.program()
    outside: Array = np.zeros(visited.count, np.bool_)
    sources, targets, moves = [], [], []
    made: Array = np.empty(visited.rows.shape[1], np.uint64)
    for begin in range(0, visited.count, search.options.chunk):
        rows = np.ascontiguousarray(visited.rows[begin : min(begin + search.options.chunk, visited.count)])
        prints = search.fingerprints(rows)
        ids = np.arange(begin, begin + len(rows), dtype=np.uint32)
        search.expand(
            program, Block(rows, prints, np.zeros(len(rows), np.uint64), ids, k.values.packing), EDGES
        )
        for w in search.workers:
            outside[begin : begin + len(rows)] |= w.reduced[: len(rows)] == OUTSIDE
            outside[begin + w.misses[: w.totals[MISSES]]] = True
            for owner in range(OWNERS):
                some = w.candidates[owner, : w.counts[owner]]
                found: Array = np.empty(len(some), np.int64)
                table, numbers = visited.tables[owner], visited.numbers[owner]
                kernel.find(program, table, numbers, some, len(some), rows, visited.rows, made, found)
                source = (some[:, 1] >> np.uint64(32)).astype(np.int64) + begin
                outside[source[found < 0]] = True
                sources.append(source[found >= 0])
                moves.append(program.way[(some[found >= 0, 1] & LOW).astype(np.int64), 2] - 1)
                targets.append(found[found >= 0])
    instance, way = k.instance_and_way(np.concatenate(moves))
    return liveness.Graph(
        states=visited.count,
        initial=np.arange(len(search.model.initial), dtype=np.int32),
        source=np.concatenate(sources),
        target=np.concatenate(targets),
        instance=instance,
        way=way,
        outside=outside,
        state=lambda i: k.values.state(k.values.unpack(visited.rows[i].tolist())),
    )
