"""Tests of `grader check`: what a student reads, and what it exits with."""

import json

import pytest

NOT_SCALED = "def scores(queries, keys):\n    return queries @ keys.T\n"

STUBS = """\
01_scores  assignments/01_scores/scores.py
  · scores                           0 / 2  not attempted yet

02_mixture  assignments/02_mixture/mixture.py
  · weights                          0 / 1  not attempted yet
  · Mixture                          0 / 3  not attempted yet

0 of 6 points, 0 of 7 checks passed.
Next: scores, in assignments/01_scores/scores.py:22
"""

RIGHT = """\
01_scores  ../class/mine/scores.py
  ✓ scores                           2 / 2
      ~ Keys that are longer than queries are refused with a ValueError.  (remark)

02_mixture  ../class/mine/mixture.py
  ✓ weights                          1 / 1
  ✓ Mixture                          3 / 3

6 of 6 points, 7 of 7 checks passed.
"""

MISTAKEN = """\
01_scores  ../class/mine/scores.py
  ✗ scores                         0.8 / 2  1 of 3 checks; wrong steps
      → This looks like a known mistake:
        The scores are not scaled.  (scores-not-scaled)
        What happens to a score when keys get longer?
      ✗ The scores are the document's.
          scores(tensor([[ 1.0000, 0.5000], [-0.5000, 2.0000]]), tensor([[ 0.5000, 1.0000], [
          1.5000, -1.0000], [ 0.2500, 0.7500]]))
          The result: 6 of 6 values differ, the first at query 0, key 0: expected 0.7071, received
          1.0000.
        expected                    received
              0       1       2           0       1       2
      0[ 0.7071] 0.7071  0.4419    [ 1.0000] 1.0000  0.6250
      1  1.2374 −1.9445  0.9723      1.7500 −2.7500  1.3750
      [ ] first difference: query 0, key 0
          Every value is 1.414 times the expected one, the square root of 2.
          1 more check fails, too, perhaps for this reason alone.
      ~ Keys that are longer than queries are refused with a ValueError.  (remark)

0.8 of 2 points, 1 of 3 checks passed.
Next: scores, in ../class/mine/scores.py:1
"""


# What is checked, and what comes of it.


def test_stubs_are_not_attempted_yet(grader):
    """Without a target everything is checked, in `assignments/`; not all passed: 1."""
    ran = grader("check")
    assert (ran.code, ran.out, ran.err) == (1, STUBS, "")


def test_right_answers_pass(grader, work):
    """All passed: 0, although a remark stands there; files may lie flat in a folder."""
    ran = grader("check", "--submission", work(scores="right", mixture="right"))
    assert (ran.code, ran.lines, ran.err) == (0, RIGHT.splitlines(), "")


def test_a_known_mistake_is_named(grader, work):
    """With what was called, expected and received, and the question that leads out."""
    ran = grader("check", "01", "--submission", work(scores=NOT_SCALED))
    assert (ran.code, ran.lines, ran.err) == (1, MISTAKEN.splitlines(), "")


def test_all_that_every_check_says_is_shown_where_it_is_asked_for(grader, work):
    """What each was called with, too, and the picture of each."""
    ran = grader("check", "01", "--verbose", "--submission", work(scores=NOT_SCALED))
    assert ran.out.count("[ ] first difference") == 2
    assert ran.out.count("torch.manual_seed(") == 1
    assert "Every value is 2.236 times the expected one, the square root of 5." in ran.out


def test_an_unknown_mistake_is_not_named(grader, work):
    """The student is told how to get a hint, once and last."""
    wrong = "def scores(queries, keys):\n    return queries @ keys.T * 7\n"
    ran = grader("check", "01", "--submission", work(scores=wrong))
    assert ran.code == 1
    assert ran.lines[-4:-2] == ["      When stuck: `grader hint scores`", ""]
    assert ran.out.count("When stuck") == 1


