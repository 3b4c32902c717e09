"""Tests of the terminal: encodings that lack signs, no colour, eighty columns, a pipe."""

import errno
import io
import os
import re
import subprocess
import sys
from unittest.mock import Mock

import pytest
from made_results import assignment, check, exercise
from rich.cells import cell_len

from grader.cli import app, shared
from grader.cli.render import print_assignment
from grader.cli.view import STYLES, console
from grader.core.records import Outcome
from grader.course.course import load_course
from grader.progress.progress import read_progress
from grader.progress.store import Memory

ENCODINGS = ["utf-8", "cp1252", "cp437", "cp850", "ascii"]
COMMANDS = [["status", "--all"], ["hint", "01_scores/scores", "--all"], ["hint", "scores_"], []]
PIPES = [
    pytest.param(
        arguments,
        encoding,
        id=f"{' '.join(arguments) or 'grader'}-{encoding}",
        marks=() if place == number % len(COMMANDS) else pytest.mark.proof,
    )
    for number, encoding in enumerate(ENCODINGS)
    for place, arguments in enumerate(COMMANDS)
]
"""Every encoding with one of the commands; the proof has them with all."""

COLOUR = re.compile(r"\x1b\[(?:[0-9]+;)*(?:3[0-7]|4[0-7]|9[0-7])[;m]")


@pytest.fixture
def stream(monkeypatch):
    """Has standard output write in an encoding; answers what was written in it."""

    def make(encoding):
        raw = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding, newline="\n"))
        shared.fit_streams()

        def written():
            sys.stdout.flush()
            return raw.getvalue().decode(encoding)

        return written

    return make


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("utf-8", "✓ · ✗ → … – √d × é 注 █"),
        ("cp1252", "+ · x -> … – sqrt d × é ? #"),
        ("cp437", "+ · x -> ... - √d x é ? █"),
        ("ascii", "+ . x -> ... - sqrt d x e ? #"),
    ],
)
def test_a_sign_that_an_encoding_lacks_becomes_one_that_says_the_same(stream, encoding, shown):
    """It neither fails nor turns into a question mark."""
    written = stream(encoding)
    shared.echo("✓ · ✗ → … – √d × é 注 █")
    assert written() == f"{shown}\n"


def test_signs_stay_apart_in_ascii():
    """No two of them become the same."""
    signs = set(STYLES)
    assert len({shared.plain(sign) for sign in signs}) == len(signs)
    assert all(len(shared.plain(sign)) == 1 for sign in signs)


def test_only_encoding_has_its_signs_replaced():
    """What cannot be decoded is an error as usual."""
    shared.fit_streams()
    with pytest.raises(UnicodeDecodeError):
        b"\xff".decode("ascii", shared.REPLACED_ERRORS)


@pytest.fixture
def checked(grader, own, folder):
    """A copy whose work has been checked: something right, something wrong."""
    own(scores="unscaled")
    grader("check")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "encoding"), PIPES)
def test_commands_write_in_the_encoding_of_a_pipe(checked, encoding, arguments):
    """All that is written can be read in it, in lines of at most eighty columns."""
    done = subprocess.run(
        [sys.executable, "-m", "grader.cli", *arguments],
        capture_output=True,
        cwd=checked,
        env={**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": "80"},
        timeout=60,
        check=False,
    )
    out, err = done.stdout.decode(encoding), done.stderr.decode(encoding)
    assert done.returncode == (2 if arguments[-1:] == ["scores_"] else 0)
    assert "\x1b" not in out + err
    assert "Traceback" not in err
    assert "?" not in out.replace("fit?", "")  # the hint's own
    assert [line for line in out.splitlines() if cell_len(line) > 80] == []


def show(folder, monkeypatch, **environment):
    """The known work as a terminal of eighty columns is shown it."""
    for name in ("NO_COLOR", "TERM", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"COLUMNS": "80", **environment}.items():
        monkeypatch.setenv(name, value)
    course = load_course(folder)
    now = read_progress(course, Memory(folder))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    screen = console()
    with screen.capture() as shown:
        for assignment in now.shown(course.exercises.values()):
            print_assignment(screen, assignment)
    return shown.get()


def test_a_terminal_has_colours_where_it_says_so(checked, monkeypatch):
    """`NO_COLOR` is obeyed; a plain terminal is sent no escapes, and no line that it would break."""
    assert COLOUR.search(show(checked, monkeypatch, TERM="xterm-256color"))
    assert not COLOUR.search(show(checked, monkeypatch, TERM="xterm-256color", NO_COLOR="1"))
    plain = show(checked, monkeypatch, TERM="dumb")
    assert "\x1b" not in plain
    assert max(map(cell_len, plain.splitlines())) <= 80


def test_nothing_is_said_by_colour_alone(monkeypatch, capsys):
    """Without colours every outcome still reads differently."""
    monkeypatch.setenv("TERM", "dumb")
    told = {}
    for outcome in Outcome:
        score = int(outcome in (Outcome.PASSED, Outcome.REMARK))
        one = exercise("01_a/b", score, 1, check("01_a/b::visible::test", outcome, "Why."))
        print_assignment(console(), assignment("01_a", one, score=None))
        told[outcome] = capsys.readouterr().out
    assert len(set(told.values())) == len(told)


class Closed(io.StringIO):
    """A pipe whose reader has ended, as `head -1` does."""

    def write(self, text):
        """Write nothing."""
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")


def test_a_pipe_that_nobody_reads_is_no_fault(monkeypatch, capsys):
    """The command ends without a word."""
    monkeypatch.setattr(sys, "stdout", Closed())
    with pytest.raises(SystemExit) as ended:
        app.cli.main(["schema", "result"])
    assert ended.value.code == 1
    assert capsys.readouterr().err == ""


def test_a_pipe_of_the_graders_own_that_breaks_is_told(grader, monkeypatch):
    """Where somebody reads what is said, it is a fault of the grader."""
    broken = Mock(side_effect=BrokenPipeError(errno.EPIPE, "Broken pipe"))
    monkeypatch.setattr("grader.cli.status.what_next", broken)
    assert "The grader itself failed: BrokenPipeError" in grader("status").err
