"""Tests of `grader grade`: a class in, results out, and what it exits with."""

import csv
import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

NOT_SCALED = "def scores(queries, keys):\n    return queries @ keys.T\n"


@pytest.fixture
def students(work) -> Path:
    """A class of three: all right, one mistake, an empty folder."""
    work("ada", scores="right", mixture="right")
    work("bo", scores=NOT_SCALED)
    return work("cem").parent


@pytest.fixture
def out(tmp_path) -> Path:
    """Where results go."""
    return tmp_path / "out"


@pytest.fixture
def grade(grader, students, out):
    """Grades the class without a seal and in this process; both are tried elsewhere."""

    def run(*options, submissions=students):
        here = ("--isolation", "process", "--jobs", 1)
        return grader("grade", submissions, "--out", out, *here, *options)

    return run


def rows(out):
    """The scores as written: the header, and a row per student."""
    with (out / "scores.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def record(out, student, folder="results"):
    """A student's record."""
    return json.loads((out / folder / f"{student}.json").read_text("utf-8"))


HEAD = ["student", "score", "max_score"]
HEAD += ["01_scores/scores", "02_mixture/weights", "02_mixture/Mixture"]


def test_a_class_is_graded(grade, out):
    """Whatever the scores, it worked: 0. No submission is no zero."""
    ran = grade()
    assert (ran.code, ran.err) == (0, "")
    assert rows(out) == [
        HEAD,
        ["ada", "6", "6", "2", "1", "3"],
        ["bo", "0.4", "6", "0.4", "0", "0"],
        ["cem", "", "6", "", "", ""],
    ]
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    names = [
        f"{folder}/{who}.json" for folder in ("feedback", "results") for who in ("ada", "bo", "cem")
    ]
    assert files == [*names, "run.jsonl", "scores.csv", "summary.json"]


def test_without_a_seal_it_says_so_loudly(grade, out):
    """On the screen and in every record."""
    said = " ".join(grade().out.split())
    assert said.endswith(
        "NOT SEALED: student code could read files and use the network. "
        f"Isolation: child process, limits. Results are in {out}."
    )
    assert record(out, "ada")["isolation"] == ["child process", "limits"]


def test_the_screen_shows_what_happened_to_each(grade):
    """Scores, shares, the summary and the known mistakes."""
    lines = grade().lines
    cells = [
        [cell.strip() for cell in line.strip("│┃").split("│")] for line in lines if "│" in line
    ]
    assert cells == [
        ["ada", "6", "100%", "3 solved"],
        ["bo", "0.4", "7%", "1 partly right, 2 not handed in; known mistakes: scores-not-scaled"],
        ["cem", "–", "", "nothing was handed in"],
    ]


def test_the_students_copy_keeps_hidden_checks_to_itself(grade, out):
    """Neither what they asked nor what they expected."""
    grade()
    (exercise,) = record(out, "bo", "feedback")["assignments"][0]["exercises"]
    hidden = [check for check in exercise["checks"] if check["visibility"] == "hidden"]
    assert [(check["outcome"], check["message"]) for check in hidden] == [
        ("failed", "This is a hidden check: its inputs are not shown.")
    ]
    assert exercise["misconceptions"] == ["scores-not-scaled"]


def test_a_seed_repeats_a_run(grade, out):
    """The same hidden inputs, the same messages; another seed draws others."""

    def message(seed):
        grade("--seed", seed)
        assert record(out, "bo")["seed"] == str(seed)
        return record(out, "bo")["assignments"][0]["exercises"][0]["checks"][-1]["message"]

    one, other, again = message(7), message(8), message(7)
    assert one == again
    assert one != other


def test_without_a_seed_each_folder_has_its_own(grade, out):
    """A secret that nobody can guess; the folder's next run draws the same inputs."""

    def seed(folder, *options):
        grade("--out", folder, *options)
        return record(folder, "bo")["seed"]

    first = seed(out)
    assert seed(out, "--force") == first
    assert seed(out.with_name("another")) != first


def test_who_is_on_the_roster_and_handed_in_nothing_is_listed(grade, out, tmp_path):
    """And whoever handed in something without being on it is graded as well."""
    roster = tmp_path / "roster.csv"
    roster.write_text("name,student\nAda,ada\nZoe,zoe\n,\n", "utf-8-sig")
    assert grade("--roster", roster).code == 0
    assert [row[:2] for row in rows(out)[1:]] == [
        ["ada", "6"],
        ["bo", "0.4"],
        ["cem", ""],
        ["zoe", ""],
    ]
    summary = json.loads((out / "summary.json").read_text("utf-8"))
    assert (summary["students"], summary["submitted"]) == (4, 2)
    assert summary["not_submitted"] == ["cem", "zoe"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"name;student\nada;x\n", "has no column `student`; its first line has name;student."),
        (b"", "has no column `student`; its first line has nothing."),
        (b"student\n\xff\n", "is not text in UTF-8."),
        (b"student\n../../ada\n", "lists '../../ada', which cannot be a folder's name."),
        (b"student\na/b\n", "lists 'a/b', which cannot be a folder's name."),
        (b"student\n.\n", "lists '.', which cannot be a folder's name."),
        (None, "cannot be read (No such file or directory)."),
    ],
)
def test_a_roster_that_is_none_is_refused(grade, out, tmp_path, content, said):
    """Before anybody is graded; nothing is written, nowhere."""
    roster = tmp_path / "roster.csv"
    if content is not None:
        roster.write_bytes(content)
    ran = grade("--roster", roster)
    assert (ran.code, ran.out, ran.err) == (2, "", f"The roster {roster} {said}\n")
    assert not out.exists()


