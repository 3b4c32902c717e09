"""What the commands show on a terminal: results in, text out."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from rich.box import SIMPLE
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.cli.pictures import draw
from grader.core.language import _
from grader.core.records import (
    AssignmentResult,
    CheckResult,
    ExerciseResult,
    Finding,
    Outcome,
    Result,
)
from grader.core.text import display_width, filled
from grader.grading.class_files import WORDS, Row
from grader.grading.results import points
from grader.submissions.protected_files import Protection

if TYPE_CHECKING:
    from grader.authoring.validate import Report
    from grader.authoring.validate import Row as ValidationRow

SIGNS = {
    Outcome.PASSED: ("✓", "green"),
    Outcome.REMARK: ("~", "cyan"),
    Outcome.NOT_ATTEMPTED: ("·", "dim"),
    Outcome.BLOCKED: ("·", "dim"),
    Outcome.ERROR: ("!", "bold magenta"),
}
WRONG = ("✗", "red")
ALL_SHOWN = 3
"""Of an exercise's failures, so many are shown, the first with its picture; the others by title."""

MOST_LINES = 16
"""So many lines of a message are shown; below a picture, half as many: together, a screen."""

BEFORE_PICTURE = 6
"""Columns before a picture: fewer than before words, because pictures are wide."""


def console(*, quiet: bool = False) -> Console:
    """A terminal that does not break lines of tensors where it is not one."""
    made = Console(highlight=False, quiet=quiet)
    if made.is_terminal:
        return made
    return Console(highlight=False, quiet=quiet, width=max(made.width, 100))


@dataclass(frozen=True, slots=True)
class Wide:
    """Text with wide characters, broken into lines as Chinese and Japanese are."""

    text: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The text line by line."""
        del console
        start, plain = 0, self.text.plain
        for line in filled(plain, options.max_width):
            start = plain.index(line, start)
            yield self.text[start : start + len(line)]
            start += len(line)


def broken(text: Text) -> Text | Wide:
    """Text that is broken into lines as its script is."""
    return Wide(text) if display_width(text.plain) > len(text.plain) else text


def indented(text: Text, columns_: int) -> Padding:
    """Text some columns to the right, without trailing space."""
    return Padding(broken(text), (0, 0, 0, columns_), expand=False)


def plain_console() -> Console:
    """Plain text to standard output, also inside a notebook's kernel."""
    return Console(highlight=False, force_jupyter=False, force_terminal=False, width=100)


def print_check(result: Result, out: Console, *, pictures: bool = True) -> None:
    """Show a student's own run: each exercise, and what to mend.

    Args:
        result: the run.
        out: where to.
        pictures: whether to draw them; where not, they are shown in another way.
    """
    for assignment in result.assignments:
        print_assignment(out, assignment, pictures=pictures)
    _print_total(out, result)


def print_assignment(out: Console, assignment: AssignmentResult, *, pictures: bool = True) -> None:
    """Show what was read for an assignment, its exercises, and what to mend."""
    head = f"[bold]{assignment.id}[/]"
    source = assignment.read_from or _("nothing was handed in")
    out.print(f"{head}  [dim]{escape(source)}[/]")
    for note in assignment.notes:
        out.print(indented(Text(note, style="yellow"), 2))
    for exercise in assignment.exercises:
        _print_exercise(out, exercise, pictures=pictures)
    out.print()


def _print_exercise(out: Console, exercise: ExerciseResult, *, pictures: bool) -> None:
    sign, style = exercise_sign(exercise)
    name = exercise.id.partition("/")[2]
    score = "?" if exercise.score is None else points(exercise.score)
    word = _word(exercise)
    tail = f"  [dim]{_(word)}[/]" if word else ""
    out.print(f"  [{style}]{sign}[/] {name:<28} {score!s:>5} / {exercise.max_score}{tail}")
    wrong = worth_telling(exercise)
    for number, check in enumerate(wrong[:ALL_SHOWN]):
        _print_check(out, check, pictures=pictures and number == 0)
    for finding in exercise.findings:
        _print_finding(out, finding)
    if wrong and not exercise.findings and _was_judged(wrong):
        sentence = _("It is not one of the mistakes we know.")
        out.print(indented(Text(sentence, style="dim"), 6))
    for check in wrong[ALL_SHOWN:]:
        out.print(indented(_head(check, _("also: {title}").format(title=check.title)), 6))


