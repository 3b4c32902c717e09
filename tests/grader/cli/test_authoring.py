"""Tests of the authors' commands, of `grader doctor`, and of how errors are told."""

import shutil
import time
from unittest.mock import Mock

import pytest

from grader.cli import progress
from grader.extras.mutants import replay
from grader.judging import seal_probe

STUB = "assignments/01_scores/scores.py"
NOTEBOOK = "assignments/01_scores/scores.ipynb"


# `grader generate`.


def test_generated_files_are_written_anew(grader, folder, edit):
    """Those that differ; with `--check` they are only named, and it exits with 1."""
    before = (folder / STUB).read_text("utf-8")
    edit("solutions/01_scores/scores.py", "How well", "How badly")
    ran = grader("generate", "--check")
    assert (ran.code, ran.out) == (1, f"stale: {STUB}\nstale: {NOTEBOOK}\n")
    assert (folder / STUB).read_text("utf-8") == before
    ran = grader("generate")
    assert (ran.code, ran.out) == (0, f"written: {STUB}\nwritten: {NOTEBOOK}\n")
    assert (folder / STUB).read_text("utf-8") == before.replace("How well", "How badly")
    ran = grader("generate", "--check")
    assert (ran.code, ran.out) == (0, "Stubs and notebooks are up to date.\n")


# `grader validate`.


@pytest.mark.slow
def test_a_course_that_keeps_its_promises_is_shown_as_a_table(grader):
    """A row per exercise, and the sentence."""
    ran = grader("validate")
    assert ran.code == 0
    rows = [line.split() for line in ran.lines]
    counts = [row[:7] for row in rows if len(row) == 8 and row[1].isdigit()]
    assert counts == [
        ["01_scores", "2", "4", "1", "3", "3", "3"],
        ["scores", "2", "4", "1", "3", "3", "3"],
        ["02_mixture", "4", "4", "3", "3", "3", "3"],
        ["weights", "1", "2", "1", "1", "1", "1"],
        ["Mixture", "3", "2", "2", "2", "2", "2"],
    ]
    assert ran.lines[-1] == "The course keeps its promises."


def test_proofs_are_counted_beside_the_output(grader, monkeypatch):
    """On standard error, where the run is a long one."""
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", -1.0)
    ran = grader("validate", "weights")
    assert ran.err.splitlines() == [
        "Proving examples in docstrings: 1 of 1.",
        "Proving solutions: 1 of 1.",
        "Proving stubs (py): 1 of 1.",
        "Proving stubs (ipynb): 1 of 1.",
        "Proving known mistakes: 1 of 1.",
        "Proving what knowing nothing earns: 1 of 1.",
    ]
    assert "Proving" not in ran.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "count"),
    [(["a.txt"], "1 promise is"), (["[bold]a:100:.txt", "b.txt"], "2 promises are")],
)
def test_broken_promises_are_told_below_the_table(grader, folder, names, count):
    """As they are, and counted; it exits with 1."""
    for name in names:
        (folder / "solutions" / name).write_text("", "utf-8")
    ran = grader("validate")
    said = [f"✗ solutions/{name}: course.toml does not declare it" for name in names]
    assert (ran.code, ran.lines[-len(names) - 1 :]) == (1, [*said, f"{count} broken."])


# `grader mutate`.

SURVIVOR = """\
✗ solutions/02_mixture/mixture.py:24: survived
    - return torch.softmax(raw, dim=-1)
    + return torch.softmax(raw.detach(), dim=-1)"""
WRITTEN_DOWN = """\
[[equivalent]]
exercise = "weights"
old = '''return torch.softmax(raw, dim=-1)'''
new = '''return torch.softmax(raw{}, dim=-1)'''
reason = "Nobody asks for gradients."
"""
EQUIVALENT = "solutions/02_mixture/equivalent.toml"


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.proof)])
def test_a_mutant_that_survives_is_told_with_its_line(grader, jobs: int):
    """It exits with 1."""
    ran = grader("mutate", "weights", "--jobs", jobs)
    assert ran.code == 1
    assert all(line.startswith("Trying mutants: ") for line in ran.err.splitlines())
    head = "02_mixture/weights: 7 mutants: 5 caught, 2 named, 1 survived, 1 equivalent"
    assert ran.out.startswith(f"{head}\n{SURVIVOR}\n")
    rows = [line.split()[:-1] for line in ran.lines[5:-1]]
    assert ["02_mixture", "7", "5", "2", "0", "1", "1", "0"] in rows
    assert ["the", "course", "7", "5", "2", "0", "1", "1", "0"] in rows
    assert ran.lines[-1] == "1 mutant survives."


