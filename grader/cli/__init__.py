"""The command line: the only place that prints or exits."""

from grader.cli.commands import cli
from grader.cli.edge import Done
from grader.cli.streams import fit_streams


def main() -> None:
    """Run the command line."""
    fit_streams()
    try:
        cli.main(prog_name="grader")
    except Done as done:
        done.leave()
