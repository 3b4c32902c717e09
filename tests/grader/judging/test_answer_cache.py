"""Tests of the answer cache: what is remembered of other students never changes a verdict."""

from contextlib import closing
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import pytest
from golden_results import timeless

from grader.course.course import Limits, load_course
from grader.judging.answer_cache import MOST_FILES, MOST_WAYS, AnswerCache, AnswerCacheSession
from grader.judging.results import to_json
from grader.judging.run import Check
from grader.judging.submission_grader import full_grader
from grader.sandbox.stream import Raw
from grader.sandbox.wire import Frame
from grader.sessions.base import AsksOtherwise
from grader.sessions.child import TimeLeft

RIGHT = "def scores(queries, keys):\n    return queries @ keys.T / keys.shape[-1] ** 0.5\n"
COUNTS = """
calls = 0

def scores(queries, keys):
    global calls
    calls += 1
    print("call", calls)
    {}
    return queries @ keys.T / keys.shape[-1] ** 0.5
"""
MIXTURE = f"""
import torch
from torch import nn

{RIGHT}

class Mixture(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (
            nn.Linear(d_in, d_out, bias=False) for _ in range(3)
        )

    def forward(self, x):
        return torch.softmax(scores(self.W_query(x), self.W_key(x)), -1) @ self.W_value(x)
"""
STUDENTS = {
    "right": RIGHT,
    "right in other words": "import torch\n\ndef scores(q, k):\n    return q.matmul(k.t()) / k.size(1) ** 0.5\n",
    "other last bits": RIGHT.replace("0.5\n", "0.5 * (1 + 3e-7)\n"),
    "wrong": RIGHT.replace("** 0.5", ""),
    "wrong for squares": RIGHT.replace("** 0.5", "** (0.5 if len(queries) != len(keys) else 1)"),
    "prints": COUNTS.format("pass"),
    "prints and is wrong later": COUNTS.format("keys = keys * (1 if calls < 3 else 2)"),
    "changes its inputs": COUNTS.format("queries *= 1 if calls < 2 else 3"),
    "ends midway": COUNTS.format("import os; os._exit(5) if calls == 3 else None"),
    "ends at once": COUNTS.format("import os; os._exit(5)"),
    "hangs midway": COUNTS.format("while calls == 3: pass"),
    "raises midway": COUNTS.format("1 / (calls - 3)"),
    "returns nothing midway": COUNTS.format("if calls == 3: return None"),
    "right, once more": f"# again\n{RIGHT}",
    "a class": MIXTURE,
    "a class that takes its sizes in another order": MIXTURE.replace(
        "d_in, d_out):", "d_out, d_in):"
    ),
    "a class that stands below another one": MIXTURE.replace(
        "class Mixture",
        "class Mixture(nn.Module):\n    def __init__(self):\n        pass\n\n\nclass Mixture",
    ),
}


@pytest.fixture
def course(root):
    """The tiny course, with little time for a request."""
    made = load_course(root / "tests" / "example_course")
    return replace(made, limits=Limits(request_seconds=1.5, load_seconds=10))


@pytest.fixture
def verdict(graded, temporary_folder):
    """Grades a text; the whole record but for durations and the submission's hash."""
    return lambda bench, text: timeless(to_json(graded(bench, text)[0]))


def forgetful(bench):
    """The same bench, remembering nothing."""
    return replace(bench, answers=AnswerCache())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "others"),
    [
        pytest.param("right", [*STUDENTS][2::3], id="some"),
        *(
            pytest.param(first, [*STUDENTS], id=first, marks=pytest.mark.proof)
            for first in ("right", "other last bits", "prints")
        ),
    ],
)
def test_what_others_answered_changes_no_verdict(bench, verdict, first, others):
    """Each student after a right one, and after all the others: as if they were the first."""
    verdict(bench, STUDENTS[first])
    for name in others:
        text = STUDENTS[name]
        assert verdict(bench, text) == verdict(forgetful(bench), text), name


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        pytest.param([*STUDENTS][6::2], id="some"),
        pytest.param([*STUDENTS], id="all", marks=pytest.mark.proof),
    ],
)
def test_what_is_asked_ahead_changes_no_verdict(bench, verdict, names):
    """Each student as if every check asked by itself; who counts calls sees the same number."""
    for name in names:
        text = STUDENTS[name]
        alone = verdict(replace(forgetful(bench), expected=None), text)
        assert verdict(forgetful(bench), text) == alone, name


def test_right_answers_are_judged_once(bench, verdict, monkeypatch):
    """The second student's answers are known, and no check runs on them."""
    verdict(bench, STUDENTS["right"])
    ran, run = [], Check.run

    def listen(check, *given):
        ran.append(check.title)
        return run(check, *given)

    monkeypatch.setattr(Check, "run", listen)
    verdict(bench, STUDENTS["right, once more"])
    assert ran == [
        # A remark, which does not pass.
        "Keys that are longer than queries are refused with a ValueError.",
        "There is a weight for each score.",
        "Two tokens of size two have two mixtures of size three.",
    ]


