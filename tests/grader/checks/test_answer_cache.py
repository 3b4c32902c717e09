"""Tests of transcripts: what is remembered of other students never changes a verdict."""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import pytest

from grader.checks.answer_cache import MOST_FILES, MOST_WAYS, AnswerCache
from grader.checks.run import CheckRecord
from grader.course.course import Limits, load_course
from grader.grading.results import to_json
from grader.grading.submission_grader import Scope, full_grader, grade
from grader.sandbox.wire import Raw
from grader.sessions.child import ChildSession, Heard
from grader.submissions.submission import read_submission

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
}


@pytest.fixture
def course(root):
    """The tiny course, with little time for a request."""
    made = load_course(root / "tests" / "example_course")
    return replace(made, limits=Limits(request_seconds=1.5, load_seconds=10))


@pytest.fixture
def bench(course):
    """What to grade with."""
    made = full_grader(course, "3")
    yield made
    made.close()


@pytest.fixture
def verdict(course, warm_parent, temporary_folder, tmp_path):
    """Grades a text; the whole record but for durations and the submission's hash."""

    def run(bench, text):
        file = tmp_path / "student" / "scores.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
        submission = read_submission(course, file.parent, "student")
        session = ChildSession(warm_parent, submission, course.limits)
        try:
            record = to_json(grade(bench, submission, session, Scope(course.exercises)))
        finally:
            session.close()
        return timeless(record)

    return run


def timeless(value):
    """A record without durations."""
    if isinstance(value, dict):
        return {key: timeless(part) for key, part in value.items() if key != "duration_s"}
    return [timeless(part) for part in value] if isinstance(value, list) else value


def forgetful(bench):
    """The same bench, remembering nothing."""
    return replace(bench, transcripts=AnswerCache(CheckRecord))


@pytest.mark.slow
@pytest.mark.parametrize(
    "first",
    ["right", *(pytest.param(n, marks=pytest.mark.proof) for n in ("other last bits", "prints"))],
)
def test_what_others_answered_changes_no_verdict(bench, verdict, first):
    """Each student after a right one, and after all the others: as if they were the first."""
    verdict(bench, STUDENTS[first])
    for name, text in STUDENTS.items():
        assert verdict(bench, text) == verdict(forgetful(bench), text), name


def test_right_answers_are_judged_once(bench, verdict, monkeypatch):
    """The second student's answers are known, and no check runs on them."""
    from grader.checks.run import Check

    verdict(bench, STUDENTS["right"])
    ran = []
    run = Check.run

    def listen(check, tools):
        ran.append(check.title)
        return run(check, tools)

    monkeypatch.setattr(Check, "run", listen)
    verdict(bench, STUDENTS["right, once more"])
    assert ran == [
        # A remark, which does not pass.
        "Keys that are longer than queries are refused with a ValueError.",
        "There is a weight for each score.",
        "Two tokens of size two have two mixtures of size three.",
    ]


def test_a_check_that_asks_something_else_for_the_same_answers_is_the_graders_fault(
    folder_of_course, verdict
):
    """Its questions depend on more than the run's seed: what it says is not the student's."""
    course = load_course(folder_of_course)
    bench = full_grader(course, "3")
    try:
        verdict(bench, STUDENTS["right"])
        record = verdict(bench, STUDENTS["wrong"])
    finally:
        bench.close()
    checks = record["assignments"][0]["exercises"][0]["checks"]
    assert [(check["outcome"], check["message"]) for check in checks][2] == (
        "error",
        "The grader itself failed on this check: GraderFault: "
        "a check asks something else when it is given the same answers",
    )
    assert record["undecided"]


@pytest.fixture
def folder_of_course(root, tmp_path):
    """The tiny course, one check of which draws from torch's own generator."""
    import shutil

    folder = tmp_path / "course"
    shutil.copytree(root / "tests" / "example_course", folder)
    path = folder / "tests" / "checks" / "01_scores" / "test_visible.py"
    text = path.read_text("utf-8")
    old = "queries, keys = draw.normal(3, 5), draw.normal(3, 5)"
    assert old in text
    new = "import torch\n\n        queries, keys = torch.randn(3, 5), torch.randn(3, 5)"
    path.write_text(text.replace(old, new), "utf-8")
    return folder


# What is kept is bounded.


@dataclass
class Told:
    """A session in which something was asked and answered."""

    heard: list
    is_first: bool = True
    has_time: bool = True
    limits: Limits = field(default_factory=Limits)

    def listen(self):
        """Keep what was heard."""

    def exchange(self, request, seconds):
        """Answer as before."""
        del seconds
        return next(heard.answer for heard in self.heard if heard.request == request)


def told(*answers, **state):
    """A session with these answers, each to a request of its own."""
    pairs = [
        Heard(b"request %d" % number, Raw(b"%d" % answer, b""))
        for number, answer in enumerate(answers)
    ]
    return Told(pairs, **state)


END = SimpleNamespace(what="passed")


@pytest.fixture
def transcripts():
    """Nothing is remembered yet."""
    return AnswerCache(SimpleNamespace)


def test_known_answers_end_as_they_did(transcripts):
    """All of them; not a part, and not others."""
    transcripts.keep("check", "file", told(1, 2, 3), END)
    assert transcripts.replay("check", "file", told(1, 2, 3)) is END
    assert transcripts.replay("check", "file", told(1, 2, 4)) is None
    assert transcripts.replay("check", "other", told(1, 2, 3)) is None
    assert transcripts.replay("other", "file", told(1, 2, 3)) is None


def test_another_way_to_pass_is_kept_beside_the_first(transcripts):
    """They part where answers differ."""
    other = SimpleNamespace(what="passed otherwise")
    transcripts.keep("check", "file", told(1, 2, 3), END)
    transcripts.keep("check", "file", told(1, 5, 3), other)
    assert transcripts.replay("check", "file", told(1, 2, 3)) is END
    assert transcripts.replay("check", "file", told(1, 5, 3)) is other


@pytest.mark.parametrize("state", [{"is_first": False}, {"has_time": False}])
def test_nothing_is_known_of_a_process_after_the_first_or_in_a_hurry(transcripts, state):
    """Neither kept nor used: what is asked then depends on what happened before."""
    transcripts.keep("check", "file", told(1, **state), END)
    assert transcripts.first.get("check", {}) == {}
    transcripts.keep("check", "file", told(1), END)
    assert transcripts.replay("check", "file", told(1, **state)) is None


def test_only_so_many_ways_are_kept(transcripts):
    """However many students answer differently, memory is bounded."""
    for answer in range(3 * MOST_WAYS):
        transcripts.keep("check", "file", told(answer, answer), END)
    known = [n for n in range(3 * MOST_WAYS) if transcripts.replay("check", "file", told(n, n))]
    assert known == list(range(MOST_WAYS))


def test_only_so_many_files_are_kept(transcripts):
    """However many names students give their files."""
    for number in range(3 * MOST_FILES):
        transcripts.keep("check", f"file {number}", told(1), END)
    assert list(transcripts.first["check"]) == [f"file {number}" for number in range(MOST_FILES)]
