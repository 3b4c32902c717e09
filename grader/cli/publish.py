"""`grader publish`: a run as it is handed out."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import click

from grader.classes.compare import compare_runs
from grader.classes.records import last_published, open_records
from grader.classes.records import publish as publish_run
from grader.cli.shared import FOLDER, ExitCode
from grader.cli.view import console
from grader.core.text import escaped


@click.command()
@click.argument("out", type=FOLDER, required=False)
def publish(out: Path) -> ExitCode:
    """Keep a copy of the results in OUT, the --out folder of a run, as students receive them.

    A copy of the results and reports is kept in OUT/published, and later runs into OUT say how many
    scores differ from it. `grader compare` says whose and why. `grader grade --publish` does both.
    """
    screen = console()
    for line in published(out):
        screen.print(escaped(line), markup=False, soft_wrap=True)
    return ExitCode.FINE


def published(out: Path) -> Iterator[str]:
    """Publish a run where it differs from what was published; what there is to say.

    Args:
        out: the run's folder.

    Raises:
        UsageError: when there is no run in the folder, or it cannot be written.
    """
    before = last_published(out)
    if before is not None:
        comparison = compare_runs(open_records(before), open_records(out))
        if not (comparison.changes or comparison.only_before or comparison.only_after):
            yield f"Nothing is different from what was published: {before}."
            return
        yield f"Since {before.name}: {comparison.sentence}"
    yield f"Published: {publish_run(out, datetime.now(UTC))}. Later runs are compared with it."
