"""Asks git about the objects of a repository, within bounds of time, memory and output."""

import math
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from grader.core.errors import UsageError

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


@dataclass(slots=True)
class Git:
    """Git, which knows one repository of our own, and no settings but ours.

    Args:
        own: the repository.
        left: the processor seconds that it may still use.
    """

    own: Path
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


def _environment() -> dict[str, str]:
    others = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return others | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }
