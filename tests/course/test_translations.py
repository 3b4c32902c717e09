"""The translations: complete, in date, faithful in what must not change, and fit for a terminal."""

import ast
import gettext
import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from pathlib import Path

import nbformat
import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import read_mo
from flit_core.buildapi import build_wheel
from rich.cells import cell_len
from rich.console import Console

from grader.authoring.translations import (
    Message,
    course_messages,
    kit_messages,
    updated,
)
from grader.classes.rows import row_of
from grader.cli.class_output import class_table
from grader.cli.render import print_check
from grader.core import language
from grader.core.errors import CourseError
from grader.core.files import OutputFile
from grader.core.records import (
    AssignmentResult,
    CheckResult,
    ExerciseResult,
    Finding,
    Mistake,
    Outcome,
    Result,
    Visibility,
)
from grader.course.course import Course, load_course
from grader.judging.outcomes import summary_line
from grader.release.catalogs import (
    domain_folder,
    mo_bytes,
    read_translations,
    released_translations,
)
from grader.release.prose import meaning
from grader.release.stubs import generate
from grader.release.students import _preferring, template
from grader.submissions.submission import read_submission

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
DOMAINS = (language.KIT, language.COURSE)
TRANSLATIONS = language.kept_in(language.OWN_TRANSLATIONS)
CATALOGUES = [(domain, code) for domain in DOMAINS for code in TRANSLATIONS]
KEPT = {
    "placeholder": re.compile(r"\{[^{}]*\}|%\(\w+\)s"),
    "code": re.compile(r"`[^`]*`"),
    "formula": re.compile(r"\$[^$]*\$"),
    "quoted name": re.compile(r'"(?:Your[\w ]*|[a-z_]+)"'),
}
TERMS = {
    "attention score": ("注意力得分", "アテンションスコア"),
    "attention weight": ("注意力权重", "アテンションの重み"),
    "self-attention": ("自注意力", "セルフアテンション"),
    "causal attention": ("因果注意力", "因果アテンション"),
    "multi-head attention": ("多头注意力", "マルチヘッドアテンション"),
    "context vector": ("上下文向量", "コンテキストベクトル"),
    "dot product": ("点积", "内積"),
    "mask": ("掩", "マスク"),
    "gradient": ("梯度", "勾配"),
    "softmax": ("softmax", "softmax"),
}
"""Field terms of the glossary that each translation uses where the English text does."""

SPACED = {
    "zh_CN": re.compile("？ "),
    "ja": re.compile(r"？ |[}\d] つ(?!ま)|(?<![.,\d])\d (?=回|倍|番目)"),
}
"""Spaces that a language does not have: what ends a question, or counts things in one digit, has none after it."""

NEVER_FIRST = "、。，．：；？！）」』】”’"


@lru_cache
def the_course() -> Course:
    """The course itself, read once."""
    return load_course(ROOT)


@lru_cache
def generated(code: str = "") -> list[OutputFile]:
    """The stubs, notebooks and pictures in a language, made once."""
    return list(generate(the_course(), code))


@lru_cache
def messages(domain: str) -> list[Message]:
    """What there is to translate."""
    return kit_messages() if domain == language.KIT else course_messages(the_course())


def place(domain: str, code: str) -> Path:
    """Where translations are."""
    kit = domain == language.KIT
    folder = language.OWN_TRANSLATIONS if kit else the_course().translations
    return domain_folder(folder, code) / f"{domain}.po"


@lru_cache
def translations(domain: str, code: str) -> Catalog:
    """What is translated."""
    return read_translations(place(domain, code), code)


def pairs(domain: str, code: str) -> Iterator[tuple[str, str]]:
    """Each English text with its translation; of several forms the last."""
    for entry in translations(domain, code):
        if entry.id:
            several = not isinstance(entry.id, str)
            yield (
                entry.id[-1] if several else entry.id,
                entry.string[-1] if several else entry.string,
            )


@pytest.mark.parametrize(("domain", "code"), CATALOGUES)
def test_catalogues_have_just_the_texts_there_are(domain: str, code: str) -> None:
    """No text was added, changed or dropped without `make catalogues`."""
    there = [entry.id for entry in translations(domain, code) if entry.id]
    assert [i if isinstance(i, str) else tuple(i) for i in there] == list(
        dict.fromkeys(message.id for message in messages(domain))
    )


