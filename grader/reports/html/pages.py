"""Pages from results: pure functions, a record in, a page's whole text out."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from statistics import mean, median
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from grader.classes.compare import Comparison, by_check, signed
from grader.classes.rows import due_summary, row_of
from grader.core import language
from grader.core.files import OutputFile, file_name
from grader.core.language import _, paragraph
from grader.core.records import Picture, Result
from grader.core.text import clean, display_width
from grader.core.views import ViewResult
from grader.course.course import Course
from grader.judging.outcomes import SIGNS, UNJUDGED, ExerciseStatus, notes_above, out_of
from grader.judging.picture_layout import cut_words, first_location
from grader.judging.results import for_student
from grader.reports.base import Checked, CheckedWork, GradedClass
from grader.reports.html.class_views import (
    choices,
    first_to_look_at,
    frequent,
    groups_of,
    over_the_term,
    score_cell,
    students_map,
    tenths,
)
from grader.reports.html.heatmap import figure, view_figure
from grader.reports.html.views import (
    AssignmentPicture,
    assignment_pictures,
    card,
    moment_words,
    percent,
    shown,
)
from grader.reports.insights import alike, exercise_insights, misunderstood, tries_until_solved

PICTURES = "pictures"
"""The folder of the assignments' pictures, beside the students' pages."""

STUDENTS = "students"
"""The folder of the students' pages: it can be handed out without the class report beside it."""

MOST_SHOWN = 8
"""How many mistakes, and names of students, are shown at once; the others are folded."""

DONE = (ExerciseStatus.SOLVED, ExerciseStatus.UNDECIDED, ExerciseStatus.EXEMPT)
"""Exercises with such a status leave their student nothing to do."""

CODE = re.compile(r"`([^`\n]+)`")


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Templates of pages, in the language of the run."""
    made = Environment(
        loader=PackageLoader("grader.reports.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    made.install_gettext_callables(  # type: ignore[attr-defined]
        lambda text: language._(text),
        lambda one, many, number: language.ngettext(one, many, number),
        newstyle=True,
    )
    made.filters |= {
        "prose": prose,
        "clean": clean,
        "score": shown,
        "out_of": out_of,
        "percent": percent,
        "moment": moment_words,
        "cut_words": cut_words,
        "first_location": first_location,
        "notes_above": notes_above,
        "display_width": display_width,
    }
    made.globals |= {"SIGNS": SIGNS, "UNJUDGED": UNJUDGED}
    return made


def prose(text: str) -> Markup:
    """A sentence of the kit or the course; text in backticks is code."""
    return Markup(CODE.sub(r"<code>\1</code>", str(escape(text))))


def render_page(template: str, **content: Any) -> str:
    """A template's text in the language of the run."""
    return (
        environment()
        .get_template(template)
        .render(language=language.current().replace("_", "-"), **content)
    )


def student_page(
    result: Result,
    course: Course,
    name: str = "",
    pictures: Mapping[str, AssignmentPicture] | None = None,
    views: Sequence[ViewResult] = (),
) -> str:
    """The feedback page of one student; hidden checks keep their secrets.

    Args:
        result: of the student.
        course: what was graded.
        name: of the student, where it is known.
        pictures: of the assignments, as the page links them; None for a page that holds them.
        views: of what is solved.
    """
    result = for_student(result)
    sections = [
        (
            assignment,
            [card(e, course, assignment.read_from) for e in assignment.exercises],
        )
        for assignment in result.assignments
    ]
    statuses = [card.status for _part, cards in sections for card in cards]
    read = [card for assignment, cards in sections if assignment.read_from for card in cards]
    return render_page(
        "student.html.j2",
        title=course.text(course.title),
        titles={assignment.id: course.text(assignment.title) for assignment in course.assignments},
        student=clean(f"{name} ({result.student})" if name else result.student, 120),
        result=result,
        counts=[(one, statuses.count(one)) for one in ExerciseStatus if one in statuses],
        next=next((card for card in read if card.status not in DONE), None),
        sections=sections,
        pictures=assignment_pictures(course) if pictures is None else pictures,
        views={
            e.id: [view_figure(v) for v in views if v.exercise == e.id] for e in result.exercises
        },
        has_views=bool(views),
    )


