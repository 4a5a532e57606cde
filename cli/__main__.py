"""`./braid`: every command, each imported only when it is used, so that the first output comes at once."""

import sys
import traceback
from typing import Annotated

import typer

from cli.console import ROOT, err, error

Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on standard output, and nothing else.")
]

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
        list[str] | None, typer.Argument(help="Laws, contracts or areas; all of them if none.")
    ] = None,
    examples: Annotated[int, typer.Option(min=1, help="How many values each law is tried on.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Where the choice of values starts.")] = 0,
    each: Annotated[
        bool, typer.Option("--each", help="A line for each check, not only for each area.")
    ] = False,
    json: Json = False,
) -> None:
    """Check the specification: laws on generated values, contracts on all paths."""
    if not json:
        err.print("collecting laws and contracts ...")
    from cli.check import check as command

    raise typer.Exit(command(names or [], examples, seed, each, json))


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
def bench(json: Json = False) -> None:
    """Measure how fast the specification's own operations are, side by side with the obvious way."""
    from cli.bench import bench as command

    raise typer.Exit(command(json))


@app.command()
def mutants(
    modules: Annotated[
        list[str] | None, typer.Argument(help="Modules of the specification; all of them if none.")
    ] = None,
    guards: Annotated[bool, typer.Option("--guards", help="Only take guards out; much faster.")] = False,
    json: Json = False,
) -> None:
    """Change the specification in one place at a time, and see whether any check notices."""
    from cli.mutants import mutants as command

    raise typer.Exit(command(modules or [], guards, json))


def main() -> None:
    """Run a command; a defect of ours ends in one line, a report on disk, and exit code 5."""
    try:
        app(prog_name="./braid")
    except Exception:
        story = traceback.format_exc()
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
