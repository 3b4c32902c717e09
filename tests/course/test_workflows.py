"""The workflows do what they say: their own steps, read from the files, are run here.

A student repository is made, cloned, and installed in a fresh environment by nothing but its
README's commands; with all that it depends on from pip's index that takes minutes.
"""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from borrowed import borrow_packages

from grader.course.course import Course, load_course
from grader.extras.github.release import WORKFLOW, release
from grader.release.students import write_release
from tests.course.conftest import FEW

pytestmark = pytest.mark.xdist_group("release")

PINNED = re.compile(r"actions/[a-z-]+@[0-9a-f]{40}")
IDENTITY = ("-c", "user.name=A", "-c", "user.email=a@example.org")


def workflow(path: Path) -> dict[Any, Any]:
    """A workflow file; YAML reads the key `on` as true."""
    content: dict[Any, Any] = yaml.safe_load(path.read_text("utf-8"))
    return content


def git(folder: Path, *arguments: str, **environment: str) -> str:
    """Run git in a folder."""
    done = subprocess.run(
        ["git", *IDENTITY, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=60,
    )
    return done.stdout.strip()


@dataclass(frozen=True, slots=True)
class Job:
    """What came of a workflow's steps.

    Args:
        code: the first exit code that is not 0, or 0.
        out: what the steps printed.
        summary: what they added to the job's summary.
    """

    code: int
    out: str
    summary: str


def run_steps(
    path: Path, folder: Path, environment: dict[str, str], *, only: tuple[str, ...] = ()
) -> Job:
    """Run a workflow's own `run` steps as GitHub does: one shell each, the first failure ends it.

    `if: always()` is kept to. What `uses` an action has been done by the caller.
    """
    (job,) = workflow(path)["jobs"].values()
    summary = folder.parent / f"{folder.name}.summary"
    summary.write_text("")
    whole = {
        **environment,
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_WORKSPACE": str(folder),
        "GITHUB_ACTIONS": "true",
    }
    code, printed = 0, []
    for step in job["steps"]:
        if "run" not in step or (only and step["name"] not in only):
            continue
        if code and step.get("if") != "always()":
            continue
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
            cwd=folder,
            env=whole,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=900,
            check=False,
        )
        code = code or done.returncode
        printed.append(done.stdout)
    return Job(code, "".join(printed), summary.read_text("utf-8"))


# What the files promise.


@pytest.mark.parametrize(
    "path", [".github/workflows/grade-class.yml", "grader/extras/github/workflow.yml"]
)
def test_a_workflow_is_pinned_bounded_and_allowed_little(root: Path, path: str) -> None:
    """Actions by commit, nothing but reading, an end in time, pip's cache, no index by name."""
    content = workflow(root / path)
    (job,) = content["jobs"].values()
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    (python,) = [step["with"] for step in job["steps"] if "setup-python" in step.get("uses", "")]
    (checkout,) = [step["with"] for step in job["steps"] if "checkout" in step.get("uses", "")]
    assert all(PINNED.fullmatch(action) for action in used)
    assert content["permissions"] == {"contents": "read"}
    assert "permissions" not in job
    assert job["timeout-minutes"] <= 120
    assert (python["cache"], checkout["persist-credentials"]) == ("pip", False)
    assert job["env"]["PIP_EXTRA_INDEX_URL"] == "${{ vars.PIP_EXTRA_INDEX_URL }}"
    assert not [step for step in job["steps"] if "${{" in str(step.get("run", ""))]


def test_a_tag_publishes_what_was_built_and_tried(root: Path) -> None:
    """By trusted publishing: one job builds, and the other has the right to publish, and no code of ours."""
    content = workflow(root / ".github" / "workflows" / "publish.yml")
    build, publish = content["jobs"]["build"], content["jobs"]["publish"]
    used = [step["uses"] for job in (build, publish) for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"(actions|pypa)/[a-z-]+@[0-9a-f]{40}", action) for action in used)
    assert (content[True], content["permissions"]) == (
        {"push": {"tags": ["v*"]}},
        {"contents": "read"},
    )
    assert (publish["needs"], publish["environment"]) == ("build", "pypi")
    assert publish["permissions"] == {"id-token": "write"}
    assert not [step for step in publish["steps"] if "run" in step]
    assert "permissions" not in build
    assert not [step for step in build["steps"] if "${{" in str(step.get("run", ""))]


