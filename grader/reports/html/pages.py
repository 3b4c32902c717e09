"""Pages from results: pure functions, a record in, a page's whole text out."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from grader.core import language
from grader.core.records import Picture, Result
from grader.core.text import clean
from grader.course.course import Course
from grader.reports.html.class_views import class_view
from grader.reports.html.heatmap import figure
from grader.reports.html.views import student_view

STUDENTS = "students"
"""The folder of the students' pages: it can be handed out without the class report beside it."""

CODE = re.compile(r"`([^`\n]+)`")


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
    made.filters["prose"] = prose
    made.filters["clean"] = lambda text: clean(text, 120)
    return made


def prose(text: str) -> Markup:
    """A sentence of the kit or the course; text in backticks is code."""
    return Markup(CODE.sub(r"<code>\1</code>", str(escape(text))))


def _page(template: str, **content: Any) -> str:
    return (
        _environment()
        .get_template(template)
        .render(language=language.current().replace("_", "-"), **content)
    )


def student_page(result: Result, course: Course) -> str:
    """The feedback page of one student; hidden checks keep their secrets."""
    return _page("student.html.j2", page=student_view(result, course))


def class_report(results: Sequence[Result], course: Course) -> str:
    """The instructor's report on a class, with a link to each student's page."""
    return _page("class.html.j2", page=class_view(results, course), address=address)


def pages(results: Sequence[Result], course: Course) -> Iterator[tuple[str, str]]:
    """All pages of a class: path inside the report's folder, and text."""
    yield "index.html", class_report(results, course)
    for result in results:
        yield f"{STUDENTS}/{result.student}.html", student_page(result, course)


def address(student: str) -> str:
    """A student's page, seen from the class report."""
    return f"{STUDENTS}/{quote(student, errors='surrogateescape')}.html"


def pictures(shown: Sequence[Picture]) -> str:
    """Pictures alone, with the style they need: what a notebook shows."""
    return _page("pictures.html.j2", figures=[figure(one) for one in shown])
