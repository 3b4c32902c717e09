"""The command line: the only place that prints or exits."""

import sys

from grader.cli.clicks_words import spoken
from grader.cli.commands import cli
from grader.cli.edge import Done
from grader.cli.streams import fit_streams


def main() -> None:
    """Run the command line."""
    fit_streams()
    try:
        with spoken(sys.argv[1:]):
            cli.main(prog_name="grader")
    except Done as done:
        done.leave()