def test_all_that_is_not_named_is_listed_on_request(grader):
    """With the check that caught it."""
    ran = grader("mutate", "weights", "--jobs", 1, "--verbose")
    signs = [line.split(": ", 1)[1] for line in ran.lines if line.startswith(("·", "✗"))]
    check = "02_mixture/weights::visible::test_weights"
    assert signs == [
        f"caught: {check}_of_other_scores",
        f"caught: {check}_of_other_scores",
        f"caught: {check}_have_the_shape_of_the_scores",
        "survived",
        "equivalent",
    ]


@pytest.mark.slow
def test_a_mutant_that_is_written_down_is_equivalent(grader, folder):
    """What is written down and does not survive is told, and exits with 1 too."""
    (folder / EQUIVALENT).write_text(WRITTEN_DOWN.format(".detach()"), "utf-8")
    ran = grader("mutate", "weights", "--jobs", 1)
    assert (ran.code, ran.lines[-1]) == (0, "No mutant survives.")
    assert grader("validate").code == 0
    more = [WRITTEN_DOWN.format(new) for new in (".detach()", ".T", ".detach().T")]
    more[1] = more[1].replace("torch.softmax(raw.T, dim=-1)", "raw")
    (folder / EQUIVALENT).write_text("\n".join(more), "utf-8")
    ran = grader("mutate", "weights", "--jobs", 1)
    assert ran.code == 1
    check = "02_mixture/weights::visible::test_weights_of_other_scores"
    assert ran.lines[-3:] == [
        f"✗ {EQUIVALENT}: equivalent[2]: {check} tells it from the solution; take it out",
        f"✗ {EQUIVALENT}: equivalent[3]: there is no such mutant any more; take it out",
        "No mutant survives.",
    ]


def test_what_is_written_down_wrongly_is_told(grader, folder):
    """With its key path."""
    wrong = WRITTEN_DOWN.format(".T").replace("weights", "weight").replace("reason", "because")
    (folder / EQUIVALENT).write_text(wrong, "utf-8")
    ran = grader("mutate", "weights", "--jobs", 1)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines()[1:] == [
        f"  {EQUIVALENT}: equivalent[1].reason: missing; a text that is not empty is needed",
        f"  {EQUIVALENT}: equivalent[1].because: unknown key; allowed: exercise, new, old, reason",
    ]


@pytest.mark.slow
def test_a_mutant_that_never_returns_is_stopped_long_before_its_time_is_up_and_is_caught(
    grader, edit, monkeypatch
):
    """What it may take is a multiple of what the solution takes, not what a student's may."""
    monkeypatch.setattr(replay, "LEAST_SECONDS", 0.1)
    edit("course.toml", "points = 6\n", "points = 6\n\n[limits]\nrequest_seconds = 40\n")
    more = "    left = 1\n    while left:\n        left -= 1\n"
    edit("solutions/02_mixture/mixture.py", "    return torch", f"{more}    return torch")
    started = time.process_time()
    ran = grader("mutate", "weights", "--jobs", 1, "--verbose")
    assert time.process_time() - started < 20
    place = ran.lines[ran.lines.index("    + pass") - 2]
    assert place.startswith("· solutions/02_mixture/mixture.py:26: caught: 02_mixture/weights::")
    assert ran.lines[-1] == "1 mutant survives."


def test_a_check_that_breaks_on_a_mutant_is_told(grader, edit):
    """Student code must not be able to break a check."""
    path = "tests/checks/02_mixture/test_visible.py"
    line = "        judge.shape(value, (2, 3))\n"
    edit(path, line, f"{line}        1 / (float(value.sum()) > 0)\n")
    ran = grader("mutate", "weights", "--jobs", 1)
    check = "02_mixture/weights::visible::test_weights_have_the_shape_of_the_scores"
    assert f"✗ solutions/02_mixture/mixture.py:24: broken: {check}" in ran.lines
    assert ran.lines[-2:] == ["1 mutant survives.", "1 mutant breaks a check."]


# `grader release`.


@pytest.fixture
def released(release):
    """A students' copy of the course."""
    dest, ran = release("students")
    assert all(line.startswith("Recording assignments: ") for line in ran.err.splitlines())
    assert ran.out.startswith("Released to students: ")
    return dest


def test_a_release_holds_what_students_need_and_nothing_else(released):
    """No solution, no hidden check, no edit; the grader itself aside."""
    files = [
        path.relative_to(released).as_posix() for path in released.rglob("*") if path.is_file()
    ]
    assert sorted(file for file in files if not file.startswith("grader/")) == [
        ".devcontainer/devcontainer.json",
        "AGENTS.md",
        "CLAUDE.md",
        "LICENSE",
        "README.md",
        STUB.replace(".py", ".ipynb"),
        STUB,
        "assignments/02_mixture/mixture.ipynb",
        "assignments/02_mixture/mixture.py",
        "constraints.txt",
        "course.toml",
        "pyproject.toml",
        "released.sha256",
        "tests/checks/01_scores/recording.bin",
        "tests/checks/01_scores/test_visible.py",
        "tests/checks/02_mixture/recording.bin",
        "tests/checks/02_mixture/test_visible.py",
    ]


