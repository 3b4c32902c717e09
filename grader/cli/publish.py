"""`grader publish`: a run as it is handed out."""

from datetime import UTC, datetime
from pathlib import Path

from grader.classes.compare import compare_runs
from grader.classes.records import last_published, open_records, publish
from grader.cli.edge import ExitCode
from grader.cli.view import console
from grader.core.text import escaped


def run_publish(out: Path) -> ExitCode:
    """Publish a run, unless nothing is different since the last time.

    Raises:
        UsageError: when there is no run, it cannot be written, or another command works there.
    """
    before = last_published(out)
    screen = console()

    def say(line: str) -> None:
        screen.print(escaped(line), markup=False, soft_wrap=True)

    if before is not None:
        found = compare_runs(open_records(before), open_records(out))
        if not (found.changes or found.only_before or found.only_after):
            say(f"Nothing is different from what was published: {before}.")
            return ExitCode.FINE
        say(f"Since {before.name}: {found.sentence}")
    say(f"Published: {publish(out, datetime.now(UTC))}. Later runs are compared with it.")
    return ExitCode.FINE
