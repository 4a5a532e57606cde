"""
The page about questions that no rule answers: a table of all, and for each question two traces side by side.

    .venv/bin/python -m models.reports.unanswerable > docs/transactions-without-an-answer.md
"""

from collections.abc import Callable, Iterator
from itertools import zip_longest

from models.engine.result import Trace
from models.indistinguishable import Answer, Pair
from models.unanswerable import GHOSTS, KEEPINGS, QUESTIONS, Keeping, Question, answer
from spec.immutable import shown


def page(asking: Callable[[Question, Keeping], Answer] = answer) -> str:
    """All questions and all ways to keep records, asked now."""
    found = {(q.name, k.name): asking(q, k) for q in QUESTIONS for k in KEEPINGS}
    return "\n".join(_page(found)) + "\n"


def _page(found: dict[tuple[str, str], Answer]) -> Iterator[str]:
    yield "# Transactions without an answer"
    yield ""
    yield (
        "Some choices of PIP-473 cannot be repaired one at a time. A broker that starts, and comes to an "
        "entry of a transaction, has to deliver it or to skip it, and has nothing to go by but what is "
        "stored. For each question below, and each way to keep records, the checker visited every state of "
        "a small world in which nobody remembers anything, and looked for two in which the same is stored "
        "and opposite things are owed. Where there are two, no rule is right: neither a constant nor one "
        "that looks at all that is left. To do neither is no way out, because then a committed message is "
        "never read."
    )
    yield ""
    yield f"| is there a rule? | {' | '.join(k.name for k in KEEPINGS)} |"
    yield "|---|" + "---|" * len(KEEPINGS)
    for question in QUESTIONS:
        answers = [found[question.name, keeping.name] for keeping in KEEPINGS]
        yield f"| {question.title} | {' | '.join(map(_verdict, answers))} |"
    yield ""
    yield (
        "A yes is about this small world. All other repairs are in place everywhere. No trace below contains "
        "a delivery, so each is a behaviour under whatever rule. What no broker can read, and what is "
        f"therefore not compared: {', '.join(f'`{name}`' for name in GHOSTS)}."
    )
    for question in QUESTIONS:
        last = [k for k in KEEPINGS if found[question.name, k.name].pair is not None][-1]
        pair = found[question.name, last.name].pair
        assert pair is not None
        yield from _section(question, last, pair)


def _verdict(answer: Answer) -> str:
    if answer.pair is None:
        return f"yes: asked in {answer.asked} of {answer.states:,} states"
    return f"no: {' and '.join(str(len(trace.moves)) for trace in answer.pair.traces)} steps"


def _section(question: Question, keeping: Keeping, pair: Pair) -> Iterator[str]:
    yield ""
    yield f"## {question.title}"
    yield ""
    yield question.says
    yield ""
    yield f"Two behaviours, where {keeping.name}:" if keeping is not KEEPINGS[0] else "Two behaviours:"
    yield ""
    yield "| | one | the other |"
    yield "|---|---|---|"
    columns = [_steps(trace) for trace in pair.traces]
    for number, row in enumerate(zip_longest(*columns, fillvalue=""), 1):
        yield f"| {number} | {' | '.join(row)} |"
    yield f"| | **{pair.owed[0]}** | **{pair.owed[1]}** |"
    yield ""
    yield "Stored after both, and everything else that is stored is the same as well:"
    yield ""
    for name, value in pair.stored.items():
        if name.startswith(TOLD):
            yield f"    {name:<14} {shown(value)}"


TOLD = ("log", "cursor", "header", "writes", "settled")
"""What is stored of entries and transactions."""


def _steps(trace: Trace) -> list[str]:
    return [f"`{move.label}`" for move in trace.moves]


if __name__ == "__main__":
    print(page(), end="")
