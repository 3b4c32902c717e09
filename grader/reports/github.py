"""GitHub: a job summary in Markdown, and annotations at the student's file and line.

What student code printed is put in fences that it cannot close, and escaped in annotations: it is
neither Markdown nor a command to the runner.
"""

import re
from collections.abc import Iterator

from grader.core.files import OutputFile
from grader.core.language import _, ngettext, paragraph
from grader.core.records import (
    AssignmentResult,
    CheckResult,
    CodeLocation,
    ExerciseResult,
    Outcome,
    Result,
)
from grader.core.text import location_words
from grader.feedback.outcomes import EMOJI, WORDS, mistake_lines, reported_checks, status_words
from grader.grading.results import for_student, points
from grader.reports.base import (
    Checked,
    CheckedWork,
    GradedClass,
    score_line,
    shown,
)
from grader.submissions.protected_files import Protection

SUMMARY = "GITHUB_STEP_SUMMARY"
MAX_ANNOTATIONS = 10
"""GitHub shows no more errors of a step."""
MAX_DETAILS = 60
"""The most exercises shown in full; a summary holds at most 1 MiB."""
MAX_MESSAGE = 3_000
MAX_CHECKS = 3
BAR = 10


def check(run: CheckedWork) -> Checked:
    """The job summary, where there is a job; else it is printed. Annotations are always."""
    text = "\n".join(
        [
            *protection_lines(run.protection),
            *summary_lines(run.course.text(run.course.title), run.result),
        ]
    )
    lines = annotations(run.result, run.folder, run.protection)
    path = run.environment.get(SUMMARY)
    if path:
        return Checked((OutputFile(path, f"{text}\n", append=True),), tuple(lines))
    return Checked(lines=(*lines, *text.splitlines()))


def grade(run: GradedClass) -> Iterator[OutputFile]:
    """A summary per student, and one of the class in a folder of its own."""
    for result in run.results:
        lines = summary_lines(run.course.text(run.course.title), for_student(result))
        yield OutputFile(f"{result.student}.md", "\n".join(lines) + "\n")
    yield OutputFile("class/summary.md", "\n".join(class_lines(run)) + "\n")


# The summary.


def protection_lines(protection: Protection | None) -> list[str]:
    """What comes before everything else when protected files are not as they were released."""
    if protection is None:
        return []
    if not protection.changes:
        fine = _("Protected files are as released (list `{list}`).")
        return [fine.format(list=protection.fingerprint), ""]
    count = len(protection.changes)
    loud = ngettext(
        "{count} protected file is not as released. Nothing below counts until this is undone.",
        "{count} protected files are not as released. Nothing below counts until this is undone.",
        count,
    )
    undo = _("Undo it with `git checkout <the first commit> -- <file>`. The list is `{list}`.")
    was = _("{file} was **{what}**")
    return [
        "> [!CAUTION]",
        f"> **{loud.format(count=count)}**",
        ">",
        *(f"> - {was.format(file=code(c.path), what=_was(c.what))}" for c in protection.changes),
        ">",
        f"> {undo.format(list=protection.fingerprint)}",
        "",
    ]


def _was(what: str) -> str:
    return _("removed") if what == "missing" else _(what)


def summary_lines(title: str, result: Result) -> list[str]:
    """A result as Markdown."""
    head = [f"# {text(title)}", "", f"**{score_line(result)}**", ""]
    if not result.assignments:
        return head
    rows = [_row(assignment) for assignment in result.assignments]
    heads = " | ".join((_("assignment"), _("solved"), _("points")))
    table = [f"| {heads} | |", "|---|---|---:|---|", *rows, ""]
    tried = [e for e in result.exercises if not e.is_solved and not e.is_untouched]
    details = [line for exercise in tried[:MAX_DETAILS] for line in _details(exercise)]
    left = _("… and {count} more.").format(count=len(tried) - MAX_DETAILS)
    more = [left, ""] if len(tried) > MAX_DETAILS else []
    return [*head, *table, *details, *more, *_next(result)]


def _row(assignment: AssignmentResult) -> str:
    solved = sum(exercise.is_solved for exercise in assignment.exercises)
    count = len(assignment.exercises)
    filled = BAR * solved // count if count else 0
    bar = "█" * filled + "░" * (BAR - filled)
    notes = [text(note) for note in assignment.notes]
    if assignment.misconceptions:
        names = ", ".join(f"`{name}`" for name in assignment.misconceptions)
        notes.insert(0, _("known mistakes: {names}").format(names=names))
    score = f"{shown(points(assignment.score))} / {assignment.max_score}"
    share = _("{solved} of {count}").format(solved=solved, count=count)
    return f"| {assignment.id} | {bar} {share} | {score} | {paragraph(notes)} |"


