"""The course manifest: `course.toml` read once into frozen dataclasses, and the paths of a course."""

import difflib
import hashlib
import os
import re
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from grader.core.encodings import is_encoding
from grader.core.errors import CourseError, UsageError
from grader.core.kept import kept
from grader.core.language import (
    COURSE,
    DEFAULT_LANGUAGE,
    _,
    current,
    kept_in,
    languages,
    listed,
    paragraph,
    translate,
)
from grader.core.records import added
from grader.course.contents import without_comments
from grader.course.settings import (
    ENCODINGS,
    NO_OTHER_NAMES,
    NO_SETTINGS,
    About,
    AssignmentEntry,
    GradeSettings,
    LedgerSettings,
    OtherName,
    OtherNames,
    Plain,
    RoleWord,
    RoleWords,
)
from grader.course.toml_table import Name, Seconds, TomlFile, did_you_mean, needed, whole
from grader.sandbox.limits import LIBRARIES, libraries_in

MANIFEST = "course.toml"
COURSE_VARIABLE = "GRADER_COURSE"
TRANSLATIONS = "translations"
WORK, SOLUTIONS, CHECKS = "assignments", "solutions", "tests/checks"
"""A course's folders: its translations; what students fill in, its answers, and what grades them."""
FILES = "files"
"""The folder beside a solution whose files student code finds where it runs."""
LARGEST_FILE = 8 * 2**20
"""Bytes of one of these files."""
TENSOR_FIXTURES = re.compile(
    r"[(,]\s*printed\b|\bdraw\.(?:normal|uniform|permutation)\(|\bshapes\b"
)
"""What checks have of tensors: printed ones, and those that `draw` makes."""
ARRAYS = re.compile(r"\bdraw\.array\([^)]*\)(?!\.tolist\(\))")
"""Arrays that stay arrays."""
HINTS, EQUIVALENT, DRAWING, STYLES = "hints.toml", "equivalent.toml", "picture.py", "styles.toml"
"""Files beside a solution that decide no score."""
VIEWS, PREDICTIONS = "views.py", "predictions.py"
"""The same beside checks: what right code lets a student see, and what it answers."""

OF_OPTIONAL = re.compile(r"<!-- optional -->\n(.*?)<!-- /optional -->\n", re.DOTALL)
"""What a guide says of optional assignments, which goes where they are left out."""
PICTURE = "picture.svg"
"""An assignment's picture, beside its stub and notebook."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one submission may use. Seconds are the processor's.

    Args:
        load_seconds: running a file from top to bottom.
        request_seconds: one call of a check.
        memory_mib: MiB on top of what is imported before.
        output_kib: KiB of printed text that are kept.
        file_mib: MiB in any file it writes.
        check_seconds: one check by itself, without what student code takes.
        packages: what it may rely on besides torch and numpy: imported before it runs, where
            installed.
    """

    load_seconds: Seconds = 10.0
    request_seconds: Seconds = 5.0
    submission_seconds: Seconds = 120.0
    memory_mib: Annotated[int, whole(64)] = 1024
    output_kib: Annotated[int, whole(1)] = 64
    file_mib: Annotated[int, whole(1)] = 16
    check_seconds: Seconds = 60.0
    packages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LateRule:
    """What late work costs.

    Args:
        grace_minutes: minutes after the due date that are not late.
        percent_per_day: taken off an assignment's score for each day begun.
        days: what is more days late than this earns nothing.
    """

    grace_minutes: Annotated[int, whole(0)] = 0
    percent_per_day: Annotated[int, whole(0, 100)] = 0
    days: Annotated[int, whole(0)] = 36_500


@dataclass(frozen=True, slots=True)
class Exercise:
    """One thing to write: the name the student defines, and what it is worth.

    Args:
        points: whole or half ones; with 0 its checks are run and shown, and count for nothing.
    """

    assignment: str
    name: str
    points: float

    @property
    def id(self) -> str:
        """The full id, `<assignment>/<name>`."""
        return f"{self.assignment}/{self.name}"


