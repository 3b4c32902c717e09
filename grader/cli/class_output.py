"""What `grader grade` says of a class: its table, what changed, what is undecided."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from grader.classes.deciding import NOT_RUN
from grader.classes.decisions import Group
from grader.classes.records import FORMER, REPORTS, SUMMARY, open_records
from grader.classes.rows import ClassResult, Row
from grader.classes.run import NEW_ASSIGNMENT
from grader.cli.view import table
from grader.core.files import write_whole
from grader.core.language import _
from grader.core.records import Result
from grader.core.text import clean, escaped, location_words
from grader.course.course import Course
from grader.intake.read import IntakeResult
from grader.submissions.notebooks import WOULD

MOST_LINES = 12
"""What a run shows in all, a table apart; where there are more, `NOTES` in the output folder has them."""
NOTES = "notes.txt"
MOST_UNREAD = 2
"""Of more files that cannot be read a terminal shows the first."""
MOST_ROWS = 4
"""A class of more students is shown as a table only where that is asked for."""
MOST_NAMES = 10
MOST_GAPS = 3
"""Of more assignments that nobody handed in a terminal shows the first."""

Said = Sequence[tuple[str, str]]
"""Lines, each with its colour."""


def class_table(rows: Sequence[Row], max_score: float, due: Course | None = None) -> Table:
    """The class as a table: a row per student, undecided and missing different from zero.

    Args:
        rows: of the class, in order.
        max_score: the points of everything.
        due: the course with what was due so far; a column shows its points.
    """
    scores = [_("score"), _("of {max_score}").format(max_score=max_score)]
    if due is not None:
        scores.append(_("due, of {max_score}").format(max_score=due.max_score))
    shown = table(_("student"), *scores, _("what happened"), right=scores)
    for row in rows:
        score, share = _shown_score(row)
        so_far = () if due is None else ("–" if row.of(due) is None else str(row.of(due)),)
        shown.add_row(
            escape(clean(row.student).replace("\n", "\\x0a")),
            score,
            share,
            *so_far,
            escape(row.summary_line),
        )
    return shown


def class_summary(rows: Sequence[Row], max_score: float, due: Course | None = None) -> str:
    """A large class in a few lines.

    Args:
        rows: of the class.
        max_score: the points of everything.
        due: the course with what was due so far, where that is less.
    """
    scores = sorted(row.score for row in rows if row.score is not None)
    missing = sum(not (row.submitted or row.is_exempt) for row in rows)
    undecided = sum(row.undecided for row in rows)
    exempt = len(rows) - len(scores) - missing - undecided
    head = f"{len(rows)} students: {len(scores)} with a score, {missing} handed in nothing"
    head += f", {undecided} undecided" if undecided else ""
    head += f", for {exempt} nothing counts" if exempt else ""
    lines = [f"{head}."]
    known = sorted(score for row in rows if due and (score := row.of(due)) is not None)
    so_far = ""
    if due is not None and due.max_score and known:
        half = known[len(known) // 2]
        so_far = f" Of the {due.max_score} points that were due, half has at most {half}."
    if scores:
        quarter, half, three = (scores[len(scores) * n // 4] for n in (1, 2, 3))
        lines.append(
            f"Of {max_score} points, a quarter has at most {quarter}, half at most {half}, "
            f"three quarters at most {three}.{so_far}"
        )
    return "\n".join(lines)


def gaps_line(course: Course, rows: Sequence[Row]) -> str:
    """For how many nothing was handed in of each assignment; "" where that is none."""
    counts = {id_: len(_without(id_, rows)) for id_ in course.by_id}
    most = {id_: sum(id_ not in row.exempt for row in rows) for id_ in counts}
    some = [f"{count} in {id_}" for id_, count in counts.items() if 0 < count < most[id_]]
    nobody = [id_ for id_, count in counts.items() if count and count == most[id_]]
    more = f" and {len(nobody) - MOST_GAPS} more" if len(nobody) > MOST_GAPS else ""
    if nobody:
        some.append(f"everybody in {', '.join(nobody[:MOST_GAPS])}{more}")
    return f"Handed in nothing: {'; '.join(some)}." if some else ""


def group_notes(course: Course, rows: Sequence[Row], groups: Sequence[Group]) -> Iterator[str]:
    """Which groups handed in nothing where somebody did: their names may be wrong."""
    found = list[str]()
    for id_ in course.by_id:
        without = _without(id_, rows)
        if any(row.student not in without for row in rows if id_ not in row.exempt):
            among = (one.students for one in groups if id_ in one.of(course))
            found += [f"{' + '.join(w)} in {id_}" for w in among if without.issuperset(w)]
    if found:
        yield f"Groups that handed in nothing: {named(found)}. Check their names in the decisions."


def _without(id_: str, rows: Sequence[Row]) -> set[str]:
    """Who handed in nothing of an assignment that counts for them, and is not undecided."""
    lacking = (row for row in rows if row.assignments.get(id_) is None)
    return {row.student for row in lacking if id_ not in (*row.exempt, *row.open_)}


def defect_lines(rows: Sequence[Row], out: Path) -> list[str]:
    """What nbgrader would stumble over: each thing once, with all whom it concerns."""
    by_consequence: dict[str, dict[str, None]] = {}
    for row in rows:
        for defect in row.defects:
            by_consequence.setdefault(defect.partition(WOULD)[2].rstrip("."), {})[row.student] = (
                None
            )
    return [
        f"Cells of these notebooks are not as released: nbgrader would {consequence}: "
        f"{named(students)}. `notes` in {out / 'results'} has the cells."
        for consequence, students in by_consequence.items()
    ]


def named(students: Iterable[str]) -> str:
    """Students by name; of many the first, and how many more there are."""
    everybody = [*students]
    more = len(everybody) - MOST_NAMES
    shown = ", ".join(everybody[:MOST_NAMES])
    return f"{shown} and {more} more" if more > 0 else shown


def _shown_score(row: Row) -> tuple[str, str]:
    if row.undecided:
        return _("undecided"), ""
    if row.score is None:
        return "–", ""
    share = row.score / row.max_score if row.max_score else 0
    return f"{row.score}", f"{share:.0%}"


def print_line(screen: Console, line: str, style: str = "") -> None:
    """Print a line as it is, whatever stands in it."""
    screen.print(escaped(line), style=style, markup=False, soft_wrap=True)


def print_class(screen: Console, result: ClassResult, out: Path, *, as_table: bool) -> None:
    """Show the class, in three lines or as a table."""
    rows, course = result.rows, result.course
    due = course.due_at(datetime.now(UTC))
    so_far = None if due.assignments == course.assignments else due
    show = class_table if as_table or len(rows) <= MOST_ROWS else class_summary
    screen.print(show(rows, course.max_score, so_far))
    print_line(screen, f"Results are in {out}; everybody's score is in {out / 'scores.csv'}.")


def class_lines(
    result: ClassResult, notes: Sequence[str], out: Path, *, is_nbgraders: bool
) -> Iterator[tuple[str, str]]:
    """What is to be said of what the class handed in, what matters most first; of cells where nbgrader reads them."""
    if any(row.isolation and "sealed" not in row.isolation for row in result.rows):
        yield "NOT SEALED: student code could read files and use the network.", "bold red"
    if is_nbgraders:
        yield from ((defect, "yellow") for defect in defect_lines(result.rows, out))
    if gaps := gaps_line(result.course, result.rows):
        yield gaps, ""
    yield from ((note, "") for note in notes)


def print_lines(screen: Console, lines: Said, room: int, out: Path) -> None:
    """Print lines as far as there is room; where there is not, all of them stand in a file.

    Args:
        screen: where.
        lines: what there is to say.
        room: how many lines there may be; where there is none, one says where they stand.
        out: the folder of the file.
    """
    path = out / NOTES
    shown = lines if len(lines) <= room else lines[: max(room - 1, 0)]
    for line, style in shown:
        print_line(screen, line, style)
    if left := len(lines) - len(shown):
        write_whole(path, "".join(f"{escaped(line)}\n" for line, _style in lines))
        print_line(screen, f"{left} more line{'s' * (left > 1)} to read: {path} has all.")
    else:
        path.unlink(missing_ok=True)


def print_definitions(screen: Console, results: Sequence[Result]) -> None:
    """Show for each student which definitions count, from where, and what is ignored."""
    for result in results:
        print_line(screen, f"{result.student}:", "bold")
        for assignment in result.assignments:
            for exercise in assignment.exercises if assignment.read_from else ():
                at, where = exercise.defined, "not defined"
                if at is not None:
                    where = location_words(at.file, at.cell, at.line)
                print_line(screen, f"  {exercise.id}: {where}")
            for line in assignment.ignored:
                print_line(screen, f"  {assignment.id}: {line}", "yellow")


def run_lines(
    result: ClassResult, out: Path, published: Path | None, reports: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """What else there is to say of a run, each line with its colour.

    Args:
        result: of the class.
        out: the run's folder.
        published: what was published last of it.
        reports: those that this run made.
    """
    if result.covers.earlier:
        yield result.covers.sentence(result.rows), "yellow"
    if result.left:
        yield (
            f"Not in this class any more: {named(result.left)}. Their results are in {out / FORMER}.",
            "",
        )
    if count := sum(bool(row.decided) for row in result.rows):
        who = "1 student has" if count == 1 else f"{count} students have"
        yield f"{who} a result with decisions: the column `decided` of scores.csv says which.", ""
    warnings = (*_judging(result), *_gone(result), *_changes(result, out, published))
    yield from ((line, "yellow") for line in (*warnings, *_older_reports(result, out, reports)))


def _judging(result: ClassResult) -> Iterator[str]:
    """Whose checks or attempts could not be run."""
    decided = ((row.student, row.decided) for row in result.rows)
    blocked = [name for name, words in decided if any(w.startswith(NOT_RUN) for w in words)]
    if blocked:
        yield (
            "A check that is dropped, or that counts as passed, failed first and blocked later "
            f"checks of these students: {named(blocked)}. Fix the check and grade again."
        )
    if attempts := result.open_attempts:
        which = "this attempt" if len(attempts) == 1 else "these attempts"
        more = f"; and {len(attempts) - MOST_GAPS} more" if len(attempts) > MOST_GAPS else ""
        yield (
            f"UNDECIDED, {which} could not be judged: {'; '.join(attempts[:MOST_GAPS])}{more}. Run the "
            "command again to grade it."
        )


def _gone(result: ClassResult) -> Iterator[str]:
    """Who handed in work before that is not there any more."""
    by_assignment: dict[str, list[str]] = {}
    for student, id_ in result.gone:
        by_assignment.setdefault(id_, []).append(student)
    for id_, students in by_assignment.items():
        yield f"{id_}: handed in before this run, and missing now: {named(students)}."


def _changes(result: ClassResult, out: Path, published: Path | None) -> Iterator[str]:
    """How many scores are not what they were before, and why."""
    why = {reason: count for reason, count in result.why.items() if reason != NEW_ASSIGNMENT}
    if not (count := sum(why.values())):
        return
    who = "1 student has another score" if count == 1 else f"{count} students have other scores"
    reasons = ", ".join(f"{reason} ({n})" for reason, n in sorted(why.items()))
    where = f"{out / SUMMARY} names them under `changed`"
    if published is not None:
        where = f"`grader compare {published} {out}` shows whose differ from what was published"
    yield f"{who} than before: {reasons}. {where}."


def _older_reports(result: ClassResult, out: Path, reports: Sequence[str]) -> Iterator[str]:
    """Which reports of an earlier run were moved aside and not made again."""
    older = out / FORMER / REPORTS
    kinds = {path.name for path in older.iterdir()} if older.is_dir() else set[str]()
    if result.is_written and (missing := kinds - {*reports}):
        again = " ".join(f"--report {kind}" for kind in sorted(missing))
        yield f"Reports older than these results are in {older}; {again} makes new ones."


def row_results(out: Path, rows: Sequence[Row]) -> list[Result]:
    """The full results of some students, from what is written."""
    return [*map(open_records(out).result, (row.student for row in rows))]


def undecided_lines(out: Path, undecided: Sequence[Row], intake: IntakeResult) -> list[str]:
    """Whose score is undecided, and why: by cause, and each file that cannot be read by name."""
    refused = {student.id: student.refused for student in intake.students}
    busy, failed, unread = list[str](), list[str](), list[str]()
    for row, result in zip(undecided, row_results(out, undecided), strict=True):
        files = [f"{row.student}: {refused[row.student]}."] if refused.get(row.student) else []
        files += [f"{row.student}, {id_}: {note}" for id_, note in _unread(result)]
        unread += files
        if row.had_no_turn:
            busy.append(row.student)
        elif not files:
            failed.append(row.student)
    more = len(unread) - MOST_UNREAD
    if more > 0:
        last = f"{unread[MOST_UNREAD - 1]} {more} more cannot be read: `notes` in {out / 'results'} say why."
        unread[MOST_UNREAD - 1] = last
    return [
        *([f"UNDECIDED, the computer was busy: {named(busy)}"] if busy else []),
        *(f"UNDECIDED, {line}" for line in unread[:MOST_UNREAD]),
        *([f"UNDECIDED, the grader failed: {named(failed)}"] if failed else []),
    ]


def _unread(result: Result) -> Iterator[tuple[str, str]]:
    """The assignments whose file cannot be read, each with the sentence that says so."""
    failed = _("The grader itself failed: {reason}").partition("{")[0]
    for part in result.assignments:
        is_unread = part.score is None and not part.exercises
        if is_unread and part.notes and not part.notes[-1].startswith(failed):
            yield part.id, part.notes[-1]
