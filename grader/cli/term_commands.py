"""`grader compare` and `grader publish`: their options and their help."""

from pathlib import Path
from typing import Any

import click

ANYTHING = click.Path(path_type=Path)
FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.argument("old", type=FOLDER)
@click.argument("new", type=FOLDER)
@click.option("--submissions", type=ANYTHING, help="Whose work is graded with a course.")
@click.option("--roster", type=ANYTHING, help="The class's roster, as for `grader grade`.")
@click.option("--anonymous", type=ANYTHING, metavar="KEYFILE", help="As for `grader grade`.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text")
@click.option("--html", "page", type=ANYTHING, help="Write a page, too.", metavar="FILE")
@click.option("--items", type=ANYTHING, help="Write how each check moved, as CSV.", metavar="FILE")
def compare(**options: Any) -> None:
    """Say whose score differs between OLD and NEW, by how much, and what it comes from.

    OLD and NEW are --out folders of `grader grade`, or what `grader publish` made of one. One of
    them, or both, may be a course instead: then --submissions are graded with it, in a folder that is
    removed afterwards, and what it changes in the other is shown. So a change of a check is tried
    before it counts.

    Where somebody's work is the same in both, every check has to end as before; else it is said.
    """
    from grader.cli.compare import CompareOptions, run_compare

    raise SystemExit(run_compare(CompareOptions(**options)))


@click.command()
@click.argument("out", type=FOLDER)
def publish(out: Path) -> None:
    """Freeze what OUT, the --out folder of a run, holds now: what students are given.

    A copy of the results and reports is kept in OUT/published, and later runs into OUT say how many
    scores differ from it. `grader compare` says whose and why.
    """
    from grader.cli.publish import run_publish

    raise SystemExit(run_publish(out))
