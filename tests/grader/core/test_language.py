"""Tests of the language people read: which one it is, and what is never translated."""

from pathlib import Path

import pytest
import torch

from grader.core import language
from grader.core.errors import UsageError
from grader.core.language import _, bracketed, known, ngettext, paragraph, resolve, use
from grader.course.course import load_course
from grader.judging.messages import explain_difference, explain_failure
from grader.testing.compare import describe
from grader.testing.judge import Judge, Mismatch
from grader.testing.replies import Failure

CODES = ("en", "ja", "zh_CN")
LOCALE = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine on which nothing says a language."""
    for name in (*LOCALE, language.VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(language.locale, "getlocale", lambda: (None, None))
    return monkeypatch


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *((code, code) for code in CODES),
        *((text, "zh_CN") for text in ("zh", "zh-Hans-SG", "Chinese (Simplified)_China")),
        *(("ja_JP.UTF-8", "ja"), ("Japanese_Japan", "ja"), ("en_GB.UTF-8", "en")),
        *((text, None) for text in ("zh_TW.UTF-8", "zh-Hant", "Chinese (Traditional)_Taiwan")),
        *((text, None) for text in ("de_DE", "C.UTF-8", "")),
    ],
)
def test_a_language_is_known_by_its_code_its_locale_or_its_name(
    text: str, code: str | None
) -> None:
    """Also as Windows calls it; the traditional script has no catalogue."""
    assert known(text, CODES) == code


@pytest.mark.parametrize(
    ("option", "variable", "course", "locale", "code"),
    [
        # No option, no variable, no wish of the course, no locale.
        (None, "", "", {}, "en"),
        (None, "", "", {"LANG": "zh_CN.UTF-8"}, "zh_CN"),
        (None, "", "ja", {"LANG": "zh_CN.UTF-8"}, "ja"),
        (None, "en", "ja", {"LANG": "zh_CN.UTF-8"}, "en"),
        ("zh", "en", "ja", {}, "zh_CN"),
        # LANGUAGE may list some; a locale that is none of ours is English.
        (None, "", "", {"LANGUAGE": "de:ja:en", "LANG": "zh_CN.UTF-8"}, "ja"),
        (None, "", "", {"LANGUAGE": "de", "LANG": "zh_CN.UTF-8"}, "en"),
    ],
)
def test_the_first_to_say_a_language_decides(
    nowhere: pytest.MonkeyPatch,
    option: str | None,
    variable: str,
    course: str,
    locale: dict[str, str],
    code: str,
) -> None:
    """The option before the variable, before the course, before the locale."""
    for name, value in {**locale, language.VARIABLE: variable}.items():
        nowhere.setenv(name, value)
    assert resolve(option, course) == code


@pytest.mark.parametrize("where", ["--lang", language.VARIABLE])
def test_a_language_that_there_is_not_is_told_with_those_there_are(
    where: str, nowhere: pytest.MonkeyPatch
) -> None:
    """Wherever it was asked for."""
    if where == language.VARIABLE:
        nowhere.setenv(where, "fr")
    with pytest.raises(UsageError) as raised:
        resolve("fr" if where == "--lang" else None)
    assert str(raised.value) == (f"{where}: There is no language 'fr'. There are: en, ja, zh_CN.")


def test_a_process_speaks_as_its_environment_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker process has nothing else to go by; what it cannot read is English."""
    monkeypatch.setattr(language, "_used", {})
    monkeypatch.setenv(language.VARIABLE, "ja")
    assert _("missing") == "未検出"
    monkeypatch.setattr(language, "_used", {})
    monkeypatch.setenv(language.VARIABLE, "fr")
    assert _("missing") == "missing"


def test_a_sentence_with_a_number() -> None:
    """English tells one from many, Chinese and Japanese do not."""
    said = [ngettext("{days} day late: {off}.", "{days} days late: {off}.", n) for n in (1, 2)]
    assert said == ["{days} day late: {off}.", "{days} days late: {off}."]
    use("ja")
    said = [ngettext("{days} day late: {off}.", "{days} days late: {off}.", n) for n in (1, 2)]
    assert said == ["{days} 日の遅れ：{off}。"] * 2


