"""That the attacks have teeth: without a seal, and as an ordinary user."""

import os
import pwd
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("each alone")

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@pytest.fixture
def launcher(unsealed):
    """No seal."""
    return unsealed


def test_without_a_seal_the_same_attempts_succeed(attempt):
    """What harms nobody is tried in the open; every attempt here is refused elsewhere."""
    score, lost, reason = attempt(
        """
        import socket

        CHILDREN = []


        def fork():
            if os.fork() == 0:
                os._exit(0)
            os.wait()


        TRIED = {
            "read": lambda: open(CANARY).read(),
            "list": lambda: os.listdir(COURSE),
            "look into others": lambda: open(f"/proc/{GRADER}/maps").read(1),
            "socket": lambda: socket.socket().close(),
            "signal": lambda: os.kill(GRADER, 0),
            "fork": fork,
            "mode": lambda: os.chmod(OUTSIDE, 0o777),
            "watch": lambda: os.close(call("inotify_init1", 0)),
        }
        ATTEMPTS = {"all": lambda: None}
        missed = sorted(set(TRIED) - set(what_succeeds(TRIED)))
        assert not missed, missed
        """
    )
    assert (score, lost, reason) == (
        5,
        {"double": "failed blocked blocked"},
        "raised AssertionError",
    )


# As an ordinary user, where these tests run as root.

FILES = sorted(map(str, {*HERE.glob("test_*.py")} - {Path(__file__)}))


@pytest.mark.long
@pytest.mark.proof
def test_every_attack_on_an_ordinary_user_fails_as_well():
    """Where these tests do not run as root, all of them are such a run."""
    if os.geteuid() != 0:
        return
    nobody = pwd.getpwnam("nobody")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        ran = subprocess.run(
            [
                *(sys.executable, str(HERE / "as_nobody.py")),
                *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
                *("--basetemp", f"{folder}/base", *FILES),
            ],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "HOME": folder, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-1000:]
