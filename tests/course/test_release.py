"""A students' copy of the course judges, and names mistakes, as the course itself does."""

import json
import os
import re
import subprocess
import sys
import textwrap
import zlib
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from grader.cli import cli
from grader.course.course import Course
from grader.course.misconceptions import read_misconceptions
from grader.course.styles import read_styles
from grader.extras.github.release import release
from grader.judging.recordings import read_recording, write_recording
from grader.release.solution_cells import BEGIN, END, REGION
from grader.release.students import write_release
from tests.course.conftest import FEW, WHOLE

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("release")]

V2_UNSCALED = (
    """
    self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
    self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
    self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
    """,
    """
    attention = torch.softmax(self.W_query(x) @ self.W_key(x).T, dim=-1)
    return attention @ self.W_value(x)
    """,
)
"""`SelfAttention_v2` as somebody writes it who forgets the scale."""

CAUSAL_UNSCALED = (
    """
    self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
    self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
    self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
    self.dropout = nn.Dropout(dropout)
    """,
    """
    num_tokens = x.shape[1]
    scores = torch.einsum("bqd,bkd->bqk", self.W_query(x), self.W_key(x))
    future = torch.full((num_tokens, num_tokens), float("-inf")).triu(1)
    return self.dropout((scores + future).softmax(-1)) @ self.W_value(x)
    """,
)
"""`CausalAttention` without the scale, its key created first, its mask made on the fly."""


