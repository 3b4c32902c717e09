"""A class in any form: a folder, repositories side by side, or one zip of a platform.

What has to be copied or unpacked lies in a scratch folder that is removed afterwards.
"""

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain, count
from pathlib import Path

from grader.core.entry_points import entries, load
from grader.core.errors import UsageError
from grader.course.course import Course
from grader.intake.attempts import Attempt, stamped
from grader.intake.folders import Student, read_class
from grader.intake.history import with_commit_times, with_history
from grader.intake.platform_zips import (
    Upload,
    check_class,
    innermost,
    lay_out,
    shortened,
    ungraded,
    uploads_of,
)
from grader.intake.repositories import Repositories, repositories
from grader.intake.roster import Enrolled, find_enrolled, read_roster
from grader.intake.safe_zip import CLASS_CAPS, Archive, open_archive
from grader.submissions.faults import each

MAX_NAME = 80
MOST_LEFT_OUT = 20
NOTHING_TO_GRADE = "nothing to grade was handed in; {file} is no .py, no .ipynb and no .zip."


@dataclass(frozen=True, slots=True)
class IntakeResult:
    """A class ready to be graded.

    Args:
        students: who, and where their work lies.
        roster: what is known of them besides, by the kit's name for them.
        notes: for the instructor: who could not be found on the roster, what was left out.
        is_whole: whether it is a class, not one student's folder or file.
        marked_late: whose work the platform marks as late, without saying by how much.
    """

    students: list[Student]
    roster: dict[str, Enrolled] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    is_whole: bool = True
    marked_late: frozenset[str] = frozenset()


def who_handed_in(intake: IntakeResult, name: str, submissions: Path) -> tuple[Student, Path]:
    """A student of a class by name, and where their work lies.

    Args:
        intake: the class.
        name: the student's.
        submissions: what it was read from.

    Raises:
        UsageError: when there is no such student, or they handed in nothing that can be read.
    """
    for student in intake.students:
        if student.id == name and student.refused:
            raise UsageError(f"{name}: {student.refused}.")
        if student.id == name and student.path is not None:
            return student, student.path
    raise UsageError(f"{submissions} holds nothing of {name!r}.")


@contextmanager
def read_submissions(
    course: Course, submissions: Path, roster: Path | None = None, *, history: bool = False
) -> Iterator[IntakeResult]:
    """Read a class; unpacked and copied files are removed at the end.

    Args:
        course: the course.
        submissions: a folder, a zip, or one student's file.
        roster: a CSV of who is enrolled.
        history: whether each commit of a repository is an attempt.

    Raises:
        UsageError: when there is nothing to grade, the archive or the roster cannot be read, or
            there are no repositories whose history could be read.
    """
    enrolled = read_roster(roster) if roster is not None else []
    with ExitStack() as stack:

        @cache  # made only where something is unpacked or copied
        def scratch() -> Path:
            return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="grader-class-")))

        yield _read(course, submissions, scratch, enrolled, history=history)


def _read(
    course: Course,
    submissions: Path,
    scratch: Callable[[], Path],
    enrolled: Sequence[Enrolled],
    *,
    history: bool,
) -> IntakeResult:
    """A class in whatever form it is.

    Args:
        course: the course.
        submissions: a folder, a zip, or one student's file.
        scratch: makes the folder for what is unpacked and copied, and returns it.
        enrolled: who is enrolled.
        history: whether each commit of a repository is an attempt.
    """
    if found := repositories(course, submissions, scratch, enrolled):
        result = _from_repositories(course, found, scratch, enrolled, history=history)
        return replace(result, notes=(*result.notes, *_dotted(submissions)))
    if history:
        raise UsageError(
            f"{submissions} holds no cloned repositories, whose commits --history reads. Give the "
            "folder with one clone per student, <assignment>-<login>/ or <name>-<login>/."
        )
    for entry in entries("grader.intakes").values():
        intake: IntakeResult | None = load(entry)(course, submissions, scratch, enrolled)
        if intake is not None:
            return intake
    if submissions.is_file() and submissions.suffix.lower() == ".zip":
        return _from_archive(course, submissions, scratch(), enrolled)
    known = {one.student: one for one in enrolled}
    students = read_class(submissions, course.by_id, enrolled)
    is_one = bool(students) and students[0].path in (submissions, submissions.resolve())
    students, beside = _each(students, partial(_with_attempts, course, scratch))
    strangers = _strangers((student.id for student in students), known)
    notes = (*strangers, *beside, *_dotted(submissions))
    return IntakeResult(students, known, notes, is_whole=not is_one)