@dataclass(frozen=True, slots=True)
class Assignment:
    """A file to fill in, with its exercises in order.

    Args:
        imports: the assignments without which it cannot be done.
        compares: other assignments whose work its checks look at, where it is there.
        lends: the code of what later files that import from it receive in place of the student's
            own, so that a slip in it costs points once.
        optional: its points are extra: they add to a score, and not to what there is to earn.
    """

    id: str
    title: str
    exercises: tuple[Exercise, ...]
    imports: tuple[str, ...] = ()
    compares: tuple[str, ...] = ()
    lends: str = ""
    due: datetime | None = None
    optional: bool = False

    @property
    def module(self) -> str:
        """The module's name: the id without its number."""
        return self.id.partition("_")[2]

    @property
    def max_score(self) -> float:
        """The points of all its exercises."""
        return added(exercise.points for exercise in self.exercises)


@dataclass(frozen=True, slots=True)
class Paths:
    """Where an assignment's files are."""

    stub: Path
    notebook: Path
    solution: Path
    misconceptions: Path
    hints: Path
    equivalent: Path
    styles: Path
    visible_checks: Path
    hidden_checks: Path
    recording: Path
    drawing: Path
    picture: Path


@dataclass(frozen=True)
class Course:
    """The whole course: what instructors decide, and where it lies on disk.

    Args:
        language: what students read where they choose nothing; "" for no choice.
        languages: those that the course's own texts are translated into.
        about: what the students' README says of the course first.
        roles: words in the names of parameters, by what these stand for.
        other_names: what the world calls exercises and the arguments of constructors.
        notes: what it says of the checks, besides what holds in any course.
        guide: the file of what it says at its end, in Markdown; "" for none.
        left_out: the ids of optional assignments that are in the manifest and not in the course.
        encodings: those that a file which is not in UTF-8 and names none is tried in, in order.
        grade: what commands take where their options say nothing.
    """

    root: Path
    title: str
    prefer: str
    limits: Limits
    late: LateRule
    assignments: tuple[Assignment, ...]
    points: float | None = None
    language: str = ""
    agents_file: bool = True
    ledger: LedgerSettings | None = None
    languages: tuple[str, ...] = ()
    roles: RoleWords = ()
    other_names: OtherNames = NO_OTHER_NAMES
    about: str = ""
    notes: tuple[str, ...] = ()
    guide: str = ""
    left_out: tuple[str, ...] = ()
    encodings: tuple[str, ...] = ENCODINGS
    grade: GradeSettings = NO_SETTINGS

    @cached_property
    def exercises(self) -> dict[str, Exercise]:
        """All exercises by full id, in the order of the course."""
        return {exercise.id: exercise for a in self.assignments for exercise in a.exercises}

    @cached_property
    def by_id(self) -> dict[str, Assignment]:
        """All assignments by id."""
        return {assignment.id: assignment for assignment in self.assignments}

    @property
    def ledger_files(self) -> tuple[Path, ...]:
        """The file of the printed tensors, where the course has any."""
        return (self.root / self.ledger.file,) if self.ledger else ()

    @property
    def guide_text(self) -> str:
        """What the students' README says at its end, in Markdown; "" for nothing.

        Raises:
            CourseError: when its file is not there; a released copy has it in its README.
        """
        path = self.root / self.guide
        if self.guide and not path.is_file():
            raise CourseError(f"{MANIFEST}: course.guide: there is no file {self.guide}")
        text = path.read_text("utf-8") if self.guide else ""
        return OF_OPTIONAL.sub("" if self.left_out else r"\1", text)

    def files_of(self, folder: str) -> list[Path]:
        """What lies in a folder of the course, however deep, but for assignments left out."""
        top = self.root / folder
        found = sorted(top.rglob("*"))
        return [path for path in found if path.relative_to(top).parts[0] not in self.left_out]

    @cached_property
    def data_files(self) -> dict[str, Path]:
        """The files that student code finds in its working folder, by their paths there.

        They lie in `files` beside a solution; in a released copy, beside the students' own files.
        """
        found: dict[str, Path] = {}
        for assignment in self.assignments:
            top = self.root / SOLUTIONS / assignment.id / FILES
            if not self.has_solutions:
                top = self.root / WORK / assignment.id
            for path in sorted(top.rglob("*")):
                is_own = not self.has_solutions and path.suffix in (".py", ".ipynb", ".svg")
                inner = path.relative_to(top)
                is_left = any(part.startswith((".", "__pycache__")) for part in inner.parts)
                is_small = path.is_file() and path.stat().st_size <= LARGEST_FILE
                if is_small and not is_own and not is_left:
                    found[inner.as_posix()] = path
        return found

    @cached_property
    def packages(self) -> tuple[str, ...]:
        """What is imported before student code runs: what is declared, and what the course needs."""
        texts = self._code
        drawn = ("torch",) if any(map(TENSOR_FIXTURES.search, texts)) else ()
        return tuple(dict.fromkeys((*drawn, *libraries_in(texts), *self.limits.packages)))

    @cached_property
    def needs_torch(self) -> bool:
        """Whether its values may be tensors, arrays or tables: all of these are compared by torch."""
        found = {name.partition(".")[0] for name in self.packages}
        return bool(found & {*LIBRARIES}) or any(map(ARRAYS.search, self._code))

    @property
    def _code(self) -> list[str]:
        """The texts of its solutions and checks; not kept, as `check` forks once `packages` is known."""
        paths = (*self.files_of(SOLUTIONS), *self.files_of(CHECKS))
        files = (path for path in paths if path.suffix == ".py" and path.is_file())
        return [path.read_text("utf-8", "replace") for path in files]

    @cached_property
    def translations(self) -> Path:
        """The folder of the translations of the course's own texts."""
        return self.root / TRANSLATIONS

    def text(self, message: str) -> str:
        """A text of the course's own in the language of this run."""
        return self.text_in(current(), message)

    def text_in(self, language: str, message: str) -> str:
        """A text of the course's own in a language; as it is where there is no translation."""
        return translate(self.translations, COURSE, language, message)

    @property
    def max_score(self) -> float:
        """All points there are, but for those that are extra."""
        required = [one for one in self.assignments if not one.optional]
        return added(one.max_score for one in required or self.assignments)

    @property
    def points_problem(self) -> str:
        """How the manifest's total differs from what the exercises add up to; "" where it does not."""
        if self.points in (None, self.max_score):
            return ""
        return f"{MANIFEST}: points says {self.points}; the exercises add up to {self.max_score}"

    @property
    def work_folder(self) -> Path:
        """Where students write."""
        return self.root / WORK

    @property
    def has_solutions(self) -> bool:
        """Whether this is the course itself, not a released copy."""
        return (self.root / SOLUTIONS).is_dir()

    def require_solutions(self) -> None:
        """Do nothing in the course itself.

        Raises:
            UsageError: in a released copy, and where there is nothing but a manifest.
        """
        if self.has_solutions:
            return
        sentence = _(
            "There is no folder solutions/ in {folder}. `grader new course DIR` writes a small "
            "complete course."
        )
        if self.work_folder.is_dir():
            sentence = _(
                "This is a released copy of the course, without solutions; `grader check` works here."
            )
        raise UsageError(sentence.format(folder=self.root))

    def with_imports(self, assignment: Assignment) -> set[str]:
        """The ids of an assignment and of all that it imports, however far."""
        imported = (self.with_imports(self.by_id[id_]) for id_ in assignment.imports)
        return {assignment.id}.union(*imported)

    def concerned(self, exercises: Iterable[str]) -> set[str]:
        """The ids of the assignments of some exercises, and of those that their checks compare with."""
        ids = {self.exercises[id_].assignment for id_ in exercises}
        return ids.union(*(self.by_id[id_].compares for id_ in ids))

    def paths(self, assignment: Assignment) -> Paths:
        """Where an assignment's files are, whether they exist or not."""
        return _paths(self.root, assignment.id, assignment.module)

    def inner(self, path: Path) -> str:
        """A file of the course as a path from the course's folder, with `/`."""
        return path.relative_to(self.root).as_posix()

    @cached_property
    def hash(self) -> str:
        """A hash of everything that decides scores: manifest, solutions, checks, printed tensors.

        Comments, hints, styles, what is equivalent, and `[grade]` decide none.
        """
        return kept("hashes", ["course", self.raw_hash], lambda: self._hash().encode()).decode()

    @cached_property
    def raw_hash(self) -> str:
        """A hash of all that is declared, and of each byte that decides scores."""
        digest = hashlib.sha256(repr(replace(self, root=Path())).encode("utf-8", "replace"))
        digest.update((self.root / MANIFEST).read_bytes())
        for path in self._deciding_files():
            digest.update(self.inner(path).encode() + hashlib.sha256(path.read_bytes()).digest())
        return digest.hexdigest()

    def _deciding_files(self) -> list[Path]:
        files = (*self.ledger_files, *self.files_of(SOLUTIONS), *self.files_of(CHECKS))
        return sorted({path for path in files if decides_scores(path)})

    def _hash(self) -> str:
        digest = hashlib.sha256(repr(self._manifest_without_left_out()).encode("utf-8", "replace"))
        for path in self._deciding_files():
            digest.update(self.inner(path).encode())
            digest.update(hashlib.sha256(without_comments(path)).digest())
        return digest.hexdigest()

    def _manifest_without_left_out(self) -> dict[str, Any]:
        content = tomllib.loads((self.root / MANIFEST).read_bytes().decode("utf-8-sig"))
        content.pop("grade", None)
        if self.left_out:
            del content["course"]["optional"]
            given = content["assignments"]
            content["assignments"] = [one for one in given if one["id"] not in self.left_out]
        return content

    def due_at(self, moment: datetime) -> "Course":
        """The course with what was due at a moment; what has no due date counts as that."""
        due = {a.id for a in self.assignments if a.due is None or a.due <= moment}
        return self.only(due)

    def only(self, ids: Collection[str]) -> "Course":
        """The course with some of its assignments, as a class has been given them."""
        return replace(self, assignments=tuple(a for a in self.assignments if a.id in ids))

    def select(self, targets: tuple[str, ...]) -> dict[str, Exercise]:
        """The exercises that targets name, in course order; all of them for no target.

        Raises:
            UsageError: when a target names nothing, with the nearest names.
        """
        chosen = {exercise.id for target in targets for exercise in self._named(target)}
        return {id_: e for id_, e in self.exercises.items() if id_ in chosen or not targets}

    def assignment(self, target: str) -> Assignment:
        """The assignment of an id, a number or a module's name.

        Raises:
            UsageError: when there is none, with the nearest names.
        """
        for assignment in self.assignments:
            if target in _names_of(assignment):
                return assignment
        sentence = _("There is no assignment {target!r}.").format(target=target)
        raise UsageError(paragraph((sentence, self._nearest(target))))

    @cached_property
    def _meanings(self) -> Mapping[str, dict[str, tuple[Exercise, ...]]]:
        """What each name may mean: an exercise, or those of an assignment, by the id of either."""
        found: dict[str, dict[str, tuple[Exercise, ...]]] = defaultdict(dict)
        for exercise in self.exercises.values():
            folders = _names_of(self.by_id[exercise.assignment])
            for name in (exercise.name, *(f"{folder}/{exercise.name}" for folder in folders)):
                found[name][exercise.id] = (exercise,)
        for assignment in self.assignments:
            for name in _names_of(assignment):
                # An exercise comes first where its own assignment has its name, too.
                if f"{assignment.id}/{name}" not in found[name]:
                    found[name][assignment.id] = assignment.exercises
        return found

    def _named(self, target: str) -> tuple[Exercise, ...]:
        target = self._named_by_path(target.strip("/"))
        found = self._meanings.get(target, {})
        if not found:
            sentence = _("There is no assignment or exercise {target!r}.").format(target=target)
            raise UsageError(paragraph((sentence, self._nearest(target))))
        if len(found) > 1:
            ids = _(" and ").join(found)
            sentence = _("{target!r} names more than one: {ids}. Write one in full.")
            raise UsageError(sentence.format(target=target, ids=ids))
        return next(iter(found.values()))

    def _named_by_path(self, target: str) -> str:
        """The assignment whose file or folder a path names; else what was given."""
        path = PurePosixPath(target.replace("\\", "/"))
        folders = [part for part in path.parts if part in self.by_id]
        is_path = path.suffix in (".py", ".ipynb") or path.parts[:1] == (WORK,)
        return folders[-1] if is_path and folders else target

    def _nearest(self, target: str) -> str:
        short = [*(a.module for a in self.assignments), *(e.name for e in self.exercises.values())]
        lowered = {name.lower(): name for name in (*self.by_id, *self.exercises, *short)}
        close = difflib.get_close_matches(target.lower(), lowered, n=3, cutoff=0.5)
        if not close:
            return _("The assignments are: {ids}.").format(ids=listed(self.by_id))
        found = ((lowered[name], self._meanings[lowered[name]]) for name in close)
        meant = dict.fromkeys(
            way for name, ids in found for way in ([name] if len(ids) == 1 else ids)
        )
        return _("Did you mean {names}?").format(names=_(" or ").join(meant))

    def name_of(self, exercise: Exercise) -> str:
        """An exercise's name where it names nothing else, else its id."""
        is_unique = len(self._meanings[exercise.name]) == 1
        return exercise.name if is_unique else exercise.id


