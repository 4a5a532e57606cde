"""
The page about questions that no rule answers: a table of all, and for each question two traces side by side.

    .venv/bin/python -m models.reports.unanswerable > docs/transactions-without-an-answer.md
"""

from collections.abc import Callable, Iterator
from itertools import zip_longest

from models.engine.result import Trace, replay
from models.indistinguishable import Answer, Pair
from models.traces.story import diff
from models.unanswerable import CHAPTERS, GHOSTS, Chapter, Keeping, Question, answer, world_of
from spec.immutable import shown
from spec.world import Model

Asking = Callable[[Chapter, Question, Keeping], Answer]


def page(asking: Asking = answer) -> str:
    """All questions and all ways to keep records, asked now."""
    return "\n".join(_page(asking)) + "\n"


def _page(asking: Asking) -> Iterator[str]:
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
    yield (
        "A yes is about this small world. All other repairs are in place everywhere. In no trace below "
        "anybody decides what the question is about, so each is a behaviour under whatever rule. What no "
        f"broker can read, and what is therefore not compared: {', '.join(f'`{name}`' for name in GHOSTS)}."
    )
    for chapter in CHAPTERS:
        yield from _chapter(chapter, asking)


def _chapter(chapter: Chapter, asking: Asking) -> Iterator[str]:
    yield ""
    yield f"## {chapter.title}"
    yield ""
    yield f"| is there a rule? | {' | '.join(k.name for k in chapter.keepings)} |"
    yield "|---|" + "---|" * len(chapter.keepings)
    answers = {q.name: [asking(chapter, q, k) for k in chapter.keepings] for q in chapter.questions}
    for question in chapter.questions:
        yield f"| {question.title} | {' | '.join(map(_verdict, answers[question.name]))} |"
    for question in chapter.questions:
        found = zip(chapter.keepings, answers[question.name], strict=True)
        keeping, pair = [(keeping, one.pair) for keeping, one in found if one.pair is not None][-1]
        yield from _section(chapter, question, keeping, pair)


def _verdict(answer: Answer) -> str:
    if answer.pair is None:
        return f"yes: asked in {answer.asked} of {answer.states:,} states"
    return f"no: {' and '.join(str(len(trace.moves)) for trace in answer.pair.traces)} steps"


def _section(chapter: Chapter, question: Question, keeping: Keeping, pair: Pair) -> Iterator[str]:
    yield ""
    yield f"### {question.title}"
    yield ""
    yield question.says
    yield ""
    yield f"Two behaviours; {keeping.name}:"
    yield ""
    yield "| | one | the other |"
    yield "|---|---|---|"
    model = Model(world_of(chapter, question, keeping))
    columns = [list(_steps(model, trace)) for trace in pair.traces]
    for number, row in enumerate(zip_longest(*columns, fillvalue=""), 1):
        yield f"| {number} | {' | '.join(row)} |"
    yield f"| | **{pair.owed[0]}** | **{pair.owed[1]}** |"
    yield ""
    yield "Stored after both, and everything else that is stored is the same as well:"
    yield ""
    for name, value in pair.stored.items():
        if name.startswith(TOLD):
            yield f"    {name:<14} {shown(value)}"


TOLD = ("log", "cursor[", "header", "writes", "settled", "acks", "apart")
"""What is stored of entries, cursors and transactions."""


def _steps(model: Model, trace: Trace) -> Iterator[str]:
    """The steps of a trace; where one had a choice, with what it changed."""
    for move, changes in zip(trace.moves, diff(model, replay(model, trace)), strict=True):
        told = [f"{one.variable} {one.after}" for one in changes if one.variable.split("[")[0] not in GHOSTS]
        yield f"`{move.label}`" + (f": {'; '.join(told)}" if move.decisions else "")


if __name__ == "__main__":
    print(page(), end="")
