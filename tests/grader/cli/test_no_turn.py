"""What a busy machine keeps from being judged is called so everywhere, and not a fault of the grader."""

import json

import pytest

from grader.sandbox.wire import decode_header, split
from grader.sessions.child import ChildSession
from grader.sessions.stopwatch import NotScheduled
from tests.grader.cli.conftest import scores

WORDS = "not judged: the computer was busy"
SENTENCE = "This was not judged: the computer was busy, and your code got no turn. Run it again."
FAULT = "grader failed"


@pytest.fixture
def crowded(monkeypatch):
    """A machine so busy that no student's function gets a turn; answers how it becomes quiet."""
    real = ChildSession._timed

    def timed(session, request, seconds):
        verbs = {decode_header(header)["verb"] for header, _payload in split(request)}
        if verbs & {"call", "batch"} and session.submission.student in ("ada", "me"):
            raise NotScheduled
        return real(session, request, seconds)

    monkeypatch.setattr(ChildSession, "_timed", timed)
    return lambda: monkeypatch.setattr(ChildSession, "_timed", real)


def test_a_student_is_told_that_the_computer_was_busy(grader, work, crowded):
    """By `check`, which says to run it again."""
    ran = grader("check", "scores", "--submission", work("ada", scores="right"))
    said = " ".join(ran.out.split())
    assert ran.code == 3
    assert (WORDS in said, SENTENCE in said, FAULT in said) == (True, True, False)
    assert said.endswith("A check could not be judged: the score is undecided.")


def test_a_class_is_undecided_because_the_computer_was_busy(grade, work, crowded, out):
    """On the screen, in the table, in records and on pages; the same command grades it again."""
    work("ada", scores="right")
    reports = [word for name in ("html", "junit", "github", "csv") for word in ("--report", name)]
    ran = grade(*reports)
    assert (ran.code, ran.lines[-1]) == (3, "UNDECIDED, the computer was busy: ada")
    assert scores(out) == {"ada": "undecided"}
    record = json.loads((out / "results" / "ada.json").read_text("utf-8"))
    (first, *_others) = record["assignments"][0]["exercises"][0]["checks"]
    assert (first["outcome"], first["message"]) == ("no_turn", SENTENCE)
    texts = [
        path for path in out.rglob("*") if path.suffix in (".html", ".json", ".md", ".xml", ".csv")
    ]
    said = {path.relative_to(out).as_posix(): path.read_text("utf-8") for path in texts}
    assert [name for name, text in said.items() if FAULT in text or "grader itself" in text] == []
    for name in ("reports/html/index.html", "reports/html/students/ada.html"):
        assert WORDS in said[name]
    assert SENTENCE in said["reports/html/students/ada.html"]
    crowded()
    ran = grade(*reports)
    assert (ran.code, "UNDECIDED" in ran.out) == (0, False)
