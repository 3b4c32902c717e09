"""Tests of the journal of a class run: what counts as done, and what does not."""

import json

import pytest
from msgspec.structs import replace

from grader.core.errors import UsageError
from grader.grading.class_files import Row, Written, write_student
from grader.grading.journal import Journal, RunIdentity, earlier_run

IDENTITY = RunIdentity("7", "course", {"torch": "2"}, "sealed")


def row_of(student, *, undecided=False):
    """A row of the class."""
    score = None if undecided else 3.5
    exercises = {"01_first/one": score}
    return Row(student, score, 4, undecided, True, exercises, "1 solved", ("sealed",), "7")


@pytest.fixture
def out(tmp_path):
    """The output folder."""
    return tmp_path / "out"


@pytest.fixture
def do(out):
    """Writes students' files and their lines."""

    def run(*students, identity=IDENTITY, force=False, undecided=False):
        with Journal(out, identity, force) as journal:
            for student in students:
                row = row_of(student, undecided=undecided)
                write_student(out, Written(row, "{}\n", "{}\n"))
                journal.add(student, f"print of {student}", row)

    return run


@pytest.fixture
def known(out):
    """Answers who is done under an identity."""

    def ask(identity=IDENTITY, *, force=False):
        with Journal(out, identity, force) as journal:
            students = sorted(journal.known)
            return [s for s in students if journal.unchanged(s, f"print of {s}")]

    return ask


def test_who_is_done_is_known_to_the_next_run(do, known, out):
    """With the whole row."""
    do("ada", "bo")
    assert known() == ["ada", "bo"]
    with Journal(out, IDENTITY) as journal:
        assert journal.unchanged("ada", "print of ada") == row_of("ada")


def test_another_fingerprint_is_not_done(do, out):
    """Nor is somebody nobody knows."""
    do("ada")
    with Journal(out, IDENTITY) as journal:
        assert journal.unchanged("ada", "another") is None
        assert journal.unchanged("bo", "print of bo") is None


def test_an_undecided_score_is_not_done(do, known):
    """The next run tries again."""
    do("ada", undecided=True)
    assert known() == []


def test_lines_are_only_added(do, out):
    """What a run wrote, no other run changes."""
    do("ada")
    before = (out / "run.jsonl").read_text()
    do("bo", identity=replace(IDENTITY, seed="8"), force=True)
    assert (out / "run.jsonl").read_text().startswith(before)


@pytest.mark.parametrize("left", range(2, 60, 7))
def test_half_a_line_is_passed_over(do, known, out, left):
    """A killed run may leave one; what the next one adds stands on a line of its own."""
    do("ada", "bo")
    path = out / "run.jsonl"
    path.write_text(path.read_text()[:-left])
    assert known() == ["ada"]
    do("cem")
    assert known() == ["ada", "cem"]


@pytest.mark.parametrize(
    "line", ["[]", "7", "null", '{"student": "ada"}', "{", '{"format": 3}', "\0"]
)
def test_what_is_no_line_of_a_journal_is_passed_over(do, known, out, line):
    """Whatever it is."""
    do("ada")
    with (out / "run.jsonl").open("a") as file:
        file.write(f"{line}\n")
    assert known() == ["ada"]


@pytest.mark.parametrize(
    "change",
    [
        {"seed": "8"},
        {"course_hash": "another"},
        {"versions": {"torch": "3"}},
        {"isolation": "process"},
    ],
)
def test_a_run_under_other_conditions_begins_anew(do, known, change):
    """And going back to the first ones does not bring its results back: files were rewritten."""
    do("ada")
    assert known(replace(IDENTITY, **change)) == []
    assert known() == []


def test_force_begins_anew(do, known):
    """The run after it goes on from there."""
    do("ada", "bo")
    assert known(force=True) == []
    do("bo")
    assert known() == ["bo"]


def test_the_earlier_runs_seed_is_found(do, out):
    """The last one's; none where there was no run, or its file is none."""
    assert earlier_run(out) is None
    do("ada")
    do("ada", identity=replace(IDENTITY, seed="8"))
    assert earlier_run(out).seed == "8"
    (out / "run.jsonl").write_bytes(b"\xff\n")
    assert earlier_run(out) is None


def test_a_run_of_another_format_is_refused(do, known, out):
    """Unless everything is to be graded again, which makes the folder one of this format."""
    do("ada")
    text = (out / "run.jsonl").read_text()
    (out / "run.jsonl").write_text(text.replace("grader-kit/run/2", "attention-course/run/1"))
    with pytest.raises(UsageError) as caught:
        known()
    assert str(caught.value) == (
        f"{out} holds a run of another version of the grader (its format is "
        "'attention-course/run/1', not 'grader-kit/run/2'). Give another --out, or --force to grade "
        "everything again."
    )
    assert known(force=True) == []
    do("ada")
    assert known() == ["ada"]


def test_two_runs_at_a_time_are_refused(out):
    """Until the first one is over."""
    with Journal(out, IDENTITY):
        with pytest.raises(UsageError) as refused:
            Journal(out, IDENTITY).__enter__()
        assert str(refused.value) == (
            f"Another `grader grade` is writing to {out}. Wait for it, or give another --out."
        )
    with Journal(out, IDENTITY) as journal:
        assert journal.known == {}


def test_a_line_is_there_as_soon_as_it_is_added(out):
    """Whoever kills the run then loses nothing."""
    with Journal(out, IDENTITY) as journal:
        journal.add("ada", "print", row_of("ada"))
        last = (out / "run.jsonl").read_text().splitlines()[-1]
        assert json.loads(last)["student"] == "ada"