def test_a_single_file_is_a_class_of_one(grade, out, work):
    """Named after the file."""
    alone = work("alone", scores="right") / "scores.py"
    assert grade(submissions=alone).code == 0
    assert [row[:2] for row in rows(out)[1:]] == [["scores", "2"]]


@pytest.mark.parametrize("name", ["LICENSE", "nothing"])
def test_what_is_neither_a_folder_nor_code_is_refused(grade, out, name):
    """With what is expected."""
    ran = grade(submissions=Path(name))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        f"There is no folder {name}. Give a folder with one folder per student, "
        "or a single .py or .ipynb.\n"
    )
    assert not out.exists()


def test_a_folder_without_students_is_refused(grade, tmp_path):
    """With the tree that is expected."""
    empty = tmp_path / "empty"
    empty.mkdir()
    ran = grade(submissions=empty)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        f"{empty} holds no student's folder. Expected is <student>/<nn_assignment>/<file>; the zip "
        "of a whole class from Canvas or Moodle is read as it is, so give the zip itself.\n"
    )


def test_what_a_run_wrote_is_no_student(grader, students, out):
    """Neither where the submissions are, which is refused, nor in a folder among them."""
    options = ("--isolation", "process", "--jobs", 1)
    ran = grader("grade", students, "--out", students, *options)
    assert (ran.code, ran.err) == (2, f"{students} holds the submissions; give another --out.\n")
    inside = students / "graded"
    for _time in range(2):
        assert grader("grade", students, "--out", inside, *options).code == 0
        assert [row[0] for row in rows(inside)] == ["student", "ada", "bo", "cem"]


def test_points_that_no_longer_add_up_are_told(grade, edit):
    """The class is graded by what the exercises say."""
    edit("course.toml", "points = 6", "points = 7")
    told = "course.toml: points says 7; the exercises add up to 6."
    assert told in " ".join(grade().out.split())


def test_an_assignment_without_a_solution_is_the_courses_fault(grade, out, edit):
    """Before anybody is graded, not as everybody's undecided score."""
    edit("course.toml", "01_scores", "03_scores")
    ran = grade()
    assert ran.code == 2
    assert "the assignment '03_scores' has no solution: there is no solutions/03_scores/" in ran.err
    assert not out.exists()


# A run that goes on from an earlier one.


def done(out):
    """Who was graded, in the order in which it was done, in all runs that the folder saw."""
    lines = [json.loads(line) for line in (out / "run.jsonl").read_text("utf-8").splitlines()]
    return [line["student"] for line in lines if "student" in line]


def test_who_handed_in_nothing_new_is_not_graded_again(grade, out):
    """The class's files are the same, and the screen says how many were unchanged."""
    grade()
    files = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    ran = grade()
    assert ran.lines[0] == "Grading: 3 of 3 students (3 unchanged) done."
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == files


def test_who_handed_in_something_else_is_graded_again(grade, out, work):
    """And nobody else."""
    grade()
    work("bo", scores="right")
    work("dot", scores="right")
    ran = grade()
    assert ran.lines[0] == "Grading: 2 of 4 students (2 unchanged) done."
    assert done(out) == ["ada", "bo", "cem", "bo", "dot"]
    assert [row[:2] for row in rows(out)[1:]] == [
        ["ada", "6"],
        ["bo", "2"],
        ["cem", ""],
        ["dot", "2"],
    ]