def test_a_push_runs_the_students_workflow(root: Path) -> None:
    """And so does a button."""
    assert workflow(root / "grader/extras/github/workflow.yml")[True] == [
        "push",
        "workflow_dispatch",
    ]


def test_the_tests_run_on_each_system_that_students_have(root: Path) -> None:
    """All of them on Linux; elsewhere those of what students use, each of which is there."""
    content = workflow(root / ".github" / "workflows" / "test.yml")
    whole, some = content["jobs"]["all"], content["jobs"]["students"]
    assert whole["steps"][-1]["run"].endswith(" .ci/run")
    assert [name.partition("-")[0] for name in some["strategy"]["matrix"]["system"]] == [
        *("macos", "windows")
    ]
    paths = [word for word in some["steps"][-1]["run"].split() if word.startswith("tests/")]
    assert len(paths) > 5
    assert [path for path in paths if not (root / path).exists()] == []
    assert content["permissions"] == {"contents": "read"}
    for job in (whole, some):
        used = [step["uses"] for step in job["steps"] if "uses" in step]
        assert all(PINNED.fullmatch(action) for action in used)
        assert job["timeout-minutes"] <= 60
        assert "permissions" not in job
        assert not [step for step in job["steps"] if "${{" in str(step.get("run", ""))]


# The student's side.


@pytest.fixture(scope="module")
def cloned(to_release: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A student's clone of the released repository."""
    made = tmp_path_factory.mktemp("github") / "template"
    write_release(to_release, made, release)
    git(made, "init", "--quiet", "--initial-branch=main")
    git(made, "add", "--all")
    git(made, "commit", "--quiet", "--message=As released")
    clone = made.parent / "attention-ada"
    git(made.parent, "clone", "--quiet", str(made), str(clone))
    return clone


@pytest.fixture(scope="module")
def installed(cloned: Path, to_release: Course, root: Path) -> dict[str, str]:
    """The environment after the README's own commands, and no others.

    The whole course has everything that it depends on from pip's index, two of its assignments what
    is installed here.
    """
    readme = (cloned / "README.md").read_text("utf-8")
    (block,) = re.findall(r"## Set up, once\n.*?```\n(.*?)```", readme, re.DOTALL)
    environment = {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "PYTHONPATH")}
    environment["PATH"] = f"{Path(sys.executable).resolve().parent}:{environment['PATH']}"
    environment.pop("GRADER_COURSE", None)
    shutil.rmtree(cloned / ".venv", ignore_errors=True)
    if to_release.root != root:
        make, _, _ = block.partition("\n")
        subprocess.run(make.split(), cwd=cloned, env=environment, check=True, timeout=120)
        borrow_packages(cloned / ".venv")
        environment |= {"PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    subprocess.run(
        ["bash", "-e", "-c", block], cwd=cloned, env=environment, check=True, timeout=900
    )
    environment["PATH"] = f"{cloned / '.venv' / 'bin'}:{environment['PATH']}"
    return environment


@pytest.fixture(scope="module")
def ready(
    cloned: Path, to_release: Course, root: Path, request: pytest.FixtureRequest
) -> dict[str, str]:
    """An environment for the workflow's own step: after an install, or for two assignments without.

    There the command is run by the grader that lies in the clone.
    """
    if to_release.root == root:
        environment: dict[str, str] = request.getfixturevalue("installed")
        return environment
    tools = cloned.parent / "bin"
    tools.mkdir()
    make_command(tools)
    environment = {k: v for k, v in os.environ.items() if k not in ("GRADER_COURSE", "PYTHONPATH")}
    return {**environment, "PATH": f"{tools}:{os.environ['PATH']}"}


