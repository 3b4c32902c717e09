"""What the commands show on a terminal: results in, text out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markup import escape
from rich.text import Text

from grader.cli.pictures import render_picture
from grader.core.language import _, bracketed
from grader.core.records import (
    AssignmentResult,
    CheckResult,
    ExerciseResult,
    Finding,
    Outcome,
    Result,
)
from grader.core.text import display_width, filled
from grader.feedback.outcomes import (
    SIGNS,
    UNJUDGED,
    WORDS_BESIDE_SIGN,
    checks_passed,
    is_attempted,
    shown_checks,
    status_words,
    where_to_look,
)
from grader.grading.results import points
from grader.submissions.protected_files import Protection

STYLES = {"✓": "green", "~": "cyan", "·": "dim", "!": "bold magenta", "✗": "red"}
"""The colour of each sign."""

ALL_SHOWN = 3
"""How many of an exercise's failures are shown, the first with its picture; others by title."""

MOST_LINES = 16
"""The lines of a message that are shown; below a picture, half of them: together, a screen."""

BEFORE_PICTURE = 6
"""Columns before a picture: fewer than before words, because pictures are wide."""


def console(*, quiet: bool = False) -> Console:
    """A terminal that does not break lines of tensors where it is not one."""
    made = Console(highlight=False, quiet=quiet)
    if made.is_terminal:
        return made
    return Console(highlight=False, quiet=quiet, width=max(made.width, 100))


@dataclass(frozen=True, slots=True)
class Lines:
    """Text that is broken into lines as its script is, without space at their ends.

    Args:
        text: the text.
        indent: the columns that stay free before each line.
    """

    text: Text
    indent: int = 0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The text line by line."""
        width = options.max_width - self.indent
        is_wide = display_width(self.text.plain) > len(self.text.plain)
        for line in self._wide(width) if is_wide else self.text.wrap(console, width):
            line.rstrip()
            yield Text(" " * self.indent).append_text(line)

    def _wide(self, width: int) -> Iterator[Text]:
        """The lines of Chinese and Japanese."""
        start, plain = 0, self.text.plain
        for line in filled(plain, width):
            start = plain.index(line, start)
            yield self.text[start : start + len(line)]
            start += len(line)


def broken(text: Text) -> Lines:
    """Text that is broken into lines as its script is."""
    return Lines(text)


def indented(text: Text, indent: int) -> Lines:
    """Text some columns to the right."""
    return Lines(text, indent)


def plain_console() -> Console:
    """Plain text to standard output, also inside a notebook's kernel."""
    return Console(highlight=False, force_jupyter=False, force_terminal=False, width=100)


def _hint_command(exercise: str) -> str:
    return f"`grader hint {exercise}`"


@dataclass(frozen=True, slots=True)
class View:
    """How results are shown.

    Args:
        folder: where the submission lies, seen from where the command runs; "" for here.
        pictures: whether to show them; where not, they are shown in another way.
        hint: what asks for a hint on an exercise, by its id.
    """

    folder: str = ""
    pictures: bool = True
    hint: Callable[[str], str] = _hint_command

    def path(self, file: str, line: int | None = None) -> str:
        """A file of the submission, or a line of it, as an editor opens it."""
        path = f"{self.folder}/{file}" if self.folder and file else file
        return path if line is None else f"{path}:{line}"


def print_check(result: Result, out: Console, view: View | None = None) -> None:
    """Show a student's own run: each exercise, and what to mend.

    Args:
        result: the run.
        out: where to.
        view: how.
    """
    view = view or View()
    for assignment in result.assignments:
        print_assignment(out, assignment, view)
    _print_total(out, result, view)


def print_assignment(out: Console, assignment: AssignmentResult, view: View | None = None) -> None:
    """Show what was read for an assignment, its exercises, and what to mend.

    Args:
        out: where to.
        assignment: its result.
        view: how.
    """
    view = view or View()
    file = view.path(assignment.read_from) or _("nothing was handed in")
    out.print(f"[bold]{assignment.id}[/]  [dim]{escape(file)}[/]", soft_wrap=True)
    for note in assignment.notes:
        out.print(indented(Text(note, style="yellow"), 2))
    print_file_failures(out, assignment.file_failures)
    for exercise in assignment.exercises:
        _print_exercise(out, exercise, view)
    out.print()


def print_file_failures(out: Console, failures: Sequence[str]) -> None:
    """Say of a file that it does not run, and why."""
    for failure in failures:
        head, *lines = failure.splitlines()
        out.print(indented(Text(f"✗ {head}", style="red"), 2))
        for line in lines:
            out.print(indented(Text(line), 4))


def _print_exercise(out: Console, exercise: ExerciseResult, view: View) -> None:
    sign, style = exercise_sign(exercise)
    score = "?" if exercise.score is None else points(exercise.score)
    tail = ", ".join(filter(None, (_word(exercise), checks_passed(exercise))))
    line = f"  [{style}]{sign}[/] {exercise.name:<28} {score!s:>5} / {exercise.max_score}"
    out.print(f"{line}  [dim]{tail}[/]" if tail else line)
    wrong = shown_checks(exercise)
    for finding in exercise.findings:
        _print_finding(out, finding)
    for number, check in enumerate(wrong[:ALL_SHOWN]):
        _print_check(out, check, view, has_picture=view.pictures and number == 0)
    for check in wrong[ALL_SHOWN:]:
        out.print(indented(_head(check), 6))
    if not exercise.findings and any(check.outcome is Outcome.FAILED for check in wrong):
        sentence = _("When stuck: {command}").format(command=view.hint(exercise.id))
        out.print(indented(Text(sentence, style="dim"), 6))