@cache
def _paths(root: Path, id_: str, module: str) -> Paths:
    stubs, solutions, checks = (root / folder / id_ for folder in (WORK, SOLUTIONS, CHECKS))
    return Paths(
        stub=stubs / f"{module}.py",
        notebook=stubs / f"{module}.ipynb",
        solution=solutions / f"{module}.py",
        misconceptions=solutions / "misconceptions.toml",
        hints=solutions / HINTS,
        equivalent=solutions / EQUIVALENT,
        styles=solutions / STYLES,
        visible_checks=checks / "test_visible.py",
        hidden_checks=checks / "test_hidden.py",
        recording=checks / "recording.bin",
        drawing=solutions / DRAWING,
        picture=stubs / PICTURE,
    )


def _names_of(assignment: Assignment) -> tuple[str, ...]:
    """What an assignment may be called: `04_long_lists`, `long_lists`, `04` or `4`."""
    number = assignment.id[:2]
    return assignment.id, assignment.module, number, str(int(number))


def no_exercise(assignment: Assignment, name: str) -> str:
    """That an assignment has no exercise of a short name, for a file beside it; "" where it has."""
    names = [exercise.name for exercise in assignment.exercises]
    if name in names:
        return ""
    allowed = f"{did_you_mean(name, names)}allowed: {', '.join(names)}"
    return f"found the exercise {name!r}; {allowed}"


