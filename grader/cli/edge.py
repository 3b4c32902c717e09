"""What several commands share: the course to work in, and the language to speak."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.core import language

if TYPE_CHECKING:
    from grader.course.course import Course


class Done(SystemExit):
    """A command's end that leaves nothing to be taken apart, which with torch takes long."""

    def leave(self) -> None:
        """End the process at once, unless somebody did not take what was printed."""
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except OSError:
            raise self from None
        os._exit(int(self.code or 0))


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
    from grader.course.course import find_course, load_course

    language.use(language.resolve(lang))
    course = load_course(find_course(Path.cwd()))
    language.use(language.resolve(lang, course.language))
    os.environ[language.VARIABLE] = language.current()  # worker processes speak the same
    return course