def test_no_sentence_of_the_kit_is_overlooked() -> None:
    """Babel does not look into f-strings."""
    listed = {message.id for message in messages(language.KIT)}
    calls = (
        node
        for path in Path(language.__file__).parents[1].rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "_"
    )
    said = {call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)}
    assert said - listed == set()


@pytest.mark.parametrize(("domain", "code"), CATALOGUES)
def test_every_text_is_translated_and_none_is_unsure(domain: str, code: str) -> None:
    """Neither empty nor marked as fuzzy."""
    entries = [entry for entry in translations(domain, code) if entry.id]
    strings = [e.string if isinstance(e.string, list | tuple) else [e.string] for e in entries]
    open_ = [e.id for e, each in zip(entries, strings, strict=True) if not all(each) or e.fuzzy]
    assert open_ == []


@pytest.mark.parametrize(("domain", "code"), CATALOGUES)
def test_compiled_catalogues_say_what_the_readable_ones_say(domain: str, code: str) -> None:
    """The `.mo` that is committed is the `.po`, compiled."""
    with place(domain, code).with_suffix(".mo").open("rb") as file:
        compiled = {str(entry.id): entry.string for entry in read_mo(file) if entry.id}
    right = io.BytesIO(mo_bytes(updated(messages(domain), translations(domain, code), code)))
    assert compiled == {str(entry.id): entry.string for entry in read_mo(right) if entry.id}


@pytest.mark.parametrize("kind", KEPT)
@pytest.mark.parametrize(("domain", "code"), CATALOGUES)
def test_what_is_no_prose_is_kept(domain: str, code: str, kind: str) -> None:
    """Placeholders, code, formulas and quoted names are those of the English text."""
    found = KEPT[kind].findall
    wrong = [(e, t) for e, t in pairs(domain, code) if set(found(e)) != set(found(t))]
    assert wrong == []


@pytest.mark.parametrize(("domain", "code"), CATALOGUES)
def test_a_sentence_ends_as_the_english_one_ends(domain: str, code: str) -> None:
    """With a full stop, a question mark, a colon, or none of them; by the script's own signs."""
    signs = {".": "。", "?": "？か", ":": "：す"}  # a heading that asks, a formula that follows
    wrong = []
    for english, text in pairs(domain, code):
        ends = english.rstrip(')"*`')[-1:]
        bare = text.rstrip('）)"*`')
        if ends in signs and not (bare.endswith(tuple(signs[ends])) or bare[-1:] == "い"):
            wrong.append((english, text))
        if english[-1:].isalnum() and text[-1:] in "。？：.?:":
            wrong.append((english, text))
    assert wrong == []


@pytest.mark.parametrize(("domain", "code"), CATALOGUES)
def test_question_marks_and_counters_are_spaced_alike(domain: str, code: str) -> None:
    """Wherever they are written."""
    assert [text for _english, text in pairs(domain, code) if SPACED[code].search(text)] == []


@pytest.mark.parametrize(("domain", "code"), CATALOGUES)
def test_field_terms_are_those_of_the_glossary(domain: str, code: str) -> None:
    """As the documents' own readers say them."""
    glossary = (ROOT / "translations" / "GLOSSARY.md").read_text("utf-8")
    wrong = []
    for english, text in pairs(domain, code):
        bare = re.sub(r"`[^`]*`", "", english).lower()
        for term, words in TERMS.items():
            word = words[("zh_CN", "ja").index(code)]
            assert word in glossary
            if re.search(rf"\b{term}s?\b", bare) and word not in text:
                wrong.append((term, text))
    assert wrong == []


def test_a_check_with_an_f_string_is_refused(tmp_path: Path) -> None:
    """It could not be translated; the author is told what to write."""
    example = load_course(ROOT / "tests" / "example_course")
    path = example.paths(example.assignments[0]).visible_checks
    copy = tmp_path / "course"
    for file in (ROOT / "tests" / "example_course").rglob("*"):
        if file.is_file():
            to = copy / file.relative_to(ROOT / "tests" / "example_course")
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(file.read_bytes())
    changed = copy / path.relative_to(example.root)
    text = changed.read_text("utf-8").replace('"There is no ValueError"', 'f"no {failure}"')
    changed.write_text(text, "utf-8")
    line = text[: text.index('f"no {failure}"')].count("\n") + 1
    with pytest.raises(CourseError) as raised:
        course_messages(load_course(copy))
    assert str(raised.value) == (
        f"01_scores/test_visible.py: line {line}: an f-string cannot be translated; "
        'write judge.words("… {name} …", name=…)'
    )


