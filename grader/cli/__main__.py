"""`python -m grader.cli` is the command `grader`."""

from grader.cli import main

main()
