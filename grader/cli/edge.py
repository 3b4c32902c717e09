"""What several commands share: the course to work in, and the language to speak."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader import language

if TYPE_CHECKING:
    from grader.course import Course

lang_option = click.option(
    "--lang",
    metavar="CODE",
    help="Speak en, zh_CN or ja.  [default: GRADER_LANG, the course's, or the locale]",
)


def open_course(lang: str | None) -> "Course":
    """The course that the working directory lies in; from here on its language is spoken.

    Args:
        lang: the language the command was given, None for nothing.

    Raises:
        UsageError: when there is no course, or no such language.
        CourseError: when its manifest is wrong.
    """
    from grader.course import find_course, load_course

    language.use(language.resolve(lang))
    course = load_course(find_course(Path.cwd()))
    language.use(language.resolve(lang, course.language))
    os.environ[language.VARIABLE] = language.current()  # worker processes speak the same
    return course