def test_who_left_the_class_is_no_longer_told_of(grade, out, students):
    """Their files stay; the class's files are those of the class."""
    grade()
    (students / "cem").rmdir()
    grade()
    assert [row[0] for row in rows(out)[1:]] == ["ada", "bo"]


@pytest.mark.parametrize("option", [("--force",), ("--seed", 5), ("--isolation", "sealed")])
def test_another_way_to_grade_grades_everybody_again(grade, out, option):
    """By force, with other inputs, under another seal."""
    grade("--seed", 4)
    ran = grade("--seed", 4, *option)
    assert ran.lines[0] == "Grading: 0 of 3 students done."
    assert done(out) == ["ada", "bo", "cem"] * 2


def test_another_course_grades_everybody_again(grade, out, edit):
    """A changed check may judge otherwise."""
    grade()
    edit("tests/checks/01_scores/test_hidden.py", "(4, 6, 5)", "(4, 6, 3)")
    assert grade().lines[0] == "Grading: 0 of 3 students done."


@pytest.mark.parametrize("lost", ["results/bo.json", "feedback/bo.json"])
def test_whose_files_were_lost_is_graded_again(grade, out, lost):
    """Nobody is left without a result."""
    grade()
    (out / lost).unlink()
    assert grade().lines[0] == "Grading: 2 of 3 students (2 unchanged) done."
    assert (out / lost).is_file()


def test_a_quiet_run_prints_nothing(grade, out):
    """The results are in the folder."""
    ran = grade("--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert (out / "scores.csv").is_file()


def test_a_second_run_is_refused_while_the_first_one_writes(grade, out):
    """Two runs in one folder would spoil each other's results."""
    import fcntl

    out.mkdir()
    with (out / "run.jsonl").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        ran = grade()
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        f"Another `grader grade` is writing to {out}. Wait for it, or give another --out.\n"
    )


def test_two_workers_grade_as_one_does(grade, out, tmp_path):
    """The same results, whoever graded whom."""
    grade("--seed", 3)
    grade("--seed", 3, "--jobs", 2, "--out", tmp_path / "two")
    for student in ("ada", "bo", "cem"):
        assert timeless(tmp_path / "two", student) == timeless(out, student)


def timeless(out, student):
    """A record without durations."""
    text = (out / "results" / f"{student}.json").read_text("utf-8")
    return [line for line in text.splitlines() if '"duration_s"' not in line]


# Where the grader fails: undecided, loud, and never a zero.


def test_a_student_on_whom_the_grader_fails_is_graded_again(grade, out, edit):
    """An undecided score is nothing to keep; the others' are."""
    old = 'judge(student.call("scores", queries, keys).value,'
    new = """value = student.call("scores", queries, keys).value
        if value.abs().max() > 2:
            raise ValueError("a slip")
        judge(value,"""
    edit("tests/checks/01_scores/test_hidden.py", old, new)
    grade("--seed", "1")
    ran = grade("--seed", "1")
    assert ran.code == 3
    assert ran.lines[0] == "Grading: 2 of 3 students (2 unchanged) done."


@pytest.mark.parametrize(("times", "code", "undecided"), [(1, 0, []), (2, 3, ["ada"])])
def test_what_nobody_foresaw_is_tried_once_more(grade, out, monkeypatch, times, code, undecided):
    """A failure of the moment touches nobody; one that stays leaves this student undecided."""
    from grader.grading import worker

    failures = [RuntimeError("a slip")] * times
    real = worker.grade

    def grade_one(bench, submission, session, scope):
        if submission.student == "ada" and failures:
            raise failures.pop()
        return real(bench, submission, session, scope)

    monkeypatch.setattr(worker, "grade", grade_one)
    ran = grade("--jobs", 1)
    assert (ran.code, failures) == (code, [])
    assert [row[0] for row in rows(out)[1:] if row[1] == "undecided"] == undecided


def test_a_reference_that_fails_leaves_scores_undecided(grade, out, edit):
    """It exits with 3, and says who is touched; the other exercises are decided."""
    edit("solutions/01_scores/scores.py", "queries @ keys.T", "queries @ keys.nothing")
    edit("solutions/01_scores/misconceptions.toml", "queries @ keys.T", "queries @ keys.nothing")
    ran = grade()
    assert (ran.code, ran.lines[-1], ran.err) == (3, "UNDECIDED, the grader failed: ada, bo", "")
    assert rows(out)[1:] == [
        ["ada", "undecided", "6", "undecided", "1", "undecided"],
        ["bo", "undecided", "6", "undecided", "0", "0"],
        ["cem", "", "6", "", "", ""],
    ]
    assert "keys.nothing" not in json.dumps(record(out, "bo", "feedback"))


