"""`grader learn`: a student's wrong answer becomes a known mistake."""

from pathlib import Path

import click

from grader.cli.shared import ExitCode, class_option, current_course
from grader.core.errors import UsageError
from grader.core.files import write_whole
from grader.core.kept import exclusive
from grader.core.records import Mistake, MistakeKind
from grader.course.course import Course, Exercise
from grader.course.misconceptions import read_misconceptions
from grader.extras.learning.proposal import entry, proposed_edit, with_entry, without_unproven
from grader.intake.read import read_submissions, who_handed_in
from grader.judging import seal_probe
from grader.submissions.faults import told
from grader.submissions.submission import read_submission

KINDS = {
    MistakeKind.SLIP: "all steps are there, a detail is wrong",
    MistakeKind.STEP: "a step is missing, too many or in the wrong place",
    MistakeKind.IDEA: "something else is computed",
}


@click.command()
@click.argument("student")
@click.argument("exercise")
@class_option
@click.option("--id", "id_", default="", help="The mistake's name, like scores-not-scaled.")
@click.option("--kind", type=click.Choice(["slip", "step", "idea"]), help="How grave it is.")
@click.option("--symptom", default="", help="What goes wrong, in a sentence.")
@click.option("--question", default="", help="A question that leads out of it.")
@click.option("--yes", is_flag=True, help="Run it without asking: the edit was read before.")
def learn(
    student: str,
    exercise: str,
    *,
    submissions: Path,
    id_: str,
    kind: str | None,
    symptom: str,
    question: str,
    yes: bool,
) -> ExitCode:
    """Turn STUDENT's wrong answer for EXERCISE into a known mistake.

    The edit of the solution is worked out and shown; its words are asked for, and whether to run it:
    it is a student's code, and runs sealed. It is kept when `grader validate` proves that it is caught
    and named. What uses more than the solution, numbers and tensors is refused.
    """
    course = current_course()
    course.require_solutions()
    named = [*course.select((exercise,)).values()]
    if len(named) != 1:
        raise UsageError(f"{exercise} names {len(named)} exercises; give one.")
    (chosen,) = named
    with read_submissions(course, submissions) as intake:
        handed_in, path = who_handed_in(intake, student, submissions)
        with told(handed_in.id):
            submission = read_submission(course, path, handed_in.id)
    with told(submission.student):
        find, replace = proposed_edit(course, chosen, submission)
    click.echo(f"In the solution of {chosen.id}\n\n{find}\n\nbecomes\n\n{replace}\n")
    mistake = _asked(id_, kind, symptom, question)
    how = "sealed"
    if not yes and how not in seal_probe.shared_launcher(course.packages).isolation:
        how = "in a process of its own, which this machine cannot seal: it can read your files"
    if not yes and not click.confirm(f"Run it? It is a student's code; it runs {how}."):
        click.echo("Nothing was run, and nothing was written.")
        return ExitCode.NOT_PASSED
    path = course.paths(course.by_id[chosen.assignment]).misconceptions
    with exclusive(course.root):
        before = _as_proven(path)
        known = {m.id for a in course.assignments for m in read_misconceptions(course, a)}
        if mistake.id in known:
            raise UsageError(f"There is a known mistake {mistake.id!r} already. Give another --id.")
        text = (before or b"").decode()
        new = entry(chosen, mistake, find, replace)
        write_whole(path, with_entry(text, new, is_proven=False))
        click.echo(f"written: {course.inner(path)}")
        proven = _proven(course, chosen, path, before)
        if proven is ExitCode.FINE:
            write_whole(path, with_entry(text, new))
        else:
            click.echo(f"It breaks what is listed above, so {course.inner(path)} is as it was.")
    return proven


def _as_proven(path: Path) -> bytes | None:
    """A file of known mistakes, without what a command left that was killed; None for no file."""
    if not path.is_file():
        return None
    text = path.read_text("utf-8")
    proven = without_unproven(text)
    if proven != text:
        _restore(path, proven.encode() or None)
    return path.read_bytes() if path.is_file() else None


def _proven(course: Course, exercise: Exercise, path: Path, before: bytes | None) -> ExitCode:
    """Prove an exercise's known mistakes; unless all is well, the file is then as it was.

    Args:
        course: the course.
        exercise: the exercise.
        path: the file of known mistakes.
        before: what it was; None for no file.
    """
    from grader.cli import validate

    proven = None
    try:
        proven = validate.prove(course, (exercise.id,), verbose=False, translations=False)
    finally:
        if proven is not ExitCode.FINE:
            _restore(path, before)
    return proven


def _restore(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink()
    else:
        write_whole(path, content)


def _asked(id_: str, kind: str | None, symptom: str, question: str) -> Mistake:
    """The words of a mistake, from options or the terminal."""
    kinds = "; ".join(f"{kind}: {words}" for kind, words in KINDS.items())
    kind = kind or click.prompt(f"Which kind ({kinds})", type=click.Choice([*KINDS]))
    return Mistake(
        id=id_ or click.prompt("Its name, like scores-not-scaled"),
        symptom=symptom or click.prompt("What goes wrong, in a sentence"),
        question=question or click.prompt("A question that leads out of it"),
        kind=MistakeKind(kind),
    )