def _word(exercise: ExerciseResult) -> str:
    """What is said of an exercise beside its points, where its checks do not say it."""
    is_open = any(check.outcome is Outcome.NOT_ATTEMPTED for check in exercise.checks)
    is_waiting = exercise.checks[:1] and exercise.checks[0].outcome is Outcome.BLOCKED
    is_silent = exercise.is_untouched or is_open or is_waiting
    return status_words(exercise) if is_silent and not exercise.undecided else ""


def _print_finding(out: Console, finding: Finding) -> None:
    """A recognised mistake: its name, what goes wrong, and the question that leads out."""
    head = _("This looks like a known mistake:")
    if len(finding.candidates) > 1:
        head = _("This looks like one of these mistakes:")
    out.print(indented(Text(f"→ {head}", style="bold yellow"), 6))
    for mistake in finding.candidates:
        out.print(indented(Text(f"{mistake.symptom}  {bracketed(mistake.id)}"), 8))
        out.print(indented(Text(mistake.question, style="italic"), 8))


def exercise_sign(exercise: ExerciseResult) -> tuple[str, str]:
    """The sign of an exercise, and its colour."""
    if exercise.undecided:
        outcome = Outcome.ERROR
    elif exercise.is_solved:
        outcome = Outcome.PASSED
    else:
        first = exercise.checks[0].outcome
        is_open = first in UNJUDGED and not is_attempted(exercise)
        outcome = first if is_open else Outcome.FAILED
    return _sign(outcome)


def _sign(outcome: Outcome) -> tuple[str, str]:
    return SIGNS[outcome], STYLES[SIGNS[outcome]]


def _print_check(out: Console, check: CheckResult, view: View, *, has_picture: bool) -> None:
    lines = _message(check, view).splitlines()
    if check.outcome in UNJUDGED:  # the title is not what matters
        _print_lines(out, lines, indent=6)
        return
    out.print(indented(_head(check), 6))
    if check.outcome is Outcome.REMARK:  # it stays there forever: a line is enough
        return
    first, after = check.picture.lines if check.picture is not None else (len(lines), len(lines))
    _print_lines(out, lines[:first])
    if check.picture is not None and has_picture:
        for line in render_picture(check.picture, out, BEFORE_PICTURE):
            out.print(indented(line, BEFORE_PICTURE))
    _print_lines(out, lines[after:], MOST_LINES // 2)


def _message(check: CheckResult, view: View) -> str:
    """A check's message, with the line it is about as an editor opens it."""
    if check.where is None or check.where.cell is not None:
        return check.message
    file = check.where.file
    for name in (file, file.rpartition("/")[2]):
        inside = f" {name}:{check.where.line}"
        if inside in check.message:
            return check.message.replace(inside, f" {view.path(file, check.where.line)}", 1)
    return check.message


def _head(check: CheckResult) -> Text:
    """A check's line: its title says what should hold, its sign that it does not."""
    sign, style = _sign(check.outcome)
    word = WORDS_BESIDE_SIGN[check.outcome]
    head = Text(f"{sign} {check.title}", style=style)
    if word:
        head.append(f"  {bracketed(_(word))}", style="dim")
    return head


def _print_lines(out: Console, lines: list[str], most: int = MOST_LINES, indent: int = 10) -> None:
    for line in lines[:most]:
        out.print(indented(Text(line), indent))
    if len(lines) > most:
        more = _("… ({count} more lines)").format(count=len(lines) - most)
        out.print(indented(Text(more, style="dim"), indent))


def _print_total(out: Console, result: Result, view: View) -> None:
    counted = [check for check in result.checks if check.weight]
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
        out.print(_("Next: {what}").format(what=_next(result, view)), soft_wrap=True)


def _next(result: Result, view: View) -> str:
    """The first exercise that has not its full score, and where to mend it."""
    for assignment in result.assignments:
        for exercise in assignment.exercises:
            if not exercise.is_solved:
                where = where_to_look(exercise)
                file = view.path(assignment.read_from) or _("a file still to be written")
                file = file if where is None else view.path(where.file, where.line)
                return _("{exercise}, in {file}").format(exercise=exercise.name, file=file)
    return _("nothing is left to do")


def print_decided(decided: Sequence[float | None], max_score: float, out: Console) -> None:
    """Say how many points visible checks decide; nothing where that is not known, or all."""
    known = round(sum(points for points in decided if points is not None))
    if None not in decided and known < max_score:
        sentence = _("The visible checks decide {points} of {max_score} points.")
        out.print(sentence.format(points=known, max_score=max_score), style="dim")


def print_protection(protection: Protection | None, out: Console) -> None:
    """Say loudly which protected files are not as they were released; nothing where all are."""
    if protection is None or not protection.changes:
        return
    loud = _("Protected files are not as released; nothing above counts until then:")
    out.print(Text(loud, style="bold red"))
    for change in protection.changes:
        out.print(indented(Text(f"{change.path}: {_(change.what)}"), 2))


def print_as_graded(result: Result, out: Console) -> None:
    """Say how near to the instructor's machine a run was."""
    if "sealed" in result.isolation:
        note = _("It ran as it will be graded: sealed, without your other files or the network.")
    else:
        note = _(
            "It ran in a process of its own, with the limits of grading. The grader also refuses "
            "your code other files and the network; this computer cannot."
        )
    out.print(broken(Text(note)))