def test_a_check_that_asks_something_else_runs_from_its_start(course_copy, verdict):
    """Its questions depend on more than replies: each student is judged as if alone."""
    path = course_copy / "tests" / "checks" / "01_scores" / "test_visible.py"
    text = path.read_text("utf-8")
    old = "queries, keys = draw.normal(3, 5), draw.normal(3, 5)"
    assert old in text
    new = "import torch\n\n        queries, keys = torch.randn(3, 5), torch.randn(3, 5)"
    path.write_text(text.replace(old, new), "utf-8")
    with closing(full_grader(load_course(course_copy), "3")) as bench:
        for name in ("right", "wrong", "prints"):
            again, alone = (verdict(b, STUDENTS[name]) for b in (bench, forgetful(bench)))
            assert outcomes_of(again) == outcomes_of(alone), name
            assert not again["undecided"]


def outcomes_of(record):
    """How each check ended; what is said names what was drawn."""
    exercises = [e for a in record["assignments"] for e in a["exercises"]]
    return {check["id"]: check["outcome"] for e in exercises for check in e["checks"]}


# What is kept is bounded.


@dataclass
class Child:
    """A child session that gives these replies, each to a request of its own."""

    replies: tuple
    generation: int = 1
    time_left: TimeLeft = field(default_factory=lambda: TimeLeft(100.0, 1000.0))
    limits: Limits = field(default_factory=Limits)
    asked: list = field(default_factory=list)
    restarts: int = 0

    @property
    def numbering(self):
        """Processes that were restarted do not count."""
        return self.generation - self.restarts

    def encode(self, frame, seconds):
        """The request of a frame."""
        return b"request %d" % frame.header["number"], seconds

    def decode(self, reply):
        """The reply as a frame."""
        return Frame({"reply": reply})

    def restart(self):
        """A new process."""
        self.generation += 1
        self.restarts += 1

    def exchange(self, request, seconds):
        """Reply as always."""
        del seconds
        self.asked.append(request)
        return Raw(b"%d" % self.replies[int(request.split()[1])], b"")


def session(cache, *replies, **state):
    """A session over a child with these replies."""
    return AnswerCacheSession(Child(replies, **state), cache)


def keep(cache, check, file, end, *replies, **state):
    """Run a check that asks for all these replies and passes."""
    made = session(cache, *replies, **state)
    assert made.begin(check, file) is None
    for number in range(len(replies)):
        made.ask(Frame({"verb": "get", "number": number}), 1.0)
    assert len(made.inner.asked) == len(replies)
    made.conclude(end)


def known(cache, check, file, *replies, **state):
    """What a check ends in with these replies, where that is known."""
    return session(cache, *replies, **state).begin(check, file)


END = SimpleNamespace(what="passed")


@pytest.fixture
def cache():
    """Nothing is remembered yet."""
    return AnswerCache()


def test_known_answers_end_as_they_did(cache):
    """All of them; not a part, and not others; another way to pass is kept beside the first."""
    other = SimpleNamespace(what="passed otherwise")
    keep(cache, "check", "file", END, 1, 2, 3)
    keep(cache, "check", "file", other, 1, 5, 3)
    assert known(cache, "check", "file", 1, 2, 3) is END
    assert known(cache, "check", "file", 1, 5, 3) is other
    assert known(cache, "check", "file", 1, 2, 4) is None
    assert known(cache, "check", "other", 1, 2, 3) is None
    assert known(cache, "other", "file", 1, 2, 3) is None


def test_nothing_is_left_of_what_was_asked_for_another(cache):
    """A check that asks otherwise runs in a process of its own, and what it hears is not kept."""
    keep(cache, "check", "file", END, 1, 2)
    made = session(cache, 1, 5, 6)
    assert made.begin("check", "file") is None
    made.ask(Frame({"verb": "get", "number": 0}), 1.0)
    with pytest.raises(AsksOtherwise):
        made.ask(Frame({"verb": "get", "number": 2}), 1.0)
    made.restart()
    assert made.inner.generation == 2
    assert made.ask(Frame({"verb": "get", "number": 2}), 1.0).header["reply"].header == b"6"
    made.conclude(SimpleNamespace(what="passed otherwise"))
    assert known(cache, "check", "file", 1, 5, 6) is None
    assert known(cache, "check", "file", 1, 2) is END


def test_a_check_that_asks_less_than_was_known_is_not_kept(cache):
    """What it would have heard is not what it heard."""
    keep(cache, "check", "file", END, 1, 2)
    made = session(cache, 1, 5)
    assert made.begin("check", "file") is None
    made.ask(Frame({"verb": "get", "number": 0}), 1.0)
    made.conclude(SimpleNamespace(what="passed otherwise"))
    assert known(cache, "check", "file", 1, 5) is None


@pytest.mark.parametrize("state", [{"generation": 2}, {"time_left": TimeLeft(9.0, 1000.0)}])
def test_nothing_is_known_of_a_process_after_the_first_or_in_a_hurry(cache, state):
    """Neither kept nor used: what is asked then depends on what happened before."""
    keep(cache, "check", "file", END, 1, **state)
    assert cache.ways.get("check", {}) == {}
    keep(cache, "check", "file", END, 1)
    assert known(cache, "check", "file", 1, **state) is None


def test_only_so_many_ways_are_kept(cache):
    """However many students answer differently, memory is bounded."""
    for answer in range(3 * MOST_WAYS):
        keep(cache, "check", "file", END, answer, answer)
    found = [n for n in range(3 * MOST_WAYS) if known(cache, "check", "file", n, n)]
    assert found == list(range(MOST_WAYS))


def test_only_so_many_files_are_kept(cache):
    """However many names students give their files."""
    for number in range(3 * MOST_FILES):
        keep(cache, "check", f"file {number}", END, 1)
    assert list(cache.ways["check"]) == [f"file {number}" for number in range(MOST_FILES)]
