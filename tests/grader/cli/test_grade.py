"""Tests of `grader grade`: a class in, results out, and what it exits with."""

import csv
import errno
import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from grader.classes.store import STORE
from grader.judging.seal_probe import sealed_launcher
from tests.grader.classes.conftest import files_in
from tests.grader.cli.conftest import scores

pytestmark = pytest.mark.slow

NOT_SCALED = "def scores(queries, keys):\n    return queries @ keys.T\n"


@pytest.fixture
def grade(grade, students):
    """Grades a class of three; the seal and several processes are tried elsewhere."""
    return grade


@pytest.fixture(scope="module")
def known():
    """What a run ended in that all tests know."""
    return []


@pytest.fixture
def graded(grade, known, tmp_path_factory):
    """A run with nothing special, made once, and its folder: tests leave it as it is."""
    if not known:
        out = tmp_path_factory.mktemp("graded") / "out"
        known += [grade(out=out), out]
    return known


def rows(out):
    """The scores as written: the header, and a row per student."""
    with (out / "scores.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def record(out, student, folder="results"):
    """A student's record."""
    return json.loads((out / folder / f"{student}.json").read_text("utf-8"))


HEAD = ["student", "score", "max_score"]
HEAD += ["01_scores/scores", "01_scores"]
HEAD += ["02_mixture/weights", "02_mixture/Mixture", "02_mixture"]
HEAD += ["days_late", "off", "graded"]


def test_a_class_is_graded(graded):
    """Whatever the scores, it worked: 0. No submission is no zero."""
    ran, out = graded
    assert (ran.code, ran.err) == (0, "")
    assert rows(out) == [
        HEAD,
        ["ada", "6", "6", "2", "2", "1", "3", "4", "0", "0", "now"],
        ["bo", "0.8", "6", "0.8", "0.8", "", "", "", "0", "0", "now"],
        ["cem", "", "6", "", "", "", "", "", "0", "", "now"],
    ]
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    names = [
        f"{folder}/{who}.json" for folder in ("feedback", "results") for who in ("ada", "bo", "cem")
    ]
    assert files == [STORE, *names, "scores.csv", "summary.json"]


def test_without_a_seal_it_says_so_loudly(graded):
    """On the screen and in every record."""
    ran, out = graded
    said = " ".join(ran.out.split())
    words = "NOT SEALED: student code could read files and use the network."
    assert f"Results are in {out}; everybody's score is in {out / 'scores.csv'}. {words}" in said
    assert record(out, "ada")["isolation"] == ["child process", "limits"]


def test_the_screen_shows_what_happened_to_each(graded):
    """Scores, shares, the summary and the known mistakes."""
    lines = graded[0].lines
    cells = [
        [cell.strip() for cell in line.strip("│┃").split("│")] for line in lines if "│" in line
    ]
    assert cells == [
        ["ada", "6", "100%", "3 solved"],
        ["bo", "0.8", "13%", "1 partly right, 2 not handed in; known mistakes: scores-not-scaled"],
        ["cem", "–", "", "nothing was handed in"],
    ]


def test_the_students_copy_keeps_hidden_checks_to_itself(graded):
    """Neither what they asked nor what they expected."""
    (exercise,) = record(graded[1], "bo", "feedback")["assignments"][0]["exercises"]
    hidden = [check for check in exercise["checks"] if check["visibility"] == "hidden"]
    assert [(check["outcome"], check["message"]) for check in hidden] == [
        ("failed", "This is a hidden check: its inputs are not shown.")
    ]
    assert exercise["misconceptions"] == ["scores-not-scaled"]


def test_which_definitions_count_is_in_the_record_and_told_on_request(grade, out, students, work):
    """From which file and line; what does not count, with the reason."""
    (students / "bo" / "old").mkdir()
    shutil.copyfile(students / "bo" / "scores.py", students / "bo" / "old" / "scores.py")
    work("bo", scores=f"import nowhere\n{NOT_SCALED}\n\n{NOT_SCALED}")
    assert "scores.py, line" not in grade().out
    said = " ".join(grade("--verbose").out.split())
    assert "ada: 01_scores/scores: scores.py, line 11 02_mixture/weights: mixture.py, line" in said
    assert "bo: 01_scores/scores: scores.py, line 6 01_scores: scores.py, line 1:" in said
    first = record(out, "bo")["assignments"][0]
    assert first["exercises"][0]["defined"] == {"file": "scores.py", "line": 6, "cell": None}
    assert first["ignored"] == [
        "scores.py, line 1: the import failed (ModuleNotFoundError: No module named 'nowhere'); "
        "what does not use it counts.",
        "scores.py, line 2: scores is defined again below, and the last definition counts.",
        "old/scores.py is not read: scores.py counts.",
    ]
    assert all(f"01_scores: {line}" in said for line in first["ignored"])


def test_a_seed_repeats_a_run(grade, out, students):
    """The same hidden inputs, the same messages; another seed draws others."""

    def message(seed):
        grade("--seed", seed, submissions=students / "bo")
        assert record(out, "bo")["seed"] == str(seed)
        return record(out, "bo")["assignments"][0]["exercises"][0]["checks"][-1]["message"]

    one, other, again = message(7), message(8), message(7)
    assert one == again
    assert one != other


def test_without_a_seed_each_folder_has_its_own(grade, out, students):
    """A secret that nobody can guess; the folder's next run draws the same inputs."""

    def seed(folder, *options):
        grade(*options, submissions=students / "bo", out=folder)
        return record(folder, "bo")["seed"]

    first = seed(out)
    assert seed(out, "--force") == first
    assert seed(out.with_name("another")) != first


def test_who_is_on_the_roster_and_handed_in_nothing_is_listed(grade, out, tmp_path):
    """And whoever handed in something without being on it is graded as well."""
    roster = tmp_path / "roster.csv"
    roster.write_text("name,student\nAda,ada\nZoe,zoe\n,\n", "utf-8-sig")
    assert grade("--roster", roster).code == 0
    assert [*scores(out)] == ["ada", "bo", "cem", "zoe"]
    summary = json.loads((out / "summary.json").read_text("utf-8"))
    assert (summary["students"], summary["submitted"]) == (4, 2)
    assert summary["not_submitted"] == ["cem", "zoe"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"student,name\nada,A\nada,B\n", "lists ada 2 times. Keep one row of them."),
        (
            b'student,name\nada,"A\n',
            "cannot be read after line 1 (unexpected end of data). Is a quotation mark missing there?",
        ),
        (b"", "has no column `student`; its first line has nothing."),
        (b"student\n\xff\n", "is not text in UTF-8."),
        (b"student\n../../ada\n", "lists '../../ada', which cannot be a folder's name."),
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
    assert scores(out) == {"scores": "2"}


NO_FOLDER = (
    "There is no folder {place}. Give a folder with one folder per student, or a single .py or "
    ".ipynb.\n"
)
NOBODY = (
    "{place} holds no student's folder. Expected is <student>/<nn_assignment>/<file>; the zip of a "
    "whole class from Canvas or Moodle is read as it is, so give the zip itself.\n"
)


@pytest.mark.parametrize(
    ("name", "said"), [("LICENSE", NO_FOLDER), ("nothing", NO_FOLDER), ("empty", NOBODY)]
)
def test_what_holds_no_students_is_refused(grade, out, name, said):
    """With what is expected."""
    Path("empty").mkdir()
    ran = grade(submissions=Path(name))
    assert (ran.code, ran.out, ran.err) == (2, "", said.format(place=name))
    assert not out.exists()


def test_what_a_run_wrote_is_no_student(grade, students):
    """Neither where the submissions are, which is refused, nor in a folder among them."""
    ran = grade(out=students)
    assert (ran.code, ran.err) == (2, f"{students} holds the submissions; give another --out.\n")
    for _time in range(2):
        assert grade(out=students / "graded").code == 0
        assert [*scores(students / "graded")] == ["ada", "bo", "cem"]


@pytest.mark.parametrize(
    ("new", "told"),
    [
        ("points = 7\n", "course.toml: points says 7; the exercises add up to 6."),
        (
            "points = 6\n\n[limits]\npackages = ['json', 'nowhere']\n",
            "nowhere of course.toml's packages is not installed here.",
        ),
    ],
    ids=["points", "packages"],
)
def test_what_is_wrong_with_the_course_and_stops_nobody_is_told(grade, edit, new, told):
    """The class is graded all the same."""
    edit("course.toml", "points = 6\n", new)
    ran = grade()
    assert (ran.code, told in " ".join(ran.out.split())) == (0, True)


def test_an_assignment_without_a_solution_is_the_courses_fault(grade, out, edit):
    """Before anybody is graded, not as everybody's undecided score."""
    edit("course.toml", "01_scores", "03_scores")
    ran = grade()
    assert ran.code == 2
    assert "the assignment '03_scores' has no solution: there is no solutions/03_scores/" in ran.err
    assert not out.exists()


# A run that goes on from an earlier one.


@pytest.mark.parametrize("option", [("--force",), ("--seed", 5), ("--isolation", "sealed")])
def test_another_way_to_grade_grades_everybody_again(grade, option):
    """By force, with other inputs, under another seal."""
    grade("--seed", 4)
    ran = grade("--seed", 4, *option)
    assert "Grading: 1 of 3 students (1 unchanged) done." in ran.lines  # who handed in nothing


def test_what_is_graded_again_is_told_first(grade, edit):
    """A changed check may judge otherwise."""
    grade()
    edit("tests/checks/01_scores/test_hidden.py", "(4, 6, 5)", "(4, 6, 3)")
    assert grade().lines[:2] == [
        "01_scores: its checks changed; 2 students are graded again.",
        "Grading: 1 of 3 students (1 unchanged) done.",
    ]


def test_other_scores_than_before_are_told(grade, out, edit):
    """By how many, why, and where they stand."""
    grade()
    edit("course.toml", "points = 6\n", "")
    edit("course.toml", "scores = 2", "scores = 2.5")
    ran = grade()
    assert ran.lines[0] == "Grading: 3 of 3 students (3 unchanged) done."
    told = (
        "2 students have other scores than before: points or dates (2). "
        f"{out / 'summary.json'} names them under `changed`."
    )
    assert told in " ".join(ran.out.split())
    changed = json.loads((out / "summary.json").read_text())["changed"]
    assert changed == {"ada": [6, 6.5], "bo": [0.8, 1]}


def test_one_assignment_is_graded_out_of_its_own_points_in_every_report(grade, out):
    """A wrong name is refused."""
    ran = grade("--assignment", "01", "--report", "html", "--report", "canvas")
    assert ran.code == 0
    assert [row[:3] for row in rows(out)[1:3]] == [["ada", "2", "2"], ["bo", "0.8", "2"]]
    for page in ("html/index.html", "canvas/gradebook.csv", "html/students/ada.html"):
        assert "Mixture" not in (out / "reports" / page).read_text("utf-8")
    assert grade("--assignment", "99").code == 2


def test_what_was_due_stands_beside_the_score(grade, out, edit):
    """On the screen, in the class's files and on its page."""
    edit("course.toml", "imports =", "due = 2999-02-01T23:59:00+01:00\nimports =")
    ran = grade("--report", "html")
    (line,) = (line for line in ran.lines if "│ ada" in line)
    assert [cell.strip() for cell in line.split("│")[2:5]] == ["6", "100%", "2"]
    due = json.loads((out / "summary.json").read_text())["due"]
    assert due == {"max_score": 2, "mean_score": 1.4}
    page = (out / "reports" / "html" / "index.html").read_text("utf-8")
    assert "Of 2 points that were due so far, students have 1.4 on average." in page


# Where the grader fails: undecided, loud, and never a zero.


@pytest.mark.parametrize(("times", "code", "undecided"), [(1, 0, []), (2, 3, ["ada"])])
def test_what_nobody_foresaw_is_tried_once_more(grade, out, monkeypatch, times, code, undecided):
    """A failure of the moment touches nobody; one that stays leaves this student undecided."""
    from grader.classes import worker

    failures = [RuntimeError("a slip")] * times
    real = worker.outcomes

    def grade_one(bench, submission, session, scope):
        if submission.student == "ada" and failures:
            raise failures.pop()
        return real(bench, submission, session, scope)

    monkeypatch.setattr(worker, "outcomes", grade_one)
    ran = grade("--jobs", 1)
    assert (ran.code, failures) == (code, [])
    assert [student for student, score in scores(out).items() if score == "undecided"] == undecided


def test_a_reference_that_fails_leaves_scores_undecided(grade, out, edit):
    """It exits with 3, and says who is touched; the other exercises are decided."""
    edit("solutions/01_scores/scores.py", "queries @ keys.T", "queries @ keys.nothing")
    edit("solutions/01_scores/misconceptions.toml", "queries @ keys.T", "queries @ keys.nothing")
    ran = grade()
    assert (ran.code, ran.lines[-1], ran.err) == (3, "UNDECIDED, the grader failed: ada, bo", "")
    assert [[row[n] for n in (0, 1, 2, 3, 5, 6)] for row in rows(out)[1:]] == [
        ["ada", "undecided", "6", "undecided", "1", "undecided"],
        ["bo", "undecided", "6", "undecided", "", ""],
        ["cem", "", "6", "", "", ""],
    ]
    assert "keys.nothing" not in json.dumps(record(out, "bo", "feedback"))


@pytest.mark.parametrize("most_rows", [100, 1], ids=["table", "large class"])
def test_a_file_that_is_no_text_is_named_on_the_screen(grade, out, work, monkeypatch, most_rows):
    """In a class of any size: it is undecided, never a zero."""
    monkeypatch.setattr("grader.cli.class_output.MOST_ROWS", most_rows)
    (work("bo") / "scores.py").write_bytes(b"PK\x03\x04" + bytes(100))
    ran = grade()
    line = (
        "UNDECIDED, bo, 01_scores: scores.py cannot be read: it is not text in UTF-8, CP1252; open it, "
        "and save it again as UTF-8."
    )
    assert (ran.code, ran.lines[-1]) == (3, line)
    assert scores(out) == {"ada": "6", "bo": "undecided", "cem": ""}
    quiet = grade("--quiet", "--force")
    assert (quiet.code, quiet.out, quiet.err) == (3, "", f"{line}\n")


def test_a_check_that_breaks_on_an_answer_touches_only_whom_it_judged(grade, out, edit):
    """Also while it is tried on known mistakes; who is undecided is graded again, the others are not."""
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
    again = grade("--seed", "1")
    assert (again.code, again.lines[0]) == (3, "Grading: 2 of 3 students (2 unchanged) done.")


def test_checks_that_cannot_be_loaded_are_told_before_anybody_is_graded(grade, out, folder):
    """Nobody is graded by the checks that are left, and earlier results stay as they are."""
    grade()
    files = files_in(out)
    checks = folder / "tests" / "checks" / "01_scores" / "test_hidden.py"
    checks.write_text(f"{checks.read_text('utf-8')}\n)\n", "utf-8")
    ran = grade()
    assert (ran.code, ran.out) == (3, "")
    assert "checks could not be collected: tests/checks/01_scores/test_hidden.py" in ran.err
    assert files_in(out) == files


def test_a_machine_that_cannot_seal_refuses_to_grade(grade, out, monkeypatch):
    """Unless it is told to go on without; no result is written."""
    from grader.judging import seal_probe

    layer = seal_probe.Layer("files (Landlock)", True, False, "this kernel has no Landlock")
    monkeypatch.setattr(seal_probe, "_unsupported", lambda: (layer,))
    monkeypatch.setattr(seal_probe, "sealed_launcher", sealed_launcher)
    ran = grade("--isolation", "sealed")
    assert (ran.code, ran.lines) == (2, ["Grading: 0 of 3 students done."])
    assert ran.err == (
        "This machine cannot seal student code (files (Landlock): this kernel has no Landlock). "
        "`grader doctor` shows every layer. Grade on Linux 5.13 or newer, or say "
        "`--isolation process` to grade without a seal: only code that you trust, or on a machine "
        "that you can lose.\n"
    )
    assert scores(out) == {"cem": ""}


def test_a_run_for_one_student_adds_to_the_class(grade, out, students, work):
    """A resubmission graded by itself: the others keep their rows, and the screen says so."""
    grade("--seed", "1")
    work("bo", scores="right")
    ran = grade(submissions=students / "bo")
    assert [(row[0], row[-1]) for row in rows(out)] == [
        ("student", "graded"),
        *(("ada", "earlier"), ("bo", "now"), ("cem", "earlier")),
    ]
    said = "1 student graded as of this run, 2 as of an earlier one."
    assert said in ran.out
    summary = json.loads((out / "summary.json").read_text("utf-8"))
    assert (summary["students"], summary["earlier"]) == (3, ["ada", "cem"])
    assert summary["covers"] == said


def test_what_this_machine_cannot_read_is_undecided_and_no_zero(grade, out, work, monkeypatch):
    """That assignment is undecided with its reason, and so is what imports it."""
    work("dot", mixture="right")
    refused, real = work("dot/01_scores", scores=NOT_SCALED) / "scores.py", Path.read_bytes

    def refuse(path):
        if path == refused:
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", refuse)
        ran = grade("--seed", "1")
    why = (
        "01_scores/scores.py cannot be read on this machine: Permission denied. Make it readable, with "
        "`chmod -R u+rX 01_scores/scores.py` for example, and run the same command again."
    )
    undecided = [f"UNDECIDED, dot, {id_}: {why}" for id_ in ("01_scores", "02_mixture")]
    assert (ran.code, ran.lines[-2:]) == (3, undecided)
    (row,) = [row for row in rows(out) if row[0] == "dot"]
    assert row[1:4] == ["undecided", "6", "undecided"]
    for part in record(out, "dot")["assignments"]:
        assert (part["score"], part["notes"][-1]) == (None, why)
    assert grade("--seed", "1").code == 0


def test_a_link_to_nowhere_is_undecided(grade, out, work):
    """Something was handed in; nobody can say what."""
    folder = work("dot")
    (folder / "scores.py").symlink_to("/nowhere/scores.py")
    assert grade("--seed", "1").code == 3
    assert record(out, "dot")["assignments"][0]["notes"] == [
        "scores.py cannot be read on this machine: No such file or directory."
    ]


def test_what_ends_a_program_politely_ends_it_as_ctrl_c_does(grade, out, monkeypatch):
    """`timeout` and batch systems send SIGTERM: the class's files are written, and it is said."""
    from grader.classes import worker

    real = worker.Worker.outcomes

    def grade_one(self, student):
        if student.id == "bo":
            os.kill(os.getpid(), signal.SIGTERM)
        return real(self, student)

    monkeypatch.setattr(worker.Worker, "outcomes", grade_one)
    ran = grade("--seed", "1")
    assert (ran.code, "Interrupted." in ran.out) == (130, True)
    assert [*scores(out)] == ["ada", "cem"]
    assert json.loads((out / "summary.json").read_text("utf-8"))["to_do"] == ["bo"]


def test_the_roster_reaches_every_table_and_page(grade, out, tmp_path):
    """Names, addresses and sections, in the table and on the pages."""
    roster = tmp_path / "roster.csv"
    roster.write_text(
        "Student;Name;Email;Section\nada;Lovelace, Ada;ada@example.org;A\nbo;Bo Li;;B\n",
        "utf-8-sig",
    )
    assert grade("--seed", "1", "--roster", roster, "--report", "html").code == 0
    assert [row[-4:-1] for row in rows(out)] == [
        ["name", "email", "section"],
        ["Lovelace, Ada", "ada@example.org", "A"],
        ["Bo Li", "", "B"],
        ["", "", ""],
    ]
    pages = out / "reports" / "html"
    assert "Lovelace, Ada" in (pages / "index.html").read_text("utf-8")
    assert "Lovelace, Ada (ada)" in (pages / "students" / "ada.html").read_text("utf-8")


def test_names_are_shown_as_text(grade, out, work):
    """Escape characters never reach a terminal; folders that begin with a dot are named."""
    work("bad\x1b[31mname", scores=NOT_SCALED)
    work(".hidden", scores=NOT_SCALED)
    ran = grade("--seed", "1")
    assert "\x1b" not in ran.out
    assert "bad\\x1b[31mname" in ran.out
    assert ".hidden was passed over: its name begins with a dot." in ran.out


def test_who_left_the_class_is_moved_aside(grade, out, students):
    """Their results are kept in a folder of their own; of many the first are named, in one line."""
    names = [f"somebody-with-a-long-name-{number:03}" for number in range(40)]
    for name in names:
        (students / name).mkdir()
    grade()
    for name in names:
        (students / name).rmdir()
    line = f"{', '.join(names[:10])} and 30 more. Their results are in {out / 'former'}."
    assert f"Not in this class any more: {line}" in grade().lines
    assert [*scores(out)] == ["ada", "bo", "cem"]
    assert not (out / "feedback" / f"{names[0]}.json").exists()
    assert record(out / "former", names[0])["student"] == names[0]


def test_what_a_run_says_fits_on_a_screen(grade, out, students, work, edit, tmp_path):
    """Whatever is wrong with a class: twelve lines, and a file that has all."""
    roster = tmp_path / "roster.csv"
    roster.write_text("student\nada\nbo\n" + "".join(f"zoe{n}\n" for n in range(20)), "utf-8")
    for number in range(30):
        (work(f"s{number:02}") / "scores.py").write_bytes(b"PK\x03\x04" + bytes(100))
    assert len(grade().lines) <= 12
    for number in range(15):
        shutil.rmtree(students / f"s{number:02}")
        (students / f"s{number + 15}" / "scores.py").unlink()
    (work("s29") / "scores.py").write_bytes(b"PK\x03\x04" + bytes(100))
    edit("course.toml", "scores = 2", "scores = 2.5")
    ran = grade("--roster", roster, "--policy", "best")
    assert (ran.code, len(ran.lines) <= 12) == (3, True)
    assert ran.lines[-1].startswith("UNDECIDED, s29, 01_scores: scores.py cannot be read")
    left, told = ran.lines[-2].split(" more lines to read: ")
    notes = out / "notes.txt"
    assert told == f"{notes} has all."
    assert len(notes.read_text("utf-8").splitlines()) > int(left)


def test_reports_that_are_older_than_results_are_moved_aside(grade, out, work):
    """They are told with what makes new ones; where nothing changed they stay."""
    grade("--report", "html", "--report", "canvas")
    ran = grade()
    assert "Reports older" not in ran.out
    assert {path.name for path in (out / "reports").iterdir()} == {"html", "canvas"}
    work("bo", scores="right")
    ran = grade("--report", "html")
    line = (
        f"Reports older than these results are in {out / 'former' / 'reports'}; --report canvas "
        "makes new ones."
    )
    assert line in ran.lines
    assert [path.name for path in (out / "reports").iterdir()] == ["html"]
    assert (out / "former" / "reports" / "canvas").is_dir()
