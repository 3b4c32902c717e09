"""A student's repository over time: the commits that changed their work, and their files then.

Nothing of a student's `.git` is believed but its objects: its settings could name programs to run. So
git reads the objects from an empty repository of our own.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from grader.core.errors import UsageError
from grader.submissions.file_names import FORMS, MOST_FILES
from grader.submissions.payload import MOST_BYTES

MOST_COMMITS = 2_000
MOST_BLOBS = 50_000_000
"""The bytes that the files of one commit may have in all."""
SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
BRANCH = re.compile(r"ref: (refs/[\w./-]+)")
SECONDS = 120


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit on the branch that is checked out: its name, and when it was made."""

    sha: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository that is only read, from an empty one of our own.

    Args:
        own: the empty one.
        head: the commit that is checked out.
    """

    own: Path
    head: str

    def commits(self, below: str = "") -> list[Commit]:
        """The commits that changed something, the first one first; merges count as one.

        Args:
            below: the folder that they changed; any unless given.

        Raises:
            UsageError: when the history cannot be read.
        """
        names = ["--", below] if below else []
        said = self._git(
            *("log", "--first-parent", "--format=%H %cI", f"--max-count={MOST_COMMITS}"),
            *(self.head, *names),
        )
        found: list[Commit] = []
        for line in reversed(said.decode("ascii", "replace").splitlines()):
            sha, _space, text = line.partition(" ")
            at = datetime.fromisoformat(text)
            # A commit comes after the one before it, whatever the machine's clock said.
            found.append(Commit(sha, max(at, found[-1].at) if found else at))
        return found

    def write(self, commit: Commit, below: str, folder: Path) -> bool:
        """Write the scripts and notebooks of a commit; whether there are any.

        Args:
            commit: the commit.
            below: the folder of the repository that holds the work; "" for all of it.
            folder: where to.

        Raises:
            UsageError: when they cannot be read.
        """
        files = [*self._files(commit, below)][:MOST_FILES]
        names = "".join(f"{sha}\n" for sha, _path in files).encode()
        said = self._git("cat-file", "--batch", given=names) if files else b""
        for _sha, path in files:
            head, _line, said = said.partition(b"\n")
            size = int(head.split()[-1])
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(said[:size])
            said = said[size + 1 :]
        return bool(files)

    def _files(self, commit: Commit, below: str) -> Iterator[tuple[str, PurePosixPath]]:
        """The scripts and notebooks of a commit: the name of the content, and where it belongs."""
        tree = f"{commit.sha}:{below}" if below else commit.sha
        room = MOST_BLOBS
        for entry in self._git("ls-tree", "-r", "-z", "--long", tree).split(b"\0"):
            about, _tab, name = entry.partition(b"\t")
            mode, kind, sha, size = [*about.decode("ascii", "replace").split(), "", "", "", ""][:4]
            path = PurePosixPath(os.fsdecode(name))
            is_file = kind == "blob" and mode in ("100644", "100755")
            is_safe = not {"..", ".git"} & {*path.parts} and not path.is_absolute()
            if is_file and is_safe and path.suffix.lower() in FORMS and int(size) < MOST_BYTES:
                room -= int(size)
                if room < 0:
                    return
                yield sha, path

    def _git(self, *arguments: str, given: bytes = b"") -> bytes:
        """What git says about the objects.

        Raises:
            UsageError: when it fails.
        """
        environment = {name: v for name, v in os.environ.items() if not name.startswith("GIT_")}
        environment |= {
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_TERMINAL_PROMPT": "0",
        }
        command = ["git", f"--git-dir={self.own}", "-c", "core.commitGraph=false", *arguments]
        try:
            ran = subprocess.run(
                command, input=given, capture_output=True, env=environment, timeout=SECONDS
            )
        except FileNotFoundError as error:
            raise UsageError("git is not installed, and only it can read a history.") from error
        except subprocess.TimeoutExpired as error:
            raise UsageError(f"git took more than {SECONDS} s to read a history.") from error
        if ran.returncode:
            said = ran.stderr.decode("utf-8", "replace").strip().splitlines()
            raise UsageError(f"git cannot read it: {said[0] if said else ran.returncode}")
        return ran.stdout


def opened(folder: Path, scratch: Path) -> Repository | None:
    """A student's repository, to be read; None where there is none, or nothing was committed.

    Args:
        folder: the clone.
        scratch: where our own empty repository is made.
    """
    inside = folder / ".git"
    if inside.is_symlink() or not (inside / "objects").is_dir():
        return None
    head = _head(inside)
    if head is None:
        return None
    for name in ("objects/info", "refs"):
        (scratch / name).mkdir(parents=True, exist_ok=True)
    (scratch / "HEAD").write_text("ref: refs/heads/none\n", "utf-8")
    objects = str((inside / "objects").resolve())
    (scratch / "objects/info/alternates").write_text(f"{objects}\n", "utf-8")
    if (inside / "shallow").is_file():
        shutil.copyfile(inside / "shallow", scratch / "shallow")
    return Repository(scratch, head)


def _head(inside: Path) -> str | None:
    """The commit that is checked out, read from the files in `.git`."""
    try:
        said = (inside / "HEAD").read_text("utf-8").strip()
        branch = BRANCH.fullmatch(said)
        if branch is None or ".." in said:
            return said if SHA.fullmatch(said) else None
        path = inside / branch[1]
        if path.is_file() and not path.is_symlink():
            said = path.read_text("utf-8").strip()
            return said if SHA.fullmatch(said) else None
        packed = (inside / "packed-refs").read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    shas = (line.partition(" ")[0] for line in packed if line.endswith(f" {branch[1]}"))
    return next((sha for sha in shas if SHA.fullmatch(sha)), None)