def test_a_check_that_breaks_on_an_answer_touches_only_whom_it_judged(grade, out, edit):
    """Also while it is tried on known mistakes."""
    old = 'judge(student.call("scores", queries, keys).value,'
    new = """value = student.call("scores", queries, keys).value
        if value.abs().max() > 2:
            raise ValueError("a slip")
        judge(value,"""
    edit("tests/checks/01_scores/test_hidden.py", old, new)
    ran = grade("--seed", "1")
    assert (ran.code, ran.lines[-1], ran.err) == (3, "UNDECIDED, the grader failed: bo", "")
    assert [row[:4] for row in rows(out)[1:]] == [
        ["ada", "6", "6", "2"],
        ["bo", "undecided", "6", "undecided"],
        ["cem", "", "6", ""],
    ]


@pytest.mark.parametrize("path", ["test_visible.py", "test_hidden.py"])
def test_checks_that_cannot_be_loaded_leave_everybody_undecided(grade, out, folder, path):
    """The second student is not graded by the checks that are left."""
    checks = folder / "tests" / "checks" / "01_scores" / path
    checks.write_text(f"{checks.read_text('utf-8')}\n)\n", "utf-8")
    ran = grade()
    assert (ran.code, ran.lines[-1], ran.err) == (3, "UNDECIDED, the grader failed: ada, bo", "")
    assert [row[:2] for row in rows(out)[1:]] == [
        ["ada", "undecided"],
        ["bo", "undecided"],
        ["cem", ""],
    ]


def test_an_exercise_without_checks_leaves_everybody_undecided(grade, out, folder):
    """Its checks were lost; nobody is given points or none for it."""
    for path in (folder / "tests" / "checks" / "01_scores").glob("test_*.py"):
        path.unlink()
    ran = grade()
    assert (ran.code, ran.lines[-1], ran.err) == (3, "UNDECIDED, the grader failed: ada, bo", "")
    assert [row[:4] for row in rows(out)[1:3]] == [
        ["ada", "undecided", "6", "undecided"],
        ["bo", "undecided", "6", "undecided"],
    ]


def test_an_answer_of_millions_of_values_touches_nobody_else(grade, out, work):
    """What is kept of it for recognising mistakes is small."""
    work(
        "dot",
        scores="""\
import torch

def scores(queries, keys):
    if len(queries) == 2:
        return queries @ keys.T / keys.shape[-1] ** 0.5
    return torch.zeros(16_777_220, dtype=torch.bool)
""",
    )
    ran = grade()
    assert (ran.code, ran.err) == (0, "")
    assert [row[:2] for row in rows(out)[1:]] == [
        ["ada", "6"],
        ["bo", "0.4"],
        ["cem", ""],
        ["dot", "1.2"],
    ]


def test_a_machine_that_cannot_seal_refuses_to_grade(grader, students, out, monkeypatch):
    """Unless it is told to go on without; no result is written."""
    from grader.grading import seal_probe, worker

    layer = seal_probe.Layer("files (Landlock)", True, False, "this kernel has no Landlock")
    monkeypatch.setattr(seal_probe, "_unsupported", lambda: (layer,))
    monkeypatch.setattr(worker, "sealed_launcher", seal_probe.sealed_launcher)
    ran = grader("grade", students, "--out", out, "--jobs", 1)
    assert (ran.code, ran.lines) == (2, ["Grading: 0 of 3 students done."])
    assert ran.err == (
        "This machine cannot seal student code (files (Landlock): this kernel has no Landlock). "
        "`grader doctor` shows every layer. Grade on Linux 5.13 or newer, or say "
        "`--isolation process` to grade without a seal: only code that you trust, or on a machine "
        "that you can lose.\n"
    )
    assert [path.name for path in out.iterdir()] == ["run.jsonl"]


def test_a_released_copy_cannot_grade(grade, folder, out):
    """It has no hidden checks to grade by."""
    (folder / "solutions").rename(folder.parent / "solutions")
    ran = grade()
    assert (ran.code, ran.out, ran.err) == (
        2,
        "",
        "This is a released copy of the course, without solutions; `grader check` works here.\n",
    )
    assert not out.exists()
