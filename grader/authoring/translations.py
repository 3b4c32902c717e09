"""Keeps the catalogues of translations: what there is to translate, what is, and the compiled form.

There are two: the kit's own sentences (`grader/core/locale/`), and a course's texts (`translations/`
beside its `course.toml`). Both are gettext's files, so translators may use the tools they know.
Babel belongs to the authors' extra; at run time the standard library reads the compiled form.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.catalog import Message as Entry
from babel.messages.extract import extract

from grader.core import language
from grader.core.errors import CourseError
from grader.course.course import Assignment, Course
from grader.course.hints import read_hints
from grader.course.misconceptions import read_misconceptions
from grader.release.catalogs import (
    SteadyCatalog,
    domain_folder,
    mo_bytes,
    po_bytes,
    read_translations,
)
from grader.release.prose import translated_code, translated_markdown
from grader.release.solution_cells import cleared, read_source

PACKAGE = Path(language.__file__).parents[1]
KEYWORDS = {"_": None, "N_": None, "say": None, "ngettext": (1, 2)}
TEMPLATES = (".html", ".jinja", ".j2", ".svg", ".xml")
TEMPLATE_OPTIONS = {"trimmed": "true", "silent": "false", "newstyle_gettext": "true"}
TRANSLATIONS = tuple(code for code in language.LANGUAGES if code != language.DEFAULT_LANGUAGE)
SPOKEN = ("what", "axes", "sentence", "template", "AXES", "PARTS")
"""Names in checks that hold words for the student."""

WORDS = re.compile(r"(?!\{\{).*[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Message:
    """Something to translate.

    Args:
        id: the English text; with a plural form, both.
        place: the file it is in, from the course's or the repository's folder.
    """

    id: str | tuple[str, str]
    place: str


@dataclass(frozen=True, slots=True)
class TranslationFile:
    """A file of translations as it should be.

    Args:
        path: where it belongs.
        content: what belongs into it.
        open: how many messages in it are still to be translated.
    """

    path: Path
    content: bytes
    open: int = 0

    @property
    def is_current(self) -> bool:
        """Whether the file has that content."""
        return self.path.is_file() and self.path.read_bytes() == self.content

    def write(self) -> None:
        """Write the file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(self.content)


# What there is to translate.


def kit_messages() -> list[Message]:
    """The sentences of the package: in its code, its templates and the students' README."""
    found = []
    for path in sorted(PACKAGE.rglob("*")):
        place = path.relative_to(PACKAGE.parent).as_posix()
        if path.suffix == ".py":
            found += [Message(id_, place) for id_ in _extracted("python", path)]
        elif path.suffix in TEMPLATES:
            found += [Message(id_, place) for id_ in _extracted("jinja2", path)]
        elif path.suffix == ".md":
            found += _heard(
                place, lambda say, path=path: translated_markdown(path.read_text("utf-8"), say)
            )
    return _once(found)


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
    titles = [course.title, *(assignment.title for assignment in course.assignments)]
    found = [Message(title, "course.toml") for title in titles]
    problems: list[str] = []
    for assignment in course.assignments:
        paths = course.paths(assignment)
        found += _prose(course, assignment)
        place = _place(course, paths.misconceptions)
        for misconception in read_misconceptions(course, assignment):
            mistake = misconception.mistake
            found += [Message(mistake.symptom, place), Message(mistake.question, place)]
        place = _place(course, paths.hints)
        hints = read_hints(assignment, paths.hints)
        found += [Message(hint, place) for texts in hints.values() for hint in texts]
        for path in (paths.visible_checks, paths.hidden_checks):
            if path.is_file():
                texts = _check_texts(path, problems)
                found += [Message(text, _place(course, path)) for text in texts]
    if problems:
        raise CourseError(*problems)
    return _once(found)


def _place(course: Course, path: Path) -> str:
    return path.relative_to(course.root).as_posix()


def _prose(course: Course, assignment: Assignment) -> list[Message]:
    """What the stub of an assignment says."""
    path = course.paths(assignment).solution
    found: list[Message] = []
    for cell in read_source(assignment, path).cells:
        if cell.kind == "markdown":
            found += _heard(
                _place(course, path), lambda say, c=cell: translated_markdown(c.text, say)
            )
        else:
            text = cleared(assignment, cell)
            found += _heard(_place(course, path), lambda say, t=text: translated_code(t, say))
    return found


def _heard(place: str, walk: object) -> list[Message]:
    """The pieces that a walk through prose meets."""
    pieces: list[str] = []

    def listen(text: str) -> str:
        pieces.append(text)
        return text

    walk(listen)  # type: ignore[operator]
    return [Message(piece, place) for piece in pieces if WORDS.match(piece)]