# What is made of them.


@pytest.mark.parametrize("code", TRANSLATIONS)
def test_stubs_and_notebooks_do_the_same_in_every_language(code: str) -> None:
    """Names, signatures, values and the sentinels; cells, their ids and metadata; figures."""
    for english, file in zip(generated(), generated(code), strict=True):
        assert file.path == english.path
        if file.path.endswith(".py"):
            assert meaning(file.text) == meaning(english.text)
            own = [line for line in file.text.split("\n") if "raise NotImpl" not in line]
            assert [line for line in own if cell_len(line) > 100] == []
            continue
        if file.path.endswith(".svg"):
            figures = r">([−\d.∞]+)</text>"
            assert re.findall(figures, file.text) == re.findall(figures, english.text)
            continue
        one, other = (nbformat.reads(text, as_version=4) for text in (english.text, file.text))
        nbformat.validate(other)
        for mine, right in zip(other.cells, one.cells, strict=True):
            assert (mine.id, mine.cell_type, mine.metadata) == (
                right.id,
                right.cell_type,
                right.metadata,
            )
            if mine.cell_type == "code":
                assert meaning(mine.source) == meaning(right.source)


@pytest.mark.parametrize("code", TRANSLATIONS)
def test_no_english_is_left_in_a_stub(code: str) -> None:
    """Beside code, names and examples."""
    for file in generated(code):
        if file.path.endswith(".py"):
            tree = ast.parse(file.text)
            docs = [
                ast.get_docstring(node, clean=False) or ""
                for node in ast.walk(tree)
                if isinstance(node, ast.FunctionDef | ast.ClassDef)
            ]
            first_lines = [text.split("\n")[0] for text in docs if text]
            assert first_lines
            assert [line for line in first_lines if line.isascii()] == []


@pytest.mark.parametrize("code", TRANSLATIONS)
def test_an_untouched_stub_in_another_language_is_not_attempted(code: str, tmp_path: Path) -> None:
    """Of a stub and a notebook the one that differs from its stub counts, in any language."""
    course, solution = the_course(), "normalize_scores: not attempted yet"
    assignment = course.assignments[0]
    files = {Path(f.path).name: f.text for f in generated(code)}
    py, ipynb = f"{assignment.module}.py", f"{assignment.module}.ipynb"
    for touched in (py, ipynb):
        folder = tmp_path / touched / assignment.id
        folder.mkdir(parents=True)
        for name in (py, ipynb):
            text = files[name].replace(solution, "") if name == touched else files[name]
            (folder / name).write_text(text, "utf-8")
        reading = read_submission(course, folder.parent, "me").readings[assignment.id]
        assert (reading.read_from, reading.notes) == (f"{assignment.id}/{touched}", ())


@pytest.mark.parametrize("code", TRANSLATIONS)
def test_the_readme_for_students_is_translated(code: str) -> None:
    """Every line beside commands, and with the course's title."""
    course = replace(the_course(), language=code)
    for name in (
        "release/students_readme.md",
        "release/students_agents.md",
        "extras/github/readme.md",
    ):
        text = re.sub(r"```.*?```", "", template(course, name), flags=re.DOTALL)
        assert [line for line in text.split("\n") if line.strip("|-") and line.isascii()] == []
    title = course.text_in(code, course.title)
    assert template(course, "release/students_readme.md").startswith(f"# {title}\n")


def test_a_release_in_a_language_prefers_it() -> None:
    """Its manifest says so, once."""
    manifest = (ROOT / "course.toml").read_bytes()
    once = _preferring(manifest, "ja")
    assert once.decode().count('\n[course]\nlanguage = "ja"\n') == 1
    assert _preferring(once, "zh_CN") == _preferring(manifest, "zh_CN")
    assert _preferring(manifest, "") == manifest