def class_report(
    results: Sequence[Result],
    course: Course,
    names: Mapping[str, str] = {},
    covers: str = "",
    groups: Mapping[str, Mapping[str, str]] = {},
) -> str:
    """The instructor's report on a class, with a link to each student's page."""
    mistakes = misunderstood(results)
    scores = [result.score for result in results if result.score is not None]
    return render_page(
        "class.html.j2",
        title=course.text(course.title),
        course=course,
        results=results,
        mean=f"{mean(scores):.1f}" if scores else "–",
        median=f"{median(scores):.1f}" if scores else "–",
        is_sealed=all("sealed" in result.isolation for result in results if result.isolation),
        first=first_to_look_at(results, course),
        tenths=tenths(results),
        mistakes=mistakes,
        frequent=frequent(mistakes, MOST_SHOWN),
        groups=lambda student: groups.get(student, {}).items(),
        choices=choices(groups),
        alike=alike(results),
        exercises=exercise_insights(results, course),
        tries=tries_until_solved(results, course),
        rows=students_map(results, course),
        term=over_the_term(results, course),
        score_cell=score_cell,
        shown=MOST_SHOWN,
        address=address,
        known_names=names,
        covers=covers,
    )


def pages(
    results: Sequence[Result],
    course: Course,
    names: Mapping[str, str] = {},
    covers: str = "",
    groups: Mapping[str, Mapping[str, str]] = {},
) -> Iterator[tuple[str, str]]:
    """All pages of a class: path inside the report's folder, and text.

    Args:
        results: of the class.
        course: what was graded.
        names: of students, where they are known.
        covers: when they were graded, with which course, and who is missing; for the class's page.
        groups: those that the roster has students in, to which the class's page can be narrowed.
    """
    yield "index.html", class_report(results, course, names, covers, groups)
    linked = assignment_pictures(course, PICTURES)
    for picture in linked.values():
        yield f"{STUDENTS}/{picture.address}", picture.svg
    for result in results:
        yield (
            f"{STUDENTS}/{file_name(result.student)}.html",
            student_page(result, course, names.get(result.student, ""), linked),
        )


def address(student: str) -> str:
    """A student's page, seen from the class report."""
    return f"{STUDENTS}/{quote(file_name(student), errors='surrogateescape')}.html"


def pictures(shown: Sequence[Picture]) -> str:
    """Pictures alone, with the style they need: what a notebook shows."""
    return render_page("pictures.html.j2", figures=[figure(one) for one in shown])


def views_page(results: Sequence[ViewResult], course: Course) -> str:
    """A page of views alone, with sliders for what can be moved."""
    exercises = [
        (exercise, [view_figure(one) for one in group])
        for exercise, group in groupby(results, lambda one: one.exercise)
    ]
    return render_page("views.html.j2", title=course.text(course.title), exercises=exercises)


def views(shown: Sequence[ViewResult]) -> str:
    """Views alone, with the style they need and without a script: what a notebook shows."""
    return render_page("view_alone.html.j2", views=[view_figure(one) for one in shown])


def comparison_page(found: Comparison, old: str, new: str) -> str:
    """A page on two runs side by side, for instructors: in English, as the commands speak of it.

    Args:
        found: what differs.
        old: the earlier run, as it is called.
        new: the later one.
    """
    template = environment().get_template("comparison.html.j2")
    title = f"{clean(old)} → {clean(new)}"
    return template.render(
        language="en", title=title, found=found, effects=by_check(found), signed=signed
    )


# Pages as a report: a student's own page after `check`, everybody's and the class's after `grade`.

OWN_PAGE = "feedback.html"


def check(run: CheckedWork) -> Checked:
    """The page of a student's own run, where the command is run."""
    said = _("Your page: {file}").format(file=OWN_PAGE)
    page = student_page(run.result, run.course, views=run.views())
    return Checked((OutputFile(OWN_PAGE, page),), (said,))


def grade(run: GradedClass) -> Iterator[OutputFile]:
    """The class report, and a page for each student."""
    names = {student: one.name for student, one in run.roster.items() if one.name}
    covers = _("Graded {moment}, course {hash}. {covers}").format(
        moment=f"{run.now:%Y-%m-%d %H:%M %Z}", hash=run.course.hash[:12], covers=run.covers
    )
    due = run.course.due_at(run.now)
    so_far = due_summary([row_of(result, "") for result in run.results], due)
    is_partly_due = bool(due.max_score) and due.assignments != run.course.assignments
    if is_partly_due and so_far["mean_score"] is not None:
        sentence = _(
            "Of {max_score} points that were due so far, students have {mean_score} on average."
        )
        covers = paragraph((covers, sentence.format(**so_far)))
    made = pages(run.results, run.course, names, covers, groups_of(run.roster))
    return (OutputFile(path, text) for path, text in made)