@pytest.fixture(scope="module")
def released(to_release: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A student repository: the students' copy, and what GitHub needs besides."""
    folder = tmp_path_factory.mktemp("release") / "course"
    write_release(to_release, folder, release)
    return folder


def lines_of(text: str) -> set[str]:
    """The lines of a text that say something, without the space around them."""
    return {line.strip() for line in text.splitlines() if len(line.strip()) > 12}


def holding(released: Path, lines: set[str]) -> list[str]:
    """The files of a release, the grader aside, that have one of the lines."""
    found = []
    for path in sorted(path for path in released.rglob("*") if path.is_file()):
        name = path.relative_to(released).as_posix()
        # Python's own copies of what was run come after the release.
        if not name.startswith("grader/") and path.suffix != ".pyc":
            found += [f"{name}: {line}" for line in sorted(lines) if has_line(path, line)]
    return found


def has_line(path: Path, line: str) -> bool:
    """Whether a file has a line, plain or as a comment; a recording, whether it is in it at all."""
    content = content_of(path)
    return (
        json.dumps(line)[1:-1].encode() in content
        if isinstance(content, bytes)
        else (line in content)
    )


@cache
def content_of(path: Path) -> frozenset[str] | bytes:
    """A file's lines; what a recording has unpacked, but for the styles, which are solutions."""
    data = path.read_bytes()
    if path.name == "recording.bin":
        return zlib.decompress(write_recording(replace(read_recording(path), styles={})))
    text = data.decode("utf-8", "replace" if path.suffix == ".mo" else "strict").replace("\0", "\n")
    if path.suffix == ".ipynb":
        text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    return frozenset(one.strip().removeprefix("# ") for one in text.splitlines())


def filled(stub: Path, exercise: str, bodies: tuple[str, ...]) -> str:
    """A stub's text with an exercise's bodies written in, one after the other."""
    text = stub.read_text("utf-8")
    sentinel = re.compile(
        rf'^( *)(?:raise|\w+ =) NotImplementedError\("{exercise}: .*"\)$', re.MULTILINE
    )
    for body in bodies:
        found = sentinel.search(text)
        assert found is not None
        code = textwrap.indent(textwrap.dedent(body).strip(), found[1])
        text = text[: found.start()] + code + text[found.end() :]
    assert sentinel.search(text) is None
    return text


def check(folder: Path, submission: Path, *targets: str) -> dict[str, Any]:
    """`grader check` in a folder, run by the grader that lies in it: its exercises by id."""
    done = subprocess.run(
        [
            *(sys.executable, "-c", "from grader.cli import main; main()", "check", *targets),
            *("--format", "json", "--submission", str(submission)),
        ],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "GRADER_COURSE"},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return exercises_of(json.loads(done.stdout))


def checked_here(course: Course, submission: Path, *targets: str) -> dict[str, Any]:
    """What the course itself says, in this process."""
    command = ["check", *targets, "--format", "json", "--submission", str(submission)]
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("GRADER_COURSE", raising=False)
        patch.chdir(course.root)
        done = CliRunner().invoke(cli, command)
    assert done.exit_code in (0, 1), done.stderr
    return exercises_of(json.loads(done.stdout))


def exercises_of(result: dict[str, Any]) -> dict[str, Any]:
    """The exercises of a record by id, without the time that their checks took."""
    for assignment in result["assignments"]:
        for exercise in assignment["exercises"]:
            for one in exercise["checks"]:
                del one["duration_s"]
    return {e["id"]: e for a in result["assignments"] for e in a["exercises"]}


# What is in it.


def test_no_line_of_a_solution_is_in_a_release(to_release: Course, released: Path) -> None:
    """Neither in a stub or a notebook, nor in checks or recordings."""
    for assignment in to_release.assignments:
        text = to_release.paths(assignment).solution.read_text("utf-8")
        outside = lines_of(REGION.sub("", text))
        inside = {line for match in REGION.finditer(text) for line in lines_of(match["body"])}
        stub = released / "assignments" / assignment.id / f"{assignment.module}.py"
        # A line that stands outside of the regions, too, gives nothing away.
        assert holding(released, inside - outside - lines_of(stub.read_text("utf-8"))) == []
    assert holding(released, {BEGIN, END}) == []


def test_a_style_is_in_its_recording_alone_and_not_as_text(
    to_release: Course, released: Path
) -> None:
    """Who looks around in a copy reads none by accident; who has solved the exercise is shown it."""
    for assignment in to_release.assignments:
        styles = read_styles(to_release, assignment)
        recording = to_release.paths(assignment).recording.relative_to(to_release.root)
        assert read_recording(released / recording).styles == styles
        text = to_release.paths(assignment).solution.read_text("utf-8")
        code = "\n".join(style.code for some in styles.values() for style in some)
        hidden = lines_of(code) - lines_of(REGION.sub("", text)) - lines_of(assignment.lends)
        assert holding(released, hidden) == []
        raw = (released / recording).read_bytes()
        assert not [line for line in hidden if line.encode() in raw]


def test_no_hidden_check_is_in_a_release(to_release: Course, released: Path) -> None:
    """No file of them, and nothing recorded of them."""
    assert list(released.rglob("test_hidden.py")) == []
    for assignment in to_release.assignments:
        recording = released / "tests" / "checks" / assignment.id / "recording.bin"
        data = zlib.decompress(recording.read_bytes())
        assert b"::visible::" in data
        assert b"::hidden::" not in data


def test_no_edit_is_in_a_release(to_release: Course, released: Path) -> None:
    """Of a misconception students get the name and the words, not the code."""
    assert list(released.rglob("misconceptions.toml")) == []
    stubs = [path.read_text("utf-8") for path in (released / "assignments").rglob("*.py")]
    known = {line for text in stubs for line in lines_of(text)}
    for assignment in to_release.assignments:
        for misconception in read_misconceptions(to_release, assignment):
            lines = lines_of(misconception.find) | lines_of(misconception.replace)
            # A line of a signature or of an example gives nothing away.
            assert holding(released, lines - known) == []


def test_a_release_names_no_machine(to_release: Course, released: Path) -> None:
    """No path of the machine it was made on, also where code's places are recorded."""
    for path in (p for p in released.rglob("*") if p.is_file() and p.suffix != ".pyc"):
        data = path.read_bytes()
        data = zlib.decompress(data) if path.name == "recording.bin" else data
        for folder in (to_release.root, released.parent, Path(sys.prefix)):
            assert f"{folder}/".encode() not in data, path


# How it judges.


@pytest.mark.proof
def test_stubs_are_not_attempted_in_a_release(to_release: Course, released: Path) -> None:
    """All of them, and nothing is undecided."""
    found = check(released, released / "assignments")
    assert list(found) == list(to_release.exercises)
    firsts = {id_: exercise["checks"][0]["outcome"] for id_, exercise in found.items()}
    assert firsts == dict.fromkeys(to_release.exercises, "not_attempted")


@pytest.mark.proof
def test_solutions_pass_in_a_release(to_release: Course, released: Path) -> None:
    """Judged from recordings, as if the reference were there."""
    found = check(released, to_release.root / "solutions")
    points = {id_: exercise.points for id_, exercise in to_release.exercises.items()}
    assert {id_: exercise["score"] for id_, exercise in found.items()} == points


@pytest.mark.parametrize(
    ("to_release", "exercise", "bodies", "mistakes"),
    [
        (FEW, "04_self_attention/SelfAttention_v2", V2_UNSCALED, ["v2-scale-missing"]),
        pytest.param(
            WHOLE,
            "07_causal_attention/CausalAttention",
            CAUSAL_UNSCALED,
            ["causal-not-scaled", "causal-created-in-another-order"],
            marks=[pytest.mark.proof, pytest.mark.long],
        ),
    ],
    ids=["scale forgotten", "another order, too"],
    indirect=["to_release"],
)
def test_mistakes_are_named_in_a_release_as_in_the_course(
    to_release: Course,
    released: Path,
    tmp_path: Path,
    exercise: str,
    bodies: tuple[str, ...],
    mistakes: list[str],
) -> None:
    """The same outcomes, messages and names, from recordings and from the solutions."""
    assignment = to_release.by_id[exercise.partition("/")[0]]
    name = f"{assignment.module}.py"
    stub = released / "assignments" / assignment.id / name
    (tmp_path / name).write_text(filled(stub, exercise, bodies), "utf-8")
    there = check(released, tmp_path, assignment.id)
    here = checked_here(to_release, tmp_path, assignment.id)
    assert there == here
    assert there[exercise]["misconceptions"] == mistakes