def decides_scores(path: Path) -> bool:
    """Whether a file of checks, solutions or printed tensors has a part in scores or in what is shown."""
    is_read = path.suffix in (".py", ".toml", ".json", ".bin") or FILES in path.parts
    is_shown = path.name in (VIEWS, PREDICTIONS) and Path(CHECKS).name in path.parts[-3:-1]
    is_idle = is_shown or path.name in (HINTS, EQUIVALENT, DRAWING, STYLES)
    return is_read and not is_idle and path.is_file()


def find_course(start: Path) -> Path:
    """The folder of the course that `start` lies in, or the one that GRADER_COURSE names.

    Raises:
        UsageError: when there is none.
    """
    given = os.environ.get(COURSE_VARIABLE)
    start = start.absolute()
    for folder in [Path(given)] if given else [start, *start.parents]:
        if (folder / MANIFEST).is_file():
            return folder
    looked = _("No course.toml in {folder} or any folder above it.").format(folder=start)
    if given:
        sentence = _("{variable} says {folder}, and there is no course.toml there.")
        looked = sentence.format(variable=COURSE_VARIABLE, folder=given)
    todo = _("Run the command inside the course's folder.")
    raise UsageError(paragraph((looked, todo)))


ENTRIES = needed("at least one [[assignments]] table", min_length=1)


