"""A copy of the course for students: stubs, notebooks, visible checks, recordings, the grader.

No solution, no hidden check and no misconception's edit is in it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import grader
from grader.authoring.catalogues import released_catalogue
from grader.authoring.generate import generate, stale
from grader.authoring.prose import translated_markdown
from grader.authoring.record import record
from grader.course import MANIFEST, Course
from grader.errors import CourseError, UsageError
from grader.language import KIT, LANGUAGES, OWN_CATALOGUES, SOURCE, said
from grader.recording import write_recording

LANGUAGE_LINE = re.compile(r"\s*language\s*=")
COPIED = ("course.toml", "pyproject.toml", "constraints.txt", "LICENSE")


@dataclass(frozen=True, slots=True)
class Released:
    """A file of a release: its path inside, and its content."""

    path: str
    content: bytes


def release_to_students(course: Course, folder: Path, code: str = "") -> list[Released]:
    """Write a students' copy of the course into an empty folder.

    Args:
        course: the course itself.
        folder: an empty one, or one that does not exist.
        code: the language of stubs, notebooks and README, which the copy then prefers; "" for
            the course's own language, or else English without preferring it.

    Raises:
        UsageError: when the folder is not empty, or this is a released copy itself.
        CourseError: when stubs are stale or a solution does not pass its visible checks.
    """
    if not course.has_solutions:
        raise UsageError("This is a released copy; releases are made from the course itself.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not an empty folder. Give one that is, or does not exist.")
    old = stale(generate(course))
    if old:
        names = ", ".join(file.path.name for file in old)
        raise CourseError(
            f"stubs or notebooks are older than their solutions ({names}); run `grader generate`"
        )
    released = list(student_files(course, code))
    for file in released:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
    return released


def student_files(course: Course, code: str = "") -> Iterator[Released]:
    """The files of a students' copy, in a language."""
    root = course.root
    spoken = code or course.language or SOURCE
    missing = [name for name in COPIED if not (root / name).is_file()]
    if missing:
        raise CourseError(*(f"{name}: it is missing; a release copies it" for name in missing))
    for name in COPIED:
        content = (root / name).read_bytes()
        yield Released(name, _preferring(content, code) if name == MANIFEST and code else content)
    yield Released("README.md", _readme(course, spoken).encode())
    yield _from_root(root, course.documents)
    yield from _translations(course)
    for file in generate(course, spoken):
        yield Released(file.path.relative_to(root).as_posix(), file.text.encode())
    for assignment in course.assignments:
        paths = course.paths(assignment)
        yield _from_root(root, paths.visible_checks)
        recording = write_recording(record(course, assignment))
        yield Released(paths.recording.relative_to(root).as_posix(), recording)
    package = Path(grader.__file__).parent
    for path in sorted(package.rglob("*")):
        if path.suffix in (".py", ".md", ".mo", ".typed") or path.name == "py.typed":
            inner = path.relative_to(package.parent).as_posix()
            yield Released(inner, path.read_bytes())


def _readme(course: Course, code: str) -> str:
    """The README for students in a language."""
    text = files("grader.release").joinpath("students_readme.md").read_text("utf-8")
    text = translated_markdown(text, lambda piece: said(OWN_CATALOGUES, KIT, code, piece))
    return text.replace("{{ title }}", course.text_in(code, course.title))


def _preferring(manifest: bytes, code: str) -> bytes:
    """The manifest with the language that the copy is in."""
    lines = [line for line in manifest.decode().split("\n") if not LANGUAGE_LINE.match(line)]
    lines.insert(lines.index("[course]") + 1, f'language = "{code}"')
    return "\n".join(lines).encode()


def _translations(course: Course) -> Iterator[Released]:
    """The course's compiled catalogues, without what only hidden checks say."""
    for code in LANGUAGES:
        folder = course.translations / code / "LC_MESSAGES"
        if (folder / "course.po").is_file():
            path = (folder / "course.mo").relative_to(course.root).as_posix()
            yield Released(path, released_catalogue(course, code))


def _from_root(root: Path, path: Path) -> Released:
    return Released(path.relative_to(root).as_posix(), path.read_bytes())