def with_roster(
    attempts: Mapping[str, tuple[Attempt, ...]],
    refused: Mapping[str, str],
    notes: Iterable[str],
    enrolled: Sequence[Enrolled],
) -> IntakeResult:
    """A class whose attempts were read.

    Args:
        attempts: each student's, by name.
        refused: whose work cannot be read, and why.
        notes: for the instructor.
        enrolled: who is on the roster, which may be empty.
    """
    known = {one.student: one for one in enrolled}
    work = {name: own[-1].path for name, own in attempts.items()}
    students = [
        replace(s, attempts=attempts.get(s.id, ())) for s in _students(work, known, refused)
    ]
    return IntakeResult(students, known, (*notes, *_strangers((*attempts, *refused), known)))


def _from_repositories(
    course: Course,
    found: Repositories,
    scratch: Callable[[], Path],
    enrolled: Sequence[Enrolled],
    *,
    history: bool,
) -> IntakeResult:
    """A class as repositories, with attempts or with when each was handed in."""
    known = {one.student: one for one in enrolled}
    work, clones, unplaced, refused = found
    read = with_history if history else with_commit_times
    students, notes = _each(
        _students(work, known, refused), lambda s: read(course, s, clones.get(s.id, ()), scratch)
    )
    return IntakeResult(students, known, (*unplaced, *notes))


def _each(
    students: Iterable[Student], read: Callable[[Student], tuple[Student, str]]
) -> tuple[list[Student], list[str]]:
    """Students with what is read of each of them, and notes; who cannot be read is refused."""
    readable = {student.id: student for student in students}
    known = {id_: (s, "") for id_, s in readable.items() if s.refused}
    found, refused = each(readable, lambda id_, student: known.get(id_) or read(student))
    done = [
        found[id_][0] if id_ in found else replace(student, refused=refused[id_])
        for id_, student in readable.items()
    ]
    return done, [note for _student, note in found.values() if note]


def _strangers(students: Iterable[str], known: Mapping[str, Enrolled]) -> tuple[str, ...]:
    """Who is not on the roster, where there is one."""
    names = [name for name in students if known and name not in known]
    verb = "is" if len(names) == 1 else "are"
    return (f"{', '.join(names)} {verb} not on the roster.",) if names else ()


def _with_attempts(
    course: Course, scratch: Callable[[], Path], student: Student
) -> tuple[Student, str]:
    """A student with the attempts that lie in their folder, and what lies beside these."""
    if student.path is None or not student.path.is_dir():
        return student, ""
    attempts, note = stamped(course, student.path, scratch, student.id)
    path = attempts[-1].path if attempts else student.path
    return replace(student, path=path, attempts=attempts), note


TOOLS = (".git", ".github", ".ipynb_checkpoints", ".vscode", ".idea", ".venv")


def _dotted(submissions: Path) -> list[str]:
    """That folders are passed over whose names begin with a dot; tools' own aside."""
    found = submissions.iterdir() if submissions.is_dir() else ()
    names = sorted(path.name for path in found if path.name.startswith(".") and path.is_dir())
    dotted = [name for name in names if name not in TOOLS]
    return [f"{name} was passed over: its name begins with a dot." for name in dotted]


