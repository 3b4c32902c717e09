"""A copy of the course for students: stubs, notebooks, visible checks, recordings, the grader.

No solution, no hidden check and no misconception's edit is in it. It is a project of its own, made from
what is installed here, because a course need not lie in the kit's own folder.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import distribution
from importlib.resources import files
from math import comb
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

import grader
from grader.core.errors import CourseError, UsageError
from grader.core.files import OutputFile
from grader.core.kept import cache_folder, is_kept, kept
from grader.core.kit import DOCS, KIT_NAME
from grader.core.language import DEFAULT_LANGUAGE, KIT, OWN_TRANSLATIONS, translate
from grader.core.processes import spread
from grader.course.check_helpers import imported_helpers, views_of
from grader.course.course import MANIFEST, Assignment, Course, Exercise
from grader.course.misconceptions import all_misconceptions
from grader.course.outcome_parts import everything_of
from grader.course.toml_table import toml_text
from grader.release.catalogs import released_translations
from grader.release.prose import translated_markdown
from grader.release.requirements import requirements_of
from grader.release.stubs import generate, stale
from grader.submissions.protected_files import RELEASED, protected_list

COMMAND = re.compile(r"(?m)^(grader .*\S) +(# )")
SHOW = re.compile(r"(?m)^grader show .*\n")
"""What the README says of views, where the course has any."""

ABOUT_TORCH = re.compile(
    r"- \*\*(?:The download is huge|There is no torch)[\s\S]*?(?=- \*\*)| --torch-backend cpu"
)
"""What the README and the container say of torch, where the course needs it."""

COMMENTS_AT = 37
"""The column of the comments beside commands."""

LANGUAGE_LINE = re.compile(r"\s*language\s*=")

PACKAGED = (".py", ".md", ".mo", ".j2", ".css", ".js")
"""What the package consists of; other files are leavings, or what only authors need."""


@dataclass(frozen=True, slots=True)
class Release:
    """What students or a platform receive.

    Args:
        files: makes its files.
        note: what is to be said of them once they are written.
        has_recordings: whether there are recordings among them, in place of solutions.
    """

    files: Callable[[Course], Iterable[OutputFile]]
    note: Callable[[Iterable[OutputFile]], str] = lambda _released: ""
    has_recordings: bool = True


def write_release(
    course: Course,
    folder: Path,
    release: Release,
    record: Callable[[Course], None] = lambda _course: None,
) -> list[OutputFile]:
    """Write a release into an empty folder.

    Args:
        course: the course itself, not a released copy.
        folder: empty, or not there yet.
        release: what to write.
        record: makes the recordings that are missing, so that they need not be made one by one.

    Raises:
        UsageError: when the folder is not empty, or this is a released copy itself.
        CourseError: when stubs are stale, or the files cannot be made.
    """
    if not course.has_solutions:
        raise UsageError("This is a released copy; releases are made from the course itself.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not an empty folder. Give one that is, or does not exist.")
    old = stale(course)
    if old:
        names = ", ".join(Path(file.path).name for file in old)
        raise CourseError(
            f"generated files are older than their solutions ({names}); run `grader generate`"
        )
    if release.has_recordings:
        record(course)
    released = list(release.files(course))
    for file in released:
        file.write(folder)
    return released


def student_files(course: Course) -> Iterator[OutputFile]:
    """The files of a students' copy, in the course's language; the list of them last."""
    released = list(_student_files(course))
    yield from released
    kept = {file.path: file.data for file in released if not file.path.endswith(".md")}
    yield OutputFile(RELEASED, protected_list(kept))


def _student_files(course: Course) -> Iterator[OutputFile]:
    yield from installed_files(course)
    yield OutputFile("README.md", template(course, "release/students_readme.md"))
    yield OutputFile(
        ".devcontainer/devcontainer.json", template(course, "release/devcontainer.json")
    )
    if course.agents_file:
        yield OutputFile("AGENTS.md", template(course, "release/students_agents.md"))
        yield OutputFile("CLAUDE.md", "@AGENTS.md\n")  # which reads the other one
    yield from (course_file(course, path) for path in course.ledger_files)
    yield from translations(course)
    yield from generate(course, course.language or DEFAULT_LANGUAGE)
    yield from check_files(course, course.assignments)
    for assignment in course.assignments:
        recording = course.paths(assignment).recording
        yield OutputFile(course.inner(recording), recorded(course, assignment))
    yield from package_files()


students = Release(student_files)


def check_files(course: Course, assignments: Iterable[Assignment]) -> Iterator[OutputFile]:
    """The visible checks of some assignments, their views, and what these import beside them."""
    chosen = course.only([assignment.id for assignment in assignments])
    visible = [course.paths(assignment).visible_checks for assignment in chosen.assignments]
    shown = (*visible, *views_of(chosen))
    for path in dict.fromkeys((*shown, *imported_helpers(shown))):
        yield course_file(course, path)


def installed_files(course: Course, hidden: bool = False) -> Iterator[OutputFile]:
    """What every copy has: the manifest, and what it is installed by; `hidden` as above."""
    manifest = _without_settings((course.root / MANIFEST).read_bytes())
    yield OutputFile(MANIFEST, _preferring(manifest, course.language))
    yield from project_files(course, hidden)


def _without_settings(manifest: bytes) -> bytes:
    """The manifest without `[grade]`, which says where an instructor keeps a class."""
    if b"grade" not in manifest:
        return manifest
    import tomlkit  # of the extra `author`

    parsed = tomlkit.parse(manifest.decode("utf-8-sig"))
    if parsed.pop("grade", None) is None:
        return manifest
    return parsed.as_string().encode()


def _preferring(manifest: bytes, code: str) -> bytes:
    """The manifest with the language that the copy is in; as it is where none was chosen."""
    if not code:
        return manifest
    lines = [line for line in manifest.decode().split("\n") if not LANGUAGE_LINE.match(line)]
    lines.insert(lines.index("[course]") + 1, f'language = "{code}"')
    return "\n".join(lines).encode()


def translations(course: Course) -> Iterator[OutputFile]:
    """The course's compiled translations, without what only hidden checks say."""
    for code in course.languages:
        folder = course.translations / code / "LC_MESSAGES"
        if (folder / "course.po").is_file():
            path = course.inner(folder / "course.mo")
            yield OutputFile(path, released_translations(course, code))