@pytest.mark.parametrize("code", TRANSLATIONS)
def test_a_release_says_nothing_that_only_hidden_checks_say(code: str) -> None:
    """The catalogue that students receive lacks it, and has everything else."""
    released = gettext.GNUTranslations(io.BytesIO(released_translations(the_course(), code)))
    hidden = {m.id for m in messages(language.COURSE) if m.file.endswith("test_hidden.py")}
    others = {m.id for m in messages(language.COURSE) if not m.file.endswith("test_hidden.py")}
    said = dict(pairs(language.COURSE, code))
    assert [i for i in hidden - others if released.gettext(i) != i] == []
    assert [i for i in others if released.gettext(i) != said[i]] == []


# On a terminal.


def everything(course: Course, step: int) -> Result:
    """A result in which every title, symptom and question of some assignments is shown."""
    assignments = []
    for assignment in course.assignments[::step]:
        own = [m for m in messages(language.COURSE) if f"/{assignment.id}/" in m.file]
        titles = [course.text(m.id) for m in own if m.file.startswith("tests/checks")]
        told = [course.text(m.id) for m in own if m.file.endswith("misconceptions.toml")]
        checks = tuple(
            CheckResult(f"{assignment.id}/x::visible::{n}", title, Visibility.VISIBLE, 1,
                        list(Outcome)[n % len(Outcome)], title, 0.0)
            for n, title in enumerate(titles)
        )  # fmt: skip
        findings = tuple(
            Finding((Mistake(f"m{n}", symptom, question),))
            for n, (symptom, question) in enumerate(zip(told[::2], told[1::2], strict=False))
        )
        exercises = tuple(
            ExerciseResult(e.id, Decimal(0), e.points, checks=checks[n::5], findings=findings)
            for n, e in enumerate(assignment.exercises)
        )
        assignments.append(
            AssignmentResult(
                assignment.id, "", Decimal(0), assignment.max_score, exercises=exercises
            )
        )
    return Result(
        "学生の名前", Decimal(0), 113, False, True, (), "", {}, "", "", tuple(assignments)
    )


@lru_cache
def shown(code: str, width: int, step: int) -> list[str]:
    """The lines of a student's own run and of a class on a terminal of so many columns."""
    language.use(code)
    out = Console(file=io.StringIO(), width=width, highlight=False, force_terminal=False)
    result = everything(the_course(), step)
    print_check(result, out)
    row = row_of(result, summary_line(result))
    out.print(class_table([row, row], 113))
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue().splitlines()


SHOWN = [
    pytest.param("zh_CN", 5, id="zh_CN, few"),
    *(pytest.param(code, 1, id=code, marks=pytest.mark.proof) for code in language.languages()),
]
"""A language with every fifth assignment; the proof has all of both."""


@pytest.mark.slow
@pytest.mark.parametrize(("code", "step"), SHOWN)
def test_no_line_is_wider_than_the_terminal(code: str, step: int) -> None:
    """At 80 columns, wide characters counted as two; tables keep their borders aligned."""
    lines = shown(code, 80, step)
    assert [line for line in lines if cell_len(line.rstrip()) > 80] == []
    table = [line for line in lines if line and line[0] in "┏┃┡│└"]
    assert table
    assert len({cell_len(line) for line in table}) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("code", "step"), [case for case in SHOWN if case.id != "en"])
def test_no_line_begins_with_a_sign_that_closes(code: str, step: int) -> None:
    """As Chinese and Japanese are set."""
    lines = [line.strip(" ┃│") for line in shown(code, 80, step) if line[:1] not in "┃│"]
    assert [line for line in lines if line[:1] and line[0] in NEVER_FIRST] == []


def test_catalogues_are_part_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Installed without them, the kit would speak English only."""
    monkeypatch.chdir(ROOT)
    wheel = tmp_path / build_wheel(str(tmp_path))
    with zipfile.ZipFile(wheel) as built:
        names = set(built.namelist())
    catalogues = {f"grader/core/locale/{code}/LC_MESSAGES/grader.mo" for code in TRANSLATIONS}
    assert {name for name in names if name.endswith(".mo")} == catalogues
    assert {"grader/py.typed", "grader/release/students_readme.md"} <= names
