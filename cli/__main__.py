"""`./braid`: every command, each imported only when it is used, so that the first output comes at once."""

import sys
import traceback
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.console import ROOT, error

if TYPE_CHECKING:
    from cli.worlds import Manner

Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on standard output, and nothing else.")
]


class EngineName(Enum):
    """Engines that can be asked for."""

    FAST = "fast"
    REFERENCE = "reference"


class Bias(Enum):
    """How a walk chooses its next step."""

    UNIFORM = "uniform"
    FEWEST = "fewest"
    PCT = "pct"


Design = Annotated[str | None, typer.Option(help="Ask about this design: NAME, or 'NAME but field=value'.")]
Engine = Annotated[EngineName, typer.Option(help="fast, or reference, which is plain Python and the oracle.")]
Bounds = Annotated[
    list[str] | None, typer.Option(metavar="NAME=NUMBER", help="Ask within these bounds; several by commas.")
]
Depth = Annotated[int | None, typer.Option(min=0, help="Stop after so many steps.")]
States = Annotated[int | None, typer.Option(min=1, help="Stop after so many states.")]
Seconds = Annotated[float | None, typer.Option(min=0, help="Stop after so many seconds.")]
Memory = Annotated[str | None, typer.Option(metavar="SIZE", help="Use no more memory than this, as in 4G.")]
Threads = Annotated[
    int | None, typer.Option(min=1, help="Use so many threads; all cores if nothing is said.")
]
Exact = Annotated[bool, typer.Option("--exact", help="Compare whole states, not only their fingerprints.")]
Reduce = Annotated[
    str, typer.Option(help="Leave out what cannot matter: all, none, or symmetry,partial-order,slicing.")
]
Id = Annotated[str, typer.Argument(help="The short id of a trace, as ./braid check prints it.")]
WorldName = Annotated[str, typer.Argument(help="The name of a world, as ./braid worlds lists it.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file; - is the terminal.")]

app = typer.Typer(
    help="The executable specification of scalable topics, and the machinery that checks it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.command()
def check(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Worlds, laws, contracts or areas; all of them if none, but for large worlds."),
    ] = None,
    examples: Annotated[int, typer.Option(min=1, help="How many values each law is tried on.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Where the choice of values starts.")] = 0,
    each: Annotated[
        bool, typer.Option("--each", help="A line for each check, not only for each area.")
    ] = False,
    design: Design = None,
    engine: Engine = EngineName.FAST,
    bounds: Bounds = None,
    depth: Depth = None,
    states: States = None,
    seconds: Seconds = None,
    memory: Memory = None,
    threads: Threads = None,
    exact: Exact = False,
    reduce: Reduce = "none",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where an earlier run was stopped, however it was.")
    ] = False,
    save_every: Annotated[
        float | None, typer.Option(min=0, help="Seconds between two saves for --resume.")
    ] = None,
    fault_cost: Annotated[
        int | None,
        typer.Option(min=1, help="Count an action that breaks something as so many steps, in plain Python."),
    ] = None,
    json: Json = False,
    ndjson: Annotated[Path | None, typer.Option(help="Write every event as a line of JSON, at once.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write the verdicts as JUnit XML.")] = None,
    sarif: Annotated[Path | None, typer.Option(help="Write what is not as expected as SARIF 2.1.0.")] = None,
) -> None:
    """Check the specification: all behaviours of worlds, laws on generated values, contracts on all paths."""

    def command() -> int:
        from cli import options
        from cli.check import Reports
        from cli.check import check as run

        given = [name for name in names or [] if "=" not in name]
        more = [name for name in names or [] if "=" in name]
        how = manner(
            engine,
            design,
            [*(bounds or []), *more],
            (states, depth, seconds, memory),
            fault_cost,
            reduce,
            threads=threads,
            exact=exact,
            resume=resume,
            save_every=save_every,
        )
        files = (options.writable(file) for file in (ndjson, junit, sarif))
        reports = Reports(json, *files)
        return run(given, examples, seed, each, how, reports)

    answer(command)


@app.command()
def worlds(json: Json = False) -> None:
    """List all worlds: what each asks, and what is expected."""

    def command() -> int:
        from cli.worlds import worlds as run

        return run(json)

    answer(command)


@app.command()
def replay(id: Id, json: Json = False) -> None:
    """Let a trace happen again, on the specification as it is now."""

    def command() -> int:
        from cli.traces import replay_trace

        return replay_trace(id, json)

    answer(command)


