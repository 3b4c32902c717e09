"""A student's repository over time: the commits that changed their work, and their files then.

Nothing of a student's `.git` is believed but its objects: its settings could name programs to run. So
git reads the objects from an empty repository of our own. Objects that lie elsewhere, behind a link or
where `alternates` says, may be somebody else's: then nothing is read.
"""

import errno
import math
import os
import re
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path, PurePosixPath

from grader.core.errors import UsageError
from grader.core.text import clean
from grader.course.course import WORK, Assignment, Course
from grader.intake.attempts import Arrived, attempts_of
from grader.intake.folders import Student
from grader.intake.repositories import Clones
from grader.submissions.file_names import FORMS, MOST_FILES
from grader.submissions.moments import BY_GIT, Moment, parsed
from grader.submissions.payload import MOST_BYTES

if sys.platform == "linux":
    import resource

SECONDS = 120
PROCESSOR_SECONDS = 10.0
"""What git may use for one repository in all."""
MOST_OUTPUT = 100_000_000
MOST_MEMORY = 4 * 2**30
TOO_MUCH = "git needs more time or memory for it than a student's work may take."
SETTINGS = ("core.commitGraph=false", "core.multiPackIndex=false", "core.packedGitWindowSize=32m")


class UnreadableError(UsageError):
    """What git cannot tell, or not within its bounds."""


def _environment() -> dict[str, str]:
    others = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return others | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }


