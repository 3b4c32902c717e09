"""What the commands show of results on a terminal.

One mistake makes many checks of an exercise fail. The first is shown in full; of the others, those with
a reason of their own show it, and what was judged has a line for its title, as long as there is room. The
rest is counted: of a check that ended in an exception shown above, the title would blame something else.
"""

import re
from collections.abc import Sequence

from msgspec.structs import replace
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from grader.cli.pictures import render_picture
from grader.cli.view import Lines, View, score_column, sign_of
from grader.core.language import _, bracketed, ngettext
from grader.core.records import (
    AssignmentResult,
    CheckResult,
    ExerciseResult,
    Finding,
    Outcome,
    Result,
)
from grader.judging.outcomes import (
    UNJUDGED,
    WORDS_BESIDE_SIGN,
    checks_passed,
    ended_by,
    is_attempted,
    notes_above,
    score_words,
    shown_checks,
    status_words,
    where_to_look,
)
from grader.judging.results import points
from grader.submissions.protected_files import Protection

MOST_LINES = 16
"""The lines of a message that are shown; below a picture, half of them: together, a screen."""

MOST_OF_EXERCISE = 19
"""The lines of an exercise after which titles are counted: with what stands around it, a screen."""

BEFORE_PICTURE = 6
"""Columns before a picture: fewer than before words, because pictures are wide."""


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
        out.print(Lines(Text(note, style="yellow"), 2))
    print_file_failures(out, assignment.file_failures)
    for exercise in assignment.exercises:
        _print_exercise(out, exercise, view)
    out.print()


def print_file_failures(out: Console, failures: Sequence[str]) -> None:
    """Say of a file that it does not run, and why."""
    for failure in failures:
        head, *lines = failure.splitlines()
        out.print(Lines(Text(f"✗ {head}", style="red"), 2))
        for line in lines:
            out.print(Lines(Text(line), 4))


def _print_exercise(out: Console, exercise: ExerciseResult, view: View) -> None:
    sign, style = exercise_sign(exercise)
    score = "?" if exercise.score is None else points(exercise.score)
    tail = ", ".join(filter(None, (_word(exercise), checks_passed(exercise))))
    line = f"  [{style}]{sign}[/] {exercise.name:<28} {score_column(score, exercise.max_score)}"
    out.print(f"{line}  [dim]{tail}[/]" if tail else line)
    wrong = shown_checks(exercise)
    for text in exercise_lines(out, exercise, view):
        out.print(text)
    if not exercise.findings and any(check.outcome is Outcome.FAILED for check in wrong):
        sentence = _("When stuck: {command}").format(command=view.hint(exercise.id))
        out.print(Lines(Text(sentence, style="dim"), 6))


def _word(exercise: ExerciseResult) -> str:
    """What is said of an exercise beside its points, where its checks do not say it."""
    is_open = any(check.outcome is Outcome.NOT_ATTEMPTED for check in exercise.checks)
    is_waiting = exercise.checks[:1] and exercise.checks[0].outcome is Outcome.BLOCKED
    is_silent = exercise.is_untouched or is_open or is_waiting
    return status_words(exercise) if is_silent and not exercise.undecided else ""


def exercise_sign(exercise: ExerciseResult) -> tuple[str, str]:
    """The sign of an exercise, and its colour."""
    if exercise.undecided:
        outcome = Outcome.NO_TURN if exercise.had_no_turn else Outcome.ERROR
    elif exercise.is_solved:
        outcome = Outcome.PASSED
    else:
        first = exercise.checks[0].outcome
        is_open = first in UNJUDGED and not is_attempted(exercise)
        outcome = first if is_open else Outcome.FAILED
    return sign_of(outcome)


def _print_total(out: Console, result: Result, view: View) -> None:
    counted = [check for check in result.checks if check.weight]
    passed = sum(check.outcome is Outcome.PASSED for check in counted)
    if result.undecided:
        sentence = _("A check could not be judged: the score is undecided.")
        if any(part.score is None and not part.exercises for part in result.assignments):
            sentence = _("Not all of your work could be read: the score is undecided.")
        out.print(Text(sentence, style="bold magenta"))
        return
    earned = score_words(points(result.score), result.max_score)
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
        out.print(Lines(Text(f"{change.path}: {_(change.what)}"), 2))


def print_as_graded(result: Result, out: Console) -> None:
    """Say how near to the instructor's machine a run was."""
    if "sealed" in result.isolation:
        note = _("It ran as it will be graded: sealed, without your other files or the network.")
    else:
        note = _(
            "It ran in a process of its own, with the limits of grading. The grader also refuses "
            "your code other files and the network; this computer cannot."
        )
    out.print(Lines(Text(note)))


def exercise_lines(out: Console, exercise: ExerciseResult, view: View) -> list[Lines]:
    """The known mistakes that were recognised, and what the checks say.

    Args:
        out: where it will be shown, which decides on pictures and on how much there is room for.
        exercise: the exercise.
        view: how it is shown.
    """
    notes = notes_above(exercise)
    lines: list[Lines] = [Lines(Text(f"→ {note}", style="yellow"), 6) for note in notes]
    lines += [line for finding in exercise.findings for line in _finding_lines(finding)]
    checks = shown_checks(exercise, everything=view.everything)
    first = next((check for check in checks if check.outcome is not Outcome.REMARK), None)
    if view.everything or first is None:
        return lines + [line for check in checks for line in _check_lines(out, check, view)]
    lines += _check_lines(out, first, view)
    others = [check for check in checks if check is not first]
    new = _new(first, others)
    shown = {
        check.id: _reason_lines(check, view) if check.id in new else [Lines(_head(check), 6)]
        for check in others
        if check.outcome is Outcome.REMARK or (check.id in new and check.picture is None)
    }
    used = _height(out, lines) + sum(_height(out, short) for short in shown.values())
    for check in sorted(others, key=lambda check: check.id not in new):
        # What is not judged by values failed for a reason that stands above: the title may hold.
        is_said = check.picture is None
        title = Lines(_head(replace(check, may_follow=True) if is_said else check), 6)
        has_room = view.more is None or used + title.height(out) <= MOST_OF_EXERCISE
        if check.id not in shown and not check.broke_off and has_room:
            used += title.height(out)
            shown[check.id] = [title]
    lines += [line for check in others for line in shown.get(check.id, ())]
    left = sum(check.id not in shown for check in others)
    if left:
        lines.append(Lines(Text(_counted(left, exercise, view), style="dim"), 6))
    return lines