def _from_archive(
    course: Course, path: Path, scratch: Path, roster: Sequence[Enrolled]
) -> IntakeResult:
    with closing(open_archive(path, scratch / "download", CLASS_CAPS)) as archive:
        root = innermost(course, [*archive.entries])
        paths = sorted(inner.relative_to(root) for inner in archive.entries)
        uploads, strangers = uploads_of(course, archive.folder / root, paths, path.stem)
        check_class(archive, uploads)
        by_student, known, unmatched = match_uploads(uploads, roster)
        if not by_student:
            raise UsageError(f"{path} holds no .py, no .ipynb and no .zip of a student.")
        left_out = [*archive.problems, *(f"{name!r} belongs to no student" for name in strangers)]
        notes = [f"Left out: {problem}." for problem in shortened(left_out, MOST_LEFT_OUT)]
        others = (other for other in archive.others if other.is_relative_to(root))
        notes += [
            f"{upload.name}: {NOTHING_TO_GRADE.format(file=upload.files[0][1].name)}"
            for upload in ungraded([other.relative_to(root) for other in others], uploads)
        ]
        refused = _lay_out_class(course, archive, by_student, scratch / "class", notes)
    found = {student: scratch / "class" / student for student in by_student}
    everybody = {one.student: one for one in roster} | known
    late = frozenset(student for student, upload in by_student.items() if upload.is_late)
    students = _students(found, everybody, refused)
    return IntakeResult(students, everybody, (*unmatched, *notes), marked_late=late)


def _lay_out_class(
    course: Course, archive: Archive, uploads: Mapping[str, Upload], folder: Path, notes: list[str]
) -> dict[str, str]:
    """Unpack everybody's files; add what is to be told, and return whose cannot be read, and why."""

    def laid_out(student: str, upload: Upload) -> None:
        try:
            problems = lay_out(course, upload, folder / student, archive)
        finally:
            shutil.rmtree(archive.folder, ignore_errors=True)
        notes.extend(f"{student}: {problem}." for problem in problems)

    return each(uploads, laid_out)[1]


def _students(
    found: Mapping[str, Path], enrolled: Mapping[str, Enrolled], refused: Mapping[str, str]
) -> list[Student]:
    """Who handed in something and who is enrolled, by name."""
    names = sorted({*found, *refused, *enrolled})
    return [Student(name, found.get(name), refused=refused.get(name, "")) for name in names]


# Whom work belongs to.


def match_uploads(
    uploads: Sequence[Upload], roster: Sequence[Enrolled]
) -> tuple[dict[str, Upload], dict[str, Enrolled], list[str]]:
    """Uploads by student, what is known of each, and who could not be found on the roster."""
    found = [find_enrolled(roster, upload.name, upload.number) for upload in uploads]
    claims = Counter(one[0].student for one in found if len(one) == 1)
    names = Counter(upload.name for upload in uploads)
    by_student: dict[str, Upload] = {}
    known: dict[str, Enrolled] = {}
    notes = []
    for upload, candidates in zip(uploads, found, strict=True):
        if len(candidates) == 1 and claims[candidates[0].student] == 1:
            student = candidates[0].student
            known[student] = replace(candidates[0], upload=upload.prefix)
        else:
            alone = names[upload.name] == 1 and not roster
            student = _own_name(upload, alone=alone, taken=by_student)
            known[student] = Enrolled(
                student, name=upload.name, number=upload.number, upload=upload.prefix
            )
            if roster:
                notes.append(_not_matched(upload, candidates, student))
        by_student[student] = upload
    return by_student, known, notes


def _own_name(upload: Upload, *, alone: bool, taken: Mapping[str, Upload]) -> str:
    """A name on disk for somebody whom no roster names."""
    name = "".join(c if c.isprintable() and c not in '/\\:*?"<>|' else "_" for c in upload.name)
    name = name.strip(" .")[:MAX_NAME] or "unnamed"
    first = name if alone or not upload.number else f"{name}_{upload.number}"
    spellings = chain((first,), (f"{name}_{number}" for number in count(2)))
    return next(student for student in spellings if student not in taken)


def _not_matched(upload: Upload, candidates: Sequence[Enrolled], student: str) -> str:
    who = f"{upload.name} ({upload.number})" if upload.number else upload.name
    if not candidates:
        reason = "nobody on the roster has this name or number"
    elif len(candidates) > 1:
        listed = ", ".join(one.student for one in candidates)
        reason = f"the roster has several whom it may mean: {listed}"
    else:
        reason = f"somebody else is taken for {candidates[0].student}, too"
    return f"{who} could not be placed: {reason}. Graded as {student}."