@app.command()
def show(
    id: Id,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="As a Mermaid sequence diagram.")] = False,
    html: Annotated[bool, typer.Option("--html", help="As one HTML page that needs nothing else.")] = False,
    itf: Annotated[
        bool, typer.Option("--itf", help="As ITF JSON, for the viewers of Apalache and Quint.")
    ] = False,
    output: Output = None,
    json: Json = False,
) -> None:
    """Show a trace: in the terminal, as a diagram, as a page, or for other viewers."""

    def command() -> int:
        from cli.traces import show as run
        from models.asking import Usage

        forms = [form for form, asked in (("mermaid", mermaid), ("html", html), ("itf", itf)) if asked]
        if len(forms) > 1:
            raise Usage(f"a trace is shown in one form at a time, not as {' and '.join(forms)}", "choose one")
        return run(id, forms[0] if forms else "text", output, json)

    answer(command)


@app.command()
def pin(id: Id, output: Output = None, json: Json = False) -> None:
    """Write a trace as a pytest file that fails until the property holds along it."""

    def command() -> int:
        from cli.traces import pin_trace

        return pin_trace(id, output, json)

    answer(command)


@app.command()
def sample(
    world: WorldName,
    design: Design = None,
    engine: Engine = EngineName.FAST,
    bounds: Bounds = None,
    depth: Depth = None,
    states: States = None,
    seconds: Seconds = None,
    json: Json = False,
) -> None:
    """Show how a world goes when all is well: a shortest trace for each thing that must be reachable."""

    def command() -> int:
        from cli.sample import sample as run

        return run(world, manner(engine, design, bounds, (states, depth, seconds, None)), json)

    answer(command)


@app.command()
def stats(
    world: WorldName,
    design: Design = None,
    engine: Engine = EngineName.FAST,
    bounds: Bounds = None,
    depth: Depth = None,
    states: States = None,
    seconds: Seconds = None,
    memory: Memory = None,
    threads: Threads = None,
    exact: Exact = False,
    reduce: Reduce = "none",
    json: Json = False,
) -> None:
    """Say how large a world is, where it is large, and what the engine spent on it."""

    def command() -> int:
        from cli.stats import stats as run

        limits = states, depth, seconds, memory
        how = manner(engine, design, bounds, limits, None, reduce, threads=threads, exact=exact)
        return run(world, how, json)

    answer(command)


@app.command()
def simulate(
    world: WorldName,
    walks: Annotated[int, typer.Option(min=1, help="How many walks.")] = 1000,
    steps: Annotated[int, typer.Option(min=1, help="How many steps each walk has at most.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Where the choice of steps starts.")] = 0,
    bias: Annotated[Bias, typer.Option(help="How a step is chosen.")] = Bias.UNIFORM,
    design: Design = None,
    bounds: Bounds = None,
    json: Json = False,
) -> None:
    """Walk through a world at random, where it is too large to see all of it."""

    def command() -> int:
        from cli.simulate import simulate as run

        how = manner(EngineName.FAST, design, bounds, (None, None, None, None))
        return run(world, how, walks, steps, seed, bias.value, json)

    answer(command)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def test(context: typer.Context) -> None:
    """Run lint, types, layering and all tests; with arguments, only pytest with these arguments."""
    from cli.test import test as command

    raise typer.Exit(command(context.args))


@app.command()
def claims(
    ids: Annotated[
        list[str] | None, typer.Argument(help="Claims or readings to show in full; a prefix will do.")
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Write into the ledger what the checks say.")
    ] = False,
    open_: Annotated[
        bool, typer.Option("--open", help="List the claims that still wait for a check.")
    ] = False,
    readings: Annotated[
        bool, typer.Option("--readings", help="List contradictions, gaps and our readings.")
    ] = False,
    json: Json = False,
) -> None:
    """Show the ledger: what the documents claim, and what checks it."""
    from cli.claims import claims as command

    raise typer.Exit(command(ids or [], update, open_, readings, json))


@app.command()
def findings(
    id: Annotated[
        str | None, typer.Argument(help="A finding to show in full: its id, or the name of its repair.")
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Write a page for each into docs/findings/.")
    ] = False,
    json: Json = False,
) -> None:
    """Show the holes in the documents: what goes wrong, by which trace, and the repair."""

    def command() -> int:
        from cli.findings import findings as run

        return run(id, update, json)

    answer(command)


@app.command()
def doctor(
    fix: Annotated[
        bool, typer.Option("--fix", help="Install what is missing, Spark and Java included.")
    ] = False,
    json: Json = False,
) -> None:
    """Say what is here, what is missing, and how to get it."""
    from cli.doctor import doctor as command

    raise typer.Exit(command(fix, json))


