"""The language people read: every sentence of ours passes through here.

Texts are written in English. The other languages come from compiled gettext files: the kit's
sentences from `grader/core/locale/`, a course's from `translations/` beside its `course.toml`.
They are read when the first sentence is translated; in English none is read.
"""

import gettext
import locale
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from grader.core.errors import UsageError

DEFAULT_LANGUAGE = "en"
LANGUAGES = {DEFAULT_LANGUAGE: "English", "zh_CN": "简体中文", "ja": "日本語"}
"""Codes of the languages there are translations for, and what each calls itself."""

VARIABLE = "GRADER_LANG"
KIT = "grader"
COURSE = "course"
OWN_TRANSLATIONS = Path(__file__).parent / "locale"
STARTS = {"en": "en", "ja": "ja", "japanese": "ja", "zh": "zh_CN", "chinese": "zh_CN"}
TRADITIONAL = ("tw", "hk", "mo", "hant", "traditional", "taiwan", "hong", "macao", "macau")
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
        _used["code"] = known(os.environ.get(VARIABLE, "")) or DEFAULT_LANGUAGE
    return _used["code"]


def resolve(asked: str | None, preferred: str = "") -> str:
    """The language of a run: as asked, else of the environment, of the course, of the locale.

    Args:
        asked: what the command was given, None for nothing.
        preferred: what the course says, "" for nothing.

    Raises:
        UsageError: when there is no such language.
    """
    for given, where in ((asked, "--lang"), (os.environ.get(VARIABLE), VARIABLE)):
        if given and (code := known(given)):
            return code
        if given:
            languages = listed(f"{code} {bracketed(name)}" for code, name in LANGUAGES.items())
            sentence = _("There is no language {language!r}. There are: {languages}.")
            raise UsageError(f"{where}: {sentence.format(language=given, languages=languages)}")
    return known(preferred) or of_the_locale() or DEFAULT_LANGUAGE


def known(text: str) -> str | None:
    """The code that a language's name, code or locale stands for (zh, ja_JP.UTF-8), if any."""
    parts = text.partition(".")[0].replace("-", "_").replace(" ", "_").lower().split("_")
    code = STARTS.get(parts[0])
    is_other = code == "zh_CN" and any(part.strip("()") in TRADITIONAL for part in parts[1:])
    return None if is_other else code


def of_the_locale() -> str | None:
    """The language that the machine is set to, None where it is none of ours."""
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name, "")
        if value:
            return next((code for one in value.split(":") if (code := known(one))), None)
    return known(locale.getlocale()[0] or "")


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