def test_a_release_tells_assistants_to_explain_unless_the_course_says_no(
    released, grader, edit, tmp_path
):
    """`agents_file` in the manifest is the switch; Claude reads the same file."""
    text = (released / "AGENTS.md").read_text("utf-8")
    assert "This is a course: Small steps." in text
    assert "Never write the answer" in text
    assert "`grader check NAME`" in text
    assert "`grader hint NAME`" in text
    assert (released / "CLAUDE.md").read_text("utf-8") == "@AGENTS.md\n"
    edit("course.toml", "[course]", "[course]\nagents_file = false")
    assert grader("release", tmp_path / "other", "--to", "students").code == 0
    assert {path.name for path in (tmp_path / "other").glob("*.md")} == {"README.md"}


@pytest.mark.slow
def test_in_a_release_check_and_hint_work_as_in_the_course(
    released, grader, work, monkeypatch, tmp_path
):
    """The same words to the same work, from recordings."""
    place = work(
        scores="def scores(queries, keys):\n    return queries @ keys.T\n", mixture="right"
    )
    here = [grader("check", "--submission", place), grader("hint", "Mixture")]
    monkeypatch.chdir(shutil.copytree(released, tmp_path / "released"))  # paths are shown from it
    there = [grader("check", "--submission", place), grader("hint", "Mixture")]
    assert there[1] == here[1]
    assert there[0].lines == [*here[0].lines, "The visible checks decide 2.4 of 6 points."]
    assert "(scores-not-scaled)" in there[0].out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["release", "more", "--to", "students"], "releases are made from the course itself."),
        (["validate"], "without solutions; `grader check` works here."),
        (["generate"], "without solutions; `grader check` works here."),
        (["grade", "assignments", "--out", "out"], "without solutions; `grader check` works here."),
        (["preview", "01"], "without solutions; `grader check` works here."),
        (["new", "exercise", "01/x"], "without solutions; `grader check` works here."),
        (["new", "assignment", "x"], "without solutions; `grader check` works here."),
    ],
)
def test_commands_for_the_course_refuse_to_work_in_a_release(
    released, grader, monkeypatch, command, said
):
    """In one sentence; nothing is written."""
    monkeypatch.chdir(released)
    ran = grader(*command)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("This is a released copy")
    assert ran.err.endswith(f"{said}\n")
    assert ran.err.count("\n") == 1
    assert not {"more", "out"} & {path.name for path in released.iterdir()}


def test_a_folder_that_is_not_empty_is_left_alone(grader, tmp_path):
    """A release never mixes with what lies there."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine", "utf-8")
    ran = grader("release", tmp_path / "full", "--to", "students")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        f"{tmp_path / 'full'} is not an empty folder. Give one that is, or does not exist.\n"
    )
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine.txt"]


# `grader doctor`.


@pytest.mark.parametrize("holds", [True, False])
def test_the_doctor_says_whether_student_code_can_be_sealed(grader, monkeypatch, holds):
    """It exits with 0 when it can, whatever an optional layer does."""
    layers = (
        seal_probe.Layer("files (Landlock)", True, holds, "as tried"),
        seal_probe.Layer("namespaces", False, False, "not granted here"),
    )
    monkeypatch.setattr(seal_probe, "examine", lambda: layers)
    ran = grader("doctor")
    assert (ran.code, ran.err) == (0 if holds else 1, "")
    said = " ".join(ran.out.split())
    assert "python" in said
    assert ("Student code can be sealed here" in said) is holds
    assert ("grade` refuses unless you say `--isolation process`" in said) is not holds


# Errors.


def test_a_traceback_is_shown_only_when_asked_for(grader):
    """The sentence is there in both cases."""
    plain, told = grader("check", "zzz"), grader("--traceback", "check", "zzz")
    assert plain.code == told.code == 2
    assert told.err.startswith("Traceback (most recent call last):\n")
    assert told.err.endswith(plain.err)
    assert "Traceback" not in plain.err


def test_an_error_nobody_foresaw_is_a_sentence_too(grader, monkeypatch):
    """With what to do; it exits with 3."""
    slip = Mock(side_effect=ZeroDivisionError("a slip"))
    monkeypatch.setattr("grader.cli.shared.load_course", slip)
    ran = grader("check")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == (
        "The grader itself failed: ZeroDivisionError: a slip\n"
        "Run it again with `grader --traceback …` and report what it prints.\n"
    )
