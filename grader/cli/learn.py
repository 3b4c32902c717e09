"""`grader learn`: a student's wrong answer becomes a known mistake."""

from dataclasses import dataclass
from pathlib import Path

import click

from grader.authoring.learn import entry, proposed_edit, with_entry
from grader.cli.edge import ExitCode
from grader.core.errors import UsageError
from grader.core.files import write_whole
from grader.core.records import Mistake, MistakeKind
from grader.course.course import Course
from grader.course.misconceptions import read_misconceptions
from grader.submissions.intake import read_submissions, who_handed_in
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


def run_learn(course: Course, options: LearnOptions) -> ExitCode:
    """Propose an edit, ask for words, write it, and prove it; what breaks a promise is not kept.

    Raises:
        UsageError: when there is no such student or function, or the name is taken.
    """
    course.require_solutions()
    named = [*course.select((options.exercise,)).values()]
    if len(named) != 1:
        raise UsageError(f"{options.exercise} names {len(named)} exercises; give one.")
    (exercise,) = named
    submission = _submission(course, options)
    find, replace = proposed_edit(course, exercise, submission)
    click.echo(f"In the solution of {exercise.id}\n\n{find}\n\nbecomes\n\n{replace}\n")
    mistake = _asked(options)
    assignment = course.by_id[exercise.assignment]
    known = {m.id for a in course.assignments for m in read_misconceptions(course, a)}
    if mistake.id in known:
        raise UsageError(f"There is a known mistake {mistake.id!r} already. Give another --id.")
    path = course.paths(assignment).misconceptions
    before = path.read_bytes() if path.is_file() else None
    write_whole(path, with_entry(path, entry(exercise, mistake, find, replace)))
    click.echo(f"written: {course.inner(path)}")
    from grader.cli.author import run_validate

    proven = run_validate(course, (exercise.id,), verbose=False, translations=False)
    if proven is ExitCode.FINE:
        return proven
    if before is None:
        path.unlink()
    else:
        write_whole(path, before)
    click.echo(f"It breaks what is listed above, so {course.inner(path)} is as it was.")
    return proven


def _submission(course: Course, options: LearnOptions) -> Submission:
    with read_submissions(course, options.submissions) as intake:
        student, path = who_handed_in(intake, options.student, options.submissions)
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
