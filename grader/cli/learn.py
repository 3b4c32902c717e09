"""`grader learn`: a student's wrong answer becomes a known mistake."""

from dataclasses import dataclass
from pathlib import Path

import click

from grader.cli.edge import ExitCode
from grader.core.errors import UsageError
from grader.core.files import write_whole
from grader.core.kept import exclusive
from grader.core.records import Mistake, MistakeKind
from grader.course.course import Course, Exercise
from grader.course.misconceptions import read_misconceptions
from grader.extras.learn import entry, proposed_edit, with_entry, without_unproven
from grader.intake.read import read_submissions, who_handed_in
from grader.judging import seal_probe
from grader.submissions.faults import told
from grader.submissions.submission import Submission, read_submission

KINDS = {
    MistakeKind.SLIP: "all steps are there, a detail is wrong",
    MistakeKind.STEP: "a step is missing or in the wrong place",
    MistakeKind.IDEA: "something else is computed",
}


@dataclass(frozen=True, slots=True)
class LearnOptions:
    """What `grader learn` was asked for, as its help says; "" is asked at the terminal."""

    student: str
    exercise: str
    submissions: Path
    id_: str
    kind: str | None
    symptom: str
    question: str
    yes: bool


def run_learn(course: Course, options: LearnOptions) -> ExitCode:
    """Propose an edit, ask for words and whether to run it, write it, and prove it.

    What breaks a promise is not kept.

    Raises:
        UsageError: when there is no such student or function, or the name is taken.
    """
    course.require_solutions()
    named = [*course.select((options.exercise,)).values()]
    if len(named) != 1:
        raise UsageError(f"{options.exercise} names {len(named)} exercises; give one.")
    (exercise,) = named
    submission = _submission(course, options)
    with told(submission.student):
        find, replace = proposed_edit(course, exercise, submission)
    click.echo(f"In the solution of {exercise.id}\n\n{find}\n\nbecomes\n\n{replace}\n")
    mistake = _asked(options)
    if not options.yes and not click.confirm(_run_it(course)):
        click.echo("Nothing was run, and nothing was written.")
        return ExitCode.NOT_PASSED
    path = course.paths(course.by_id[exercise.assignment]).misconceptions
    with exclusive(course.root):
        before = _as_proven(path)
        known = {m.id for a in course.assignments for m in read_misconceptions(course, a)}
        if mistake.id in known:
            raise UsageError(f"There is a known mistake {mistake.id!r} already. Give another --id.")
        text = (before or b"").decode()
        new = entry(exercise, mistake, find, replace)
        write_whole(path, with_entry(text, new, is_proven=False))
        click.echo(f"written: {course.inner(path)}")
        proven = _proven(course, exercise, path, before)
        if proven is ExitCode.FINE:
            write_whole(path, with_entry(text, new))
        else:
            click.echo(f"It breaks what is listed above, so {course.inner(path)} is as it was.")
    return proven


def _run_it(course: Course) -> str:
    """The question whether to run what a student wrote, and how it would run."""
    how = "sealed"
    if how not in seal_probe.shared_launcher(course.packages).isolation:
        how = "in a process of its own, which this machine cannot seal: it can read your files"
    return f"Run it? It is a student's code; it runs {how}."


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
    from grader.cli.author import run_validate

    proven = None
    try:
        proven = run_validate(course, (exercise.id,), verbose=False, translations=False)
    finally:
        if proven is not ExitCode.FINE:
            _restore(path, before)
    return proven


def _restore(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink()
    else:
        write_whole(path, content)


def _submission(course: Course, options: LearnOptions) -> Submission:
    with read_submissions(course, options.submissions) as intake:
        student, path = who_handed_in(intake, options.student, options.submissions)
        with told(student.id):
            return read_submission(course, path, student.id)


def _asked(options: LearnOptions) -> Mistake:
    """The words of a mistake, from options or the terminal."""
    kinds = "; ".join(f"{kind}: {words}" for kind, words in KINDS.items())
    kind = options.kind or click.prompt(f"Which kind ({kinds})", type=click.Choice([*KINDS]))
    return Mistake(
        id=options.id_ or click.prompt("Its name, like scores-not-scaled"),
        symptom=options.symptom or click.prompt("What goes wrong, in a sentence"),
        question=options.question or click.prompt("A question that leads out of it"),
        kind=MistakeKind(kind),
    )
