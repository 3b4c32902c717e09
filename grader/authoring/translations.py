"""Keeps the translations: what there is to translate, what is translated, and the compiled form.

There are two sets: the kit's own sentences (`grader/core/locale/`), and a course's texts
(`translations/` beside its `course.toml`). Both are gettext's files, so translators may use the
tools they know. Babel belongs to the authors' extra; at run time the standard library reads the
compiled form.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.catalog import Message as Entry
from babel.messages.extract import extract

from grader.core import language
from grader.core.errors import CourseError
from grader.core.files import OutputFile
from grader.core.text import paragraphs
from grader.course.check_helpers import helpers_of, views_of
from grader.course.course import MANIFEST, Assignment, Course
from grader.course.drawing import translated_drawing
from grader.course.hints import read_hints
from grader.course.misconceptions import read_misconceptions
from grader.course.styles import read_styles
from grader.release.catalogs import (
    SteadyCatalog,
    domain_folder,
    mo_bytes,
    po_bytes,
    read_translations,
)
from grader.release.pictures import drawing_of
from grader.release.prose import Say, translated_code, translated_markdown
from grader.release.solution_cells import cleared, read_solution

PACKAGE = Path(language.__file__).parents[1]
KEYWORDS = {"_": None, "N_": None, "say": None, "ngettext": (1, 2), "ngettext_noop": (1, 2)}
TEMPLATES = (".html", ".jinja", ".j2", ".svg", ".xml")
TEMPLATE_OPTIONS = {"trimmed": "true", "silent": "false", "newstyle_gettext": "true"}
SPOKEN = ("SpokenCommand", "Group")
SAID = {"N_": 0, "words": 0, "blocked": 0, "that": 1}
"""Functions that checks call with words for the student, and which argument the words are."""
NAMED = ("what", "axes", "step")
"""Arguments that are words for the student, of whatever is called."""


WORDS = re.compile(r"(?!\{\{).*[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Message:
    """An English text to translate (both, with a plural form), and the path of its file."""

    id: str | tuple[str, str]
    file: str


@dataclass(frozen=True, slots=True)
class Translations:
    """The files of one language as they should be, `.po` and `.mo`, and what is still to do."""

    readable: OutputFile
    compiled: OutputFile
    untranslated: int

    @property
    def files(self) -> tuple[OutputFile, OutputFile]:
        """Both files."""
        return self.readable, self.compiled


# What there is to translate.


def kit_messages() -> list[Message]:
    """The sentences of the package: in its code, its templates and the students' README."""
    messages = []
    for path in sorted(PACKAGE.rglob("*")):
        texts: Iterable[str | tuple[str, str]] = ()
        if path.suffix == ".py":
            texts = chain(_extracted("python", path), _help_texts(path), _shared_titles(path))
        elif path.suffix in TEMPLATES:
            texts = _extracted("jinja2", path)
        elif path.suffix == ".md":
            texts = _prose(translated_markdown, path.read_text("utf-8"))
        messages += [Message(id_, path.relative_to(PACKAGE.parent).as_posix()) for id_ in texts]
    return list(dict.fromkeys(messages))


def _help_texts(path: Path) -> Iterator[str]:
    """What `--help` says of commands that speak languages: their docstrings, and of their options."""
    text = path.read_text("utf-8") if not {"cli", "extras"}.isdisjoint(path.parts) else ""
    for node in ast.walk(ast.parse(text)):
        marks = node.decorator_list if isinstance(node, ast.FunctionDef) else []
        keywords = [k for mark in marks for k in getattr(mark, "keywords", ())]
        if any(getattr(k.value, "id", "") in SPOKEN for k in keywords if k.arg == "cls"):
            yield from paragraphs(ast.get_docstring(node) or "")  # type: ignore[arg-type]
            yield from (ast.literal_eval(k.value) for k in keywords if k.arg == "help")


def _shared_titles(path: Path) -> Iterator[str]:
    """The titles of the checks that classes of checks inherit."""
    text = path.read_text("utf-8") if path.parent.name == "testing" else ""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef):
            yield from (" ".join(ast.literal_eval(title).split()) for title in _titles(node))


def _extracted(method: str, path: Path) -> Iterator[str | tuple[str, str]]:
    options = TEMPLATE_OPTIONS if method == "jinja2" else {}
    with path.open("rb") as file:
        for _line, id_, _comments, _context in extract(method, file, KEYWORDS, options=options):
            yield id_ if isinstance(id_, str) else (id_[0], id_[1])


def course_messages(course: Course) -> list[Message]:
    """The texts of a course: titles, prose of solutions, checks, misconceptions and hints.

    Raises:
        CourseError: when a check puts words together in a way that cannot be translated.
    """
    messages = [Message(text, MANIFEST) for text in _manifest_texts(course)]
    messages += [Message(t, course.guide) for t in _prose(translated_markdown, course.guide_text)]
    problems: list[str] = []
    for assignment in course.assignments:
        paths = course.paths(assignment)
        texts = {
            paths.solution: _solution_texts(assignment, paths.solution),
            paths.misconceptions: [
                text
                for misconception in read_misconceptions(course, assignment)
                for text in (misconception.mistake.symptom, misconception.mistake.question)
            ],
            paths.hints: chain.from_iterable(read_hints(assignment, paths.hints).values()),
            paths.drawing: _picture_texts(course, assignment),
            paths.styles: [
                text
                for some in read_styles(course, assignment).values()
                for style in some
                for text in (style.name, style.why)
            ],
            paths.visible_checks: _check_texts(paths.visible_checks, problems),
            paths.hidden_checks: _check_texts(paths.hidden_checks, problems),
        }
        messages += [Message(t, course.inner(path)) for path, some in texts.items() for t in some]
    for path in (*helpers_of(course), *views_of(course)):
        messages += [Message(text, course.inner(path)) for text in _check_texts(path, problems)]
    if problems:
        raise CourseError(*problems)
    return list(dict.fromkeys(messages))