def make_command(folder: Path) -> None:
    """Write the command `grader`, which runs what lies where it is called, or else what is installed."""
    main = "from grader.cli import main; main()"
    command = folder / "grader"
    command.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{main}' \"$@\"\n")
    command.chmod(0o755)


@pytest.fixture
def student(cloned: Path, to_release: Course) -> Any:
    """The clone with work handed in; as it was, afterwards."""

    def hand_in(*assignments: str, **edits: tuple[str, str]) -> Path:
        for assignment in to_release.assignments:
            if assignment.id in assignments:
                text = to_release.paths(assignment).solution.read_text("utf-8")
                for old, new in edits.values():
                    text = text.replace(old, new)
                stub = cloned / "assignments" / assignment.id / f"{assignment.module}.py"
                stub.write_text(text, "utf-8")
        return cloned

    yield hand_in
    git(cloned, "checkout", "--quiet", "--", ".")


def all_points(course: Course) -> str:
    """What a summary says of a course in which nothing is missing."""
    return f"**{course.max_score} of {course.max_score} points**"


@pytest.mark.parametrize("to_release", [FEW], ids=["few"], indirect=True)
@pytest.mark.proof
def test_untouched_stubs_are_no_success(
    student: Any, installed: dict[str, str], to_release: Course
) -> None:
    """Red, with nothing to point at, and the first thing to do."""
    folder = student()
    job = run_steps(folder / WORKFLOW, folder, installed)
    assert job.code == 1
    assert f"**0 of {to_release.max_score} points**" in job.summary
    assert "Next: `01_simple_attention/dot_product`" in job.summary
    assert "::error" not in job.out


@pytest.mark.parametrize("to_release", [FEW], ids=["few"], indirect=True)
@pytest.mark.proof
def test_a_half_done_student_reads_what_to_mend(student: Any, installed: dict[str, str]) -> None:
    """The mistake by its name, annotated at the student's own file and line."""
    edit = (" / keys.shape[-1] ** 0.5", "")
    folder = student("01_simple_attention", "04_self_attention", scale=edit)
    job = run_steps(folder / WORKFLOW, folder, installed, only=("Check",))
    assert job.code == 1
    assert "| 01_simple_attention | ██████████ 6 of 6 | 13 / 13 |" in job.summary
    assert "v2-scale-missing" in job.summary
    (line,) = [line for line in job.out.splitlines() if "SelfAttention_v2%3A" in line]
    place = re.match(r"::error file=(assignments/[^,]+),line=(\d+),", line)
    assert place is not None
    text = (folder / place[1]).read_text("utf-8").splitlines()
    assert text[int(place[2]) - 1].startswith("class SelfAttention_v2(")


@pytest.mark.slow
def test_a_finished_student_is_green(
    student: Any, ready: dict[str, str], to_release: Course
) -> None:
    """Every check passes, in a clone where nothing else was changed."""
    folder = student(*to_release.by_id)
    job = run_steps(folder / WORKFLOW, folder, ready, only=("Check",))
    assert (job.code, all_points(to_release) in job.summary) == (0, True)
    assert job.summary.startswith("Protected files are as released (list `")


@pytest.mark.parametrize("to_release", [FEW], ids=["few"], indirect=True)
@pytest.mark.proof
def test_a_tampered_check_is_seen(student: Any, ready: dict[str, str], to_release: Course) -> None:
    """A check made easier keeps the run red, and stands above everything else."""
    folder = student(*to_release.by_id)
    check = folder / "tests" / "checks" / "04_self_attention" / "test_visible.py"
    check.write_text(check.read_text("utf-8") + "\n# easier\n", "utf-8")
    job = run_steps(folder / WORKFLOW, folder, ready, only=("Check",))
    assert (job.code, all_points(to_release) in job.summary) == (1, True)
    assert job.summary.startswith("> [!CAUTION]\n> **1 protected file is not as released.")
    name = "tests/checks/04_self_attention/test_visible.py"
    assert f"`{name}` was **changed**" in job.summary
    assert f"::error file={name}::This protected file was changed; undo that." in job.out