@dataclass(frozen=True, slots=True)
class Manifest:
    """The whole of `course.toml`."""

    course: About
    assignments: Annotated[tuple[AssignmentEntry, ...], ENTRIES]
    limits: Limits = Limits()
    late: LateRule = LateRule()
    grade: GradeSettings = NO_SETTINGS
    ledger: LedgerSettings | None = None
    roles: dict[Name, tuple[RoleWord, ...]] = field(default_factory=dict)
    also: dict[Name, tuple[OtherName, ...]] = field(default_factory=dict)
    arguments: dict[Name, tuple[OtherName, ...]] = field(default_factory=dict)
    unasked: dict[Name, Plain] = field(default_factory=dict)


def load_course(root: Path) -> Course:
    """Read a course's manifest.

    Raises:
        CourseError: with every problem found, each with its key path.
    """
    file = TomlFile(root / MANIFEST)
    manifest = file.read(Manifest)
    about = manifest.course
    also, arguments = (tuple(one.items()) for one in (manifest.also, manifest.arguments))
    everything = tuple(map(_assignment, manifest.assignments))
    left_out = tuple(a.id for a in everything if a.optional and not about.optional)
    translated = about.languages
    if translated is None:
        translated = kept_in(root / TRANSLATIONS)
    said = {name: value for name, value in vars(about).items() if name != "optional"} | {
        "points": None if about.points is None else added([about.points]),
        "languages": tuple(c for c in dict.fromkeys(translated) if c != DEFAULT_LANGUAGE),
    }
    course = Course(
        **said,
        root=root,
        limits=manifest.limits,
        late=manifest.late,
        grade=manifest.grade,
        assignments=tuple(a for a in everything if a.id not in left_out),
        ledger=manifest.ledger,
        roles=tuple(manifest.roles.items()),
        other_names=OtherNames(also, arguments, tuple(manifest.unasked.items())),
        left_out=left_out,
    )
    _forbid_duplicates(file, everything)
    for key_path, sentence in (*_faulty_words(course), *_faulty_references(course)):
        file.note(key_path, sentence)
    file.finish()
    return course


