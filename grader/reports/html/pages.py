"""Pages from results: pure functions, a record in, a page's whole text out."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from grader import language
from grader.course import Course
from grader.model import Result
from grader.reports.html.views import card, counted, student_view

STUDENTS = "students"
"""The folder of the students' pages: it can be handed out without the class report beside it."""


@lru_cache(maxsize=1)
def _environment() -> Environment:
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
    made.globals["counted"] = counted
    return made


def _page(template: str, **content: Any) -> str:
    return _environment().get_template(template).render(language="en", **content)


def student_page(result: Result, course: Course) -> str:
    """The feedback page of one student; hidden checks keep their secrets."""
    return _page("student.html.j2", page=student_view(result, course))


def exercise_cards(result: Result, course: Course) -> str:
    """The exercises of a result alone, with the style they need: what a notebook shows."""
    cards = [
        card(exercise, course, assignment.read_from)
        for assignment in result.assignments
        for exercise in assignment.exercises
    ]
    return _page("card.html.j2", cards=cards)