TWO_REMARKS = """\
    def test_it_is_quick(self, student):
        \"\"\"It should be quick.\"\"\"
        student.call("scores", [[1.0, 2.0]], [[1.0, 2.0]])

    @pytest.mark.remark
    def test_it_is_general(self, student):
        \"\"\"It should be general.\"\"\"
        student.call("scores", 7, [[1.0, 2.0]])

    @pytest.mark.remark
    def test_keys_of_another_size"""


def test_a_remark_is_not_made_on_what_did_not_run(grader, edit, work):
    """The exception that fails a check ended it, too; another one of its own still counts."""
    remarks = "tests/checks/01_scores/test_visible.py"
    edit(remarks, "    def test_keys_of_another_size", TWO_REMARKS)
    wrong = """\
def scores(queries, keys):
    if len(queries) != 2:
        raise KeyError(keys)
    return queries @ keys.T / 2**0.5
"""
    told = grader("check", "scores", "--submission", work(scores=wrong))
    assert (told.err, told.code) == ("", 1)
    assert "It raised KeyError" in told.out
    assert "It should be quick." not in told.out
    assert "~ It should be general.  (ended by TypeError)" in told.out


def test_a_file_that_is_no_text_is_told(grader, work):
    """What is wrong with it, and what to do."""
    folder = work("mine")
    (folder / "scores.py").write_bytes(bytes(100))
    assert grader("check", "01", "--submission", folder).lines == [
        "01_scores  ../class/mine/scores.py",
        "  scores.py cannot be read: it is not text in UTF-8, CP1252; open it, and save it again as UTF-8.",
        "",
        "Not all of your work could be read: the score is undecided.",
    ]


def test_an_exercise_that_waits_says_for_which(grader, edit):
    """As data, in words and with the sign of what is still open; places lead to it."""
    stub = 'raise NotImplementedError("02_mixture/Mixture: not attempted yet")'
    edit("assignments/02_mixture/mixture.py", stub, "weights(torch.ones(2))")
    assert grader("check", "Mixture").lines == [
        "02_mixture  assignments/02_mixture/mixture.py",
        "  · Mixture                          0 / 3  waiting for weights",
        "      It needs 02_mixture/weights, which is not written yet.",
        "",
        "0 of 3 points, 0 of 2 checks passed.",
        "Next: Mixture, in assignments/02_mixture/mixture.py:30",
    ]
    data = grader("check", "Mixture", "--format", "json").out
    assert '"waits_for": "02_mixture/weights"' in data


def test_a_single_file_can_be_checked(grader, work):
    """An import of another assignment's file finds nothing, and only what uses it fails."""
    path = work(mixture="right") / "mixture.py"
    assert grader("check", "weights", "--submission", path).lines == [
        "02_mixture  ../class/mine/mixture.py",
        "  ✓ weights                          1 / 1",
        "",
        "1 of 1 points, 2 of 2 checks passed.",
    ]


def test_the_result_comes_as_json(grader, work):
    """The same record as that of `grader grade`, for scripts."""
    ran = grader("check", "01", "--format", "json", "--submission", work(scores=NOT_SCALED))
    assert (ran.code, ran.err) == (1, "")
    found = json.loads(ran.out)
    assert (found["format"], found["student"]) == ("grader-kit/result/3", "me")
    assert (found["score"], found["max_score"], found["submitted"]) == (0.8, 2, True)
    (exercise,) = found["assignments"][0]["exercises"]
    assert exercise["misconceptions"] == ["scores-not-scaled"]
    outcomes = [check["outcome"] for check in exercise["checks"]]
    assert outcomes == ["passed", "failed", "failed", "remark"]