MOST_COMMITS = 2_000
MOST_BLOBS = 50_000_000
"""The bytes that the files of one commit may have in all."""
MOST_REFERENCES = 2**24
SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
SHA256 = 64
OF_SHA256 = "[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat = sha256\n"
BRANCH = re.compile(r"ref: (refs/[\w./-]+)")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit on the branch that is checked out: its name, and when it was made."""

    sha: str
    at: datetime


@dataclass(slots=True)
class Repository:
    """A repository that is only read, by git, from an empty one of our own, and with no settings but ours.

    Args:
        own: the empty one.
        head: the commit that is checked out.
        left: the processor seconds that git may still use.
    """

    own: Path
    head: str
    left: float = PROCESSOR_SECONDS

    def ask(self, *arguments: str, given: bytes = b"") -> bytes:
        """What git says about the objects.

        Raises:
            UnreadableError: when it fails, or is not done within its bounds.
            UsageError: when it is not installed.
        """
        if self.left <= 0:
            raise UnreadableError(TOO_MUCH)
        with ExitStack() as stack:
            asked, answer, errors = (
                stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)
            )
            asked.write(given)
            asked.seek(0)
            try:
                process = subprocess.Popen(
                    self._command(arguments),
                    stdin=asked,
                    stdout=answer,
                    stderr=errors,
                    env=_environment(),
                )
            except FileNotFoundError as error:
                raise UsageError("git is not installed, and only it can read a history.") from error
            code = self._ended(process)
            answer.seek(0)
            errors.seek(0)
            if code < 0:
                raise UnreadableError(TOO_MUCH)
            if code:
                said = errors.read(1000).decode("utf-8", "replace").strip().splitlines()
                raise UnreadableError(f"git cannot read it: {said[0] if said else code}")
            return answer.read()

    def _command(self, arguments: tuple[str, ...]) -> list[str]:
        settings = [word for one in SETTINGS for word in ("-c", one)]
        return ["git", f"--git-dir={self.own}", *settings, *arguments]

    def _ended(self, process: "subprocess.Popen[bytes]") -> int:
        """Wait for git to end, by itself or at one of its bounds; how it ended."""
        before = sum(os.times()[2:4])
        try:
            if sys.platform == "linux":
                limits = {
                    resource.RLIMIT_CPU: math.ceil(self.left),
                    resource.RLIMIT_FSIZE: MOST_OUTPUT,
                    resource.RLIMIT_AS: MOST_MEMORY,
                }
                for which, most in limits.items():
                    resource.prlimit(process.pid, which, (most, most))
            return process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            self.left -= sum(os.times()[2:4]) - before

    def commits(self, below: str = "") -> list[Commit]:
        """The commits that changed something, the first one first; merges count as one.

        Args:
            below: the folder that they changed; any unless given.

        Raises:
            UnreadableError: when the history cannot be read, or the date of a commit.
        """
        names = ["--", below] if below else []
        said = self.ask(
            *("log", "--first-parent", "--format=%H %cI", f"--max-count={MOST_COMMITS}"),
            *(self.head, *names),
        )
        found: list[Commit] = []
        for line in reversed(said.decode("ascii", "replace").splitlines()):
            sha, _space, text = line.partition(" ")
            at = parsed(text)
            if at is None:
                raise UnreadableError(f"the commit {sha[:10]} has no date that can be read.")
            # A commit comes after the one before it, whatever the machine's clock said.
            found.append(Commit(sha, max(at, found[-1].at) if found else at))
        return found

    def write(self, commit: Commit, below: str, folder: Path) -> tuple[bool, list[str]]:
        """Write the scripts and notebooks of a commit; whether there are any, and what is left out.

        Args:
            commit: the commit.
            below: the folder of the repository that holds the work; "" for all of it.
            folder: where to.

        Raises:
            UnreadableError: when git cannot read all of them.
        """
        files, left_out = self._files(commit, below), []
        names = "".join(f"{sha}\n" for sha, _path in files).encode()
        said = memoryview(self.ask("cat-file", "--batch", given=names) if files else b"")
        for _name, path in files:
            line = bytes(said[:200]).partition(b"\n")[0]
            _sha, kind, size = [*line.decode("ascii", "replace").split(), "", ""][:3]
            if kind != "blob":
                raise UnreadableError(f"git has no content of {path}.")
            start = len(line) + 1
            if not _is_written(folder, path, said[start : start + int(size)]):
                left_out.append(os.fsdecode(path))
            said = said[start + int(size) + 1 :]
        return len(files) > len(left_out), left_out

    def _files(self, commit: Commit, below: str) -> list[tuple[str, PurePosixPath]]:
        """The scripts and notebooks of a commit: the name of the content, and where it belongs."""
        names = ["--", f"{below}/"] if below else []
        listed = self.ask("ls-tree", "-r", "-z", "--long", commit.sha, *names)
        found: list[tuple[str, PurePosixPath]] = []
        room = MOST_BLOBS
        for sha, size, path in _blobs(listed):
            inner = path.relative_to(below) if path.is_relative_to(below) else path
            is_safe = not {"..", ".git"} & {*inner.parts} and not inner.is_absolute()
            if not is_safe or inner.suffix.lower() not in FORMS or size == "-":
                continue
            if not size.isdecimal():
                raise UnreadableError(f"git has no content of {inner}.")
            if int(size) < MOST_BYTES:
                room -= int(size)
                if room < 0 or len(found) == MOST_FILES:
                    break
                found.append((sha, inner))
        return found


def _blobs(listed: bytes) -> Iterator[tuple[str, str, PurePosixPath]]:
    """The ordinary files of a tree: the name of the content, its size, and the path."""
    for entry in listed.split(b"\0"):
        about, _tab, name = entry.partition(b"\t")
        mode, kind, sha, size = [*about.decode("ascii", "replace").split(), "", "", "", ""][:4]
        if kind == "blob" and mode in ("100644", "100755"):
            yield sha, size, PurePosixPath(os.fsdecode(name))


NO_NAMES = (
    *(errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL),
    *(errno.EEXIST, errno.EISDIR, errno.ENOTDIR),
)
"""What the system says to a name that it cannot have, or that stands for something else already."""


def _is_written(folder: Path, path: PurePosixPath, content: memoryview) -> bool:
    """Write a file, unless it cannot be called so beside the others."""
    try:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        with (folder / path).open("xb") as file:
            file.write(content)
    except OSError as error:
        if error.errno not in NO_NAMES:
            raise
        return False
    return True


def opened(folder: Path, scratch: Path) -> Repository | None:
    """A student's repository, to be read; None where there is none, or nothing was committed.

    Args:
        folder: the clone.
        scratch: where our own empty repository is made.

    Raises:
        UnreadableError: when its objects lie elsewhere.
        OSError: when a folder of it cannot be read.
    """
    inside = folder / ".git"
    objects = inside / "objects"
    if inside.is_symlink() or not objects.is_dir():
        return None
    if name := _elsewhere(objects):
        raise UnreadableError(
            f"{name} in its .git leads elsewhere, and what lies there may be somebody else's."
        )
    head = _head(inside)
    if head is None:
        return None
    for name in ("objects/info", "refs"):
        (scratch / name).mkdir(parents=True, exist_ok=True)
    (scratch / "HEAD").write_text("ref: refs/heads/none\n", "utf-8")
    if len(head) == SHA256:
        (scratch / "config").write_text(OF_SHA256, "utf-8")
    (scratch / "objects/info/alternates").write_text(f"{objects.resolve()}\n", "utf-8")
    if shallow := _text(inside, "shallow"):
        (scratch / "shallow").write_text(shallow, "utf-8")
    return Repository(scratch, head)


def _elsewhere(objects: Path) -> str:
    """What in a folder of objects makes git look elsewhere, or wait; "" where nothing does."""
    for name in ("info/alternates", "info/http-alternates"):
        if os.path.lexists(objects / name):
            return f"objects/{name}"
    folders = [objects]
    while folders:
        folder = folders.pop()
        if folder.is_symlink():
            return folder.relative_to(objects.parent).as_posix()
        with os.scandir(folder) as found:
            for entry in found:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(Path(entry.path))
                elif not entry.is_file(follow_symlinks=False):
                    return Path(entry.path).relative_to(objects.parent).as_posix()
    return ""


def _head(inside: Path) -> str | None:
    """The commit that is checked out, read from the files in `.git`."""
    said = _text(inside, "HEAD").strip()
    branch = BRANCH.fullmatch(said)
    if branch is None or ".." in said:
        return said if SHA.fullmatch(said) else None
    sha = _text(inside, branch[1]).strip()
    if sha:
        return sha if SHA.fullmatch(sha) else None
    packed = _text(inside, "packed-refs").splitlines()
    shas = (line.partition(" ")[0] for line in packed if line.endswith(f" {branch[1]}"))
    return next((sha for sha in shas if SHA.fullmatch(sha)), None)


def _text(inside: Path, name: str) -> str:
    """A file of `.git` as text; "" where it is no ordinary file of its own, or cannot be read."""
    path = inside / name
    folders = (inside / parent for parent in PurePosixPath(name).parents)
    try:
        found = path.lstat()
        is_own = stat.S_ISREG(found.st_mode) and not any(f.is_symlink() for f in folders)
        return path.read_text("utf-8") if is_own and found.st_size <= MOST_REFERENCES else ""
    except (OSError, ValueError):
        return ""


def with_history(
    course: Course, student: Student, clones: Clones, scratch: Callable[[], Path]
) -> tuple[Student, str]:
    """A student with an attempt for each commit that changed their work; or why there is none.

    Args:
        course: the course.
        student: who.
        clones: their repositories.
        scratch: makes a folder for what is written, and returns it.

    Raises:
        OSError: when a folder cannot be read.
    """
    if not clones:
        return student, ""
    place = scratch() / "history" / student.id
    history = History(place)
    try:
        arrived = [
            one
            for number, (clone, only) in enumerate(clones)
            for one in history.of(clone, only, f"{number}")
        ]
    except UsageError as error:
        return student, f"{student.id} has no history that can be read: {error}"
    attempts = attempts_of(arrived, lambda: place / "together")
    if not attempts:
        note = history.note() or "no commit holds any work."
        return student, f"{student.id} has no history: {note}"
    note = f"{student.id}: {history.note()}" if history.left_out else ""
    return replace(student, path=attempts[-1].path, attempts=attempts), note


@dataclass(slots=True)
class History:
    """The commits of one student's repositories, written into folders.

    Args:
        place: where to.
        left_out: what could not be read, in a few words each.
    """

    place: Path
    left_out: list[str] = field(default_factory=list)

    def of(self, clone: Path, only: Assignment | None, name: str) -> Iterator[Arrived]:
        """The commits of a repository that hold any work, the last one first.

        Args:
            clone: the repository.
            only: the assignment that it is of, if of one only.
            name: of the folder for it.

        Raises:
            UsageError: when its history cannot be read.
        """
        repository = opened(clone, self.place / f"{name}.git")
        if repository is None:
            raise UsageError(f"{clone.name} is no clone with commits.")
        below = _below(clone, "" if only is None else only.id)
        for position, commit in reversed([*enumerate(repository.commits(below))]):
            folder = self.place / name / f"{position:05}"
            inner = folder if only is None else folder / only.id
            if self._is_written(repository, commit, below, inner):
                parts = {} if only is None else {only.id: inner}
                yield Arrived(Moment(commit.at, BY_GIT), folder, parts)

    def _is_written(self, repository: Repository, commit: Commit, below: str, folder: Path) -> bool:
        """Whether a commit holds any work, which is written then."""
        try:
            is_any, names = repository.write(commit, below, folder)
        except UnreadableError as error:
            self.left_out.append(f"the commit {commit.sha[:10]} ({str(error).rstrip('.')})")
            return False
        self.left_out += [f"{clean(name, 80)} of {commit.sha[:10]}" for name in names]
        return is_any

    def note(self) -> str:
        """What could not be read, as a sentence; "" for nothing."""
        more = len(self.left_out) - 1
        others = f", and {more} more like it" if more > 0 else ""
        return f"left out is {self.left_out[0]}{others}." if self.left_out else ""


def _below(clone: Path, assignment: str) -> str:
    """The folder of a repository that holds the work, as a path in it; "" for all of it."""
    inner = (f"{WORK}/{assignment}", assignment) if assignment else (WORK,)
    return next((name for name in inner if (clone / name).is_dir()), "")


def with_commit_times(
    course: Course, student: Student, clones: Clones, scratch: Callable[[], Path]
) -> tuple[Student, str]:
    """A student with the times of the last commits on assignments that have a due date.

    Args:
        course: the course.
        student: who.
        clones: their repositories.
        scratch: makes a folder for what is written, and returns it.

    Raises:
        OSError: when a folder cannot be read.
    """
    due = [a.id for a in course.assignments if a.due is not None]
    times: dict[str, Moment] = {}
    for number, (clone, only) in enumerate(clones if due else ()):
        try:
            repository = opened(clone, scratch() / "times" / student.id / f"{number}.git")
            if repository is None:
                continue
            for id_ in due if only is None else {only.id} & {*due}:
                commits = repository.commits(_below(clone, id_))
                if commits:
                    times[id_] = Moment(commits[-1].at, BY_GIT)
        except UsageError as error:
            why = (
                f"{student.id}: nothing is taken for late, because no commits can be read: {error}"
            )
            return student, why
    return replace(student, times=tuple(times.items())), ""
