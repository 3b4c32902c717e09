"""What is written into a course: files from templates, entries of `course.toml`, stubs and notebooks.

Nothing is written here: files come back, proven in a copy of the course.
"""

import re
import shutil
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.core.errors import UsageError
from grader.core.files import OutputFile
from grader.core.kit import installing
from grader.core.records import added
from grader.course.course import CHECKS, MANIFEST, SOLUTIONS, load_course
from grader.release import students
from grader.release.stubs import generate

TEMPLATES = "templates"
SUFFIX = ".template"
"""What templates' names end in: no tool takes them for code, and no release has them."""


def rendered(template: str, /, **values: Any) -> str:
    """A template's text.

    Args:
        template: its path below `templates/`, without its suffix.
        **values: what is put into it.
    """
    return students.rendered(f"authoring/{TEMPLATES}/{template}{SUFFIX}", **values)


def rendered_folder(folder: str, **values: Any) -> list[OutputFile]:
    """The files of a folder of `templates/`, each at its path in there.

    Raises:
        UsageError: in a released copy, which has no templates.
    """
    place = Path(__file__).parent / TEMPLATES / folder
    if not place.is_dir():
        raise UsageError(
            "A released copy has no templates. Install the kit itself, and run this outside of the "
            f"copy: {installing('author')}."
        )
    paths = (path.relative_to(place).as_posix() for path in sorted(place.rglob(f"*{SUFFIX}")))
    names = [path.removesuffix(SUFFIX) for path in paths]
    return [OutputFile(name, rendered(f"{folder}/{name}", **values)) for name in names]


def with_generated(root: Path | None, changed: Sequence[OutputFile]) -> list[OutputFile]:
    """Files to write, and the stubs and notebooks of the solutions that are among them.

    Args:
        root: the course that they belong to; None for a new one.
        changed: files with their paths in the course.

    Raises:
        CourseError: when the course would not be read with them.
    """
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name)
        if root is not None:
            shutil.copy(root / MANIFEST, copy)
            for folder in (SOLUTIONS, CHECKS):  # predictions, which notebooks ask for, are there
                shutil.copytree(root / folder, copy / folder, dirs_exist_ok=True)
        for file in changed:
            file.write(copy)
        course, paths = load_course(copy), {file.path for file in changed}
        solutions = {a.id: course.inner(course.paths(a).solution) for a in course.assignments}
        new = {id_ for id_, path in solutions.items() if path in paths}
        return [*changed, *generate(course, only=new)]


def next_number(ids: Iterable[str]) -> str:
    """The number of an assignment that comes after those with these ids: two digits."""
    return f"{max((int(id_[:2]) for id_ in ids), default=0) + 1:02d}"


def taken_by(ids: Iterable[str], id_: str) -> str:
    """Which of some assignments has the number or the name that another's id asks for; "" for none."""
    number, _, name = id_.partition("_")
    return next((t for t in ids if number == t[:2] or name == t.partition("_")[2]), "")


def camel(name: str) -> str:
    """A name in the form of a class: `row_sums` as `RowSums`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def dashed(name: str) -> str:
    """A name in the form of a misconception's id: `RowSums` as `row-sums`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", "-", name).lower().strip("-")


# Entries of `course.toml`, whose comments and layout stay.


def with_exercise(text: str, assignment: str, name: str, points: float, after: str = "") -> str:
    """The manifest with an exercise more, and its points in the course's total.

    Args:
        text: the manifest.
        assignment: the id of the exercise's assignment.
        name: what the student defines.
        points: what it is worth.
        after: the exercise that stands before it; the assignment's last one unless given.

    Raises:
        UsageError: when the text has a layout that no entry can be added to.
    """
    wanted = tomllib.loads(text)
    entry = next(entry for entry in wanted["assignments"] if entry["id"] == assignment)
    names = list(entry["exercises"])
    after = after or names[-1]
    names.insert(names.index(after) + 1, name)
    entry["exercises"] = {key: entry["exercises"].get(key, points) for key in names}
    return _edited(text, wanted, points, f"{name} = {points}", (assignment, after, name))


def with_assignment(text: str, id_: str, title: str, exercises: Mapping[str, float]) -> str:
    """The manifest with an assignment more, the last one, and its points in the course's total.

    Args:
        text: the manifest.
        id_: the assignment's id.
        title: its title, as TOML writes it: with its quotes.
        exercises: the points of each.

    Raises:
        UsageError: when the text has a layout that no entry can be added to.
    """
    lines = "".join(f"{name} = {points}\n" for name, points in exercises.items())
    block = f'[[assignments]]\nid = "{id_}"\ntitle = {title}\n[assignments.exercises]\n{lines}'
    wanted = tomllib.loads(text)
    wanted.setdefault("assignments", []).extend(tomllib.loads(block)["assignments"])
    return _edited(f"{text.rstrip()}\n\n{block}", wanted, added(exercises.values()), block)


def _edited(
    text: str, wanted: dict[str, Any], points: float, addition: str, at: tuple[str, ...] = ()
) -> str:
    """The manifest with an exercise more, if any, and more points in its total, if it has one.

    What the edit made of the text is read and compared with what is wanted, order included, so that
    nothing is written wrongly.
    """
    # tomlkit belongs to the authors' extra.
    import tomlkit

    try:
        manifest: Any = tomlkit.parse(text)
        if at:
            assignment, after, name = at
            entry = next(e for e in manifest["assignments"] if e["id"] == assignment)
            entry["exercises"].value._insert_after(after, name, points)
        if "points" in wanted.get("course", {}):
            before = wanted["course"]["points"]
            total = wanted["course"]["points"] = added((before, points))
            manifest["course"]["points"] = total
            trivia = manifest["course"]["points"].trivia  # a comment behind it keeps its column
            grown = len(str(total)) - len(str(before))
            trivia.comment_ws = trivia.comment_ws[grown:] or trivia.comment_ws[:1]
        changed: str = manifest.as_string()
        if repr(tomllib.loads(changed)) == repr(wanted):
            return changed
    except (ValueError, AttributeError):  # tomlkit's errors are the former
        pass
    raise UsageError(
        f"{MANIFEST} is written in a way that no line can be added to. Write its assignments as "
        f"[[assignments]], each with a table [assignments.exercises]. What is to be added:\n{addition}"
    )
