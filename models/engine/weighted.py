"""The cheapest behaviour, not the shortest: what breaks something costs several steps. Dijkstra's search."""

import heapq
import itertools
import time
from math import inf

from models.engine.reference import Search
from models.engine.result import DEADLOCK, Limits, Result, Tell, Trace, breach_of
from spec.machine import Property
from spec.world import Model, State, World


def explore(world: World, fault_cost: int, limits: Limits = Limits(), tell: Tell | None = None) -> Result:  # noqa: B008
    """Visit the states of a world, cheapest first; the depth of the result is a cost."""
    return Weighted(Model(world), fault_cost, limits, tell).run()


class Weighted(Search):
    """One exploration in the order of costs."""

    def __init__(self, model: Model, fault_cost: int, limits: Limits, tell: Tell | None) -> None:
        super().__init__(model, limits, tell)
        self.result.engine = "weighted"
        self.result.notes.append(f"an action that breaks something counts as {fault_cost} steps")
        self.costs = {i.label: fault_cost if i.of.fault else 1 for i in model.instances}
        self.cost = dict.fromkeys(model.initial, 0)

    def run(self) -> Result:
        result, number = self.result, itertools.count()
        self.parents.update((state, None) for state in self.cost)
        waiting = [(0, next(number), state) for state in self.cost]
        while waiting:
            cost, _, state = heapq.heappop(waiting)
            if cost > self.cost[state]:
                continue
            if cost > result.depth and (cost > self.least() or self.exhausted()):
                break
            result.levels += [0] * (cost + 1 - len(result.levels))
            result.levels[cost] += 1
            result.states += 1
            self.look(state)
            for after in self.leave(state, cost) if cost < self.least() else ():
                heapq.heappush(waiting, (self.cost[after], next(number), after))
            if self.tell and result.states % 1000 == 1:
                self.tell(self.standing(len(waiting), 0))
        result.breaches = [b for b in result.breaches if self.price(b.trace) == self.least()]
        result.seconds = time.perf_counter() - self.started
        return result

    def leave(self, state: State, cost: int) -> list[State]:
        """Let everything happen in a state, and return the states that this made cheaper to reach."""
        if self.model.world.within is not None and not self.model.inside(state).result:
            self.result.edge += 1
            return []
        found, moved, finals = [], False, self.model.finals
        for move, after in self.successors(state):
            moved, price = True, cost + self.costs[move.label]
            if after not in self.cost or price < self.cost[after]:
                self.cost[after], self.parents[after] = price, (state, move)
                found.append(after)
        if not moved and finals and not any(self.model.look(final, state).result for final in finals):
            stuck = "nothing can happen here, and it is no final state"
            self.breach(DEADLOCK, "", (stuck,), self.trace(state))
        return found

    def breach(self, check: Property | str, label: str, sentences: tuple[str, ...], trace: Trace) -> None:
        """Note a breach, the cheapest of each property."""
        made = breach_of(check, label, sentences, trace)
        same = [b for b in self.result.breaches if b.property == made.property]
        if not same or self.price(trace) < self.price(same[0].trace):
            self.result.breaches = [b for b in self.result.breaches if b not in same] + [made]

    def least(self) -> float:
        """What the cheapest breach costs."""
        return min((self.price(breach.trace) for breach in self.result.breaches), default=inf)

    def price(self, trace: Trace) -> int:
        return sum(self.costs[move.label] for move in trace.moves)
