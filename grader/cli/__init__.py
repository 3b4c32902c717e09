"""The command line: the only place that prints or exits."""

from grader.cli.app import cli, main

__all__ = ["cli", "main"]