def _print_finding(out: Console, finding: Finding) -> None:
    """A recognised mistake: its name, what goes wrong, and the question that leads out."""
    head = _("This looks like a known mistake:")
    if len(finding.candidates) > 1:
        head = _("This looks like one of these mistakes:")
    out.print(indented(Text(f"→ {head}", style="bold yellow"), 6))
    for mistake in finding.candidates:
        out.print(indented(Text(f"{mistake.symptom}  ({mistake.id})"), 8))
        out.print(indented(Text(mistake.question, style="italic"), 8))


def _was_judged(wrong: list[CheckResult]) -> bool:
    """Whether a check failed on what the code answered, not only remarked on it."""
    return any(check.outcome is Outcome.FAILED for check in wrong)


def exercise_sign(exercise: ExerciseResult) -> tuple[str, str]:
    """The sign and the colour that stand for an exercise."""
    if exercise.undecided:
        return SIGNS[Outcome.ERROR]
    if exercise.score == exercise.max_score:
        return SIGNS[Outcome.PASSED]
    if _word(exercise) == WORDS[Outcome.NOT_ATTEMPTED]:
        return SIGNS[Outcome.NOT_ATTEMPTED]
    return WRONG


def _word(exercise: ExerciseResult) -> str:
    """One word for an exercise whose first check already tells everything."""
    first = exercise.checks[0].outcome if exercise.checks else Outcome.ERROR
    return WORDS[first] if first in (Outcome.NOT_ATTEMPTED, Outcome.MISSING) else ""


def worth_telling(exercise: ExerciseResult) -> list[CheckResult]:
    """The checks that have something to say."""
    silent = (Outcome.PASSED, Outcome.BLOCKED, Outcome.NOT_ATTEMPTED)
    return [check for check in exercise.checks if check.outcome not in silent]