def package_files() -> Iterator[OutputFile]:
    """The grader itself."""
    package = Path(grader.__file__).parent
    for path in sorted(package.rglob("*")):
        if (path.suffix in PACKAGED or path.name == "py.typed") and path.parent.name != DOCS:
            inner = path.relative_to(package.parent).as_posix()
            yield OutputFile(inner, path.read_bytes())


def template(course: Course, name: str) -> str:
    """A text of the package, by its path in it, about this course and in its language."""
    code = course.language or DEFAULT_LANGUAGE
    text = files("grader").joinpath(name).read_text("utf-8")
    if not course.needs_torch:
        text = ABOUT_TORCH.sub("", text)
    if name.endswith(".md"):
        text = translated_markdown(text, partial(translate, OWN_TRANSLATIONS, KIT, code))
    if not views_of(course):
        text = SHOW.sub("", text)
    for placeholder, said in _about(course, code).items():
        text = text.replace(placeholder, said)
    return COMMAND.sub(lambda line: f"{line[1]:<{COMMENTS_AT}}{line[2]}", text)


def _about(course: Course, code: str) -> dict[str, str]:
    """What templates say of a course, by placeholder; an empty one takes its line along."""
    first = course.assignments[0]
    about = course.text_in(code, course.about)
    notes = "".join(f"- {course.text_in(code, note)}\n" for note in course.notes)
    guide = translated_markdown(course.guide_text, partial(course.text_in, code))
    return {
        "{{ title }}": course.text_in(code, course.title),
        "{{ about }}\n\n": f"{about}\n\n" if about else "",
        "- {{ notes }}\n": notes,
        "\n{{ guide }}\n": f"\n{guide}" if guide else "",
        "{{ number }}": first.id[:2],
        "{{ stub }}": course.inner(course.paths(first).stub),
        "{{ exercise }}": course.name_of(first.exercises[0]),
    }


def course_file(course: Course, path: Path) -> OutputFile:
    """A file of the course as it is."""
    return OutputFile(course.inner(path), path.read_bytes())


