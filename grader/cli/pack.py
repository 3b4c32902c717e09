"""`grader pack`: the file to hand in, and a receipt."""

import hashlib
from contextlib import closing
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from grader.cli.help import SpokenCommand
from grader.cli.render import print_as_graded
from grader.cli.shared import ExitCode, course_option
from grader.cli.view import Lines, console, score_column
from grader.core.errors import UsageError
from grader.core.files import write_whole
from grader.core.language import _, listed
from grader.core.records import Result
from grader.course.course import Course
from grader.judging.results import points
from grader.judging.seal_probe import launcher_as_graded
from grader.judging.submission_grader import VISIBLE_CHECKS, Scope, grade, visible_grader
from grader.progress.packing import Packed, packed, unpacked
from grader.sessions.child import ChildSession

NAME = 30
FILE = 34


@click.command(cls=SpokenCommand)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("submission.zip"),
    show_default=True,
    help="The file to write.",
)
@course_option
def pack(course: Course, out: Path) -> ExitCode:
    """Write the one file that you hand in, and print a receipt.

    It holds the file that counts for each assignment that you have begun. That is run once more,
    as it will be graded; the receipt shows which file counts, the points that the visible checks
    see, and the zip's hash.

    Exits with 0; with 2 when nothing has been begun; with 3 when the grader itself failed.
    """
    if out.suffix.lower() != ".zip" or out.is_dir():
        raise UsageError(_("{file} is no name for a zip; write NAME.zip.").format(file=out))
    work = packed(course, course.work_folder)
    result = _as_graded(course, work)
    write_whole(out, work.archive)
    _print_receipt(work, out, result, console())
    return ExitCode.GRADERS_FAULT if result.undecided else ExitCode.FINE


def _as_graded(course: Course, work: Packed) -> Result:
    """What the visible checks find in what is handed in, run as in grading."""
    submission, launcher = unpacked(course, work, "me"), launcher_as_graded(course.packages)
    with (
        closing(ChildSession(launcher, submission, course.limits, owns_launcher=True)) as session,
        closing(visible_grader(course, launcher=launcher)) as grader,
    ):
        return grade(grader, submission, session, Scope(course.exercises, VISIBLE_CHECKS))


def _print_receipt(work: Packed, out: Path, result: Result, to: Console) -> None:
    def say(sentence: str, indent: int = 0, style: str = "") -> None:
        text = Text(sentence, style=style)
        to.print(Lines(text, indent) if indent else Lines(text))

    digest = hashlib.sha256(work.archive).hexdigest()
    say(_("Written: {file}").format(file=out))
    to.print(Text(f"SHA-256: {digest}"), soft_wrap=True)
    say(_("This counts:"))
    for assignment in result.assignments:
        if assignment.read_from:
            score = "?" if assignment.score is None else points(assignment.score)
            head = f"{assignment.id:<{NAME}} {assignment.read_from.rpartition('/')[2]:<{FILE}}"
            to.print(Text(f"  {head} {score_column(score, assignment.max_score)}"), soft_wrap=True)
            for note in assignment.notes:
                say(note, 4, "yellow")
    if work.not_begun:
        say(_("Not begun, and left out: {ids}").format(ids=listed(work.not_begun)))
    if work.left_out:
        sentence = _("Left out, because the grader does not read it: {files}")
        say(sentence.format(files=listed(work.left_out)))
    print_as_graded(result, to)
    total = _(
        "{score} of {max_score} points by the visible checks. Your instructor grades with more."
    )
    if result.max_score:
        score = "?" if result.score is None else points(result.score)
        say(total.format(score=score, max_score=result.max_score))
    say(_("Hand in {file} as it is.").format(file=out.name))
