"""The language people read: every sentence of ours passes through here.

Texts are written in English. The other languages come from compiled gettext files: the kit's
sentences from `grader/core/locale/`, a course's from `translations/` beside its `course.toml`.
Which languages there are is what folders there are. The files are read when the first sentence is translated; in English none is read.
"""

import gettext
import locale
import os
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from grader.core.errors import UsageError

DEFAULT_LANGUAGE = "en"
CODE = r"[a-z]{2,3}(?:_[A-Z][A-Za-z]+)*"
"""What a language's code looks like: ja, pt_BR."""

VARIABLE = "GRADER_LANG"
KIT = "grader"
COURSE = "course"
OWN_TRANSLATIONS = Path(__file__).parent / "locale"
NAMES = {"chinese": "zh"}
"""Languages as Windows calls them, where the standard library does not know that."""

TRADITIONAL = {"tw", "hk", "mo", "hant", "traditional", "taiwan", "hong", "macao", "macau"}
FULL_WIDTH_STOPS = ("。", "？", "！")
"""A sentence that ends in one of these needs no space after it."""

_used: dict[str, str] = {}


def use(code: str) -> None:
    """Speak this language from now on, in this process."""
    _used["code"] = code


def current() -> str:
    """The code of the language spoken in this process.

    Until `use` was called it is the one that the environment asks for (so that worker processes
    speak as the process that started them), or English.
    """
    if "code" not in _used:
        asked = os.environ.get(VARIABLE, "")  # a code that a course alone has stays as it is
        _used["code"] = known(asked, languages()) or asked or DEFAULT_LANGUAGE
    return _used["code"]


def kept_in(folder: Path) -> tuple[str, ...]:
    """The codes of the languages that a folder of translations has, in order."""
    found = folder.iterdir() if folder.is_dir() else ()
    codes = (path.name for path in found if (path / "LC_MESSAGES").is_dir())
    return tuple(sorted(code for code in codes if re.fullmatch(CODE, code)))


def languages(more: Iterable[str] = ()) -> tuple[str, ...]:
    """The codes of English, of the languages the kit has, and of more that a course has."""
    return tuple(dict.fromkeys((DEFAULT_LANGUAGE, *kept_in(OWN_TRANSLATIONS), *more)))


def resolve(asked: str | None, preferred: str = "", more: Iterable[str] = ()) -> str:
    """The language of a run: as asked, else of the environment, of the course, of the locale.

    Args:
        asked: what the command was given, None for nothing.
        preferred: what the course says, "" for nothing.
        more: the languages that the course has.

    Raises:
        UsageError: when there is no such language.
    """
    codes = languages(more)
    for given, where in ((asked, "--lang"), (os.environ.get(VARIABLE), VARIABLE)):
        if given and (code := known(given, codes)):
            return code
        if given:
            sentence = _("There is no language {language!r}. There are: {languages}.")
            sentence = sentence.format(language=given, languages=listed(codes))
            raise UsageError(f"{where}: {sentence}")
    return known(preferred, codes) or of_the_locale(codes) or DEFAULT_LANGUAGE


def known(text: str, codes: Iterable[str]) -> str | None:
    """The code that a language's name, code or locale stands for (zh, ja_JP.UTF-8), if any.

    Args:
        text: as people and machines write it.
        codes: of the languages there are.
    """
    words = _words(text)
    name = NAMES.get(words[0]) or _words(locale.normalize(words[0]))[0]
    same = [code for code in codes if _words(code)[0] == name]
    for code in same:
        if _words(code) == words:
            return code
    return next((code for code in same if _is_traditional(code) == _is_traditional(text)), None)


def _words(text: str) -> list[str]:
    """The parts of a language's code, locale or name: ja_JP.UTF-8 has ja and jp."""
    bare = text.partition(".")[0].replace("-", "_").replace(" ", "_").lower()
    return [word.strip("()") for word in bare.split("_")]


def _is_traditional(text: str) -> bool:
    """Whether this is Chinese in the traditional script, which readers of the other may not read."""
    language, *more = _words(text)
    return language in ("zh", "chinese") and not TRADITIONAL.isdisjoint(more)


def of_the_locale(codes: Iterable[str]) -> str | None:
    """The language, of these, that the machine is set to; None where it is none of them."""
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name, "")
        if value:
            return next((code for one in value.split(":") if (code := known(one, codes))), None)
    return known(locale.getlocale()[0] or "", codes)


@lru_cache
def translation_of(folder: Path, domain: str, code: str) -> gettext.NullTranslations:
    """The compiled translations of a domain; without any every sentence stays as it is.

    Args:
        folder: where the languages' folders are.
        domain: `KIT` or `COURSE`.
        code: the language's.
    """
    if code == DEFAULT_LANGUAGE:
        return gettext.NullTranslations()
    return gettext.translation(domain, folder, languages=[code], fallback=True)


def translate(folder: Path, domain: str, code: str, text: str) -> str:
    """A text in a language, as it is where it is not translated.

    Args:
        folder: where the languages' folders are.
        domain: `KIT` or `COURSE`.
        code: the language's.
        text: the English text.
    """
    return translation_of(folder, domain, code).gettext(text) if text else ""


def _(text: str) -> str:
    """A sentence of ours in the language of this run; placeholders are filled in afterwards."""
    return translate(OWN_TRANSLATIONS, KIT, current(), text)


def N_(text: str) -> str:  # noqa: N802  (gettext's own name for it)
    """Marks a sentence that is translated later, by `_` or, in a check, by `judge`."""
    return text


def ngettext_noop(one: str, many: str) -> tuple[str, str]:
    """The same as `N_` for sentences that depend on a number.

    Args:
        one: the sentence for 1.
        many: the sentence for other numbers.
    """
    return one, many


def ngettext(one: str, many: str, number: int) -> str:
    """The same as `_` for sentences that depend on a number.

    Args:
        one: the sentence for 1.
        many: the sentence for other numbers.
        number: the number.
    """
    return translation_of(OWN_TRANSLATIONS, KIT, current()).ngettext(one, many, number)


def listed(things: Iterable[str]) -> str:
    """Things side by side, set apart as the language does it."""
    return _(", ").join(things)


def bracketed(text: str) -> str:
    """A text in brackets, as the language writes them."""
    return _("({text})").format(text=text)


def paragraph(sentences: Iterable[str]) -> str:
    """Sentences one after the other; none is set off by a space from a full-width stop."""
    text = ""
    for sentence in sentences:
        text += f"{' ' if text and not text.endswith(FULL_WIDTH_STOPS) else ''}{sentence}"
    return text
