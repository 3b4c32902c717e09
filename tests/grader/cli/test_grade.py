"""Tests of `grader grade`: a class in, results out, and what it exits with."""

import csv
import json
from pathlib import Path

import pytest

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
    """Grades the class without a seal, which costs time and is tried elsewhere."""

    def run(*options, submissions=students):
        return grader(
            *("grade", submissions, "--out", out, "--isolation", "process", "--jobs", "1", *options)
        )

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
    """Scores, shares, the story and the known mistakes."""
    lines = grade().lines
    cells = [
        [cell.strip() for cell in line.strip("│┃").split("│")] for line in lines if "│" in line
    ]
    assert cells == [
        ["ada", "6", "100%", "3 solved"],
        ["bo", "0.4", "7%", "1 partly right, 2 missing; known mistakes: scores-not-scaled"],
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
    """A secret that nobody can guess; a run that goes on in the same folder keeps it."""
    seeds = []
    for folder in (out, out, out.with_name("another")):
        grade("--out", folder, "--force")
        seeds.append(record(folder, "bo")["seed"])
    assert (seeds[0] == seeds[1], seeds[1] == seeds[2]) == (True, False)


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
        f"{empty} holds no student's folder. Expected is <student>/<nn_assignment>/<file>.\n"
    )


# Where the grader fails: undecided, loud, and never a zero.


def test_a_reference_that_fails_leaves_scores_undecided(grade, out, edit):
    """It exits with 3, and says who is touched; the other exercises are decided."""
    edit("solutions/01_scores/scores.py", "queries @ keys.T", "queries @ keys.nothing")
    edit("solutions/01_scores/misconceptions.toml", "queries @ keys.T", "queries @ keys.nothing")
    ran = grade()
    assert (ran.code, ran.err) == (3, "")
    assert ran.lines[-1] == "UNDECIDED, the grader failed: ada, bo"
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
    assert (ran.code, ran.err) == (3, "")
    assert ran.lines[-1] == "UNDECIDED, the grader failed: bo"
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
    assert ran.code == 3
    assert ran.lines[-1] == "UNDECIDED, the grader failed: ada, bo"
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
    assert ran.code == 3
    assert ran.lines[-1] == "UNDECIDED, the grader failed: ada, bo"
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
    """Unless it is told to go on without; nothing is written."""
    from grader.sessions import sealed

    layer = sealed.Layer("files (Landlock)", True, False, "this kernel has no Landlock")
    monkeypatch.setattr(sealed, "_hopeless", lambda: (layer,))
    ran = grader("grade", students, "--out", out, "--jobs", "1")
    assert (ran.code, ran.out.splitlines()[1:]) == (2, [])
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
