"""Click's own words (usage, headings, what is wrong with a command) in the language of a run.

Click asks Python's `gettext` for them, which finds them in our catalogue: they are marked here, and
`spoken` says in which language.
"""

import gettext
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path

from grader.core import language
from grader.core.errors import GraderError
from grader.core.language import N_, ngettext_noop
from grader.course.course import find_course, load_course

VARIABLE = "LANGUAGE"
"""What Python's `gettext` reads first."""

WORDS = (
    N_("Usage:"),
    N_("Options"),
    N_("Commands"),
    N_("Show this message and exit."),
    N_("Show the version and exit."),
    N_("Try '{command} {option}' for help."),
    N_("Error: {message}"),
    N_("No such command {name!r}."),
    N_("No such option {name!r}."),
    N_("Missing argument"),
    N_("Missing option"),
    N_("Invalid value for {param_hint}: {message}"),
    N_("Option {name!r} does not take a value."),
    N_("default: {default}"),
    N_("required"),
    N_("Aborted!"),
    ngettext_noop("Did you mean {possibility}?", "(Did you mean one of: {possibilities}?)"),
    ngettext_noop(
        "Got unexpected extra argument ({args})", "Got unexpected extra arguments ({args})"
    ),
    ngettext_noop(
        "Option {name!r} requires an argument.", "Option {name!r} requires {nargs} arguments."
    ),
    ngettext_noop("{value!r} is not {choice}.", "{value!r} is not one of {choices}."),
)
"""Those that a student or an instructor may meet, as click has them."""


@contextmanager
def spoken(words: Sequence[str]) -> Iterator[None]:
    """Have click speak the language of a command, which is not read yet.

    Args:
        words: the command line, without the program's name.
    """
    before = os.environ.get(VARIABLE)
    gettext.bindtextdomain(language.KIT, language.OWN_TRANSLATIONS)
    gettext.textdomain(language.KIT)
    os.environ[VARIABLE] = _language(words)
    try:
        yield
    finally:
        os.environ.pop(VARIABLE)
        if before is not None:
            os.environ[VARIABLE] = before


def full_stop(message: str) -> str:
    """What click says of something missing, with the full stop of its language after the name."""
    return message.replace("'.", f"'{gettext.gettext('{sentence}.')[-1]}", 1)


def _language(words: Sequence[str]) -> str:
    """As `--lang` asks for it, else as any command finds it; English where that is not to be had."""
    pairs = pairwise(word for given in words for word in given.split("=", 1))
    asked = next((code for option, code in pairs if option == "--lang"), None)
    with suppress(GraderError):
        with suppress(GraderError):
            course = load_course(find_course(Path.cwd()))
            return language.resolve(asked, course.language, course.languages)
        return language.resolve(asked)
    return language.DEFAULT_LANGUAGE