@app.command()
def bench(
    parts: Annotated[
        list[str] | None, typer.Argument(help="engine, layout, growth; the first two if none.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Let the reference engine see the whole world, too: minutes.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", dir_okay=False, help="Draw the growth into this SVG file.")
    ] = None,
    json: Json = False,
) -> None:
    """Measure how fast the engine and the specification's operations are, beside other ways to do it."""

    def command() -> int:
        from cli.bench import bench as run

        return run(parts or [], full, plot, json)

    answer(command)


@app.command()
def mutants(
    names: Annotated[
        list[str] | None, typer.Argument(help="Modules of the specification, or worlds; all modules if none.")
    ] = None,
    protocols: Annotated[
        bool,
        typer.Option("--protocols", help="Change protocols, or the actions named, and ask all worlds."),
    ] = False,
    guards: Annotated[bool, typer.Option("--guards", help="Only take guards out; much faster.")] = False,
    each: Annotated[bool, typer.Option("--each", help="A line for each mutant, not only survivors.")] = False,
    bounds: Bounds = None,
    json: Json = False,
) -> None:
    """Change the specification or a world in one place at a time, and see whether any check notices."""

    def of_protocols() -> int:
        from cli.protocol_mutants import mutants_of_protocols
        from models.asking import Usage

        if bounds:
            raise Usage("--bounds is for one world, --protocols asks all of them", "leave one of them out")
        return mutants_of_protocols(names or [], guards, each, json)

    if protocols:
        answer(of_protocols)
    modules = [name for name in names or [] if names_a_module(name)]
    worlds = [name for name in names or [] if not names_a_module(name)]
    if not worlds and not bounds:
        from cli.mutants import mutants as command

        raise typer.Exit(command(modules, guards, each, json))

    def of_worlds() -> int:
        from cli.world_mutants import see_that_they_are_worlds, world_mutants

        see_that_they_are_worlds(worlds, modules)
        how = manner(EngineName.FAST, None, bounds, (None, None, None, None))
        return world_mutants(worlds, guards, each, how, json)

    answer(of_worlds)


def names_a_module(name: str) -> bool:
    """Whether a name is meant for a module of the specification; its mutants must not find any imported."""
    return name.startswith("spec.") or (ROOT / "spec" / f"{name}.py").is_file()


def manner(
    engine: EngineName,
    design: str | None,
    bounds: list[str] | None,
    limits: tuple[int | None, int | None, float | None, str | None],
    fault_cost: int | None = None,
    reduce: str = "none",
    **given: Any,
) -> "Manner":
    """How worlds are to be explored; what is not asked for is left to the engine."""
    from cli import options
    from cli.worlds import Manner
    from models.engine.result import Limits

    states, depth, seconds, memory = limits
    chosen = {**options.reductions(reduce), **given}
    return Manner(
        engine=engine.value,
        design=design,
        bounds=options.bounds(bounds or []),
        limits=Limits(states, depth, seconds, options.size(memory)),
        fault_cost=fault_cost,
        options={name: value for name, value in chosen.items() if value is not None and value is not False},
    )


def answer(command: Callable[[], int]) -> None:
    """Run a command about worlds; what cannot be done is said in two lines, and the exit code is then 2."""
    from models.asking import Usage
    from spec.immutable import Misuse

    try:
        code = command()
    except Usage as usage:
        error(*usage.args)
        code = 2
    except Misuse as misuse:
        problem, _, place = str(misuse).partition("\n")
        error(problem, f"mend it there: {place.strip()}" if place else "mend the machine or the world")
        code = 2
    raise typer.Exit(code)


def main() -> None:
    """Run a command; a defect of ours ends in one line, a report on disk, and exit code 5."""
    try:
        app(prog_name="./braid")
    except Exception:
        from cli.compiling import discarded

        story = traceback.format_exc()
        if discarded(story):
            error("the compiled kernel was damaged", "it is thrown away now: run the same command again")
            sys.exit(5)
        error(f"this is a defect of Braid: {story.strip().splitlines()[-1]}", keep(story))
        sys.exit(5)


def keep(story: str) -> str:
    """Where the whole story of a defect is to be found: in a file, or here if none can be written."""
    report = ROOT / ".braid" / "crash.txt"
    try:
        report.parent.mkdir(exist_ok=True)
        report.write_text(story)
    except OSError:
        return story
    return f"the whole story is in {report}"


if __name__ == "__main__":
    main()