CONSTRAINTS, LICENSE = "constraints.txt", "LICENSE"
KITS_LICENSE = f"grader/{LICENSE}"
NO_CONSTRAINTS = "# The course pins no versions.\n"


def project_files(course: Course, hidden: bool = False) -> Iterator[OutputFile]:
    """The project, the versions that the course pins, its licence and the kit's.

    Args:
        course: the course.
        hidden: whether hidden checks run where it is installed.
    """
    kit = distribution(KIT_NAME)
    needs = [line for line in kit.requires or () if "extra ==" not in line]
    if not course.needs_torch:
        needs = [line for line in needs if not line.startswith("torch")]
    license_ = kit.read_text(f"licenses/{LICENSE}") or ""
    project = rendered(
        "release/project.toml.j2",
        kit=KIT_NAME,
        about=kit.metadata,
        dependencies=[*needs, *requirements_of(course, needs, hidden)],
        entries=kit.entry_points,
        license=KITS_LICENSE,
        has_license=bool(license_),
    )
    yield OutputFile("pyproject.toml", project)
    if license_:
        yield OutputFile(KITS_LICENSE, license_)
    pinned = course.root / CONSTRAINTS
    yield OutputFile(CONSTRAINTS, pinned.read_bytes() if pinned.is_file() else NO_CONSTRAINTS)
    if (course.root / LICENSE).is_file():
        yield OutputFile(LICENSE, (course.root / LICENSE).read_bytes())


@cache
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("grader", ""),
        autoescape=False,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"quoted": toml_text, "all_quoted": _all_quoted}
    return made


def rendered(path: str, /, **values: Any) -> str:
    """A template of the package, by its path in it; it may write texts as TOML does."""
    return _templates().get_template(path).render(values)


def _all_quoted(values: Iterable[str]) -> str:
    return f"[{', '.join(map(toml_text, values))}]"


KIND = "recordings"


def recorded(course: Course, assignment: Assignment) -> bytes:
    """The recording of an assignment as bytes, from the cache where it was made before.

    Raises:
        CourseError: as `record` does; a recording that cannot be made is not kept.
    """

    def make() -> bytes:
        from grader.judging.recordings import (
            write_recording,  # both import torch: that takes seconds
        )
        from grader.release.recorder import record

        return write_recording(record(course, assignment))

    return kept(KIND, _depends_on(course, assignment), make)


def record_missing(course: Course, jobs: int) -> tuple[int, Iterator[None]]:
    """Make the recordings that are not kept yet, in several processes.

    First how checks go with known mistakes, which takes longest, the most of them first; each is
    kept by itself. Where nothing can be kept, whoever releases makes them one after the other.

    Returns:
        How many steps there are, and what makes the next one each time.
    """
    missing = [a for a in course.assignments if not is_kept(KIND, _depends_on(course, a))]
    if cache_folder() is None:
        return 0, iter(())
    steps = [*_with_mistakes(course, missing), *((assignment, 0) for assignment in missing)]
    pieces = [(course, *step) for step in steps]
    return len(steps), spread(_record, pieces, jobs, few=1, in_order=False)


def _with_mistakes(course: Course, assignments: Iterable[Assignment]) -> list[tuple[Exercise, int]]:
    """The exercises of some assignments, with how many mistakes at a time; the most work first."""
    known = all_misconceptions(course)
    counts = {}
    for assignment in assignments:
        for exercise in assignment.exercises:
            number = sum(m.exercise == exercise.id for m in known[assignment.id])
            counts[exercise, 1], counts[exercise, 2] = number, comb(number, 2)
    return sorted(filter(counts.get, counts), key=lambda step: counts[step], reverse=True)


def _record(course: Course, target: Assignment | Exercise, size: int) -> None:
    from grader.release.recorder import with_mistakes  # imports torch

    if isinstance(target, Exercise):
        with_mistakes(course, target, size)
    else:
        recorded(course, target)


def _depends_on(course: Course, assignment: Assignment) -> list[object]:
    """What decides the recording of an assignment; of the others only what it uses of them."""
    paths = course.paths(assignment)
    words = [_digest(path) for path in (paths.hints, paths.styles)]
    points = [exercise.points for exercise in assignment.exercises]
    return [assignment.id, everything_of(course, assignment), words, points]


def _digest(path: Path) -> str:
    """The hash of a file; "" where there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