def _counted(left: int, exercise: ExerciseResult, view: View) -> str:
    """How many checks are not shown, and what shows them."""
    if view.more is None:
        template = ngettext("{count} more check fails.", "{count} more checks fail.", left)
        return template.format(count=left)
    template = ngettext(
        "{count} more check fails: {command} shows it.",
        "{count} more checks fail: {command} shows them.",
        left,
    )
    return template.format(count=left, command=view.more(exercise.id))


def _new(first: CheckResult, others: Sequence[CheckResult]) -> set[str]:
    """The ids of the checks that fail for something that no check before them fails for."""
    causes, new = {_cause(first)}, set()
    for check in others:
        if _cause(check) not in causes:
            new.add(check.id)
        causes.add(_cause(check))
    return new


def _cause(check: CheckResult) -> str:
    """What two checks share that fail alike: what was compared, or the reason but for its figures."""
    if check.picture is not None:
        return check.picture.what
    return re.sub(r"\d+", "", "\n".join(_reason(check, check.message)))


def _reason(check: CheckResult, message: str) -> list[str]:
    """The lines that say what is wrong; the whole message where they are not known."""
    start, after = check.reason or (0, None)
    return message.splitlines()[start:after]


def _height(out: Console, lines: Sequence[Lines]) -> int:
    return sum(line.height(out) for line in lines)


def _finding_lines(finding: Finding) -> list[Lines]:
    """A recognised mistake: its name, what goes wrong, and the question that leads out."""
    head = _("This looks like a known mistake:")
    if len(finding.candidates) > 1:
        head = _("This looks like one of these mistakes:")
    lines = [Lines(Text(f"→ {head}", style="bold yellow"), 6)]
    for mistake in finding.candidates:
        lines.append(Lines(Text(f"{mistake.symptom}  {bracketed(mistake.id)}"), 8))
        lines.append(Lines(Text(mistake.question, style="italic"), 8))
    return lines


def _check_lines(out: Console, check: CheckResult, view: View) -> list[Lines]:
    """All that a check says, or as much as a screen has room for."""
    lines = _message(check, view).splitlines()
    if check.outcome in UNJUDGED:  # the title is not what matters
        return _cut(lines, view, indent=6)
    head = Lines(_head(check), 6)
    if check.outcome is Outcome.REMARK:  # it stays there forever: a line is enough
        return [head]
    first, after = check.picture.lines if check.picture is not None else (len(lines), len(lines))
    picture: list[Lines] = []
    if check.picture is not None and view.pictures:
        drawn = render_picture(check.picture, out, BEFORE_PICTURE)
        picture = [Lines(line, BEFORE_PICTURE) for line in drawn]
    return [head, *_cut(lines[:first], view), *picture, *_cut(lines[after:], view, MOST_LINES // 2)]


def _reason_lines(check: CheckResult, view: View) -> list[Lines]:
    """A check's title and what is wrong, without the request and without numbers side by side."""
    if check.outcome is Outcome.REMARK or check.picture is not None:
        return [Lines(_head(check), 6)]
    reason = _reason(check, _message(check, view))
    if check.outcome in UNJUDGED:
        return _cut(reason, view, indent=6)
    return [Lines(_head(check), 6), *_cut(reason, view, MOST_LINES // 2)]


def _message(check: CheckResult, view: View) -> str:
    """A check's message, with the lines of the file it is about as an editor opens them."""
    if check.where is None or check.where.cell is not None:
        return check.message
    file = check.where.file
    for name in (file, file.rpartition("/")[2]):
        if f" {name}:{check.where.line}" in check.message:
            places = rf"(?<= ){re.escape(name)}:(\d+)$"
            return re.sub(
                places, lambda m: view.path(file, int(m[1])), check.message, flags=re.MULTILINE
            )
    return check.message


def _head(check: CheckResult) -> Text:
    """A check's line: its title says what should hold, its sign that it does not."""
    sign, style = sign_of(check.outcome)
    word = WORDS_BESIDE_SIGN[check.outcome]
    head = Text(f"{sign} {check.title}", style=style)
    if word or check.raised or check.may_follow:
        beside = ended_by(check) if check.raised else _(word)
        beside = beside or _("perhaps for the reason above")
        head.append(f"  {bracketed(beside)}", style="dim")
    return head


def _cut(lines: list[str], view: View, most: int = MOST_LINES, indent: int = 10) -> list[Lines]:
    shown = lines if view.everything else lines[:most]
    cut = [Lines(Text(line), indent) for line in shown]
    if len(shown) < len(lines):
        more = _("… ({count} more lines)").format(count=len(lines) - len(shown))
        cut.append(Lines(Text(more, style="dim"), indent))
    return cut
