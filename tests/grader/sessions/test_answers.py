"""Tests of what student code may ask back: about exercises that are judged, and only so much."""

import pytest

from grader.course.course import Limits
from grader.sandbox.wire import Frame, Packer
from grader.sessions import answers
from grader.sessions.answers import Answers
from grader.sessions.base import failed
from grader.sessions.child import ChildSession

RIGHT = "def one(x):\n    return 2 * x\n\n\ndef secret(x):\n    return 4 * x\n"
WRONG = """
def one(x):
    return x


def both(x):
    return one(x) + one(x)


def forged(name, x):
    import gc, types
    from grader.sandbox.loader import Loader
    ask = next(o.ask for o in gc.get_objects() if isinstance(o, Loader))
    from grader.sandbox.wire import Frame
    header = {"verb": "back", "name": name, "args": [x], "kwargs": {}, "state": {"dict": []}, "of": None}
    return ask(Frame(header)).header["failure"]["message"]


def often(x):
    for _ in range(5):
        one(x)
    return x
"""


class Solutions:
    """A session that notes what it is asked, and gives one reply."""

    def __init__(self, reply):
        self.reply, self.asked = reply, []

    def ask(self, frame, seconds):
        """The one reply."""
        self.asked.append(frame.header)
        return self.reply


ONE = Frame({"value": 1})


def made(reply=ONE):
    """Answers about one name."""
    return Answers(Solutions(reply), {"one": "first.py"}, {}, 5.0)


def message(frame):
    """Why nothing was answered."""
    return frame.header["failure"]["message"]


def test_only_the_names_that_are_judged_are_answered():
    """Whatever else a question asks for, the solutions never hear of it."""
    found = made()
    for name in ("two", None, ["one"], "one.__class__"):
        reply = found.to(Frame({"verb": "back", "name": name}))
        assert message(reply) == "nothing is answered of this name"
    assert (found.solutions.asked, found.asked) == ([], set())


def test_a_question_is_handed_on_in_its_known_parts_alone():
    """Neither the verb nor the file is the student's to choose."""
    found = made()
    header = {"verb": "back", "name": "one", "args": [1], "source": "x.py", "class": 1, "seed": 3}
    assert found.to(Frame(header)).header == {"value": 1}
    asked = {"verb": "answer", "source": "first.py", "name": "one", "args": [1]}
    assert found.solutions.asked == [asked]


def test_a_request_may_ask_so_often_and_so_much(monkeypatch):
    """Then nothing is answered until the next request begins."""
    monkeypatch.setattr(answers, "MOST_QUESTIONS", 2)
    monkeypatch.setattr(answers, "MOST_BYTES", 10)
    found = made()
    found.begin()
    question = Frame({"name": "one"})
    replies = [found.to(question) for _ in range(3)]
    assert ["value" in reply.header for reply in replies] == [True, True, False]
    found.begin()
    assert message(found.to(Frame({"name": "one"}, bytes(11)))) == "too much was asked"
    found.begin()
    assert found.to(question).header == {"value": 1}


@pytest.mark.parametrize("reply", [failed("timeout", "slow"), Frame({"value": 1}, bytes(2**27))])
def test_where_the_solutions_give_no_answer_the_question_fails(reply):
    """What failed there stays there."""
    assert message(made(reply).to(Frame({"name": "one"}))) == "it could not be answered"


@pytest.fixture
def ask_student(submit, warm_parent):
    """Calls a function of a submission whose `one` is answered from outside."""
    sessions = []

    def call(name, *args):
        right, wrong = submit({"first.py": RIGHT}), submit({"mine.py": WRONG})
        solutions = ChildSession(warm_parent, right, Limits())
        files, parameters = {"one": "first.py"}, {"mine.py": {"one": ["x"]}}
        found = Answers(solutions, files, parameters, 5.0)
        session = ChildSession(warm_parent, wrong, Limits()).apart(found)
        sessions.extend([session, found])
        packer = Packer()
        header = {"verb": "call", "source": "mine.py", "name": name, "kwargs": {}}
        header["args"] = [packer.pack(value) for value in args]
        return session.ask(Frame(header, packer.payload()), 20.0).header, found

    yield call
    for session in sessions:
        session.close()


def test_the_students_code_calls_what_is_answered(ask_student):
    """Where it looks the name up; it is noted that it did."""
    reply, found = ask_student("both", 3)
    assert (reply["value"], found.asked) == (12, {"one"})


def test_a_forged_question_about_another_name_is_refused(ask_student):
    """Also one that the student's code sends past what stands for its own."""
    reply, found = ask_student("forged", "secret", 3)
    assert (reply["value"], found.asked) == ("nothing is answered of this name", set())


def test_who_asks_without_end_is_out_of_time(ask_student, monkeypatch):
    """As any loop that never ends, and not by an exception of whatever was asked for."""
    monkeypatch.setattr(answers, "MOST_QUESTIONS", 3)
    reply, _found = ask_student("often", 3)
    assert reply["failure"]["kind"] == "timeout"
