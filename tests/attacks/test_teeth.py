"""That the attacks have teeth: without a seal, and as an ordinary user."""

import os
import pwd
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from promises import promised

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

FILES = sorted(path.name for path in HERE.glob("test_*.py") if path != Path(__file__))
SEALED = "[with_namespaces]"
BARE = "[without_namespaces]"

SAMPLE = {
    "no verdict comes from the student's process": (
        "test_forging.py::test_a_frame_on_every_descriptor_says_nothing",
        "test_patching.py::test_a_servant_that_calls_everything_right_is_not_believed",
    ),
    "expected values, hidden checks, solutions, the roster, other submissions and secrets are out "
    "of its reach": (
        f"test_stealing.py::test_files_outside_cannot_be_read{BARE}",
        f"test_escaping.py::test_an_escape_through_python_itself_finds_the_same_walls{SEALED}",
    ),
    "a submission affects no other": (
        f"test_class_runs.py::test_a_class_with_attackers_in_it_is_graded_to_the_end{SEALED}",
    ),
    "crashing, exiting, hanging, exhausting memory, processes, descriptors, disk or output costs "
    "the exercise concerned, with the reason in words": (
        f"test_resources.py::test_processes_cannot_be_made{BARE}",
        f"test_resources.py::test_disk_is_limited{SEALED}",
    ),
    "time is bounded": (f"test_protocol.py::test_silence_is_a_time_out{BARE}",),
    "no network, no signals to others, no writes outside": (
        f"test_network.py::test_no_socket_reaches_anything{BARE}",
        f"test_escaping.py::test_nobody_else_is_signalled{BARE}",
        f"test_escaping.py::test_nothing_outside_is_changed{SEALED}",
    ),
    "nothing survives the verdict": (
        f"test_class_runs.py::test_nobody_outlives_the_grader{SEALED}",
    ),
    "replies are data, and reports stay well-formed": (
        "test_hostile_text.py::test_links_in_a_submission_are_not_followed",
    ),
    "honest but odd code is not punished": (
        f"test_network.py::test_event_loops_still_work{SEALED}",
    ),
}
"""Attacks that an ordinary user's grader withstands in `make test`, by the promise they test."""


def attacked_as_nobody(*tests: str) -> None:
    """Run attacks as nobody; where these tests do not run as root, all of them are such a run."""
    if os.geteuid() != 0:
        return
    nobody = pwd.getpwnam("nobody")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        ran = subprocess.run(
            [
                *(sys.executable, str(HERE / "as_nobody.py")),
                *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
                *("--basetemp", f"{folder}/base", *(str(HERE / test) for test in tests)),
            ],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "HOME": folder, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-1000:]


def test_the_sample_has_every_promise_that_is_attacked():
    """That nothing falls back silently is promised of the grader, and no attack."""
    assert {*SAMPLE, "no silent fall-back"} == promised(ROOT).keys()


@pytest.mark.slow
def test_a_sample_of_attacks_on_an_ordinary_user_fails_as_well():
    """One or two for each promise."""
    attacked_as_nobody(*(test for tests in SAMPLE.values() for test in tests))


@pytest.mark.proof
@pytest.mark.parametrize("file", FILES)
def test_every_attack_on_an_ordinary_user_fails_as_well(file):
    """All of them, file by file."""
    attacked_as_nobody(file)
