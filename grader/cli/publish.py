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

    The copy is kept in OUT/class.sqlite. Other commands take it as OUT/published/TIME, and the last one as
    OUT/published. Later runs into OUT say how many scores differ from it, `grader compare` whose and
    why. `grader grade --publish` grades and publishes.
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
    name = publish_run(out, datetime.now(UTC))
    yield f"Published as {name}, a name for commands. Later runs are compared with it."