def _details(exercise: ExerciseResult) -> list[str]:
    score = f"{shown(points(exercise.score))} / {exercise.max_score}"
    lines = [f"## `{exercise.id}`: {status_words(exercise)}, {score}", ""]
    lines += [f"- 💡 {text(line)}" for line in mistake_lines(exercise)]
    found = reported_checks(exercise)
    for check in found[:MAX_CHECKS]:
        lines += [f"- {EMOJI[check.outcome]} {text(check.title)}{_at(check.where)}"]
        lines += fenced(check.message[:MAX_MESSAGE], indent="  ") if check.message else []
    for check in found[MAX_CHECKS:]:
        lines += [f"- {EMOJI[check.outcome]} {_('also: {title}').format(title=text(check.title))}"]
    return [*lines, ""]


def _at(where: CodeLocation | None) -> str:
    if where is None:
        return ""
    return f" ({location_words(code(where.file), where.cell, where.line)})"


def _next(result: Result) -> list[str]:
    left = [exercise for exercise in result.exercises if not exercise.is_solved]
    if not left or result.undecided:
        return []
    return [_("Next: {what}").format(what=f"`{left[0].id}`")]


def class_lines(run: GradedClass) -> list[str]:
    """The class as Markdown: a row per student."""
    rows = []
    for result in run.results:
        solved = sum(exercise.is_solved for exercise in result.exercises)
        named = ", ".join(f"`{name}`" for name in result.misconceptions)
        rows.append(f"| {text(result.student)} | {text(score_line(result))} | {solved} | {named} |")
    undecided = [text(result.student) for result in run.results if result.undecided]
    loud = [f"> [!CAUTION]\n> **Undecided: {', '.join(undecided)}**", ""] if undecided else []
    head = ["| student | score | exercises solved | known mistakes |", "|---|---|---:|---|"]
    return [f"# {text(run.course.text(run.course.title))}", "", *loud, *head, *rows]


def text(words: str) -> str:
    """Words as Markdown that holds no HTML, no cell's end and no line's end."""
    escaped = re.sub(r"([\\|\[\]*~])", r"\\\1", " ".join(words.split()))
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def code(name: str) -> str:
    """A file's name as code."""
    return f"`{' '.join(name.replace('`', chr(39)).replace('|', '/').split())}`"


def fenced(message: str, indent: str = "") -> list[str]:
    """Text in a fence longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", message)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{indent}{line}" for line in (f"{fence}text", *message.splitlines(), fence)]


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
            "error",
            _("This protected file was {what}; undo that.").format(what=_was(c.what)),
            file=c.path,
        )
        for c in changes
    ]
    failed = [(e, c) for e in result.exercises for c in _first_failure(e)]
    lines += [_annotation(exercise, check, folder) for exercise, check in failed]
    if len(lines) <= MAX_ANNOTATIONS:
        return lines
    more = len(lines) - MAX_ANNOTATIONS + 1
    message = _("{count} more are in the job summary.").format(count=more)
    rest = _command("error", message, title=_("And more"))
    return [*lines[: MAX_ANNOTATIONS - 1], rest]


def _first_failure(exercise: ExerciseResult) -> list[CheckResult]:
    if exercise.is_untouched:
        return []
    return [c for c in reported_checks(exercise) if c.outcome is not Outcome.REMARK][:1]


def _annotation(exercise: ExerciseResult, check: CheckResult, folder: str) -> str:
    named = mistake_lines(exercise)
    message = "\n".join([*named, check.title, check.message[:MAX_MESSAGE]])
    title = f"{exercise.id}: {_(WORDS[check.outcome])}"
    if check.where is None:
        return _command("error", message, title=title)
    file = f"{folder}/{check.where.file}" if folder else check.where.file
    if check.where.cell is not None:  # a cell's line is no line of the notebook's file
        location = _("cell {cell}, line {line}")
        location = location.format(cell=check.where.cell, line=check.where.line)
        return _command("error", f"{location}: {message}", file=file, title=title)
    return _command("error", message, file=file, line=str(check.where.line), title=title)


def _command(level: str, message: str, **properties: str) -> str:
    """A workflow command, escaped as the runner unescapes it."""
    given = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {given}::{_data(message)}"


def _data(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")