# The instructor's side.

GH = """\
#!/usr/bin/env bash
# Stands for GitHub's own command: lists and clones from a folder.
set -e
if [ "$1 $2" = "repo list" ]; then ls "$REMOTE/$3"; fi
if [ "$1 $2" = "repo clone" ]; then git clone --quiet "$REMOTE/$3" "$4"; fi
"""
BEFORE, AFTER = "2027-02-01T12:00:00+00:00", "2027-02-02T12:00:00+00:00"


@pytest.fixture
def instructors(root: Path, tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """The small course in a repository of its own, and what the job's machine has."""
    from grader.release.stubs import generate

    course = tmp_path / "course"
    shutil.copytree(root / "tests" / "example_course", course)
    for file in generate(load_course(course)):
        file.write(course)
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "gh").write_text(GH)
    make_command(tools)
    (tools / "gh").chmod(0o755)
    environment = {k: v for k, v in os.environ.items() if k != "GRADER_COURSE"}
    return course, {
        **environment,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "PYTHONPATH": str(root),
        "REMOTE": str(tmp_path / "remote"),
        "ORGANIZATION": "school",
        "ASSIGNMENT": "attention",
        "DEADLINE": "2027-02-01T23:59:00+01:00",
    }


def pushed(remote: Path, name: str, *commits: tuple[str, str]) -> None:
    """A student's repository with commits of a moment and a text for `scores.py`."""
    folder = remote / "school" / name
    work = folder / "assignments" / "01_scores"
    work.mkdir(parents=True)
    (folder / "course.toml").write_text("")
    git(folder, "init", "--quiet", "--initial-branch=main")
    for moment, text in commits:
        (work / "scores.py").write_text(text, "utf-8")
        git(folder, "add", "--all")
        dates = {"GIT_COMMITTER_DATE": moment, "GIT_AUTHOR_DATE": moment}
        git(folder, "commit", "--quiet", "--message=Work", **dates)


@pytest.fixture
def one_processor() -> Iterator[None]:
    """A machine with one processor, where a class is graded in a single process."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    yield
    os.sched_setaffinity(0, before)


@pytest.mark.proof
@pytest.mark.usefixtures("one_processor")
def test_a_class_is_graded_as_it_was_at_the_deadline(
    root: Path, instructors: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    """Every repository of the assignment, sealed; a later commit does not count."""
    course, environment = instructors
    right = (course / "solutions" / "01_scores" / "scores.py").read_text("utf-8")
    wrong = textwrap.dedent(
        """\
        def scores(queries, keys):
            return queries @ keys.T
        """
    )
    remote = tmp_path / "remote"
    pushed(remote, "attention-ada", (BEFORE, right), (AFTER, wrong))
    pushed(remote, "attention-bo", (BEFORE, wrong), (AFTER, right))
    pushed(remote, "attention-cem", (AFTER, right))
    pushed(remote, "another-ada", (BEFORE, right))
    steps = ("Clone every repository", "Go back to the deadline", "Grade", "Show")
    path = root / ".github" / "workflows" / "grade-class.yml"
    job = run_steps(path, course, environment, only=steps)
    assert job.code == 0, job.out
    assert "class/attention-cem/ has no commit before 2027-02-01T23:59:00+01:00" in job.out
    rows = (course / "graded" / "scores.csv").read_text("utf-8").splitlines()
    assert [row.split(",")[:2] for row in rows[1:]] == [["ada", "2"], ["bo", "0.8"], ["cem", ""]]
    assert "| bo | 0.8 of 6 points | 0 | `scores-not-scaled` |" in job.summary
    assert "sealed" in job.out