def test_in_english_no_catalogue_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a student's run starts as quickly as it did without languages."""
    language.translation_of.cache_clear()
    monkeypatch.setattr(language.gettext, "translation", lambda *a, **k: pytest.fail("was read"))
    assert _("missing") == "missing"


def test_a_course_without_catalogues_is_in_english(root: Path) -> None:
    """Another instructor's course, say."""
    use("ja")
    course = load_course(root / "tests" / "example_course")
    assert course.text("Two queries and three keys have two rows of three scores.") == (
        "Two queries and three keys have two rows of three scores."
    )
    assert course.text("") == ""


def test_what_is_judged_is_the_same_in_every_language() -> None:
    """Mistakes are recognised by it, also with a recording made in another language."""
    values = [None, "text", torch.ones(2, 3), torch.tensor(1.0), [1, 2], {"a": 1}, 2**200, object]
    judged = []
    for code in language.languages():
        use(code)
        judge = Judge(say=lambda text: f"<{text}>")
        for value in values:
            with pytest.raises(Mismatch):
                judge.shape(value, (7, 7))
        with pytest.raises(Mismatch):
            judge.that(False, "wrong", about=[1])
        judged.append(judge.judged)
    assert judged[0] == judged[1] == judged[2]
    assert describe(torch.ones(2, 3)) == "形状为 (2, 3) 的张量"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("en", "The <first> weight: 1 of 2 values differ, the first at <token> 1: "
         "expected 1.0000, received 2.0000."),
        ("zh_CN", "The <first> weight：2 个值中有 1 个不同，第一处：<token> 1；"
         "预期：1.0000，实际：2.0000。"),
        ("ja", "The <first> weightが想定と違います。2 個の値のうち 1 個が一致しません。"
         "最初の違い：<token> 1（期待値：1.0000、実際の値：2.0000）。"),
    ],
)  # fmt: skip
def test_a_difference_is_told_in_the_language_of_the_run(code: str, told: str) -> None:
    """The kit's words, and the course's own, names put into them among those."""
    use(code)
    judge = Judge(say=lambda text: text.replace("token", "<token>").replace("first", "<first>"))
    with pytest.raises(Mismatch) as raised:
        judge(
            torch.tensor([1.0, 2.0]),
            torch.tensor([1.0, 1.0]),
            what=judge.words("The {name} weight", name="first").replace("<<", "<"),
            axes=("token",),
        )
    shown = explain_difference(raised.value.difference, ()).text.splitlines()[0]
    assert shown.replace("<<", "<").replace(">>", ">") == told


def test_a_failure_is_told_in_the_language_of_the_run() -> None:
    """Python's own words stay as Python says them."""
    use("ja")
    failure = Failure("missing", message="Heads", similar=("heads",))
    assert explain_failure(failure, (), "Heads") == (
        "Heads が定義されていません。\nheads は Heads の書き間違いではありませんか？"
    )
    failure = Failure("exception", type="ValueError", message="too long")
    assert explain_failure(failure, (), "Heads") == "次の例外が発生しました：ValueError: too long"


@pytest.mark.parametrize(
    ("sentences", "together"),
    [
        ([], ""),
        (["One."], "One."),
        (["One.", "Two?", "Three."], "One. Two? Three."),
        (["一。", "二？", "三！", "四。"], "一。二？三！四。"),
        (["一。", "Two.", "三。"], "一。Two. 三。"),
    ],
)
def test_sentences_are_set_off_as_their_language_does(sentences: list[str], together: str) -> None:
    """A full-width stop brings its own space."""
    assert paragraph(sentences) == together


@pytest.mark.parametrize(
    ("code", "together", "inside"),
    [("en", "a, b", "(a)"), ("zh_CN", "a、b", "（a）"), ("ja", "a、b", "（a）")],
)
def test_punctuation_that_code_sets_is_the_languages(code: str, together: str, inside: str) -> None:
    """Between the words of a check's sentence, and around a remark."""
    use(code)
    assert Judge().words("{names}", names=["a", "b"]) == together
    assert bracketed("a") == inside
