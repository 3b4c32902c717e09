"""The desk's pages: the map of the class, and one student's work beside the feedback."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from jinja2 import ChoiceLoader, Environment, PackageLoader

from grader.core import language
from grader.core.language import _, listed
from grader.core.records import AssignmentResult, Result
from grader.core.text import clean
from grader.extras.desk.desk import Desk
from grader.extras.desk.edits import Entry, Fields
from grader.intake.roster import Enrolled
from grader.judging.results import for_student
from grader.reports.html.class_views import First, choices, groups_of
from grader.reports.html.pages import MOST_SHOWN, environment
from grader.reports.html.views import card
from grader.submissions.digests import digests
from grader.submissions.faults import FAULTS, in_words
from grader.submissions.submission import read_submission

MOST_SOURCE_LINES = 3000
MOST_OF_A_LINE = 400
NOTHING: Fields = {"kind": ""}
SHOWN_OF_ENTRIES = ("students", "points", "text", "days", "until", "reason")


@lru_cache(maxsize=1)
def _environment() -> Environment:
    """The reports' templates, filters and language, and the desk's own templates."""
    reports = environment()
    assert reports.loader is not None
    return reports.overlay(loader=ChoiceLoader([PackageLoader(__package__), reports.loader]))


def _render(template: str, desk: Desk, **content: Any) -> str:
    """A page's text."""
    title = desk.course.text(desk.course.title)
    code = language.current().replace("_", "-")
    content = {"said": (), "problem": ""} | content
    return _environment().get_template(template).render(language=code, title=title, **content)


def address(student: str, assignment: str = "") -> str:
    """Where a student's page is."""
    fields = {"student": student} | ({"assignment": assignment} if assignment else {})
    return f"/student?{urlencode(fields, errors='surrogateescape')}"


# The class.


def map_page(desk: Desk, **content: Any) -> str:
    """The map of the class, and who needs a look."""
    groups = groups_of(desk.roster)
    return _render(
        "desk_map.html.j2",
        desk,
        exercises=desk.course.exercises,
        course=desk.course,
        rows=[(desk.lines[student].row, desk.lines[student].cells) for student in desk.order],
        score_cell=lambda row: desk.lines[row.student].score,
        groups=lambda student: groups.get(student, {}).items(),
        choices=choices(groups),
        known_names={student: one.name for student, one in desk.roster.items()},
        address=address,
        first=looks(desk),
        shown=MOST_SHOWN,
        **content,
    )


def looks(desk: Desk) -> list[First]:
    """Who needs a look and why, each reason with all whom it concerns; what is urgent first."""
    requests = [(one.student, f"{one.exercise}: {one.why}") for one in desk.asked() if one.is_open]
    found: dict[str, First] = {}
    for line in desk.lines.values():
        for one in line.looks:
            students = found[one.title].students if one.title in found else ()
            found[one.title] = First(one.title, one.why, (*students, *one.students))
    if requests:
        why = _("They ask to have a look at their points.")
        asking = First(_("Regrade requests"), why, tuple(requests))
        found = {asking.title: asking, **found}
    order = [_("Undecided"), _("Regrade requests"), _("Nothing found in their files")]
    order += [_("Nearly right"), _("Stuck"), _("Late")]
    rank = {title: number for number, title in enumerate(order)}
    return sorted(found.values(), key=lambda one: rank.get(one.title, len(rank)))


# One student.


@dataclass(frozen=True, slots=True)
class Source:
    """A file or a notebook's cell, as text, and why it could not be read."""

    name: str
    cell: int | None
    lines: Sequence[str]
    problem: str


def student_page(
    desk: Desk,
    student: str,
    assignment: str = "",
    *,
    filled: Fields = NOTHING,
    **content: Any,
) -> str:
    """One student's work in one assignment beside the feedback, and the forms for what is decided.

    Args:
        desk: the class.
        student: who, of the class.
        assignment: its id; "" for the first that was handed in.
        filled: what a form sent that was not written.
        content: what else the page says.
    """
    result = desk.result(student)
    parts = {part.id: part for part in result.assignments}
    first = next((part.id for part in result.assignments if part.read_from), "")
    chosen = assignment if assignment in desk.course.by_id else first
    chosen = chosen or desk.course.assignments[0].id
    part = parts.get(chosen)
    shown = next((one for one in for_student(result).assignments if one.id == chosen), None)
    sources, note = _sources(desk, result, part) if part and part.read_from else ([], "")
    names = desk.order
    place = names.index(student)
    about = desk.whole.by_id[chosen]
    line = desk.lines[student]
    return _render(
        "desk_student.html.j2",
        desk,
        student=student,
        enrolled=desk.roster.get(student, Enrolled(student)),
        result=result,
        row=line.row,
        looks=line.looks,
        parts=parts,
        course=desk.course,
        chosen=about,
        assignment_title=desk.course.text(about.title),
        part=part,
        cards=[card(e, desk.course, shown.read_from) for e in shown.exercises] if shown else [],
        defined={
            (at.file, at.cell, at.line): e.name
            for e in (part.exercises if part else ())
            if (at := e.defined)
        },
        sources=sources,
        source_note=note,
        entries=desk.entries(student),
        words=_entry_words,
        asked=[one for one in desk.asked() if one.student == student],
        basis=desk.basis(student),
        filled=filled,
        address=address,
        before=names[place - 1] if place else "",
        after=names[place + 1] if place + 1 < len(names) else "",
        **content,
    )


def _entry_words(one: Entry) -> str:
    """What a decision says, besides whom it is about and what."""
    values = (getattr(one.decision, name, None) for name in SHOWN_OF_ENTRIES)
    words = (listed(value) if isinstance(value, tuple) else value for value in values)
    return "; ".join(f"{word}" for word in words if word not in (None, "", 0) or word == 0.0)


def _sources(desk: Desk, result: Result, part: AssignmentResult) -> tuple[list[Source], str]:
    """What was handed in for an assignment, as text; and what there is to know of it."""
    who = part.handed_in_by or result.student
    student = next((one for one in desk.intake.students if one.id == who), None)
    if student is None or student.path is None:
        return [], _("What was handed in is not here.")
    counting = {attempt.at for attempt in part.attempts if attempt.counts}
    paths = [one.path for one in student.attempts if one.moment.at.isoformat() in counting]
    path = paths[-1] if paths else student.path
    try:
        submission = read_submission(desk.whole, path, who)
        graded = {use.work for use in desk.inputs.uses[who].get(part.id, ())}
        is_as_graded = digests(desk.whole, path).by_assignment[part.id] in graded
    except FAULTS as error:
        return [], in_words(error)
    reading, files = (
        submission.readings[part.id],
        {e.defined.file for e in part.exercises if e.defined},
    )
    found = {key: submission.sources[key] for key in reading.sources}
    counting_files = [one for key, one in found.items() if key == reading.own or one.name in files]
    sources, left = list[Source](), MOST_SOURCE_LINES
    for one in counting_files or [*found.values()][:1]:
        for cell in one.cells:
            lines = [clean(line, MOST_OF_A_LINE) for line in cell.text.split("\n")[:left]]
            left -= len(lines)
            sources.append(Source(one.name, cell.number, lines, one.problem))
    return sources, "" if is_as_graded else _("What lies there now is not what was graded.")
