"""A student's page as a commit on a branch of their repository, made and pushed without a checkout.

Nothing of a hand-in is asked where that repository is: addresses are made from the roster's logins.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader.core.errors import UsageError
from grader.intake.roster import Enrolled

BRANCH = "refs/heads/feedback"
PLACES = ("{login}", "{student}")
NAME = re.compile(r"\w[\w.-]*", re.ASCII)
PROTOCOLS = "https:ssh:git:file"
SECONDS = 60
SETTINGS = ("core.hooksPath=/dev/null", "user.name=Feedback", "user.email=feedback@localhost")


def address_of(template: str, student: Enrolled) -> str:
    """The address of a student's repository; "" where the roster has no login that can be in one.

    Raises:
        UsageError: when all students would have the same one, or git would take it for an option.
    """
    if template.startswith("-") or not any(place in template for place in PLACES):
        raise UsageError(
            f"--repository {template}: write {{login}} where a student's login belongs, as in "
            "https://github.com/school/course-{login}.git."
        )
    names = {"{login}": student.login, "{student}": student.student}
    used = {place: name for place, name in names.items() if place in template}
    if not all(NAME.fullmatch(name) for name in used.values()):
        return ""
    for place, name in used.items():
        template = template.replace(place, name)
    return template


@dataclass(frozen=True, slots=True)
class Pusher:
    """Makes commits in a repository of its own, and pushes each to another one.

    Args:
        folder: the repository, without files.
    """

    folder: Path

    def push(self, address: str, files: Mapping[str, str], message: str) -> str:
        """Make files the newest commit of the branch; why that cannot be, "" where it is done.

        Args:
            address: the repository's.
            files: their texts by name, without folders.
            message: the commit's.
        """
        try:
            there = self._git("ls-remote", "--", address, BRANCH)
            if there:
                self._git("fetch", "--quiet", "--depth=1", "--", address, BRANCH)
            listed = [
                f"100644 blob {self._git('hash-object', '-w', '--stdin', given=text)}\t{name}\n"
                for name, text in sorted(files.items())
            ]
            tree = self._git("mktree", given="".join(listed))
            parents = ["-p", there.split()[0]] if there else []
            commit = self._git("commit-tree", tree, *parents, "-m", message)
            self._git("push", "--quiet", "--", address, f"{commit}:{BRANCH}")
        except subprocess.TimeoutExpired:
            return f"git was not done within {SECONDS} seconds"
        except subprocess.CalledProcessError as error:
            lines = str(error.stderr).strip().splitlines()
            return lines[0] if lines else f"git ended with {error.returncode}"
        return ""

    def _git(self, *arguments: str, given: str | None = None) -> str:
        settings = [word for setting in SETTINGS for word in ("-c", setting)]
        others = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        done = subprocess.run(
            ["git", f"--git-dir={self.folder}", *settings, *arguments],
            input=given,
            stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=SECONDS,
            check=True,
            env=others | {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": PROTOCOLS},
        )
        return done.stdout.strip()


@contextmanager
def pusher() -> Iterator[Pusher]:
    """What pushes pages, with a repository that is there meanwhile.

    Raises:
        UsageError: when git is not installed.
    """
    with tempfile.TemporaryDirectory(prefix="feedback-") as folder:
        made = Pusher(Path(folder))
        try:
            made._git("init", "--quiet", "--bare")
        except FileNotFoundError as error:
            raise UsageError("git is not installed, and only it can push pages.") from error
        yield made