def _manifest_texts(course: Course) -> Iterator[str]:
    source = course.ledger.source if course.ledger else ""
    yield from (text for text in (course.title, course.about, *course.notes, source) if text)
    yield from (assignment.title for assignment in course.assignments)


def _solution_texts(assignment: Assignment, path: Path) -> Iterator[str]:
    """What the stub of an assignment says."""
    for cell in read_solution(assignment, path).cells:
        if cell.kind == "markdown":
            yield from _prose(translated_markdown, cell.text)
        else:
            yield from _prose(translated_code, cleared(assignment, cell))


def _picture_texts(course: Course, assignment: Assignment) -> list[str]:
    """The words in the picture of an assignment, where it has one."""
    if not course.paths(assignment).drawing.is_file():
        return []
    drawing = drawing_of(course, assignment)
    return _prose(lambda _text, listen: translated_drawing(drawing, listen).title, "")


def _prose(walk: Callable[[str, Say], str], text: str) -> list[str]:
    """The pieces that a walk through prose meets."""
    pieces: list[str] = []

    def listen(piece: str) -> str:
        pieces.append(piece)
        return piece

    walk(text, listen)
    return [piece for piece in pieces if WORDS.match(piece)]


def _check_texts(path: Path, problems: list[str]) -> list[str]:
    """What checks say: their titles, and the words that are marked as such where they stand."""
    tree = ast.parse(path.read_text("utf-8") if path.is_file() else "")
    texts: list[str] = []
    for part in (
        part for node in ast.walk(tree) for words in _said(node) for part in _parts(words)
    ):
        if isinstance(part, ast.JoinedStr):
            problems.append(
                f"{path.parent.name}/{path.name}: line {part.lineno}: an f-string cannot be "
                'translated; write judge.words("… {name} …", name=…)'
            )
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            texts.append(" ".join(part.value.split()))
    return [text for text in texts if WORDS.match(text)]


def _said(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions of a node that are words for the student.

    They are the docstrings of checks, the words given to the functions of `SAID`, and what a
    judged value, its axes and a call whose cost is judged are called.
    """
    if isinstance(node, ast.ClassDef):
        yield from _titles(node)
    elif isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in SAID:
            yield from node.args[SAID[name] :][:1]
        yield from (k.value for k in node.keywords if k.arg in NAMED)


def _titles(node: ast.ClassDef) -> Iterator[ast.expr]:
    """The docstrings of a class's checks."""
    for check in node.body:
        if isinstance(check, ast.FunctionDef) and check.name.startswith("test_"):
            yield from (s.value for s in check.body[:1] if isinstance(s, ast.Expr))


def _parts(expression: ast.expr) -> Iterator[ast.expr]:
    """The texts of an expression: each of several, and both of a choice."""
    if isinstance(expression, ast.IfExp):
        yield from (*_parts(expression.body), *_parts(expression.orelse))
    elif isinstance(expression, ast.Tuple | ast.List):
        yield from (part for element in expression.elts for part in _parts(element))
    else:
        yield expression


# What is translated.


def updated(messages: Iterable[Message], old: Catalog, code: str) -> Catalog:
    """These messages with the translations there are; what is gone is dropped.

    Args:
        messages: what there is to translate.
        old: the translations there are.
        code: the language.
    """
    new = SteadyCatalog(locale=code, fuzzy=False)
    new.header_comment = "# How to translate, and the glossary: see translations/GLOSSARY.md."
    for message in messages:
        known = old.get(message.id if isinstance(message.id, str) else message.id[0])
        same = known is not None and known.id == message.id and not known.fuzzy
        comments = known.user_comments if known is not None else ()
        string = known.string if same and known is not None else None
        new.add(message.id, string, locations=[(message.file, 0)], user_comments=comments)
    return new


def translation_files(course: Course) -> list[Translations]:
    """All translations as they should be: the course's, and the kit's where it is.

    Raises:
        CourseError: when a text of the course cannot be translated.
    """
    courses, kits = course.translations / language.COURSE, language.OWN_TRANSLATIONS / language.KIT
    messages = course_messages(course)
    translations = [_files(course, messages, courses, code) for code in course.languages]
    if PACKAGE.parent == course.root:
        messages = kit_messages()
        codes = language.kept_in(language.OWN_TRANSLATIONS)
        translations += [_files(course, messages, kits, code) for code in codes]
    return translations


def _files(course: Course, messages: list[Message], path: Path, code: str) -> Translations:
    path = domain_folder(path.parent, code) / f"{path.name}.po"
    catalog = updated(messages, read_translations(path, code), code)
    return Translations(
        OutputFile(course.inner(path), po_bytes(catalog)),
        OutputFile(course.inner(path.with_suffix(".mo")), mo_bytes(catalog)),
        sum(1 for message in catalog if message.id and not _is_translated(message)),
    )


def _is_translated(message: Entry) -> bool:
    """Whether a message has all the translations that its language needs."""
    strings = message.string if isinstance(message.string, list | tuple) else [message.string]
    return bool(strings) and all(strings)
