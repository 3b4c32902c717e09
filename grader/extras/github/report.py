"""GitHub: a job summary in Markdown, and annotations at the student's file and line.

What student code printed is put in fences that it cannot close, and escaped in annotations: it is
neither Markdown nor a command to the runner.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from jinja2 import Environment, PackageLoader

from grader.core.files import OutputFile, file_name
from grader.core.language import _, listed, paragraph
from grader.core.records import (
    CheckResult,
    CodeLocation,
    ExerciseResult,
    Outcome,
    Result,
)
from grader.core.text import escaped, location_words
from grader.judging.outcomes import (
    EMOJI,
    WORDS,
    check_head,
    leading_lines,
    out_of,
    reported_checks,
    status_words,
)
from grader.judging.results import for_student, points
from grader.reports.base import Checked, CheckedWork, GradedClass, score_line, shown
from grader.reports.html.pages import environment
from grader.submissions.protected_files import Change, Protection

SUMMARY = "GITHUB_STEP_SUMMARY"
MAX_ANNOTATIONS = 10
"""GitHub shows no more errors of a step."""
MAX_DETAILS = 60
"""The most exercises shown in full; a summary holds at most 1 MiB."""
MAX_MESSAGE = 3_000
MAX_CHECKS = 3


def check(run: CheckedWork) -> Checked:
    """The job summary, where there is a job; else it is printed. Annotations are always."""
    text = summary(run.course.text(run.course.title), run.result, run.protection)
    lines = annotations(run.result, run.folder, run.protection)
    path = run.environment.get(SUMMARY)
    if path:
        return Checked((OutputFile(path, text, append=True),), tuple(lines))
    return Checked(lines=(*lines, *text.removesuffix("\n").splitlines()))


def grade(run: GradedClass) -> Iterator[OutputFile]:
    """A summary per student, and one of the class in a folder of its own."""
    title = run.course.text(run.course.title)
    for result in run.results:
        yield OutputFile(f"{file_name(result.student)}.md", summary(title, for_student(result)))
    text = _environment().get_template("class.md.j2").render(title=title, results=run.results)
    yield OutputFile("class/summary.md", text)


# The summary.


def summary(title: str, result: Result, protection: Protection | None = None) -> str:
    """A result as Markdown; what is wrong with protected files comes before everything else.

    Args:
        title: the course's.
        result: fit to be shown to the student.
        protection: how the repository compares with its list of protected files.
    """
    most = {"DETAILS": MAX_DETAILS, "CHECKS": MAX_CHECKS}
    return (
        _environment()
        .get_template("student.md.j2")
        .render(title=title, result=result, protection=protection, most=most)
    )


@lru_cache(maxsize=1)
def _environment() -> Environment:
    made = environment().overlay(loader=PackageLoader("grader.extras.github"), autoescape=False)
    said = (paragraph, score_line, status_words, leading_lines, reported_checks, check_head)
    made.filters = {
        **made.filters,
        **{filter_.__name__: filter_ for filter_ in (words, code, fenced, was, location, *said)},
        "points": lambda one: (
            "–" if one.is_exempt else out_of(shown(points(one.score)), one.max_score)
        ),
        "names": lambda names: listed(f"`{name}`" for name in names),
        "emoji": lambda check: EMOJI[check.outcome],
    }
    return made


def words(text: str) -> str:
    """Words as Markdown that holds no HTML, no cell's end and no line's end."""
    quoted = re.sub(r"([\\|\[\]*~])", r"\\\1", " ".join(escaped(text).split()))
    return quoted.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def code(name: str) -> str:
    """A file's name as code."""
    return f"`{' '.join(name.replace('`', chr(39)).replace('|', '/').split())}`"


def fenced(message: str) -> str:
    """The start of a message, in a fence longer than any run of backticks in it."""
    message = message[:MAX_MESSAGE]
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", message)), 0)
    return "\n".join(f"  {line}" for line in (f"{fence}text", *message.splitlines(), fence))


def was(change: Change) -> str:
    """What happened to a protected file."""
    return _("removed") if change.what == "missing" else _(change.what)


def location(where: CodeLocation | None) -> str:
    """Where in the student's files, in brackets; nothing where that is not known."""
    return f" ({location_words(code(where.file), where.cell, where.line)})" if where else ""


# Annotations.


def annotations(result: Result, folder: str, protection: Protection | None = None) -> list[str]:
    """The runner's commands: changed protected files, then the first failure per exercise.

    Args:
        result: fit to be shown to the student.
        folder: the submission's, as the repository has it; "" for its root.
        protection: how the repository compares with its list of protected files.
    """
    changes = protection.changes if protection is not None else ()
    lines = [
        _command(
            _("This protected file was {what}; undo that.").format(what=was(c)),
            file=c.path,
        )
        for c in changes
    ]
    tried = [exercise for exercise in result.exercises if not exercise.is_untouched]
    firsts = [(exercise, next(iter(reported_checks(exercise)), None)) for exercise in tried]
    lines += [
        _annotation(exercise, check, folder)
        for exercise, check in firsts
        if check is not None and check.outcome is not Outcome.REMARK  # these come last
    ]
    if len(lines) <= MAX_ANNOTATIONS:
        return lines
    more = len(lines) - MAX_ANNOTATIONS + 1
    message = _("{count} more are in the job summary.").format(count=more)
    rest = _command(message, title=_("And more"))
    return [*lines[: MAX_ANNOTATIONS - 1], rest]


def _annotation(exercise: ExerciseResult, check: CheckResult, folder: str) -> str:
    named = leading_lines(exercise)
    message = "\n".join([*named, check_head(check), check.message[:MAX_MESSAGE]])
    title = f"{exercise.id}: {_(WORDS[check.outcome])}"
    if check.where is None:
        return _command(message, title=title)
    file = f"{folder}/{check.where.file}" if folder else check.where.file
    if check.where.cell is not None:  # a cell's line is no line of the notebook's file
        place = _("cell {cell}, line {line}").format(cell=check.where.cell, line=check.where.line)
        return _command(f"{place}: {message}", file=file, title=title)
    return _command(message, file=file, line=str(check.where.line), title=title)


def _command(message: str, **properties: str) -> str:
    """An error as a workflow command, escaped as the runner unescapes it."""
    quoted = {name: _escaped(value) for name, value in properties.items()}
    given = ",".join(
        f"{name}={value.replace(':', '%3A').replace(',', '%2C')}" for name, value in quoted.items()
    )
    return f"::error {given}::{_escaped(message)}"


def _escaped(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