def _check_texts(path: Path, problems: list[str]) -> list[str]:
    """What checks say: their titles, what they compare, and what is wrong where it is."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        for said in _said_by(node):
            for part in _parts(said):
                if isinstance(part, ast.JoinedStr):
                    problems.append(
                        f"{path.parent.name}/{path.name}: line {part.lineno}: an f-string cannot be "
                        'translated; write judge.words("… {name} …", name=…)'
                    )
                elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                    found.append(" ".join(part.value.split()))
    return [text for text in found if WORDS.match(text)]


def _parts(expression: ast.expr) -> Iterator[ast.AST]:
    """All of an expression; of a choice between words only the words."""
    if isinstance(expression, ast.IfExp):
        yield from _parts(expression.body)
        yield from _parts(expression.orelse)
    else:
        yield from ast.walk(expression)


def _said_by(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions of a node that hold words for the student."""
    if isinstance(node, ast.ClassDef):
        checks = (part for part in node.body if isinstance(part, ast.FunctionDef))
        for check in checks:
            if check.name.startswith("test_") and isinstance(check.body[0], ast.Expr):
                yield check.body[0].value
    elif isinstance(node, ast.Assign):
        yield from _assigned(node.targets[0], node.value)
    elif isinstance(node, ast.For):
        yield from _looped(node)
    elif isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        position = {"that": 1, "words": 0, "blocked": 0}.get(name)
        if position is not None and len(node.args) > position:
            yield node.args[position]
        named = (k.value for k in node.keywords if k.arg in ("what", "axes"))
        yield from (value for value in named if not isinstance(value, ast.Call))


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[ast.expr]:
    """What is given to a name that holds words, also where several are given values at once."""
    if isinstance(target, ast.Name) and target.id in SPOKEN and not isinstance(value, ast.Call):
        yield value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, other in zip(target.elts, value.elts, strict=False):
            yield from _assigned(one, other)


def _looped(node: ast.For) -> Iterator[ast.expr]:
    """Plain words that a loop puts into a sentence, one after the other, as its `name`."""
    targets = {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}
    calls = (part for part in ast.walk(node) if isinstance(part, ast.Call))
    used = any(isinstance(c.func, ast.Attribute) and c.func.attr == "words" for c in calls)
    if "name" in targets and used:
        for part in ast.walk(node.iter):
            value = part.value if isinstance(part, ast.Constant) else None
            if isinstance(value, str) and re.fullmatch(r"[a-z ]{3,}", value):
                yield ast.Constant(value)


def _once(messages: Iterable[Message]) -> list[Message]:
    return list(dict.fromkeys(messages))


# What is translated.


def updated(messages: Iterable[Message], old: Catalog, code: str) -> Catalog:
    """A catalogue of these messages with the translations there are; what is gone is dropped."""
    new = SteadyCatalog(locale=code, fuzzy=False)
    new.header_comment = "# How to translate, and the glossary: see translations/GLOSSARY.md."
    for message in messages:
        known = old.get(message.id if isinstance(message.id, str) else message.id[0])
        same = known is not None and known.id == message.id and not known.fuzzy
        comments = known.user_comments if known is not None else ()
        string = known.string if same and known is not None else None
        new.add(message.id, string, locations=[(message.place, 0)], user_comments=comments)
    return new


def translation_files(course: Course) -> list[TranslationFile]:
    """All files of translations as they should be: the course's, and the kit's where it is.

    Raises:
        CourseError: when a text of the course cannot be translated.
    """
    files = _files(course_messages(course), course.translations, language.COURSE)
    if PACKAGE.parent == course.root:
        files += _files(kit_messages(), language.OWN_TRANSLATIONS, language.KIT)
    return files


def _files(messages: list[Message], folder: Path, domain: str) -> list[TranslationFile]:
    files = []
    for code in TRANSLATIONS:
        path = domain_folder(folder, code) / f"{domain}.po"
        catalog = updated(messages, read_translations(path, code), code)
        still = sum(1 for message in catalog if message.id and not _is_translated(message))
        files.append(TranslationFile(path, po_bytes(catalog), still))
        files.append(TranslationFile(path.with_suffix(".mo"), mo_bytes(catalog)))
    return files


def _is_translated(message: Entry) -> bool:
    """Whether a message has all the translations that its language needs."""
    strings = message.string if isinstance(message.string, list | tuple) else [message.string]
    return bool(strings) and all(strings)


def untranslated(files: list[TranslationFile]) -> list[TranslationFile]:
    """The files with messages that are still to be translated."""
    return [file for file in files if file.open]