def test_with_debug_what_student_code_prints_is_shown(grader, work):
    """It runs in this process, so that `breakpoint()` works, too."""
    chatty = "def weights(raw):\n    print('look', tuple(raw.shape))\n    return raw.softmax(-1)\n"
    work(mixture=chatty)
    ran = grader("check", "weights", "--debug", "--submission", work())
    assert (ran.code, ran.err) == (0, "")
    assert ran.lines[:4] == [
        "look (2, 3)",
        "look (4, 3)",
        "02_mixture  ../class/mine/mixture.py",
        "  ✓ weights                          1 / 1",
    ]


LOOP, CRASH = "while True: pass\n", "import ctypes; ctypes.string_at(0)\n"
COUNTS = "What stands before it counts."
LATE = f"loading took longer than 1.5 seconds and was stopped there. {COUNTS}"
DIED = f"the Python process of your code died of SIGSEGV. {COUNTS}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("above", "below", "code", "told"),
    [
        pytest.param("", LOOP, 0, f"scores.py, line LAST: {LATE}", id="a loop below"),
        pytest.param("", CRASH, 0, f"scores.py, line LAST: {DIED}", id="a crash below"),
        pytest.param(LOOP, "", 1, "Loading your file took too long.", id="a loop above"),
    ],
)
def test_what_stops_a_file_is_told_once(grader, folder, work, edit, above, below, code, told):
    """As a note where everything stands before it, else with each exercise it costs."""
    first = '[[assignments]]\nid = "01_scores"'
    edit("course.toml", first, f"[limits]\nload_seconds = 1.5\n\n{first}")
    right = (folder / "solutions/01_scores/scores.py").read_text("utf-8")
    ran = grader("check", "01", "--submission", work(scores=f"{above}{right}{below}"))
    said = " ".join(ran.out.split())
    told = told.replace("LAST", str(right.count("\n") + 1))
    assert (ran.code, said.count(told), said.count(COUNTS)) == (code, 1, 1 - code)


def test_the_course_may_be_elsewhere(grader, folder, tmp_path, monkeypatch):
    """Where GRADER_COURSE says, and not where the command is run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRADER_COURSE", str(folder))
    assert grader("check").out == STUBS.replace(" assignments/", " course/assignments/")


# What cannot be checked.


def test_a_name_with_an_ending_too_many_is_told_where_nothing_else_is_there(grader, work):
    """Some systems hide it."""
    place = work()
    (place / "01_scores").mkdir(parents=True)
    (place / "01_scores/scores.py.txt").write_text("x = 1\n", "utf-8")
    assert grader("check", "--submission", place).err == (
        f"There is no .py and no .ipynb in {place}. scores.py.txt is not read: its name ends in "
        ".txt. Rename it to scores.py.\n"
    )


def test_a_broken_manifest_is_told_with_every_problem(grader, folder):
    """Each with its place."""
    (folder / "course.toml").write_text('[course]\nprefer = "py"\n', "utf-8")
    ran = grader("check")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines() == [
        "The course has 2 problems:",
        "  course.toml: course.title: missing; a text that is not empty is needed",
        "  course.toml: assignments: missing; at least one [[assignments]] table is needed",
    ]


def test_a_reference_that_fails_leaves_the_score_undecided(grader, work, edit):
    """It exits with 3, and no line of the solution is in the message."""
    edit("solutions/01_scores/scores.py", "queries @ keys.T", "queries @ keys.nothing")
    edit("solutions/01_scores/misconceptions.toml", "queries @ keys.T", "queries @ keys.nothing")
    ran = grader("check", "01", "--submission", work(scores=NOT_SCALED))
    assert (ran.code, ran.err) == (3, "")
    assert ran.lines[1] == "  ! scores                           ? / 2"
    message = " ".join(" ".join(ran.lines).split())
    assert (
        "The grader itself failed on this check: GraderFault: the reference solution of "
        "01_scores/scores failed: AttributeError: 'Tensor' object has no attribute 'nothing'"
    ) in message
    assert "keys.nothing" not in message
    assert ran.lines[-1] == "A check could not be judged: the score is undecided."