def _assignment(entry: AssignmentEntry) -> Assignment:
    id_, worth = entry.id, entry.exercises.items()
    exercises = tuple(Exercise(id_, name, added([points])) for name, points in worth)
    others = entry.imports, entry.compares, entry.lends, entry.due, entry.optional
    return Assignment(id_, entry.title, exercises, *others)


def _forbid_duplicates(file: TomlFile, assignments: Sequence[Assignment]) -> None:
    """Note ids that occur twice; without such, names of modules, and numbers."""
    file.forbid_duplicates("assignments", "id", [a.id for a in assignments])
    if len({a.id for a in assignments}) == len(assignments):
        file.forbid_duplicates("assignments", "module", [a.module for a in assignments])
        file.forbid_duplicates("assignments", "number", [a.id[:2] for a in assignments])


def _faulty_words(course: Course) -> Iterator[tuple[str, str]]:
    """Languages and encodings that there are not: where they stand, and what is needed."""
    known = languages(course.languages)
    if course.language and course.language not in known:
        needed = " or ".join(map(repr, known))
        yield "course.language", f"found {course.language!r}; {needed} is needed"
    needed = "one of Python's text encodings that hold ASCII is needed, like 'cp1252' or 'gb18030'"
    for number, name in enumerate(course.encodings, 1):
        if not is_encoding(name):
            yield f"course.encodings[{number}]", f"found {name[:80]!r}; {needed}"


def _faulty_references(course: Course) -> Iterator[tuple[str, str]]:
    """What names no assignment, and a loop of imports: where it stands, and in words."""
    ids = [*course.by_id]
    for number, assignment in enumerate(course.assignments, 1):
        for key, names in (("imports", assignment.imports), ("compares", assignment.compares)):
            for name in (name for name in names if name not in ids):
                hint = f"; {did_you_mean(name, {*ids} - {assignment.id})}".rstrip("; ")
                sentence = f"found {name!r}, which is no assignment's id{hint}"
                yield f"assignments[{number}].{key}", sentence
    try:
        TopologicalSorter({a.id: a.imports for a in course.assignments}).prepare()
    except CycleError as error:
        ring = error.args[1][:0:-1]
        first = ring.index(min(ring))
        loop = [*ring[first:], *ring[: first + 1]]
        yield f"assignments[{ids.index(loop[0]) + 1}].imports", f"a loop, {' -> '.join(loop)}"
