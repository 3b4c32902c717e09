"""Optional assignments that are left out leave no trace."""

import gzip
import re
import shutil
import sys
from pathlib import Path

import pytest

from grader.authoring.file_proofs import files_are_declared
from grader.cli import cli
from grader.course.course import COURSE_VARIABLE, MANIFEST, WORK, Course, load_course
from grader.course.outcome_parts import outcome_parts
from grader.extras.gradescope.release import gradescope_files
from grader.intake.folders import STORE
from grader.release.stubs import generate
from tests.course.conftest import part_of_course

pytestmark = pytest.mark.slow

ONE, EXTRA = "01_simple_attention", "13_masks"
CHANGING = re.compile(rb'"duration_s": [0-9.e-]+|\d{4}-\d\d-\d\d[T ][\d:.+]+')


@pytest.fixture(scope="module")
def without(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course of one assignment, and of an optional one that one line leaves out."""
    made = part_of_course(root, tmp_path_factory.mktemp("without") / "course", (ONE, EXTRA))
    manifest = made.root / MANIFEST
    said = manifest.read_text("utf-8").replace("[course]", "[course]\noptional = false", 1)
    manifest.write_text(said, "utf-8")
    return load_course(made.root)


@pytest.fixture(scope="module")
def never(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The same course, in which the optional one never was."""
    return part_of_course(root, tmp_path_factory.mktemp("never") / "course", (ONE,))


def outputs(course: Course, submissions: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Every file that grading a class writes, but for its durations and moments."""
    out = course.root.parent / "out"
    here = ("--out", out, "--isolation", "process", "--jobs", 1, "--seed", 1)
    reports = ("--report", "items", "--report", "html")
    monkeypatch.setenv(COURSE_VARIABLE, str(course.root))
    for name in [name for name in sys.modules if name.startswith("tests.checks")]:
        monkeypatch.delitem(sys.modules, name)  # the other course's checks have the same names
    with pytest.raises(SystemExit) as ended:
        cli.main([*map(str, ("grade", submissions, *here, *reports))], prog_name="grader")
    assert not ended.value.code
    files = [path for path in sorted(out.rglob("*")) if path.is_file() and path.name != STORE]
    written = [
        gzip.decompress(f.read_bytes()) if f.suffix == ".gz" else f.read_bytes() for f in files
    ]
    return {
        str(path.relative_to(out)): CHANGING.sub(b"", content)
        for path, content in zip(files, written, strict=True)
    }


def test_what_is_left_out_is_in_no_output(
    root: Path,
    without: Course,
    never: Course,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Records, scores, pages, and the stubs: byte for byte, but for when and how long."""
    class_ = root / "tests" / "example_class" / "submissions"
    for student in ("both_forms", "missing_function"):
        shutil.copytree(class_ / student / ONE, tmp_path / student / ONE)
    shutil.copytree(never.root / WORK / ONE, tmp_path / "nothing_done" / ONE)
    ours = outputs(without, tmp_path, monkeypatch)
    theirs = outputs(never, tmp_path, monkeypatch)
    assert [name for name in ours | theirs if ours.get(name) != theirs.get(name)] == []
    assert "scores.csv" in ours
    assert outcome_parts(without) == outcome_parts(never)
    assert list(generate(without)) == list(generate(never))


def test_what_is_left_out_is_not_in_what_others_are_given(without: Course, never: Course) -> None:
    """Gradescope's zip but for the manifest, and the guide; the course keeps its promises."""
    given, before = (
        {file.path: file.data for file in gradescope_files(course)} for course in (without, never)
    )
    assert {name for name in given | before if given.get(name) != before.get(name)} == {
        "course/course.toml"
    }
    assert "13 Masks" not in without.guide_text
    assert "13 Masks" in never.guide_text
    assert list(files_are_declared(without)) == []