def _print_check(out: Console, check: CheckResult, *, pictures: bool) -> None:
    out.print(indented(_head(check, check.title), 6))
    lines = check.message.splitlines()
    first, after = check.picture.lines if check.picture is not None else (len(lines), len(lines))
    _print_lines(out, lines[:first])
    if check.picture is not None and pictures:
        for line in draw(check.picture, out, BEFORE_PICTURE):
            out.print(indented(line, BEFORE_PICTURE))
    _print_lines(out, lines[after:], MOST_LINES // 2)


def _head(check: CheckResult, title: str) -> Text:
    """A check's line: its sign says that the title does not hold here."""
    sign, style = SIGNS.get(check.outcome, WRONG)
    word = WORDS.get(check.outcome, "")
    head = Text(f"{sign} {title}", style=style)
    if word:
        head.append(f"  ({_(word)})", style="dim")
    return head


def _print_lines(out: Console, lines: list[str], most: int = MOST_LINES) -> None:
    for line in lines[:most]:
        out.print(indented(Text(line), 10))
    if len(lines) > most:
        more = _("… ({count} more lines)").format(count=len(lines) - most)
        out.print(indented(Text(more, style="dim"), 10))


def _print_total(out: Console, result: Result) -> None:
    checks = [c for a in result.assignments for e in a.exercises for c in e.checks]
    counted = [check for check in checks if check.weight]
    passed = sum(check.outcome is Outcome.PASSED for check in counted)
    if result.undecided:
        sentence = _("The grader itself failed on a check: the score is undecided.")
        out.print(Text(sentence, style="bold magenta"))
        return
    earned = _("{score} of {max_score} points")
    earned = earned.format(score=points(result.score), max_score=result.max_score)
    tail = _("{points}, {passed} of {count} checks passed.")
    out.print(tail.format(points=f"[bold]{earned}[/]", passed=passed, count=len(counted)))
    if passed < len(counted):
        out.print(_("Next: {what}").format(what=_next(result)))


def _next(result: Result) -> str:
    """The first exercise that has not its full score."""
    for assignment in result.assignments:
        for exercise in assignment.exercises:
            if exercise.score != exercise.max_score:
                file = assignment.read_from or _("a file still to be written")
                return _("{exercise}, in {file}").format(exercise=exercise.id, file=file)
    return _("nothing is left to do")


def print_protection(protection: Protection | None, out: Console) -> None:
    """Say loudly which protected files are not as they were released; nothing where all are."""
    if protection is None or not protection.changes:
        return
    loud = _("Protected files are not as released; nothing above counts until then:")
    out.print(Text(loud, style="bold red"))
    for change in protection.changes:
        out.print(indented(Text(f"{change.path}: {_(change.what)}"), 2))


def class_table(rows: Sequence[Row], max_score: int) -> Table:
    """The class as a table: a row per student, undecided and missing told apart from zero."""
    table = Table(title=None, header_style="bold")
    table.add_column(_("student"), overflow="fold")
    table.add_column(_("score"), justify="right")
    table.add_column(_("of {max_score}").format(max_score=max_score), justify="right")
    table.add_column(_("what happened"), overflow="fold")
    for row in rows:
        score, share = _shown_score(row)
        table.add_row(row.student, score, share, row.summary_line)
    return table


def class_summary(rows: Sequence[Row], max_score: int) -> str:
    """A large class in a few lines."""
    scores = sorted(row.score for row in rows if row.score is not None)
    missing = sum(not row.submitted for row in rows)
    lines = [f"{len(rows)} students: {len(scores)} with a score, {missing} handed in nothing."]
    if scores:
        quarter, half, three = (scores[len(scores) * n // 4] for n in (1, 2, 3))
        lines.append(
            f"Of {max_score} points, a quarter has less than {quarter}, half less than {half}, "
            f"three quarters less than {three}."
        )
    return "\n".join([*lines, "Everybody's score is in scores.csv."])


def _shown_score(row: Row) -> tuple[str, str]:
    if row.undecided:
        return _("undecided"), ""
    if row.score is None:
        return "–", ""
    share = row.score / row.max_score if row.max_score else 0
    return f"{row.score}", f"{share:.0%}"


def validation_table(report: "Report") -> Table:
    """The course as its author sees it: a row per exercise, in sections per assignment."""
    table = Table(header_style="bold", box=SIMPLE)
    table.add_column("exercise", no_wrap=True)
    for name in ("points", "visible", "hidden", "known", "named", "visibly", "apart"):
        table.add_column(name, justify="right", no_wrap=True)
    for assignment, group in groupby(report.rows, lambda row: row.exercise.assignment):
        rows = list(group)
        table.add_row(f"[bold]{assignment}[/]", *_numbers(rows))
        for row in rows:
            table.add_row(f"  {row.exercise.name}", *_numbers([row]))
        table.add_section()
    table.add_row("[bold]the course[/]", *_numbers(report.rows))
    table.caption = (
        "visible, hidden: checks. known: misconceptions; named: recognised by all checks; "
        "visibly: by the visible ones alone. apart: the smallest separation."
    )
    return table


def _numbers(rows: "list[ValidationRow]") -> list[str]:
    """The columns of one or more exercises."""
    smallest = min((row.separation for row in rows), default=float("inf"))
    return [
        str(sum(row.exercise.points for row in rows)),
        str(sum(row.visible for row in rows)),
        str(sum(row.hidden for row in rows)),
        str(sum(row.misconceptions for row in rows)),
        str(sum(row.recognised for row in rows)),
        str(sum(row.recognised_visibly for row in rows)),
        "-" if smallest == float("inf") else f"{smallest:.2g}",
    ]
